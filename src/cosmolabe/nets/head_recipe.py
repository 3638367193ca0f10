"""How a physics head is trained: every dial of it; the defaults are PhyProbe's."""

from dataclasses import dataclass
from typing import Literal

PAPER_WEIGHTS = (
    ("videofeedback2", 5 / 17),
    ("videophy2", 3 / 17),
    ("travl", 3 / 17),
)
"""Share of training draws by corpus (PhyProbe: 0.294, 0.176, 0.176)."""
OTHER_WEIGHT = 1.5 / 17
"""Of every other corpus: the paper states no more, so what is left is shared evenly (ours)."""


@dataclass(frozen=True)
class HeadRecipe:
    """How a head is built and trained; numbers without another source are PhyProbe's."""

    kind: Literal["stats", "mean", "attention", "events"] = "stats"
    hidden: int = 256
    """Width of the first hidden layer; the second is half of it."""
    heads: int = 16
    """Of an `attention` head; they divide the width of the features."""
    differences: int = 0
    """Orders of change over time pooled beside the features themselves: 1 adds first differences,
    2 also second ones. Mean, spread and peak alone cannot tell a clip from its reversal (ours)."""
    standardise: bool = False
    """Shift and scale every input by its mean and spread over the training clips (ours)."""
    window: int = 16
    """Times of one event window (kind `events`, ours)."""
    stride: int = 8
    """Times from one event window to the next."""
    quantile: float = 0.9
    """Which quantile of its windows' scores an `events` head gives to a clip."""

    steps: int = 10_000
    batch: int = 8
    """Pairs of a step."""
    rate: float = 3e-4
    weight_decay: float = 0.01
    """On weight matrices only, never on biases."""
    warmup: int = 500  # steps, linear; then cosine to zero
    ema: float = 0.9999
    ema_warmup: bool = True
    """Decay min(ema, (1 + t)/(10 + t)); off, 36.8 % of the untrained weights survive 10,000
    steps."""
    redraw: int = 2500
    """Steps after which pairs are drawn again."""

    rank_weight: float = 1.0
    magnitude_weight: float = 10.0
    anchor_weight: float = 100.0
    huber: float = 0.5
    """Error at which the magnitude term turns from square to straight."""
    smoothing: float = 0.1
    """Label smoothing of a winner of gap 0; half of it at gap 1."""
    rank_margin: Literal["open", "bounded"] = "open"
    """`bounded` aims at sigmoid(rank_slope · difference of the labels), which does not stretch the
    calibrated scale as a smoothed 0/1 target does (ours)."""
    rank_slope: float = 1.0
    labels: Literal["floor", "linear"] = "floor"
    """`linear` undoes the floor of human ratings (an ablation of the paper)."""
    rated: tuple[str, ...] = ("videophy2", "videofeedback2")
    """Corpora whose violation comes from a rating of 1 to 5; only these does `linear` change."""

    weights: tuple[tuple[str, float], ...] = PAPER_WEIGHTS
    """Share of draws by `PairRow.source`, over the sources that are present."""
    other_weight: float = OTHER_WEIGHT
    leave_out: tuple[str, ...] = ()
    """Datasets or groups no clip of which is trained on."""
    no_anchor: tuple[str, ...] = ()
    """Datasets or groups whose anchors are not used, though their pairs are."""
    fraction: float = 1.0
    """Share of the pairs that is used."""
    domain_weight: float = 0.0
    """Of the share of the last layer that goes with the clips' domain and not with their label
    (ours)."""
    domain_by: Literal["dataset", "group", "generator"] = "dataset"
    members: int = 1
    """Heads trained together, each from a start and with draws of its own."""

    def __post_init__(self) -> None:
        for name in ("hidden", "heads", "window", "stride", "steps", "batch", "redraw", "members"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        for name in ("rate", "huber", "rank_slope"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0; got {getattr(self, name)}")
        for name in (
            "rank_weight", "magnitude_weight", "anchor_weight", "domain_weight", "weight_decay",
            "warmup", "other_weight",
        ):  # fmt: skip
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is not negative; got {getattr(self, name)}")
        if not 0 <= self.ema < 1 or not 0 <= self.smoothing < 1:
            raise ValueError(f"ema and smoothing lie in [0, 1); got {self.ema}, {self.smoothing}")
        if not 0 <= self.quantile <= 1 or not 0 < self.fraction <= 1:
            raise ValueError(
                f"quantile lies in [0, 1], fraction in (0, 1]; got {self.quantile}, {self.fraction}"
            )
        if not 0 <= self.differences <= 2:
            raise ValueError(f"differences is 0, 1 or 2; got {self.differences}")
        if any(not weight >= 0 for _, weight in self.weights):
            raise ValueError(f"draw weights are not negative; got {self.weights}")
        self._refuse_unknown()

    def _refuse_unknown(self) -> None:
        choices = {
            "kind": ("stats", "mean", "attention", "events"),
            "rank_margin": ("open", "bounded"),
            "labels": ("floor", "linear"),
            "domain_by": ("dataset", "group", "generator"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"no {name} '{getattr(self, name)}'; have {list(allowed)}")
