"""Train a world model on a store; stops by steps or seconds, goes on where it stopped."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Verb, progress
from cosmolabe.core.figures import with_span

MOST_THREADS = 256  # far more make torch crash


@dataclass(frozen=True, kw_only=True)
class Train(Verb):
    """Train a world model on a store; stops by steps or seconds, goes on where it stopped."""

    store: Positional[Path]
    """Store to learn from."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Checkpoint folder to write."""
    model: Annotated[str, arg(aliases=["-m"])] = "transformer"
    """Which world model."""
    size: Literal["laptop", "paper"] = "laptop"
    """How big."""
    steps: int | None = None
    """Gradient steps; equal steps give equal bytes. 1000 where neither end is given."""
    seconds: float | None = None
    """Seconds of training."""
    batch_size: int | None = None
    """Windows of a step; the recipe's own where none is given."""
    rate: float | None = None
    """Learning rate at the top; the recipe's own where none is given."""
    seed: int = 42
    """Seed of the weights and of the order of the data."""
    resume: FlagCreatePairsOff[bool] = False
    """Go on from what an earlier sitting left in the folder, if it left anything."""
    evaluate: float | None = None
    """Judge a few windows of val every so many seconds, and say how it stands."""
    frames: FlagCreatePairsOff[bool] = False
    """Train the small frame model instead: it paints the next frame of the store's game, and
    learns from play of its own drawing."""
    threads: int | None = None
    """Threads to compute with; else OMP_NUM_THREADS, else one."""

    stopped: ClassVar[str] = "what was learnt is kept; add --resume to go on"

    def run(self) -> Answer:
        """Train, showing the loss as it falls."""
        from cosmolabe.core import parts
        from cosmolabe.data.store import open_store
        from cosmolabe.nets.recipe import TrainConfig, paper
        from cosmolabe.nets.training import train

        if self.threads is not None and not 1 <= self.threads <= MOST_THREADS:
            raise ValueError(f"threads are 1 to {MOST_THREADS}; got {self.threads}")
        if not 0 <= self.seed < 1 << 63:
            raise ValueError(f"a training's seed is 0 or more and fits 63 bits; got {self.seed}")
        store = open_store(self.store)
        if (self.out / "config.json").exists() and not self.resume:
            raise ValueError(
                f"{self.out} holds a trained model; say --resume to go on, or choose a new folder"
            )
        if self.frames:
            return self._train_frames(store.game)
        part = parts.load("models", self.model)
        if not part.trainable:
            raise ValueError(f"'{self.model}' learns nothing; judge it by its name")
        if self.threads is not None:
            import torch

            torch.set_num_threads(self.threads)
        model = part.create(store.manifest, self.size, self.seed)
        recipe = paper() if self.size == "paper" else TrainConfig()
        config = self.config_from(replace(recipe, **part.recipe))
        watch = _Watch(store, self.evaluate) if self.evaluate else None
        with progress(f"training {self.model}") as tell:
            last = train(
                model,
                store,
                config,
                self.out,
                on_progress=lambda now: tell(round(1000 * now.share), 1000),
                on_evaluate=watch,
                resume=self.resume and (self.out / "training.json").exists(),
            )
        if last.interrupted:
            raise KeyboardInterrupt
        data = {
            "checkpoint": self.out,
            "model": self.model,
            "game": store.game,
            "steps": last.step,
            "seconds": last.seconds,
            "loss": last.loss,
            "waiting": last.waiting,
            "looks": watch.looks if watch else [],
        }
        text = (
            f"{self.out}: {self.model} for {store.game}, {last.step} steps in "
            f"{last.seconds:.0f} s, loss {last.loss:.4f}"
        )
        return Answer(data, text)

    def _train_frames(self, game: str) -> Answer:
        """The small frame model; the folder's own steps are gone on with."""
        from cosmolabe.bench.frame_models.training import FrameRecipe, train_frames

        if self.seconds is not None or self.evaluate:
            raise ValueError(
                "a frame model trains by --steps; --seconds and --evaluate are not its"
            )
        if (self.out / "frame_model.json").exists() and not self.resume:
            raise ValueError(
                f"{self.out} holds a trained model; say --resume to go on, or choose a new folder"
            )
        asked = {"steps": self.steps, "batch": self.batch_size, "rate": self.rate}
        recipe = FrameRecipe(seed=self.seed)
        recipe = replace(recipe, **{k: v for k, v in asked.items() if v is not None})
        last: dict[str, float] = {}
        with progress("training pixels") as tell:

            def told(now: dict[str, float]) -> None:
                last.update(now)
                tell(int(now["step"]), recipe.steps)

            model = train_frames(game, recipe, folder=self.out, tell=told)
        data = {"checkpoint": self.out, "model": model.name, "game": game, **last}
        loss = last.get("loss", float("nan"))
        text = f"{self.out}: {model.name} for {game}, {recipe.steps} steps, loss {loss:.4f}"
        return Answer(data, text)

    def config_from(self, recipe: Any) -> Any:  # noqa: ANN401 - a TrainConfig, loaded lazily
        """The recipe with what was asked for."""
        changes = {"batch_size": self.batch_size, "rate": self.rate}
        if self.evaluate:
            changes["evaluate_every"] = self.evaluate
        if self.steps is not None or self.seconds is not None:
            recipe = replace(recipe, steps=self.steps, seconds=self.seconds)
        return replace(
            recipe, seed=self.seed, **{k: v for k, v in changes.items() if v is not None}
        )


class _Watch:
    """Judges windows of val now and then, a third of the time between at most, and says so."""

    def __init__(self, store: Any, every: float) -> None:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.bench.callback import quick_check  # lazily

        self.check = quick_check(store, every / 3)
        self.looks: list[Any] = []

    def __call__(self, model: Any, now: Any) -> None:  # noqa: ANN401 - a world model, a Progress
        final = self.check(model)
        self.looks.append(final)
        print(
            f"step {now.step}, {now.seconds:.0f} s: final "
            f"{with_span(final.value, final.low, final.high)}, floor {final.floor:.3f}",
            file=sys.stderr,
        )


VERB = Train
