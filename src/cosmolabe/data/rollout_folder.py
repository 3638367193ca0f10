"""Rollouts on disk: a folder with `rollouts.jsonl`, state arrays and videos.

One row a rollout: id, video, true_video, states, true_states, actions, fps, context, model, prompt,
seed; all but id and one of video/states may be missing. Ours adds game, episode, start. Paths are
relative to the folder and stay inside it.

`actions` holds what was commanded after each frame of a video (array `actions` (T, A)).
`states` holds what a model imagined (arrays `states` (H, N, 17), `globals` (H, G), `terminal`
(H,)), `true_states` the whole true window with its registry, actions and masks, so that a folder
can be judged without the store it came from.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.core.episode import Windows
from cosmolabe.core.fields import CORE_STATE, HISTORY
from cosmolabe.core.manifest import Masks
from cosmolabe.core.record import read_jsonl, write_jsonl
from cosmolabe.core.rollout import Prediction
from cosmolabe.data.arrays import read_arrays, read_npz, write_arrays
from cosmolabe.data.rollouts import Rollout, name_of

INDEX = "rollouts.jsonl"
MASKS = ("valid", "mutable", "fields", "globals", "actions", "wrap")
MAX_UNPACKED = 1 << 32  # bytes a .npz may claim
TEXTS = ("video", "true_video", "states", "true_states", "actions", "model", "prompt", "game")


def write_rollouts(
    folder: Path,
    windows: Windows,
    prediction: Prediction,
    *,
    game: str,
    model: str,
    fps: float = 60.0,
    seed: int = 0,
    videos: Sequence[tuple[str, str]] | None = None,
) -> Path:
    """Write a batch of rollouts; gives the path of the index.

    `videos` names (imagined, true) video files of each rollout, relative to the folder.
    """
    rows = []
    horizon = prediction.states.shape[1]
    for index in range(len(windows)):
        episode, start = int(windows.episodes[index]), int(windows.starts[index])
        name = name_of(game, windows, index)
        write_arrays(folder / "states" / f"{name}.arrays", {}, _imagined(prediction, index))
        write_arrays(folder / "true_states" / f"{name}.arrays", {}, _true(windows, index))
        row = {
            "id": name,
            "states": f"states/{name}.arrays",
            "true_states": f"true_states/{name}.arrays",
            "fps": fps,
            "context": windows.states.shape[1] - horizon,
            "model": model,
            "seed": seed,
            "game": game,
            "episode": episode,
            "start": start,
        }
        if videos is not None:
            row["video"], row["true_video"] = videos[index]
        rows.append(row)
    write_jsonl(folder / INDEX, rows)
    return folder / INDEX


def read_rollouts(folder: Path) -> list[Rollout]:
    """Every rollout of a folder; a row that does not fit is named by its line."""
    index = folder / INDEX
    if not index.is_file():
        raise ValueError(f"no {INDEX} in {folder}; is it a folder of rollouts?")
    rollouts, seen = [], set()
    for where, row in read_jsonl(index):
        rollout = _rollout(folder, row, where)
        if rollout.id in seen:
            raise ValueError(f"{where}: id '{rollout.id}' stands twice; ids must differ")
        seen.add(rollout.id)
        rollouts.append(rollout)
    if not rollouts:
        raise ValueError(f"{index} holds no rollouts; was it written to the end?")
    return rollouts


def _imagined(prediction: Prediction, index: int) -> dict[str, np.ndarray]:
    return {
        name: np.asarray(getattr(prediction, name)[index], np.float32)
        for name in ("states", "globals", "terminal")
    }


def _true(windows: Windows, index: int) -> dict[str, np.ndarray]:
    masks = windows.masks
    batched = masks.valid.ndim > 1
    arrays = {
        "registry": windows.registry[index].astype(np.float32),
        "states": windows.states[index].astype(np.float32),
        "actions": windows.actions[index].astype(np.float32),
        "globals": windows.globals[index].astype(np.float32),
        "terminal": windows.terminal[index].astype(np.uint8),
        "place": np.array([windows.episodes[index], windows.starts[index]], np.int64),
    }
    for name in MASKS:
        mask = getattr(masks, name)
        arrays[f"mask_{name}"] = (mask[index] if batched and mask.ndim > 1 else mask).astype(
            np.uint8
        )
    return arrays


def _rollout(folder: Path, row: dict[str, Any], where: str) -> Rollout:
    if not isinstance(row.get("id"), str) or not row["id"]:
        raise ValueError(f"{where}: every rollout is an object with an `id` of text; got {row!r}")
    wrong = [name for name in TEXTS if not isinstance(row.get(name), (str, type(None)))]
    if wrong:
        raise ValueError(f"{where}: {wrong} must be text; got {[row[name] for name in wrong]}")
    if not row.get("states") and not row.get("video"):
        raise ValueError(f"{where}: rollout '{row['id']}' has neither `states` nor `video`")
    fps, context, seed = row.get("fps", 60.0), row.get("context"), row.get("seed") or 0
    if not isinstance(fps, (int, float)) or isinstance(fps, bool) or not 0 < fps < 10_000:
        raise ValueError(f"{where}: fps is frames per second, above 0; got {fps!r}")
    if context is not None and (not isinstance(context, int) or context < 1):
        raise ValueError(f"{where}: context counts the given frames, 1 or more; got {context!r}")
    prediction = window = None
    if row.get("states"):
        prediction = _read_imagined(_inside(folder, row["states"], where))
    if row.get("true_states"):
        window = _read_true(_inside(folder, row["true_states"], where))
    return Rollout(
        id=row["id"],
        game=row.get("game") or "",
        model=row.get("model") or "",
        fps=float(fps),
        context=context,
        seed=seed if isinstance(seed, int) else 0,
        prompt=row.get("prompt") or "",
        window=window,
        prediction=prediction,
        actions=_read_actions(_inside(folder, row["actions"], where))
        if row.get("actions")
        else None,
        video=_inside(folder, row["video"], where) if row.get("video") else None,
        true_video=_inside(folder, row["true_video"], where) if row.get("true_video") else None,
    )


def _inside(folder: Path, name: str, where: str) -> Path:
    """A file of this folder; a path that leads out of it, by dots or by a link, is refused."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{where}: {name} lies outside the folder; put the file into it")
    if not path.is_file():
        raise ValueError(f"{where}: no file {name} in {folder}")
    return path


