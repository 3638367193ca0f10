"""What a run leaves behind: small JSON files with a schema number, seed, config and versions."""

import contextlib
import dataclasses
import json
import math
import os
import platform
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from cosmolabe.core.reading import Reading

SCHEMA = 1
MOST_DIGITS = 300  # of a whole number: a float can still hold it
NUMBERS = ("value", "low", "high", "floor", "ceiling")
READING: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("judge", "metric", "unit", "direction", "protocol"), (str,)),
    **dict.fromkeys(("data", "game", "model", "why"), (str,)),
    **dict.fromkeys(NUMBERS, (int, float)),
    **dict.fromkeys(("n", "skipped"), (int,)),
    "horizon": (int, type(None)),
}
"""What a row of readings.json holds."""
ESCAPED = "backslashreplace"
"""How files are written: what UTF-8 has no bytes for (half of a character in a path that is no
text) becomes JSON's own escape, and reads back as it was."""
LIBRARIES = ("cosmolabe", "numpy", "numba", "torch", "gymnasium", "pyarrow", "scipy")


def escaped(text: str) -> str:
    """Text as every file can hold it; see `ESCAPED`."""
    return text.encode("utf-8", ESCAPED).decode()


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


@contextlib.contextmanager
def written_whole(path: Path) -> Generator[Path]:
    """A path to write to that takes the file's name once it is done.

    So the file is there whole or not at all, however the run ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:  # noqa: ANN401 - any tree of plain values
    """Write whole or not at all; what is not finite becomes null."""
    text = json.dumps(plain(value), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8", errors=ESCAPED)


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """One row a line, whole or not at all."""
    with written_whole(path) as part, part.open("w", encoding="utf-8", errors=ESCAPED) as file:
        for row in rows:
            file.write(json.dumps(plain(row), allow_nan=False, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:  # noqa: ANN401 - any tree of plain values
    """The file's JSON; a missing or broken file is named with what would do."""
    text = _text_of(path)
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not valid JSON ({error}); was it cut short?") from None


def read_jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row with its place ("PATH, line 3"); blank lines are passed over."""
    # Only a line feed ends a row: text in it may hold what else Unicode calls the end of a line.
    for number, line in enumerate(_text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line, parse_int=_whole, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where} is not valid JSON ({error}); was it cut short?") from None
        if not isinstance(row, dict):
            raise ValueError(f"{where}: expected an object, got {line.strip()[:80]!r}")
        yield where, row


def require_columns(
    row: Mapping[str, Any], where: str, kinds: Mapping[str, tuple[type, ...]]
) -> None:
    """Refuse a row that lacks a column of `kinds` or has another kind of value there."""
    for name, kind in kinds.items():
        if name not in row:
            raise ValueError(f"{where}: no '{name}'; was the file edited or cut short?")
        value = row[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            wanted = " or ".join("null" if k is type(None) else k.__name__ for k in kind)
            raise ValueError(f"{where}: '{name}' is {str(value)[:60]!r}, expected {wanted}")


def _whole(digits: str) -> int:
    """What no file of ours holds, and what no array could take, is refused early."""
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON; what is missing is null")


def _text_of(path: Path) -> str:
    if not path.exists():
        raise ValueError(f"no file {path}; does the run folder exist and has it finished?")
    if not path.is_file():
        raise ValueError(f"{path} is not a plain file; put the file itself there")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error}); was it cut short?") from None


def write_readings(path: Path, readings: Iterable[Reading]) -> None:
    """The aggregates of a run as `readings.json`: a list, one row a reading."""
    write_json(path, list(readings))


def read_readings(path: Path) -> list[Reading]:
    """Readings as written by `write_readings`; null becomes NaN again."""
    content = read_json(path)
    if not isinstance(content, list):
        raise ValueError(f"{path}: expected a list of readings, got {type(content).__name__}")
    readings = []
    for index, row in enumerate(content):
        try:
            if row.get("schema") != SCHEMA:
                raise ValueError(f"{path}: reading {index} has schema {row.get('schema')}, not 1")
            missing = {name: math.nan for name in NUMBERS if name in row and row[name] is None}
            fields: dict[str, Any] = {**row, **missing}
            kinds = {name: kind for name, kind in READING.items() if name in fields}
            require_columns(fields, f"{path}: reading {index}", kinds)
            reading = Reading(**fields)
            if not all(0 <= count < 1 << 63 for count in (reading.n, reading.skipped)):
                raise ValueError(f"{path}: reading {index}: n and skipped count inputs")
            readings.append(reading)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"{path}: reading {index} does not fit ({error})") from None
    return readings
