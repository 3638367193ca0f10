"""The protocols of the state judge; docs/judges/state.md says why each choice differs.

Two ways to score, and five variants of ours in which a model is shown less, or worse, than the
truth (AutoWorldModel-Bench names them as future work; the sizes are ours).
"""

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


@dataclass(frozen=True)
class RobustProtocol(StateProtocol):
    """`state/1` with a corrupted context (see `robust`); the truth that is scored stays clean."""

    noise: float = 0.0
    """Standard deviation added to positions on each axis, shares of the world."""
    masked: float = 0.0
    """Chance of each game field to read 0 throughout a context."""
    missing: float = 0.0
    """Chance of each entity to be shown dead for `missing_states` states in a row."""
    missing_states: int = 4
    every: int = 1
    """Context and imagined states are so many ticks apart."""
    reach: float = 0.0
    """Entities farther than this from the controllable one, on either axis, are shown dead; shares
    of the world, 0 shows all."""
    corruption_seed: int = 0

    def __post_init__(self) -> None:
        for name in ("noise", "masked", "missing", "reach"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is in [0, 1]; got {getattr(self, name)}")
        if self.every < 1:
            raise ValueError(f"every counts ticks, 1 or more; got {self.every}")
        if not 1 <= self.missing_states <= self.window:
            raise ValueError(
                f"missing_states is 1 to {self.window}, the states shown; got {self.missing_states}"
            )

    @property
    def variant(self) -> str:
        """What is done to the context, in a word: the part of the name after the plus."""
        return self.name.partition("+")[2]


CLEAN = "state/1"
PROTOCOLS: dict[str, StateProtocol] = {
    CLEAN: StateProtocol(),
    "state/awm-1": StateProtocol(
        name="state/awm-1",
        wrap_aware=False,
        alive_in_truth=False,
        teacher_forced_first=True,
        pooled=True,
    ),
}
ROBUST = {
    protocol.name: protocol
    for protocol in (
        RobustProtocol(name=f"{CLEAN}+noise", noise=0.01),
        RobustProtocol(name=f"{CLEAN}+masked", masked=1.0),
        RobustProtocol(name=f"{CLEAN}+missing", missing=0.5),
        RobustProtocol(name=f"{CLEAN}+skip2", every=2),
        RobustProtocol(name=f"{CLEAN}+partial", reach=0.3),
    )
}
"""The robustness variants by name."""
PROTOCOLS |= ROBUST
