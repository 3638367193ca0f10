"""One pass over a video: features, motion and what the decoder met; afterwards no pixel is held."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from cosmolabe.core.clip import Clip
from cosmolabe.core.encoder import Encoder
from cosmolabe.core.record import plain
from cosmolabe.judges.physics.motion import changes
from cosmolabe.judges.physics.protocol import PhysicsProtocol

HAIR = 1e-6  # seconds
OF_A_WINDOW = ("window", "window_start", "window_end", "frames_shown", "frozen", "doubtful")


@dataclass(frozen=True)
class Watched:
    """A whole video as the judge sees it."""

    features: Float[np.ndarray, "row width"]
    starts: Float[np.ndarray, " row"]
    """Seconds at which what a row tells begins."""
    row_seconds: float
    """How long it lasts."""
    clock: Float[np.ndarray, " time"]
    """Seconds of each grid time."""
    changes: Float[np.ndarray, " time"]
    """Mean change of the picture from one grid time to the next, 0..1."""
    fps: float
    """Of the grid."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What decoding met."""

    @property
    def seconds(self) -> float:
        """From the first grid time to the end of the last."""
        return float(self.clock[-1] - self.clock[0] + 1.0 / self.fps)

    @property
    def motion(self) -> float:
        """Change of the picture a second, in shares of full brightness; NaN of a single picture."""
        span = float(self.clock[-1] - self.clock[0])
        return float(self.changes.sum() / span) if span > 0 else float("nan")

    def told(self) -> Float[np.ndarray, "number 1"]:
        """All but the features as one column of numbers, so that it can be kept beside them."""
        head = json.dumps(plain({"row": self.row_seconds, "fps": self.fps, "facts": self.facts}))
        text = np.frombuffer(head.encode(), np.uint8).astype(np.float32)
        sizes = np.array([len(text), len(self.starts), len(self.clock)], np.float32)
        parts = (sizes, text, self.starts, self.clock, self.changes)
        return np.concatenate(parts, dtype=np.float32)[:, None]

    @classmethod
    def retold(
        cls, features: Float[np.ndarray, "row width"], told: Float[np.ndarray, "number 1"]
    ) -> "Watched":
        """What `told` gave, with its features."""
        column = told[:, 0]
        text, rows, times = (int(size) for size in column[:3])
        ends = np.cumsum([3, text, rows, times, times])
        if ends[-1] != len(column) or rows != len(features):
            raise ValueError("what was kept beside the features does not fit them")
        head = json.loads(column[3 : ends[1]].astype(np.uint8).tobytes())
        starts, clock, moved = (
            column[ends[i] : ends[i + 1]].astype(np.float64) for i in range(1, 4)
        )
        return cls(features, starts, head["row"], clock, moved, head["fps"], head["facts"])


def watch(clips: Iterable[Clip], encoder: Encoder, protocol: PhysicsProtocol) -> Watched:
    """Look at the windows of one video in turn; each is let go once it has been looked at.

    The last window may begin before the one before it ends: what was seen already counts once.
    """
    parts: list[tuple[np.ndarray, ...]] = []
    fps, row_seconds, before, facts = protocol.sampling.fps, 0.0, None, {}
    rows_until = times_until = -np.inf
    for clip in clips:
        rows = np.asarray(encoder.encode(clip), np.float32)
        fps, times = clip.fps, np.asarray(clip.times, np.float64)
        row_seconds = row_seconds or len(clip) / clip.fps / len(rows)
        starts = times[np.arange(len(rows)) * len(clip) // len(rows)]
        fresh_rows, fresh = starts >= rows_until - HAIR, times >= times_until - HAIR
        moved = changes(clip, protocol.motion_ignored, protocol.canvas.fill, before)
        if (
            before is not None and not fresh.all()
        ):  # its first picture lies before the last one seen
            moved = changes(clip, protocol.motion_ignored, protocol.canvas.fill)
        parts.append((rows[fresh_rows], starts[fresh_rows], times[fresh], moved[fresh]))
        rows_until, times_until = starts[-1] + row_seconds, times[-1] + 1.0 / fps
        before = clip.frames[clip.shown[-1]]
        facts = _joined(facts, clip)
    if not parts:
        raise ValueError("the video gave no picture to look at")
    features, *rest = (np.concatenate(column) for column in zip(*parts, strict=True))
    # In the 32 bits that features are kept with: what was kept says the same as what is seen.
    starts, clock, moved = (column.astype(np.float32).astype(np.float64) for column in rest)
    return Watched(features, starts, row_seconds, clock, moved, float(fps), facts)


def _joined(facts: dict[str, Any], clip: Clip) -> dict[str, Any]:
    """What was met in all windows so far; what is told of one window alone is left out or added."""
    told = {name: value for name, value in clip.facts.items() if name not in OF_A_WINDOW}
    if "source_fps" not in facts:
        told["source_fps"] = clip.source_fps
    doubtful = facts.get("doubtful", 0) + int(clip.facts.get("doubtful", 0))
    return {**facts, **told, "windows": facts.get("windows", 0) + 1, "doubtful": doubtful}
