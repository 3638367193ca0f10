"""The grid game x model x seed: trains each cell, judges it on test, never does a cell twice."""

import fcntl
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from cosmolabe.bench.bed import FLOORS, NUM_EPISODES, Bed, lay_out
from cosmolabe.bench.evaluate import judge_model, write_run
from cosmolabe.core import parts
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain, read_json, write_json
from cosmolabe.core.spread import check_engine, spread
from cosmolabe.data.collect import collect
from cosmolabe.data.store import Store
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.training import train

SCHEMA = 1


@dataclass(frozen=True)
class GridRecipe:
    """All that decides a table of models; stored before the first cell runs."""

    name: str = "screening"
    games: tuple[str, ...] = ()
    """All games where none is named."""
    models: tuple[str, ...] = ("linear", "transformer")
    seeds: tuple[int, ...] = (0,)
    size: str = "laptop"
    steps: int | None = None
    """Gradient steps of each cell; the run is then the same on any machine."""
    steps_of: dict[str, int] = field(default_factory=dict)
    """Gradient steps by model/game, by game or by model; `steps` for the others."""
    seconds: float | None = 120.0
    """Seconds of training of each cell."""
    train: TrainConfig = field(default_factory=TrainConfig)
    """The training recipe; its end and seed are set by the grid."""
    train_episodes: int = 1024
    test_episodes: int = NUM_EPISODES
    protocol: str = "state/1"

    def __post_init__(self) -> None:
        if self.steps is None and self.seconds is None and not self.steps_of:
            raise ValueError("a grid needs an end for its training: steps, seconds, or both")
        if not self.models or not self.seeds:
            raise ValueError("a grid needs at least one model and one seed")

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when any choice changes."""
        return fingerprint(plain(self))

    def steps_for(self, model: str, game: str) -> int | None:
        """Gradient steps of a cell, from the narrowest entry of `steps_of` that fits it."""
        for key in (f"{model}/{game}", game, model):
            if key in self.steps_of:
                return self.steps_of[key]
        return self.steps

    def config(
        self, model: str, game: str, seed: int, own: Mapping[str, Any] | None = None
    ) -> TrainConfig:
        """How one cell is trained; `own` holds the dials of the model itself."""
        ends = {"steps": self.steps_for(model, game), "seconds": self.seconds, "seed": seed}
        return replace(self.train, **{**(own or {}), **ends})


def fill(
    recipe: GridRecipe,
    work: Path,
    out: Path,
    tell: Callable[[dict[str, Any]], None] | None = None,
    only: Sequence[str] = (),
    engine: str = "local",
    workers: int = 1,
) -> list[dict[str, Any]]:
    """Train and judge every cell that `out` does not hold yet; gives all rows of this recipe.

    `work` keeps stores, checkpoints and run folders; `out` grows by one row a cell, so a killed
    run goes on where it stopped. `only` leaves the other games for later, or for a second process
    that fills the same table. `engine` and `workers` spread the cells over processes or over a
    Ray cluster that shares `work` (`core.spread`); rows then stand in the order they were finished.
    """
    check_engine(engine, workers)
    store_recipe(recipe, out)
    games = recipe.games or parts.names("games")
    for game in only:
        if game not in games:
            raise ValueError(f"recipe '{recipe.name}' has no game '{game}'; have {list(games)}")
    jobs = [
        (recipe, game, model, seed, work.resolve())
        for seed in recipe.seeds  # every game once before any a second time
        for game in only or games
        for model in recipe.models
        if not _rows_of(out, recipe, game, model, seed)
    ]
    if engine != "local" or workers > 1:  # two cells of a game must not collect its stores at once
        for game in dict.fromkeys(job[1] for job in jobs):
            stores_of(recipe, game, work)
    with closing(spread(judge_cell, jobs, workers, engine)) as finished:
        for _, row in finished:
            with alone(work):
                write_json(out, [*all_rows(out), row])
            if tell is not None:
                tell(row)
    _beds.cache_clear()
    return [row for row in all_rows(out) if row["recipe"] == recipe.fingerprint]


def judge_cell(recipe: GridRecipe, game: str, model: str, seed: int, work: Path) -> dict[str, Any]:
    """Train and judge one cell; gives its row."""
    learn, bed = stores_of(recipe, game, work)
    return _cell(recipe, learn, bed, model, seed, work)


@contextmanager
def alone(work: Path) -> Generator[None]:
    """Keep a second process from writing the table at the same moment."""
    work.mkdir(parents=True, exist_ok=True)
    with (work / "table.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def store_recipe(recipe: GridRecipe, out: Path) -> None:
    """Write the recipe beside the table, or refuse where its name already means another."""
    path = out.parent / "recipes" / f"{recipe.name}.json"
    content = plain({"schema": SCHEMA, "fingerprint": recipe.fingerprint, **asdict(recipe)})
    if path.exists() and read_json(path) != content:
        raise ValueError(
            f"{path} holds another recipe of the name '{recipe.name}', and its rows would no "
            "longer say how they were made; give the new recipe a name of its own"
        )
    write_json(path, content)


def all_rows(out: Path) -> list[dict[str, Any]]:
    """The rows of a table, none where there is no table yet."""
    return read_json(out) if out.exists() else []


def _rows_of(
    out: Path, recipe: GridRecipe, game: str, model: str, seed: int
) -> list[dict[str, Any]]:
    version = parts.load("games", game).manifest.version
    key = (recipe.fingerprint, game, version, model, seed)
    names = ("recipe", "game", "version", "model", "seed")
    return [row for row in all_rows(out) if tuple(row[name] for name in names) == key]


def stores_of(recipe: GridRecipe, game: str, work: Path) -> tuple[Store, Bed]:
    """What to learn from and what to judge on, collected where `work` does not hold them yet."""
    return _beds(game, recipe.train_episodes, recipe.test_episodes, recipe.protocol, work)


@lru_cache(maxsize=1)  # the cells of one game follow each other
def _beds(
    game: str, train_episodes: int, test_episodes: int, protocol: str, work: Path
) -> tuple[Store, Bed]:
    stores = work / "stores"
    learn = collect(game, stores / f"{game}-train-{train_episodes}", train_episodes, split="train")
    test = collect(game, stores / f"{game}-test-{test_episodes}", test_episodes, split="test")
    return learn, lay_out(test, "test", protocol, num_episodes=test_episodes)


def _cell(
    recipe: GridRecipe, learn: Store, bed: Bed, model: str, seed: int, work: Path
) -> dict[str, Any]:
    part = parts.load("models", model)
    world = part.create(learn.manifest, recipe.size, seed)
    name = f"{recipe.name}-{bed.game}-{model}-{seed}"
    steps, seconds = 0, 0.0
    if part.trainable:
        config = recipe.config(model, bed.game, seed, part.recipe)
        done = train(world, learn, config, work / "checkpoints" / name)
        if done.interrupted:
            raise KeyboardInterrupt
        steps, seconds = done.step, done.seconds
    judged = judge_model(world, bed.store, bed=bed, num_pictures=0, num_clips=3)
    write_run(judged, work / "runs" / name)
    final, skill = judged.reading("final"), judged.reading("skill")
    row: dict[str, Any] = {
        "schema": SCHEMA,
        "game": bed.game,
        "version": bed.store.manifest.version,
        "model": model,
        "seed": seed,
        "final": final.value,
        "low": final.low,
        "high": final.high,
        "skill": skill.value,
        "skill_low": skill.low,
        "skill_high": skill.high,
        "ceiling": final.ceiling,
        "headroom": judged.reading("headroom").value,
        "beats_floor": final.value > final.floor,
        "steps": steps,
        "seconds": seconds,
        "dials": dict(part.recipe),
        "n": final.n,
        "protocol": final.protocol,
        "data": final.data,
        "recipe_name": recipe.name,
        "recipe": recipe.fingerprint,
    }
    return row | {name: judged.reading(f"final_{name}").value for name in FLOORS}
