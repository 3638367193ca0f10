"""What judging a model gives: readings, curves, tables, one row a window, and clips to look at."""

from dataclasses import dataclass, field
from typing import Any

from cosmolabe.bench.bed import Bed
from cosmolabe.core.reading import Reading
from cosmolabe.core.record import Record
from cosmolabe.core.rollout import Prediction
from cosmolabe.judges.state import WindowScores


@dataclass(frozen=True)
class Judgement:
    """A model's report card on one game."""

    game: str
    model: str
    readings: list[Reading]
    curves: list[dict[str, Any]]
    """{game, model, metric, horizon, value, low, high, still, constant_velocity, ceiling}."""
    kinds: list[dict[str, Any]]
    """{game, model, kind, horizon, position_l1, alive_f1, n}."""
    clips: list[dict[str, Any]]
    """One row per window, and one per episode that was too short."""
    record: Record
    bed: Bed
    scores: WindowScores
    prediction: Prediction
    media: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Name to {true, imagined, fps, caption}."""
    scenarios: list[dict[str, Any]] = field(default_factory=list)
    """One row per rule of each scenario; see `bench.scenario_judging`."""
    robust: list[dict[str, Any]] = field(default_factory=list)
    """One row per robustness protocol; see `bench.robust`."""
    planning: list[dict[str, Any]] = field(default_factory=list)
    """What plans made inside the model bring; see `bench.planning.judging`."""

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: all that is written, not the windows it was measured on."""
        kept_there = ("bed", "scores", "prediction")
        return {name: value for name, value in vars(self).items() if name not in kept_there}

    def reading(self, metric: str, horizon: int | None = None) -> Reading:
        """The reading of that name; refused with the names there are."""
        for reading in self.readings:
            if (reading.metric, reading.horizon) == (metric, horizon):
                return reading
        have = sorted({(r.metric, r.horizon or 0) for r in self.readings})
        raise ValueError(f"no reading '{metric}' at horizon {horizon}; have {have}")

    @property
    def final(self) -> float:
        """The final score."""
        return self.reading("final").value

    @property
    def skill(self) -> float:
        """(final − best trivial) / (stochastic ceiling − best trivial)."""
        return self.reading("skill").value
