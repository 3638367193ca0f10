"""Groups of twins from clips that nobody can play again: real footage, mildly hurt."""

import importlib
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from cosmolabe.core.record import read_json, write_json, written_whole
from cosmolabe.data.clip_damage import KINDS, hurt_clip
from cosmolabe.data.held_out import held_out
from cosmolabe.data.twin_rows import Drawn, Order, TwinRecipe

MOST_FRAMES = 3000  # read of one file
SHORTEST = 1.5  # seconds: a clip with less is of no use here


def prepare(folder: Path, recipe: TwinRecipe) -> None:
    """Each file once, made as small as the set wants it, with its rate beside it."""
    for file in recipe.real:
        name = scene_of(file)
        if (folder / f"{name}.json").exists():
            continue
        frames, fps = read_clip(Path(file), recipe.size)
        with written_whole(folder / f"{name}.npy") as part, part.open("wb") as out:
            np.save(out, frames)
        write_json(folder / f"{name}.json", {"file": Path(file).name, "fps": fps})


def scene_of(file: str) -> str:
    """The name a file goes by in `held_out.json`, after real/."""
    return Path(file).stem


def read_clip(path: Path, height: int) -> tuple[UInt8[np.ndarray, "time height width 3"], float]:
    """Pictures `height` pixels high (the width follows), and their rate in frames per second."""
    if not path.exists():
        raise ValueError(f"no clip at {path}")
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as found:
            if "frames" not in found or "fps" not in found:
                raise ValueError(
                    f"{path} holds {list(found)}; expected frames (T, H, W, 3) and fps"
                )
            return _smaller(found["frames"][:MOST_FRAMES], height), float(found["fps"])
    av = importlib.import_module("av")
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            width = max(2, round(stream.width * height / stream.height / 2) * 2)
            frames, times = [], []
            for frame in container.decode(stream):
                small = frame.reformat(width, height, "rgb24", interpolation="AREA")
                frames.append(small.to_ndarray())
                times.append(frame.time)
                if len(frames) == MOST_FRAMES:
                    break
            told = stream.average_rate
    except (av.FFmpegError, IndexError) as error:
        raise ValueError(f"{path} is no video that can be read ({error})") from None
    if len(frames) < 2:
        raise ValueError(f"{path} holds {len(frames)} picture(s); a clip needs motion")
    seconds = (times[-1] or 0) - (times[0] or 0)
    fps = (len(frames) - 1) / seconds if seconds > 0 else float(told or 25)
    return np.stack(frames), float(fps)


def _smaller(frames: np.ndarray, height: int) -> np.ndarray:
    if frames.ndim != 4 or frames.shape[-1] != 3 or frames.dtype != np.uint8 or len(frames) < 2:
        raise ValueError(
            f"a clip is uint8 pictures (T, H, W, 3); got {frames.dtype} {frames.shape}"
        )
    width = max(2, round(frames.shape[2] * height / frames.shape[1] / 2) * 2)
    return np.stack(
        [
            np.asarray(Image.fromarray(f).resize((width, height), Image.Resampling.BOX))
            for f in frames
        ]
    )


def draw_group(folder: Path, recipe: TwinRecipe, order: Order, attempt: int) -> Drawn | None:
    """One group, or None where this attempt met a clip too short."""
    kept, draw = held_out(), order.draw("clip", attempt)
    names = sorted({scene_of(file) for file in recipe.real})
    unseen = "scene" in order.unseen
    fits = [name for name in names if (f"real/{name}" in kept.scenes) == unseen]
    if not fits and order.split != "test":
        raise ValueError(
            f"every real clip of {names} is held out of training (held_out.json); add others"
        )
    name = (fits or names)[draw.integers(len(fits or names))]
    whole, rate = _clip(folder / name)
    fps = min(order.fps, rate)
    source = np.round(np.arange(recipe.frames) * rate / fps).astype(int)
    if (len(whole) - 1) / rate < SHORTEST:
        raise ValueError(f"real/{name} lasts less than {SHORTEST} seconds")
    last = len(whole) - 1 - int(source[-1])
    start = int(draw.integers(last + 1)) if last >= 0 else 0
    source = np.minimum(start + source, len(whole) - 1)
    if (np.diff(source[order.onset :]) == 0).all():
        return None
    left = int(draw.integers(max(whole.shape[2] - recipe.size, 0) + 1))
    true = np.ascontiguousarray(whole[source, :, left : left + recipe.size])
    if draw.random() < 0.5:
        true = np.ascontiguousarray(true[:, :, ::-1])
    kinds = [kind for kind in KINDS if (kind in kept.damages) == ("kind" in order.unseen)]
    kind = kinds[order.draw("kind", attempt // 4).integers(len(kinds))]
    luck = int(draw.integers(1 << 31))

    def hurt(size: float) -> UInt8[np.ndarray, "time height width 3"]:
        return hurt_clip(true, kind, size, order.onset, fps, luck)

    return Drawn(true, f"real/{name}", hurt, kind, fps=fps)


@cache
def _clip(stem: Path) -> tuple[np.ndarray, float]:
    frames = np.load(stem.with_suffix(".npy"), mmap_mode="r", allow_pickle=False)
    return frames, float(read_json(stem.with_suffix(".json"))["fps"])
