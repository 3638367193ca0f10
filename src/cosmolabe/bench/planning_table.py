"""The tables of planning and of players trained inside a model, each cell once, resumable."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from cosmolabe.bench.planning.judging import judge_planning, lay_out_planning
from cosmolabe.bench.planning.players import USUAL as MEASURED
from cosmolabe.bench.planning.players import train_inside
from cosmolabe.bench.planning.playing import PlanProtocol
from cosmolabe.bench.tables import GridRecipe, all_rows, alone, store_recipe
from cosmolabe.core import parts
from cosmolabe.core.model import ModelPart
from cosmolabe.core.record import plain, read_json, write_json
from cosmolabe.core.rollout import WorldModel
from cosmolabe.data.collect import collect
from cosmolabe.data.store import Store
from cosmolabe.nets.training import train

SCHEMA = 1


@dataclass(frozen=True)
class PlanRecipe(GridRecipe):
    """All that decides the table; stored before its first cell runs."""

    name: str = "planning"
    games: tuple[str, ...] = (
        "pong", "snake", "racer", "breakout", "frogger", "platformer", "kong", "asteroids",
    )  # fmt: skip
    models: tuple[str, ...] = ("constant_velocity", "relational", "d3pm")
    seconds: float | None = None
    steps_of: dict[str, int] = field(
        default_factory=lambda: {
            "relational/pong": 1000, "relational/racer": 900, "relational/kong": 850,
            "relational/snake": 500, "relational/asteroids": 500, "relational/frogger": 450,
            "relational/platformer": 500, "relational/breakout": 300,
            "d3pm/pong": 1200, "d3pm/racer": 1200, "d3pm/kong": 1100, "d3pm/snake": 680,
            "d3pm/asteroids": 600, "d3pm/frogger": 480, "d3pm/platformer": 700,
            "d3pm/breakout": 300,
        }
    )  # fmt: skip
    planners: tuple[str, ...] = ("cem",)
    """For every game."""
    other_planners: tuple[str, ...] = ("random_shooting", "mppi")
    other_games: tuple[str, ...] = ("pong", "racer")
    """Where the other planners plan too."""
    planning: PlanProtocol = field(default_factory=PlanProtocol)

    def cells(self, only: Sequence[str] = ()) -> Iterator[tuple[int, str, str, str]]:
        """(seed, game, model, planner), cheap and telling ones first."""
        known = (self.games, self.models, (*self.planners, *self.other_planners))
        unknown = sorted(set(only) - {name for names in known for name in names})
        if unknown:
            raise ValueError(f"nothing to plan named {unknown}; have {known}")
        asked = [[name for name in names if name in only] or names for names in known]
        for seed in self.seeds:
            for planner in asked[2]:
                games = self.games if planner in self.planners else self.other_games
                for game, model in product(games, asked[1]):
                    if game in asked[0]:
                        yield seed, game, model, planner


@dataclass(frozen=True)
class PlayerRecipe(PlanRecipe):
    """The same for players trained inside a model; a model's training is that of `PlanRecipe`."""

    name: str = "imagined-players"
    games: tuple[str, ...] = ("pong", "breakout", "racer")
    models: tuple[str, ...] = ("relational",)
    decisions: int = 98_304
    """That a player learns from, inside the model and, apart, in the true game."""
    num_worlds: int = 64
    planning: PlanProtocol = MEASURED
    """Of this, starts and ticks of the true games that are played in the end."""


def fill(
    recipe: PlanRecipe,
    work: Path,
    out: Path,
    tell: Callable[[dict[str, Any]], None] = lambda row: None,
    only: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Plan in every cell that `out` does not hold yet; gives all rows of this recipe."""
    store_recipe(recipe, out)
    for seed, game, model, planner in recipe.cells(only):
        version = parts.load("games", game).manifest.version
        key = (recipe.fingerprint, game, version, model, seed, planner)
        names = ("recipe", "game", "version", "model", "seed", "planner")
        if any(tuple(row[name] for name in names) == key for row in all_rows(out)):
            continue
        world, training = trained(recipe, game, model, seed, work)
        judged = judge_planning(world, lay_out_planning(game, recipe.planning, planner))
        row = plain(
            {
                "schema": SCHEMA,
                **judged.row,
                **training,
                "seed": seed,
                "recipe_name": recipe.name,
                "recipe": recipe.fingerprint,
            }
        )
        with alone(work):
            write_json(out, [*all_rows(out), row])
        tell(row)
    return [row for row in all_rows(out) if row["recipe"] == recipe.fingerprint]


def fill_players(
    recipe: PlayerRecipe,
    work: Path,
    out: Path,
    tell: Callable[[dict[str, Any]], None] = lambda row: None,
    only: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Train and measure every player that `out` does not hold yet; needs the extra `rl`."""
    store_recipe(recipe, out)
    for seed, game, model in dict.fromkeys(cell[:3] for cell in recipe.cells(only)):
        version = parts.load("games", game).manifest.version
        key = (recipe.fingerprint, game, version, model, seed)
        names = ("recipe", "game", "version", "model", "seed")
        if any(tuple(row[name] for name in names) == key for row in all_rows(out)):
            continue
        world, training = trained(recipe, game, model, seed, work)
        row = train_inside(
            world, learning_store(recipe, game, work), recipe.decisions, recipe.num_worlds, seed,
            recipe.planning,
        )  # fmt: skip
        row = plain(
            {"schema": SCHEMA, **row, **training}
            | {"recipe_name": recipe.name, "recipe": recipe.fingerprint}
        )
        with alone(work):
            write_json(out, [*all_rows(out), row])
        tell(row)
    return [row for row in all_rows(out) if row["recipe"] == recipe.fingerprint]


def learning_store(recipe: PlanRecipe, game: str, work: Path) -> Store:
    """What models learn from, and where imagined practice begins."""
    name = f"{game}-train-{recipe.train_episodes}"
    return collect(game, work / "stores" / name, recipe.train_episodes, split="train")


def trained(
    recipe: PlanRecipe, game: str, model: str, seed: int, work: Path
) -> tuple[WorldModel, dict[str, Any]]:
    """The model, from its checkpoint where one was made by this recipe, and how it was trained."""
    part: ModelPart = parts.load("models", model)
    manifest = parts.load("games", game).manifest
    if not part.trainable:
        return part.create(manifest, recipe.size, seed), {"steps": 0, "training_seconds": 0.0}
    config = recipe.config(model, game, seed, part.recipe)
    folder = work / "checkpoints" / f"{game}-{model}-{seed}"
    record = folder / "config.json"
    done = folder / "trained.json"
    finished = record.is_file() and done.is_file() and part.load is not None
    if finished and read_json(record)["recipe"] == plain(asdict(config)):
        return part.load(folder, manifest), read_json(done)
    learn = learning_store(recipe, game, work)
    world = part.create(manifest, recipe.size, seed)
    last = train(world, learn, config, folder)
    if last.interrupted:
        raise KeyboardInterrupt
    training = {"steps": last.step, "training_seconds": last.seconds}
    write_json(done, training)
    return world, training
