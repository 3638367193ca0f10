"""Trained models on disk: `config.json` says what it is, a safetensors file holds the numbers.

Nothing is ever unpickled, and nothing half-fitting is ever loaded: name, game, widths, every
tensor's name, shape and type must agree, and every number must be finite.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from cosmolabe.core.manifest import Manifest
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import read_json, versions, write_json, written_whole

SCHEMA = 1
CONFIG, TENSORS = "config.json", "model.safetensors"
LARGEST = 4 << 30  # bytes of a tensor file; more is refused unread


@dataclass(frozen=True)
class CheckpointConfig:
    """What `config.json` holds."""

    model: str
    size: str
    game: str
    manifest: str
    """Fingerprint of the game's manifest: slots, names, widths, version."""
    window: int
    seed: int
    steps: int = 0
    data: str = ""
    """Fingerprint of the store it learnt from."""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """The training config it was made with."""
    versions: Mapping[str, str] = field(default_factory=versions)
    schema: int = SCHEMA


def config_of(
    model: Any,  # noqa: ANN401 - any model of `models/` that learns
    window: int,
    data: str,
    recipe: Mapping[str, Any] | None,
) -> CheckpointConfig:
    """The config of a model as it stands; it looks `window` frames back."""
    return CheckpointConfig(
        model=model.name,
        size=model.size,
        game=model.manifest.game,
        manifest=manifest_fingerprint(model.manifest),
        window=window,
        seed=model.seed,
        steps=model.steps,
        data=data,
        recipe=recipe or {},
    )


def manifest_fingerprint(manifest: Manifest) -> str:
    """16 hex digits that change when anything in the manifest does."""
    return fingerprint(manifest)


def write_checkpoint(
    folder: Path, config: CheckpointConfig, tensors: Mapping[str, np.ndarray]
) -> None:
    """Write both files, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / TENSORS, tensors)
    write_json(folder / CONFIG, config)


def read_checkpoint(
    folder: Path, model: str, manifest: Manifest, expected: Mapping[str, np.ndarray] | None = None
) -> tuple[CheckpointConfig, dict[str, np.ndarray]]:
    """Config and tensors of a checkpoint of this model for this game, or a clear refusal."""
    config = read_config(folder, model, manifest)
    tensors = read_tensors(folder / TENSORS)
    if expected is not None:
        check_tensors(folder / TENSORS, tensors, expected)
    return config, tensors


def read_config(folder: Path, model: str, manifest: Manifest) -> CheckpointConfig:
    """The config of a checkpoint, which must be of this model and this game."""
    path = Path(folder) / CONFIG
    if not Path(folder).is_dir():
        raise ValueError(f"no checkpoint folder {folder}; train one with `cosmolabe train`")
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        found = content.get("schema") if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{path}: schema {found!r} cannot be read; this version reads {SCHEMA}")
    known = {f.name: f.type for f in fields(CheckpointConfig)}
    wrong = sorted(set(content) ^ set(known))
    texts, counts = ("model", "size", "game", "manifest", "data"), ("window", "seed", "steps")
    wrong += [k for k in texts if not isinstance(content.get(k), str)]
    wrong += [k for k in counts if not _is_count(content.get(k))]
    wrong += [k for k in ("recipe", "versions") if not isinstance(content.get(k), dict)]
    if wrong:
        raise ValueError(f"{path}: missing, unknown or ill-typed entries {wrong}")
    config = CheckpointConfig(**content)
    if config.model != model:
        raise ValueError(f"{path}: holds a '{config.model}', not a '{model}'")
    if config.game != manifest.game:
        raise ValueError(f"{path}: learnt '{config.game}', but the data is '{manifest.game}'")
    if config.manifest != manifest_fingerprint(manifest):
        raise ValueError(
            f"{path}: learnt another '{config.game}' (manifest {config.manifest}, here "
            f"{manifest_fingerprint(manifest)}): slots, widths or version differ; train again"
        )
    return config


def _is_count(value: Any) -> bool:  # noqa: ANN401 - whatever stands in the file
    """A whole number of 64 bits, which is what torch's seeds and our own counters are."""
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def write_tensors(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write whole or not at all."""
    with written_whole(path) as part:
        part.write_bytes(save({k: np.asarray(tensors[k], order="C") for k in sorted(tensors)}))


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Tensors of a safetensors file, all finite."""
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"no plain file {path}; a checkpoint holds {CONFIG} and {TENSORS}")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path}: {path.stat().st_size} bytes; more than {LARGEST} are not read")
    content = path.read_bytes()
    try:
        tensors = load(content)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        # Asked only now: a sound file begins with its header's length, which may look like these.
        if content[:1] == b"\x80" or content[:2] == b"PK":
            raise ValueError(
                f"{path}: is a pickle or a zip of pickles, which are never opened here"
            ) from None
        raise ValueError(f"{path}: not a whole safetensors file ({error})") from None
    for name, tensor in tensors.items():
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise ValueError(f"{path}: tensor '{name}' holds NaN or infinity; train again")
    return tensors


def check_tensors(
    path: Path, tensors: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]
) -> None:
    """Names, shapes and types must be those of `expected`, no more and no less."""
    missing = sorted(set(expected) - set(tensors))
    extra = sorted(set(tensors) - set(expected))
    if missing or extra:
        raise ValueError(f"{path}: tensors missing {missing[:5]}, not known {extra[:5]}")
    for name, like in expected.items():
        got = tensors[name]
        if got.shape != like.shape or got.dtype != like.dtype:
            raise ValueError(
                f"{path}: tensor '{name}' is {got.dtype} {got.shape}, should be {like.dtype} "
                f"{like.shape}"
            )
