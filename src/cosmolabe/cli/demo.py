"""Play, train, imagine, judge and report, in a few minutes: the whole of Cosmolabe once."""

import contextlib
import shutil
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from tyro.conf import arg

from cosmolabe.cli._physics import keep_imagined
from cosmolabe.cli._verb import Answer, Verb, progress
from cosmolabe.cli.judge import clear, readings_table, refuse_foreign

PARTS = ("stores", "models", "rollouts")
WINDOWS = 4  # judged in each test episode
FRAMES = 180  # of a rollout, three seconds
LATER = "The vqa judge did not look: this version has none yet."


@dataclass(frozen=True, kw_only=True)
class Demo(Verb):
    """Play, train, imagine, judge and report, in a few minutes: the whole of Cosmolabe once."""

    out: Annotated[Path, arg(aliases=["-o"])] = Path("runs/demo")
    """Run folder; stores, checkpoints and rollouts lie in it too."""
    games: tuple[str, ...] = ("pong", "racer")
    """Games to play."""
    model: Annotated[str, arg(aliases=["-m"])] = "transformer"
    """World model to train."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 320
    """Episodes of each game."""
    steps: int = 600
    """Gradient steps for each game, at most."""
    seconds: float = 150.0
    """Seconds of training in all, at most; on a slow machine this comes first."""
    rollouts: int = 16
    """Rollouts of three seconds kept for each game."""
    seed: int = 42
    """Seed of the model's weights and of the order of its data."""

    stopped: ClassVar[str] = "what was played and learnt is kept; the same command goes on"

    def run(self) -> Answer:
        """One game after the other, then one report over all."""
        from cosmolabe.bench.evaluate import write_runs  # lazily, as all below
        from cosmolabe.bench.physics.imagined import Imagined
        from cosmolabe.core.record import write_json
        from cosmolabe.judges.physics import Physics
        from cosmolabe.report.page import write_report

        if not self.games:
            raise ValueError("the demo needs at least one game")
        refuse_foreign(self.out, PARTS)
        began, judgements, steps = time.monotonic(), [], {}
        physics, seen = Physics.load(), Imagined([], [], [])
        for game in self.games:
            judged, looked, steps[game] = self._one_game(game, physics)
            judgements.append(judged)
            seen += looked
        clear(self.out, PARTS)
        with _step("writing the report"):
            write_runs(judgements, self.out)
            keep_imagined(self.out, [r for one in judgements for r in one.readings], seen, physics)
            record = self.out / "record.json"
            write_json(record, _noted(record, steps))
            page = write_report(self.out)
        readings = [*(r for one in judgements for r in one.readings), *seen.readings]
        seconds = time.monotonic() - began
        data = {"run": self.out, "report": page, "seconds": seconds, "readings": readings}
        done = f"wrote {page} in {seconds:.0f} s; open it in a browser"
        return Answer(data, [readings_table(readings), LATER, done])

    def _one_game(self, game: str, physics: Any) -> tuple[Any, Any, str]:  # noqa: ANN401
        from cosmolabe.bench.evaluate import judge_model
        from cosmolabe.bench.physics.imagined import judge_drawn
        from cosmolabe.bench.rolling import draw_and_imagine
        from cosmolabe.cli.rollout import keep
        from cosmolabe.data.collect import collect

        with _step(f"playing {self.episodes} episodes of {game}"), progress("playing") as tell:
            store = collect(game, self.out / "stores" / game, self.episodes, progress=tell)
        with _step(f"training {self.model} on {game}"):
            model, how = self._trained(store)
        with _step("imagining"):
            folder = self.out / "rollouts" / game
            if (folder / "rollouts.jsonl").exists():
                shutil.rmtree(folder)  # ours, and perhaps of a model that has learnt more since
            drawn = draw_and_imagine(model, store, "test", self.rollouts, FRAMES)
            keep(folder, store, model, drawn, 0)
        with _step("judging"):
            judged = judge_model(model, store, per_episode=WINDOWS, command="demo")
        with _step("looking at the drawn rollouts"):
            windows, prediction, why, _ = drawn
            looked = judge_drawn(windows, {model.name: (prediction, why)}, store, physics)
        return judged, looked, how

    def _trained(self, store: Any) -> tuple[Any, str]:  # noqa: ANN401 - a Store, loaded lazily
        """A model trained to the end; an earlier sitting's training goes on where it stopped."""
        from cosmolabe.core import parts
        from cosmolabe.nets.recipe import TrainConfig
        from cosmolabe.nets.training import train

        folder = self.out / "models" / store.game
        part = parts.load("models", self.model)
        if not part.trainable:
            return part.create(store.manifest, part.sizes[0], self.seed), "not trained"
        config = TrainConfig(
            steps=self.steps, seconds=self.seconds / len(self.games), seed=self.seed
        )
        model = part.create(store.manifest, "laptop", self.seed)
        with progress("training") as tell:
            last = train(
                model,
                store,
                config,
                folder,
                on_progress=lambda now: tell(round(1000 * now.share), 1000),
                resume=(folder / "training.json").exists(),
            )
        if last.interrupted:
            raise KeyboardInterrupt
        return model, f"trained for {last.step} steps in {last.seconds:.0f} s"


def _noted(path: Path, steps: dict[str, str]) -> dict[str, Any]:
    """The record with what a reader of the demo should know."""
    from cosmolabe.core.record import read_json

    record = read_json(path)
    told = [f"{game}: {how}." for game, how in steps.items()]
    return record | {"notes": [*record.get("notes", ()), *told, LATER]}


@contextlib.contextmanager
def _step(what: str) -> Generator[None]:
    """Say on stderr what is going on, and how long it took."""
    began = time.monotonic()
    print(f"{what} …", file=sys.stderr, flush=True)
    yield
    print(f"  {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)


VERB = Demo
