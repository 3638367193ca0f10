"""Pictures that lie in memory as the windows a protocol wants, as a file of them would give."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.clip import Clip
from cosmolabe.data.video.clips import windows_of
from cosmolabe.data.video.letterbox import letterbox
from cosmolabe.data.video.protocols import LIMITS
from cosmolabe.data.video.source import Picture, Source
from cosmolabe.judges.physics.protocol import PhysicsProtocol


class Held(Source):
    """Frames shown one after another at one rate; see `data.video.source.Source`."""

    def __init__(self, frames: UInt8[np.ndarray, "time height width 3"], fps: float) -> None:
        self.facts: dict = {
            "kind": "frames",
            "frames": len(frames),
            "width": frames.shape[2],
            "height": frames.shape[1],
            "seconds": len(frames) / fps,
        }
        self.warnings: list[str] = []
        self.times = np.arange(len(frames)) / fps
        self.end, self.rate = len(frames) / fps, float(fps)

    def pictures(self, wanted: Sequence[int]) -> Iterator[tuple[int, Picture]]:
        """They are there already: `clips_of` takes them itself."""
        raise NotImplementedError

    def resurvey(self) -> None:
        """Nothing can have been wrong."""

    def close(self) -> None:
        """Nothing is open."""


def clips_of(
    frames: UInt8[np.ndarray, "time height width 3"], fps: float | int, protocol: PhysicsProtocol
) -> list[Clip]:
    """The windows of a video given as RGB frames at `fps`."""
    if frames.ndim != 4 or frames.shape[-1] != 3 or frames.dtype != np.uint8 or not len(frames):
        raise ValueError(
            f"frames are uint8 (time, height, width, 3); got {frames.dtype} {frames.shape}"
        )
    if not 0 < fps <= 10_000:
        raise ValueError(f"fps is pictures per second, above 0; got {fps}")
    if len(frames) / fps > LIMITS.seconds:
        raise ValueError(f"{len(frames)} frames at {fps:g} fps last more than {LIMITS.seconds:g} s")
    video = Held(frames, float(fps))
    drawn: dict[int, np.ndarray] = {}
    clips = []
    for window in windows_of(video, protocol.sampling):
        for number in set(window.numbers.tolist()) - set(drawn):
            drawn[number] = np.empty((protocol.canvas.size, protocol.canvas.size, 3), np.uint8)
            letterbox(frames[number], protocol.canvas, drawn[number])
        pictures, places = _once([drawn[number] for number in sorted(set(window.numbers.tolist()))])
        _, order = np.unique(window.numbers, return_inverse=True)
        shown = places[order.reshape(-1)]
        facts = {**video.facts, "sampling": protocol.sampling.name}
        times = window.times.astype(np.float64)
        clips.append(Clip(pictures, shown, times, float(window.fps), float(fps), facts))
    return clips


def _once(drawn: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Pictures that differ, in the order of their first showing, and which each one is."""
    places: dict[bytes, int] = {}
    which = [places.setdefault(picture.tobytes(), len(places)) for picture in drawn]
    first = [which.index(place) for place in range(len(places))]
    return np.stack([drawn[place] for place in first]), np.array(which, np.int64)
