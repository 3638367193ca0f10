"""The two protocols of the state judge; docs/judges/state.md says why each choice differs."""

from dataclasses import dataclass

from cosmolabe.core.protocol import fingerprint
from cosmolabe.metrics.final_score import WEIGHTS


@dataclass(frozen=True)
class StateProtocol:
    """Every choice that can move a state score."""

    name: str = "state/1"
    window: int = 8
    """True context states (AutoWorldModel-Bench)."""
    horizon: int = 20
    """Imagined steps (AutoWorldModel-Bench, its longest)."""
    weights: tuple[tuple[int, float], ...] = WEIGHTS
    """(horizon, weight) of the final score (AutoWorldModel-Bench)."""
    position_weight: float = 0.9  # AutoWorldModel-Bench, of the composite
    alive_weight: float = 0.1  # the same
    wrap_aware: bool = True
    """Distance goes the shorter way round on axes that wrap."""
    alive_in_truth: bool = True
    """Position counts only where the entity lives in truth."""
    teacher_forced_first: bool = False
    """c₁ is one step from true states at every step of the window, not step 1 of the rollout."""
    pooled: bool = False
    """One mean over the entities of all windows, not a composite per window and their mean."""
    alive_threshold: float = 0.5
    """Alive is a prediction above it (AutoWorldModel-Bench)."""
    invalid_scores: float = 0.0
    """A window whose prediction is missing or not finite."""

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when any choice changes."""
        return fingerprint(self)


PROTOCOLS = {
    "state/1": StateProtocol(),
    "state/awm-1": StateProtocol(
        name="state/awm-1",
        wrap_aware=False,
        alive_in_truth=False,
        teacher_forced_first=True,
        pooled=True,
    ),
}
