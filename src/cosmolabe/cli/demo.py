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

from cosmolabe.cli import _vqa
from cosmolabe.cli._physics import keep_imagined
from cosmolabe.cli._verb import Answer, Verb, progress
from cosmolabe.cli.judge import clear, readings_table, refuse_foreign

PARTS = ("stores", "models", "rollouts")
WINDOWS = 4  # judged in each test episode
FRAMES = 180  # of a rollout, three seconds


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
    vlm: str = "tiny"
    """Vision-language model of the vqa judge."""
    vlm_weights: str = ""
    """Its weights; the bundled ones where none are named."""

    certificate: ClassVar[Path | None] = None
    protocol: ClassVar[str] = ""
    device: ClassVar[str] = ""

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
        began, judgements, notes = time.monotonic(), [], []
        physics, seen = Physics.load(), Imagined([], [], [])
        vqa, asked, agree, why = self._asker()
        for game in self.games:
            judged, (obeyed, looked, rows), how = self._one_game(game, physics, vqa)
            judgements.append(judged)
            notes.append(f"{game}: {how}.")
            seen, asked, agree = seen + looked, asked + obeyed, agree + rows
        notes += [why] if why else []
        clear(self.out, PARTS)
        with _step("writing the report"):
            write_runs(judgements, self.out)
            readings = [r for one in judgements for r in one.readings]
            keep_imagined(self.out, readings, seen, physics)
            readings += seen.readings
            if vqa is not None:
                readings = _vqa.keep(self.out, readings, asked, vqa, agree)
            record = self.out / "record.json"
            write_json(record, _noted(record, notes))
            page = write_report(self.out)
        seconds = time.monotonic() - began
        data = {"run": self.out, "report": page, "seconds": seconds, "readings": readings}
        done = f"wrote {page} in {seconds:.0f} s; open it in a browser"
        said = [*_vqa.remarks(readings), *([why] if why else [])]
        return Answer(data, [readings_table(readings), *said, done])

    def _asker(self) -> tuple[Any, Any, list[Any], str]:
        """The vqa judge and nothing asked yet; where its model cannot be had, why not."""
        from cosmolabe.bench.vqa.imagined import Obeyed

        try:
            return _vqa.vqa_of(self), Obeyed(), [], ""
        except (ValueError, ModuleNotFoundError) as error:
            return None, Obeyed(), [], f"The vqa judge did not look: {error}"

    def _one_game(self, game: str, physics: Any, vqa: Any) -> tuple[Any, Any, str]:  # noqa: ANN401
        from cosmolabe.bench.evaluate import judge_model
        from cosmolabe.bench.physics.imagined import judge_drawn
        from cosmolabe.bench.vqa.held_play import held_play, imagine_held
        from cosmolabe.bench.vqa.imagined import Obeyed
        from cosmolabe.bench.vqa.together import judge_same
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
            held = held_play(game, self.rollouts, frames=FRAMES)
            prediction, unusable = imagine_held(model, held)
            keep(folder, store, model, (held.windows, prediction, unusable, ()), 0)
        with _step("judging"):
            judged = judge_model(model, store, per_episode=WINDOWS, command="demo")
        told = {model.name: (prediction, unusable)}
        with _step("looking at the drawn rollouts"):
            if vqa is not None:
                return judged, judge_same(held, told, store, vqa, physics), how
            looked = judge_drawn(
                held.windows, told, store, physics, look=lambda episode: held.looks[episode]
            )
        return judged, (Obeyed(), looked, []), how

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


def _noted(path: Path, notes: list[str]) -> dict[str, Any]:
    """The record with what a reader of the demo should know."""
    from cosmolabe.core.record import read_json

    record = read_json(path)
    return record | {"notes": [*record.get("notes", ()), *notes]}


@contextlib.contextmanager
def _step(what: str) -> Generator[None]:
    """Say on stderr what is going on, and how long it took."""
    began = time.monotonic()
    print(f"{what} …", file=sys.stderr, flush=True)
    yield
    print(f"  {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)


VERB = Demo
