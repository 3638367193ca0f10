"""How a model is trained: every dial of it, and the recipe of the paper."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained; numbers without a source are our choices.

    Bytes are equal where `seconds` is None: steps alone then decide.
    """

    steps: int | None = 1000
    """Gradient steps; None trains until `seconds` are over."""
    seconds: float | None = None
    """Seconds of training, evaluations not counted; None trains until `steps` are done."""
    batch_size: int | None = None
    """Windows of a step; None: fewer for games of many slots, see `rows_for`."""
    rate: float = 2e-3
    """Learning rate at the top."""
    warmup: int = 50  # steps
    weight_decay: float = 1e-5  # AutoWorldModel-Bench
    seen: int = 2
    """True frames at the start of a training window; predictions after each of them count."""
    unroll: int = 16
    """Frames imagined after them, through the model's own predictions."""
    first_unroll: int = 2
    """Frames imagined at the beginning of training; they grow to `unroll` over `growth`."""
    growth: float = 0.7
    """Share of the budget after which `unroll` is reached."""
    noise: float = 0.0
    """Standard deviation added to the positions of seen frames, shares of the world."""
    ema: float = 0.99
    """Decay of the running mean of the weights, which is what is judged and saved."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    seed: int = 42
    split: str = "train"
    evaluate_every: float = 30.0
    """Seconds between calls of `on_evaluate`."""
    save_every: float = 60.0
    """Seconds between saved states to resume from."""

    def __post_init__(self) -> None:
        if self.steps is None and self.seconds is None:
            raise ValueError("training needs an end: give steps, seconds, or both")
        for name in ("steps", "seconds", "batch_size", "rate", "clip", "evaluate_every"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be above 0; got {value}")
        if self.seen < 1 or self.unroll < 1:
            raise ValueError(
                f"seen and unroll must be at least 1; got {self.seen} and {self.unroll}"
            )
        if not 1 <= self.first_unroll <= self.unroll or not 0 <= self.growth <= 1:
            raise ValueError(
                f"first_unroll lies in 1..unroll and growth in 0..1; got {self.first_unroll} of "
                f"{self.unroll} and {self.growth}"
            )
        if not 0 <= self.ema < 1 or self.noise < 0 or self.warmup < 0:
            raise ValueError(
                f"ema lies in [0, 1), noise and warmup are not negative; got {self.ema}, "
                f"{self.noise}, {self.warmup}"
            )

    def rows_for(self, num_slots: int) -> int:
        """Windows of a step for a game of so many slots.

        Many slots already make many examples of one window, and a step's time goes with both (our
        choice: about 160 to 400 slots a step).
        """
        if self.batch_size is not None:
            return self.batch_size
        return 32 if num_slots <= 8 else 16 if num_slots <= 32 else 8

    @property
    def length(self) -> int:
        """States of a training window."""
        return self.seen + self.unroll


def paper() -> TrainConfig:
    """The recipe of AutoWorldModel-Bench: at most 10,000 steps, at most 600 s, seed 42.

    But for the batch of 32, which is ours: its public release takes 128 to 2,048, fewer for games
    of many slots.
    """
    return TrainConfig(steps=10_000, seconds=600.0, batch_size=32, rate=3e-4, warmup=500)
