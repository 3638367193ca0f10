"""Episodes as mp4 with a JSON file beside them, for people and for models that see frames.

Every frame is coded by itself: twins that are equal in pixels before a damage stay equal in the
video, which a codec that looks back and ahead would not grant.
"""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.record import read_json, write_json, written_whole
from cosmolabe.data.folder import Number
from cosmolabe.data.replay import ReplayStore
from cosmolabe.engine.render import draw_frames

SCHEMA = 1
QUALITY = 10  # x264's crf: differences stay below what an eye sees
TOGETHER = 240  # frames drawn at once


def export_video(
    store: ReplayStore,
    number: Number,
    path: Path | str,
    *,
    size: int = 224,
    start: int = 0,
    frames: int | None = None,
    every: int = 1,
) -> dict[str, Any]:
    """Write one episode as `path` (.mp4) and what it shows as the same name with .json.

    `every` keeps one state in so many, and the rate falls with it. Gives the sidecar's content.
    """
    path = Path(path)
    if path.suffix != ".mp4":
        raise ValueError(f"a video's name ends in .mp4; got {path.name}")
    if size < 16 or size % 2:
        raise ValueError(f"a video's size is an even number of pixels, 16 or more; got {size}")
    if every < 1:
        raise ValueError(f"every keeps one state in so many, 1 or more; got {every}")
    pyav()
    episode = store.episode(number)
    end = len(episode) if frames is None else min(len(episode), start + frames * every)
    chosen = np.arange(start, end, every)
    if start < 0 or not len(chosen):
        raise ValueError(f"episode {number} has {len(episode)} states; none from {start} to {end}")
    look = store.appearance(number)
    fps = store.manifest.fps / every

    def pictures() -> Iterator[np.ndarray]:
        for first in range(0, len(chosen), TOGETHER):
            rows = chosen[first : first + TOGETHER]
            yield draw_frames(store.part, episode.states[rows], episode.globals[rows], look, size)

    shape = write_video(path, pictures(), fps)
    actions = store.actions(number)[chosen[chosen < len(episode) - 1]]
    sidecar = {
        "schema": SCHEMA,
        "video": path.name,
        "game": store.game,
        "version": store.manifest.version,
        "episode": int(number),
        "seed": store.seed(number),
        "player": store.player(number),
        "appearance": look,
        "start": start,
        "every": every,
        "frames": len(chosen),
        "fps": fps,
        "height": shape[0],
        "width": shape[1],
        "codec": f"h264, every frame by itself, crf {QUALITY}",
        "actions": [store.part.actions[action] for action in actions],
        "store": store.fingerprint,
    }
    write_json(path.with_suffix(".json"), sidecar)
    return read_json(path.with_suffix(".json"))


def write_video(path: Path, batches: Iterator[np.ndarray], fps: float) -> tuple[int, int]:
    """Code batches of RGB frames (T, H, W, 3); whole or not at all. Gives height and width."""
    av = pyav()
    height = width = 0
    with written_whole(path) as part, av.open(str(part), "w", format="mp4") as container:
        stream = None
        for batch in batches:
            height, width = batch.shape[1:3]
            if stream is None:
                stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1001))
                stream.height, stream.width = height - height % 2, width - width % 2
                stream.pix_fmt = "yuv420p"  # what every player and browser shows
                stream.options = {"crf": str(QUALITY), "g": "1", "threads": "1", "preset": "fast"}
            for picture in batch[:, : stream.height, : stream.width]:
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
                container.mux(stream.encode(frame))
        if stream is None:
            raise ValueError(f"no frames to write to {path}")
        container.mux(stream.encode())
    return height, width


def read_video(path: Path | str) -> UInt8[np.ndarray, "time height width 3"]:
    """All frames of a video, RGB."""
    av = pyav()
    try:
        with av.open(str(path)) as container:
            frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    except (av.FFmpegError, IndexError) as error:
        raise ValueError(f"{path} is no video that can be read ({error})") from None
    if not frames:
        raise ValueError(f"{path} holds no frames")
    return np.stack(frames)


def pyav() -> ModuleType:
    """The module `av`; without it, a ValueError that says how to get it."""
    try:
        import av
    except ImportError:
        raise ValueError(
            "video needs PyAV; install it with `pip install 'cosmolabe[video]'`"
        ) from None
    return av
