"""Fingerprints: two readings compare only when protocol and data fingerprints agree."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


def canonical(value: Any) -> Any:  # noqa: ANN401 - any tree of plain values
    """The value as plain JSON types, in one agreed form."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"": type(value).__name__, **canonical(fields)}
    if isinstance(value, Mapping):
        return {str(key): canonical(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    raise ValueError(f"a protocol holds plain values only; got {type(value).__name__}: {value!r}")


def fingerprint(*values: Any) -> str:  # noqa: ANN401 - any tree of plain values
    """16 hex digits that change when any choice changes."""
    text = json.dumps(canonical(values), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
