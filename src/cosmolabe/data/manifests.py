"""Manifests as JSON: a studio writes one beside its envelopes, a store carries one."""

import json
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from cosmolabe.core.fields import Profile
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data.arrays import refuse_link

SCHEMA = 1
MAX_BYTES = 1 << 22
MAX_SLOTS = 4096
STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
for _record in (Profile, Slot, Manifest):
    with_config(STRICT)(_record)
MANIFEST_TYPE: TypeAdapter[Manifest] = TypeAdapter(Manifest)


def manifest_schema() -> dict[str, Any]:
    """The JSON Schema of a manifest, as published in docs/schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **MANIFEST_TYPE.json_schema(),
        "title": "Cosmolabe manifest, schema 1",
    }


def read_manifest(path: Path) -> Manifest:
    """A manifest from its file; what does not fit is named by its place."""
    refuse_link(path)
    with path.open("rb") as file:
        content = parse_json(file.read(MAX_BYTES + 1), str(path), MAX_BYTES)
    if isinstance(content, dict) and content.get("schema") != SCHEMA:
        raise ValueError(f"{path}, schema: got {content.get('schema')!r}, expected {SCHEMA}")
    try:
        manifest = MANIFEST_TYPE.validate_python(content)
    except ValidationError as error:
        raise ValueError(f"{path}, {told(error)}") from None
    if manifest.num_slots > MAX_SLOTS:
        raise ValueError(f"{path}, slots: {manifest.num_slots} of them; at most {MAX_SLOTS}")
    return manifest


def parse_json(text: bytes, where: str, most: int) -> Any:  # noqa: ANN401 - any JSON
    """Strict JSON: no NaN, no second key of one name, not too long, not too deep."""
    if len(text) > most:
        raise ValueError(f"{where}: longer than {most} bytes; is this the right file?")
    try:
        return json.loads(
            text.decode("utf-8-sig"), parse_constant=_no_constant, object_pairs_hook=_no_doubles
        )
    except RecursionError:
        raise ValueError(f"{where}: nested too deeply; an envelope has four levels") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{where}: not UTF-8 text ({error.reason}); save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{where}: not valid JSON ({error.msg}, column {error.colno}); was it cut short?"
        ) from None
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def told(error: ValidationError) -> str:
    """The first thing a check found, with its place and what was got."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"] if not _is_branch(step)) or "whole"
    got = repr(first.get("input"))
    return f"{place}: {first['msg']}; got {got if len(got) <= 60 else got[:57] + '...'}"


def _is_branch(step: int | str) -> bool:
    """Which alternative of a union was tried: of no use to a reader."""
    return isinstance(step, str) and (step in ("float", "bool", "int", "str") or "[" in step)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number here; leave the entity out or mark it not alive")


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise ValueError(f"the same name twice in one object: {twice}")
    return found
