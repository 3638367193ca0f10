"""The physics judge: how badly does a video violate physics, and where?

Protocols `physics/1` (ours, the default) and `physics/phyprobe-1` (the released package's way);
docs/judges/physics.md lists every difference. 0 nothing violated, 1 blatant.
"""

from cosmolabe.core.judge import JudgePart
from cosmolabe.judges.physics.bundle import Bundle, bundled, load_bundle, save_bundle
from cosmolabe.judges.physics.familiar import Familiar, learn
from cosmolabe.judges.physics.finished import inputs_of, judge
from cosmolabe.judges.physics.physics import Physics
from cosmolabe.judges.physics.protocol import PROTOCOLS, PhysicsProtocol
from cosmolabe.judges.physics.readings import readings_of
from cosmolabe.judges.physics.scoring import Verdict, judge_watched, pooled, row_of
from cosmolabe.judges.physics.watching import Watched, watch

__all__ = [
    "JUDGE",
    "PROTOCOLS",
    "Bundle",
    "Familiar",
    "Physics",
    "PhysicsProtocol",
    "Verdict",
    "Watched",
    "bundled",
    "inputs_of",
    "judge",
    "judge_watched",
    "learn",
    "load_bundle",
    "pooled",
    "readings_of",
    "row_of",
    "save_bundle",
    "watch",
]

JUDGE = JudgePart(
    name="physics",
    summary="How badly does a video violate physics, and where?",
    protocols=PROTOCOLS,
    judge=judge,
)