def _arrays(path: Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The named arrays of one of our files or of a .npz (which may hold plain arrays only)."""
    if path.suffix != ".npz":
        return read_arrays(path, tuple(names))[1]
    return read_npz(path, names, MAX_UNPACKED)


def _check(path: Path, arrays: dict[str, np.ndarray], axes: dict[str, int]) -> None:
    for name, wanted in axes.items():
        array = arrays[name]
        if array.ndim != wanted or array.dtype.kind not in "fiub":
            raise ValueError(
                f"{path}: array '{name}' has shape {array.shape} and dtype {array.dtype}; expected "
                f"{wanted} axes of numbers"
            )


def _float32(array: np.ndarray) -> np.ndarray:
    """What is too large becomes infinite: the judge says so of an imagined state."""
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def _read_imagined(path: Path) -> Prediction:
    axes = {"states": 3, "globals": 2, "terminal": 1}
    arrays = _arrays(path, axes)
    _check(path, arrays, axes)
    if len({len(array) for array in arrays.values()}) > 1:
        lengths = {name: len(array) for name, array in arrays.items()}
        raise ValueError(f"{path}: states, globals and terminal differ in steps: {lengths}")
    return Prediction(*(_float32(arrays[name][None]) for name in axes))


def _read_actions(path: Path) -> np.ndarray:
    arrays = _arrays(path, ("actions",))
    _check(path, arrays, {"actions": 2})
    actions = _float32(arrays["actions"])
    if not np.isfinite(actions).all():
        raise ValueError(f"{path}: actions hold what is no 32-bit number")
    return actions


def _read_true(path: Path) -> Windows:
    axes = {"registry": 2, "states": 3, "actions": 2, "globals": 2, "terminal": 1, "place": 1}
    axes |= {f"mask_{name}": 1 for name in MASKS}
    arrays = _arrays(path, axes)
    _check(path, arrays, axes)
    steps = {len(arrays[name]) for name in ("states", "actions", "globals", "terminal")}
    slots = {
        arrays["states"].shape[1],
        *(len(arrays[n]) for n in ("registry", "mask_valid", "mask_mutable")),
    }
    widths = {
        "fields": arrays["states"].shape[2] - len(CORE_STATE) - len(HISTORY),
        "globals": arrays["globals"].shape[1],
        "actions": arrays["actions"].shape[1],
        "wrap": 2,
    }
    masked = all(len(arrays[f"mask_{name}"]) == width for name, width in widths.items())
    if len(steps) > 1 or len(slots) > 1 or len(arrays["place"]) != 2 or not masked:
        shapes = {name: array.shape for name, array in arrays.items()}
        raise ValueError(f"{path}: arrays do not fit together: {shapes}")
    broken = [name for name, array in arrays.items() if not np.isfinite(_float32(array)).all()]
    if broken:
        raise ValueError(f"{path}: {broken} hold what is no 32-bit number; truth has no gaps")
    masks = Masks(*(arrays[f"mask_{name}"].astype(bool) for name in MASKS))
    place = arrays["place"].astype(np.int64)
    return Windows(
        registry=arrays["registry"][None].astype(np.float32),
        states=arrays["states"][None].astype(np.float32),
        actions=arrays["actions"][None].astype(np.float32),
        globals=arrays["globals"][None].astype(np.float32),
        terminal=arrays["terminal"][None].astype(bool),
        masks=masks,
        episodes=place[:1],
        starts=place[1:],
    )
