"""What each planted defect costs: every defect x game x seed, with it and without, paired.

A sound model is trained once per model, game and seed. A defect of training is trained with the
same recipe, data and seed; one that only rollouts have is planted while the sound model is judged.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench import defects
from cosmolabe.bench.bed import Bed
from cosmolabe.bench.defects.defect import Defect
from cosmolabe.bench.evaluate import judge_model
from cosmolabe.bench.judgement import Judgement
from cosmolabe.bench.tables import GridRecipe, all_rows, alone, store_recipe, stores_of
from cosmolabe.core import bootstrap, parts
from cosmolabe.core.model import ModelPart
from cosmolabe.core.record import plain, read_json, write_json
from cosmolabe.core.rollout import WorldModel
from cosmolabe.data.store import Store
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.training import train

SCHEMA = 1


@dataclass(frozen=True)
class DefectRecipe(GridRecipe):
    """All that decides the study; stored before its first cell runs."""

    name: str = "defects"
    games: tuple[str, ...] = ("pong", "racer", "snake")
    models: tuple[str, ...] = ("transformer", "dreamer", "d3pm", "maskgit")
    """Models whose defects are studied."""
    seeds: tuple[int, ...] = (0, 1, 2)
    steps: int | None = 600
    seconds: float | None = None


def all_defects() -> list[Defect]:
    """Every planted defect, of whatever file of `bench/defects` offers some."""
    found: list[Defect] = []
    for module in pkgutil.iter_modules(defects.__path__):
        loaded = importlib.import_module(f"{defects.__name__}.{module.name}")
        found += getattr(loaded, "DEFECTS", ())
    return found


def study(
    recipe: DefectRecipe,
    work: Path,
    out: Path,
    tell: Callable[[dict[str, Any]], None] | None = None,
    only: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Measure every defect that `out` does not hold yet; gives all rows of this recipe.

    `out` grows by one row a defect, game and seed, so a killed run goes on where it stopped.
    `only` leaves out all but the named defects, models or games.
    """
    studied = [d for d in all_defects() if d.measured and d.model in recipe.models]
    known = {*recipe.games, *(d.model for d in studied), *(d.name for d in studied)}
    if set(only) - known:
        raise ValueError(
            f"nothing to study named {sorted(set(only) - known)}; have {sorted(known)}"
        )
    store_recipe(recipe, out)
    for seed in recipe.seeds:  # every game once before any a second time
        for game in recipe.games:
            wanted = [d for d in studied if _is_wanted(d, game, only)]
            missing = [d for d in wanted if not _has_row(out, recipe, game, d, seed)]
            if not missing:
                continue
            learn, bed = stores_of(recipe, game, work)
            for row in _rows(recipe, learn, bed, missing, seed, work):
                with alone(work):
                    write_json(out, [*all_rows(out), row])
                if tell is not None:
                    tell(row)
    return [row for row in all_rows(out) if row["recipe"] == recipe.fingerprint]


def _is_wanted(defect: Defect, game: str, only: Sequence[str]) -> bool:
    """A defect or model that is named is wanted in the games that are named, or in all."""
    games = parts.names("games")
    of_games = [name for name in only if name in games]
    of_defects = [name for name in only if name not in games]
    return (not of_games or game in of_games) and (
        not of_defects or bool({defect.name, defect.model} & set(of_defects))
    )


def _has_row(out: Path, recipe: DefectRecipe, game: str, defect: Defect, seed: int) -> bool:
    version = parts.load("games", game).manifest.version
    key = (recipe.fingerprint, game, version, defect.model, defect.name, seed)
    names = ("recipe", "game", "version", "model", "defect", "seed")
    return any(tuple(row[name] for name in names) == key for row in all_rows(out))


def _rows(
    recipe: DefectRecipe, learn: Store, bed: Bed, missing: list[Defect], seed: int, work: Path
) -> Iterator[dict[str, Any]]:
    for model in dict.fromkeys(defect.model for defect in missing):
        cell = _Cell(recipe, learn, bed, model, seed, work)
        for defect in missing:
            if defect.model == model:
                yield cell.row(defect)


@dataclass
class _Cell:
    """A model on a game with a seed: sound once, then with one defect after the other."""

    recipe: DefectRecipe
    learn: Store
    bed: Bed
    model: str
    seed: int
    work: Path

    @property
    def part(self) -> ModelPart:
        """The model by name."""
        return parts.load("models", self.model)

    @property
    def config(self) -> TrainConfig:
        """How it is trained, with the defect and without."""
        return self.recipe.config(self.model, self.bed.game, self.seed, self.part.recipe)

    @cached_property
    def without(self) -> Judgement:
        """The sound model, judged."""
        return self.judged(self.trained("sound"))

    def row(self, defect: Defect) -> dict[str, Any]:
        """One line of the table."""
        without = self.without
        sound = None if defect.in_training else self.trained("sound")
        with defect.plant():
            with_it = self.judged(self.trained(defect.name) if sound is None else sound)
        return self._line(defect, without, with_it)

    def trained(self, name: str) -> WorldModel:
        """The trained model, from its checkpoint where that is finished."""
        bed, config = self.bed, self.config
        folder = self.work / "checkpoints"
        folder /= f"{self.recipe.name}-{bed.game}-{self.model}-{self.seed}-{name}"
        record = folder / "config.json"
        if record.is_file() and self.part.load is not None:
            made = read_json(record)
            if made["recipe"] == plain(asdict(config)) and made["steps"] == config.steps:
                return self.part.load(folder, self.learn.manifest)
        world = self.part.create(self.learn.manifest, self.recipe.size, self.seed)
        if train(world, self.learn, config, folder).interrupted:
            raise KeyboardInterrupt
        return world

    def judged(self, world: WorldModel) -> Judgement:
        """Its report card on the test windows."""
        return judge_model(world, self.bed.store, bed=self.bed, num_pictures=0, num_clips=0)

    def _line(self, defect: Defect, without: Judgement, with_it: Judgement) -> dict[str, Any]:
        bed, recipe = self.bed, self.recipe
        each = with_it.scores.final - without.scores.final
        low, high = bootstrap.interval(
            bootstrap.weighted_mean(each, bootstrap.resamples(bed.windows.episodes))
        )
        reading = without.reading("final")
        return {
            "schema": SCHEMA,
            "defect": defect.name,
            "model": self.model,
            "game": bed.game,
            "version": bed.store.manifest.version,
            "seed": self.seed,
            "in_training": defect.in_training,
            "without": without.final,
            "with": with_it.final,
            "skill_without": without.skill,
            "skill_with": with_it.skill,
            "difference": float(np.nanmean(each)),
            "low": float(low),
            "high": float(high),
            "invalid_with": with_it.scores.num_invalid,
            "steps": self.config.steps,
            "dials": dict(self.part.recipe),
            "n": reading.n,
            "protocol": reading.protocol,
            "data": reading.data,
            "recipe_name": recipe.name,
            "recipe": recipe.fingerprint,
        }
