"""Which frame belongs to which state of a store with videos: the lag at which both move together.

Where something moves from s_t to s_{t+1}, the picture changes between frame t and frame t + 1, at
the place it left and at the place it came to. For each lag from -3 to 3 the changed pixels of
frames t + lag and t + 1 + lag are held against the boxes of what moved, pixel by pixel; sound
videos agree best at lag 0.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, UInt8

from cosmolabe.core import bootstrap
from cosmolabe.core.episode import Episode
from cosmolabe.core.fields import ALIVE
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.record import read_json
from cosmolabe.core.seeds import generator
from cosmolabe.data.alignment import LAGS, Alignment, Lag, choose
from cosmolabe.data.store import Store

VIDEOS = "videos"  # folder of a store that holds them, named as its episodes are
NUM_VIDEOS = 8  # ours
MOST_FRAMES = 300  # of one video
CHANGED = 12  # of 255: more than the codec alone changes
WHOLE = (0.0, 0.0, 1.0, 1.0)
LARGEST_MOVE = 0.15  # shares of the world: what goes further was born anew


def videos_of(store: Store) -> dict[int, Path]:
    """The video of every episode that has one, by the episode's number."""
    folder, name = store.folder / VIDEOS, getattr(store, "name", None)
    if name is None or not folder.is_dir():
        return {}
    found = {}
    for number in range(len(store)):
        path = folder / f"{name(number)}.mp4"
        if path.parent == folder and path.is_file():
            found[number] = path
    return found


def align_frames(
    store: Store, videos: dict[int, Path], num_videos: int = NUM_VIDEOS, seed: int = 0
) -> Alignment:
    """Lag by lag, how well changing pixels agree with moving slots, over some videos."""
    from cosmolabe.data.video import read_video  # PyAV is an extra

    numbers = np.sort(generator("frame alignment", seed).permutation(sorted(videos))[:num_videos])
    rows, used = [], 0
    for number in numbers.tolist():
        episode, frames = store.episode(number), read_video(videos[number])
        if len(frames) != len(episode):
            raise ValueError(
                f"{videos[number]} has {len(frames)} frames, its episode {number} has "
                f"{len(episode)} states; every state has one frame"
            )
        world = _world_of(videos[number].with_suffix(".json"))
        scores = agreement(store.manifest, episode, frames[:MOST_FRAMES], world)
        if len(scores):
            rows.append(scores.mean(0))
            used += len(scores)
    return verdict_of(np.array(rows).reshape(-1, len(LAGS)), used, seed)


def _world_of(sidecar: Path) -> Sequence[float]:
    """Where in the picture the world is: left, top, width, height; all of it unless said."""
    content = read_json(sidecar) if sidecar.is_file() else {}
    world = content.get("world", WHOLE) if isinstance(content, dict) else None
    if not isinstance(world, list | tuple) or len(world) != 4:
        raise ValueError(f"{sidecar}, world: four shares of the picture; got {world!r}")
    if not all(isinstance(share, int | float) and -10 <= share <= 10 for share in world):
        raise ValueError(f"{sidecar}, world: four shares of the picture; got {world!r}")
    return world


def verdict_of(rows: Float[np.ndarray, "episode lag"], used: int, seed: int) -> Alignment:
    """The lag of the best agreement, from each episode's means."""
    what = "frames"
    if len(rows) < 2 or not np.isfinite(rows).all():
        lags = tuple(Lag(lag, np.nan, np.nan, np.nan) for lag in LAGS)
        why = "cannot tell: it takes two videos in which something moves"
        return Alignment(what, lags, None, why, len(rows), used)
    drawn = bootstrap.weighted_mean(rows, bootstrap.resamples(np.arange(len(rows)), seed=seed))
    low, high = bootstrap.interval(drawn)
    best, why = choose(rows.mean(0), drawn, "frames do not change where the slots move")
    lags = tuple(
        Lag(lag, float(mean), float(a), float(b))
        for lag, mean, a, b in zip(LAGS, rows.mean(0), low, high, strict=True)
    )
    return Alignment(what, lags, best, why, len(rows), used)


def agreement(
    manifest: Manifest,
    episode: Episode,
    frames: UInt8[np.ndarray, "time height width 3"],
    world: Sequence[float] = WHOLE,
) -> Float[np.ndarray, "step lag"]:
    """Correlation over pixels of what changed in the frames and what moved, where anything did."""
    changed = np.abs(np.diff(frames.astype(np.int16), axis=0)).max(-1) > CHANGED
    first, last = -LAGS[0], len(changed) - LAGS[-1]
    rows = []
    for t in range(first, last):
        moved = _moved(manifest, episode, t, changed.shape[1:], world)
        if moved.any() and not moved.all():
            rows.append([_correlation(moved, changed[t + lag]) for lag in LAGS])
    return np.array(rows).reshape(-1, len(LAGS))


def _moved(
    manifest: Manifest, episode: Episode, t: int, shape: tuple[Any, ...], world: Sequence[float]
) -> Bool[np.ndarray, "height width"]:
    """Pixels that a moving slot leaves or enters between states t and t + 1."""
    there = np.zeros((2, *shape), bool)
    left, top, width, height = np.array(world) * np.tile(shape[::-1], 2)
    now, after = episode.states[t], episode.states[t + 1]
    step = np.abs(after[:, :2] - now[:, :2])
    goes = (step.max(1) > 0) & (step.max(1) < LARGEST_MOVE)
    goes &= (now[:, ALIVE] > 0.5) & (after[:, ALIVE] > 0.5)
    for row in np.flatnonzero(goes):
        slot = manifest.slots[row]
        half_x = max(slot.radius, slot.half_width) / manifest.aspect * width
        half_y = max(slot.radius, slot.half_height) * height
        for layer, state in zip(there, (now, after), strict=True):
            x, y = left + float(state[row, 0]) * width, top + float(state[row, 1]) * height
            rows = slice(max(round(y - half_y), 0), max(round(y + half_y), 0))
            layer[rows, max(round(x - half_x), 0) : max(round(x + half_x), 0)] = True
    return there[0] ^ there[1]


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Of two masks; 0 where one is the same everywhere."""
    p, q = a.mean(), b.mean()
    spread = np.sqrt(p * (1 - p) * q * (1 - q))
    return float(((a & b).mean() - p * q) / spread) if spread > 0 else 0.0
