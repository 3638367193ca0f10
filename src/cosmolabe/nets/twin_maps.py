"""What the bundled eye learns from: maps of motion of twins, each clip looked at once and kept.

Of a double it is also kept where and when it differs from its true clip, which is where something
is wrong. Nothing held out may come in here: a row that says so is refused.
"""

import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt8

from cosmolabe.core.record import written_whole
from cosmolabe.core.seeds import generator
from cosmolabe.data.quality import QUALITY, changed
from cosmolabe.data.twin_rows import TwinRow
from cosmolabe.data.twin_set import read_frames
from cosmolabe.data.video.letterbox import letterbox
from cosmolabe.data.video.protocols import Canvas
from cosmolabe.nets.motion_maps import CELLS, SIDE, motion_maps
from cosmolabe.nets.tiny_net import fresh

GRID = 16.0
"""Pictures a second at which the judge looks (`physics/1`); another rate is brought to it."""
PLAIN = 12
"""Of 255: what differs by more from the true clip is seen to be wrong."""
SHARE_WORSE = 0.5
"""Of groups, one double is seen in another quality too, lest quality tell lawful from hurt."""
Frames = UInt8[np.ndarray, "time height width 3"]


@dataclass(frozen=True)
class SeenClip:
    """One clip as the eye's net takes it."""

    id: str
    row: TwinRow
    role: str
    """true, damage, quality, worse (damage in another quality) or lawful."""
    maps: Float[np.ndarray, "kept map row column"]
    """16-bit floats; repeated pictures left out."""
    place: Int[np.ndarray, " time"]
    """Which kept picture each grid time shows."""
    wrong: Bool[np.ndarray, "kept row column"]
    """Where a double differs from its true clip; nowhere in all others."""


def refuse_held_out(rows: Iterable[TwinRow]) -> None:
    """A row that training may not see is refused by name."""
    bad = [row for row in rows if row.held_out or row.split == "test"]
    if bad:
        what = ", ".join(bad[0].held_out) or "its split is test"
        raise ValueError(
            f"{len(bad)} clips may not be trained on, the first is {bad[0].id} ({what})"
        )


def see_group(folder: Path, rows: Sequence[TwinRow], out: Path) -> list[SeenClip]:
    """All clips of one group of a set of twins, computed now or read from `out`."""
    refuse_held_out(rows)
    first = rows[0]
    wanted = [("true", f"{first.group}-true", first)] if first.role != "lawful" else []
    wanted += [(row.role, row.id, row) for row in rows if not row.sub_threshold]
    dice = generator("worse double", first.group)
    doubles = [row for row in rows if row.role == "damage" and not row.sub_threshold]
    if doubles and dice.random() < SHARE_WORSE:
        chosen = doubles[int(dice.integers(len(doubles)))]
        wanted.append(("worse", f"{chosen.id}-worse", chosen))
    path = out / f"{first.group}.npz"
    if not path.exists():
        _write(path, _look(folder, wanted))
    return _read(path, wanted)


def on_grid(frames: Frames, fps: float) -> UInt8[np.ndarray, "grid_time side side 3"]:
    """The pictures shown at each time of the judge's grid, letterboxed to the eye's square."""
    count = max(1, int(np.ceil(len(frames) / fps * GRID - 1e-6)))
    shown = np.minimum((np.arange(count) / GRID * fps + 1e-6).astype(int), len(frames) - 1)
    used, place = np.unique(shown, return_inverse=True)
    squares = np.empty((len(used), SIDE, SIDE, 3), np.uint8)
    for square, number in zip(squares, used.tolist(), strict=True):
        letterbox(frames[number], Canvas(SIDE), square)
    return squares[place.reshape(-1)]


def maps_of(frames: Frames) -> tuple[np.ndarray, np.ndarray]:
    """Maps of the pictures on the grid, and which of them each time shows."""
    pixels = torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        keep = fresh(pixels)
        maps = motion_maps(pixels[keep])
    return maps.half().numpy(), keep.numpy()


def _look(folder: Path, wanted: Sequence[tuple[str, str, TwinRow]]) -> dict[str, np.ndarray]:
    first = wanted[0][2]
    true = read_frames(folder / first.true)
    grid = on_grid(true, first.fps)
    found: dict[str, np.ndarray] = {}
    for role, name, row in wanted:
        frames = true if role in ("true", "lawful") else read_frames(folder / row.damaged)
        if role == "worse":
            dice = generator("how much worse", name)
            kind = str(dice.choice(list(QUALITY)))
            frames = changed(frames, kind, float(dice.uniform(0.3, 1)), int(dice.integers(1 << 31)))
        mine = on_grid(frames, row.fps)
        found[f"{name}/maps"], keep = maps_of(mine)
        found[f"{name}/keep"] = keep
        if role == "damage":
            apart = np.maximum(mine, grid) - np.minimum(mine, grid)
            cells = (apart.max(-1) > PLAIN).reshape(len(mine), CELLS, SIDE // CELLS, CELLS, -1)
            found[f"{name}/wrong"] = np.packbits(cells.any((2, 4))[keep])
    return found


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _read(path: Path, wanted: Sequence[tuple[str, str, TwinRow]]) -> list[SeenClip]:
    try:
        with np.load(path, allow_pickle=False) as found:
            return [_one(found, *each) for each in wanted]
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise ValueError(f"{path} is not what was written ({error}); remove it") from None


def _one(found: Mapping[str, np.ndarray], role: str, name: str, row: TwinRow) -> SeenClip:
    maps, keep = found[f"{name}/maps"], found[f"{name}/keep"]
    wrong = np.zeros((len(maps), CELLS, CELLS), bool)
    if f"{name}/wrong" in found:
        bits = np.unpackbits(found[f"{name}/wrong"])[: wrong.size]
        wrong = bits.reshape(wrong.shape).astype(bool)
    return SeenClip(name, row, role, maps, np.cumsum(keep) - 1, wrong)


def groups_of(rows: Iterable[TwinRow]) -> dict[str, list[TwinRow]]:
    """Rows that share a true clip, by the group's name."""
    found: dict[str, list[TwinRow]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return found


def see_all(
    folder: Path, rows: Sequence[TwinRow], out: Path,
    progress: Callable[[int, int], None] | None = None,
) -> list[SeenClip]:  # fmt: skip
    """Every clip of these rows; what was seen before is read."""
    groups, clips = groups_of(rows), []
    for number, mine in enumerate(groups.values()):
        clips += see_group(folder, mine, out)
        if progress:
            progress(number + 1, len(groups))
    return clips
