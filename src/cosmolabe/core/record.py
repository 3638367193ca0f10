"""What a run leaves behind: small JSON files with a schema number, seed, config and versions."""

import dataclasses
import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from cosmolabe.core.reading import Reading

SCHEMA = 1
LIBRARIES = ("cosmolabe", "numpy", "numba", "torch", "gymnasium", "pyarrow", "scipy")


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that can move a number; absent ones are left out."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True)
class Record:
    """How a run was made: enough to make it again."""

    command: str
    seed: int
    config: Mapping[str, Any]
    protocol: str = ""
    data: str = ""
    versions: Mapping[str, str] = field(default_factory=versions)
    notes: tuple[str, ...] = ()
    schema: int = SCHEMA


def plain(value: Any) -> Any:  # noqa: ANN401 - any tree of plain values
    """JSON types only; a number that is not finite becomes null, for JSON knows no NaN."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return plain(value.item())
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


def write_json(path: Path, value: Any) -> None:  # noqa: ANN401 - any tree of plain values
    """Write whole or not at all: a killed run never leaves half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain(value), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """One row a line, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(plain(row), allow_nan=False, ensure_ascii=False) + "\n")
    part.replace(path)


def read_json(path: Path) -> Any:  # noqa: ANN401 - any tree of plain values
    """The file's JSON; a missing or broken file is named with what would do."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(
            f"no file {path}; does the run folder exist and has it finished?"
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid JSON ({error}); was it cut short?") from None


def write_readings(path: Path, readings: Iterable[Reading]) -> None:
    """The aggregates of a run as `readings.json`: a list, one row a reading."""
    write_json(path, list(readings))


def read_readings(path: Path) -> list[Reading]:
    """Readings as written by `write_readings`; null becomes NaN again."""
    content = read_json(path)
    if not isinstance(content, list):
        raise ValueError(f"{path}: expected a list of readings, got {type(content).__name__}")
    numbers = ("value", "low", "high", "floor", "ceiling")
    readings = []
    for index, row in enumerate(content):
        try:
            if row.get("schema") != SCHEMA:
                raise ValueError(f"{path}: reading {index} has schema {row.get('schema')}, not 1")
            fields: dict[str, Any] = {k: (math.nan if v is None and k in numbers else v) for k, v in row.items()}
            readings.append(Reading(**fields))
        except (TypeError, AttributeError) as error:
            raise ValueError(f"{path}: reading {index} does not fit ({error})") from None
    return readings
