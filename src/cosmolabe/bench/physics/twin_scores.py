"""Every clip of a set of twins through the physics judge, and through attacks on it.

Scores lie in one file of JSON lines, a line a clip, so that an interrupted run goes on where it
stopped. A judge may abstain; what it would have said is kept beside why it did not.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.record import plain, read_jsonl
from cosmolabe.data.twin_rows import TwinRow
from cosmolabe.data.twin_set import read_frames
from cosmolabe.judges.physics.physics import Physics
from cosmolabe.judges.physics.scoring import Verdict

Frames = UInt8[np.ndarray, "time height width 3"]
ANYTHING: Mapping[str, Any] = {"motion_floor": 0.0, "unlike": False}
"""Choices with which the judge never abstains."""
SLOWED = 4  # times as slow
ATTACKED = 5  # every so many groups' true clip is attacked
ATTACKS: dict[str, Callable[[Frames], Frames]] = {
    "frozen": lambda frames: np.repeat(frames[:1], len(frames), 0),
    "slowed": lambda frames: frames[np.arange(len(frames)) // SLOWED],
    "reversed": lambda frames: np.ascontiguousarray(frames[::-1]),
}
"""What is done to a true clip: frozen and slowed must not pay, reversed must not go unseen."""


@dataclass(frozen=True)
class Scored:
    """What the judge says of one clip."""

    raw: float
    """As if it never abstained."""
    members: tuple[float, ...] = ()
    motion: float = float("nan")
    why: str = ""
    """Why it abstains; empty where it does not."""
    worst: tuple[float, float] = (float("nan"), float("nan"))
    """Start and end of the worst short window, in seconds."""
    curve: tuple[tuple[float, float, float], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Twofold:
    """A judge as it is used, and the same one that never abstains."""

    used: Physics
    bold: Physics

    @classmethod
    def of(cls, judge: Physics) -> "Twofold":
        """Both from one."""
        bold = Physics.of(judge.encoder, judge.bundle, judge.protocol.name, ANYTHING)
        return cls(judge, bold)

    def score(self, frames: Frames, fps: float) -> Scored:
        """Looks once, judges twice."""
        from cosmolabe.judges.physics.frames import clips_of
        from cosmolabe.judges.physics.scoring import judge_watched

        seen = self.bold.watch(clips_of(frames, fps, self.bold.protocol))
        told = judge_watched(seen, self.bold.bundle, self.bold.protocol)
        used = judge_watched(seen, self.used.bundle, self.used.protocol)
        return _scored(told, used)


def _scored(told: Verdict, used: Verdict) -> Scored:
    return Scored(
        told.raw, told.members, told.motion, used.why, (told.worst_start, told.worst_end),
        told.curve,
    )  # fmt: skip


def clips_of_rows(rows: Iterable[TwinRow], attacks: bool = True) -> dict[str, tuple[str, str]]:
    """Every clip that is scored, by name: its file, and the attack done to it or nothing."""
    found: dict[str, tuple[str, str]] = {}
    groups: dict[str, int] = {}
    for row in rows:
        number = groups.setdefault(row.group, len(groups))
        found[row.true] = (row.true, "")
        if row.damaged:
            found[row.damaged] = (row.damaged, "")
        if attacks and number % ATTACKED == 0:
            found |= {f"{row.true}:{name}": (row.true, name) for name in ATTACKS}
    return found


def score_rows(
    folder: Path,
    rows: Sequence[TwinRow],
    score: Callable[[Frames, float], Scored],
    out: Path,
    *,
    attacks: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Scored]:
    """Scores by clip; what `out` holds already is not scored again."""
    wanted = clips_of_rows(rows, attacks)
    rates = {row.true: row.fps for row in rows} | {row.damaged: row.fps for row in rows}
    found = read_scores(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        for number, (name, (path, attack)) in enumerate(wanted.items()):
            if name not in found:
                frames = read_frames(folder / path)
                told = score(ATTACKS[attack](frames) if attack else frames, rates[path])
                found[name] = told
                file.write(json.dumps({"clip": name, **plain(told)}) + "\n")
                file.flush()
            if progress:
                progress(number + 1, len(wanted))
    return {name: found[name] for name in wanted}


def read_scores(path: Path) -> dict[str, Scored]:
    """What `score_rows` wrote; a line cut short by a killed run is left out."""
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
    found = {}
    for _, row in read_jsonl(path):
        nan = float("nan")
        found[row["clip"]] = Scored(
            nan if row["raw"] is None else row["raw"],
            tuple(nan if member is None else member for member in row["members"]),
            nan if row["motion"] is None else row["motion"],
            row["why"],
            tuple(nan if end is None else end for end in row["worst"]),  # ty: ignore[invalid-argument-type]
            tuple(tuple(window) for window in row["curve"]),
        )
    return found
