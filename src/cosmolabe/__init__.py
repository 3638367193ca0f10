"""Cosmolabe: the measuring instrument for world models and video generators.

    import cosmolabe

    store = cosmolabe.collect("pong", "runs/pong", num_episodes=64, split="test")
    model = cosmolabe.load_model("constant_velocity", store)
    judgement = cosmolabe.judge_model(model, store)
    readings = cosmolabe.judge(cosmolabe.rollout(model, store), judges=["state"])

Everything here is imported when it is first called, so `import cosmolabe` costs nothing.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosmolabe.bench.compare import Comparison
    from cosmolabe.bench.judgement import Judgement
    from cosmolabe.core.reading import Reading
    from cosmolabe.core.rollout import WorldModel
    from cosmolabe.data.rollouts import Rollout
    from cosmolabe.data.store import Store

__all__ = [
    "collect",
    "compare",
    "judge",
    "judge_model",
    "load_model",
    "names",
    "open_store",
    "quick_check",
    "rollout",
    "train",
    "write_run",
]


def names(kind: str) -> tuple[str, ...]:
    """Names of all parts of a kind.

    games, scenarios, metrics, encoders, vlms, corpora, models, judges, or agents.
    """
    from cosmolabe.core import parts

    return parts.names(kind)


def collect(game: str, folder: Path | str, num_episodes: int = 256, **more: Any) -> "Store":  # noqa: ANN401
    """Play episodes of a game into a store; `more` as in `data.collect.collect`."""
    from cosmolabe.data.collect import collect as collect_episodes

    return collect_episodes(game, folder, num_episodes, **more)


def open_store(path: Path | str) -> "Store":
    """Open a store of episodes."""
    from cosmolabe.data.store import open_store as open_it

    return open_it(path)


def load_model(name: Path | str, store: "Store", size: str = "laptop", seed: int = 0) -> Any:  # noqa: ANN401 - each model has its own type
    """A world model for the store's game: by name (untrained), or from its checkpoint folder."""
    from cosmolabe.bench.trained import load_trained
    from cosmolabe.core import parts

    if isinstance(name, str) and name in parts.names("models"):
        return parts.load("models", name).create(store.manifest, size, seed)
    folder = Path(name)
    if not folder.is_dir():
        raise ValueError(
            f"no model and no checkpoint folder '{name}'; have {list(parts.names('models'))}"
        )
    return load_trained(folder, store.manifest)


def train(
    model: Any,  # noqa: ANN401 - any model that learns
    store: "Store",
    folder: Path | str,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    seed: int = 42,
    **more: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Train a model on the store's train split until `steps` or `seconds`; the last Progress."""
    from cosmolabe.nets.recipe import TrainConfig
    from cosmolabe.nets.training import train as train_it

    if steps is None and seconds is None:
        raise ValueError("training needs an end: give steps, seconds, or both")
    return train_it(model, store, TrainConfig(steps, seconds, seed=seed), Path(folder), **more)


def judge_model(model: "WorldModel", store: "Store", **more: Any) -> "Judgement":  # noqa: ANN401
    """A model's report card on a store; `more` as in `bench.evaluate.judge_model`."""
    from cosmolabe.bench.evaluate import judge_model as judge_it

    return judge_it(model, store, **more)


def rollout(
    model: "WorldModel",
    store: "Store",
    split: str = "test",
    num_episodes: int = 64,
    horizon: int = 20,
    seed: int = 0,
    folder: Path | str | None = None,
) -> "list[Rollout]":
    """What a model imagines from windows of a store; written to `folder` where one is given."""
    from cosmolabe.bench.rolling import roll

    return roll(model, store, split, num_episodes, horizon, seed, folder)


def judge(
    rollouts: "Path | str | Sequence[Rollout]",
    judges: Sequence[str] = ("state",),
    protocol: str = "",
) -> "list[Reading]":
    """Readings of rollouts (a folder of them, or a list), by each judge in turn."""
    from cosmolabe.core import parts
    from cosmolabe.data.rollout_folder import read_rollouts

    if isinstance(rollouts, (str, Path)):
        rollouts = read_rollouts(Path(rollouts))
    readings = []
    for name in judges:
        part = parts.load("judges", name)
        readings += part.judge(rollouts, protocol or next(iter(part.protocols)))[0]
    return readings


def write_run(judgement: "Judgement", folder: Path | str) -> Path:
    """Write a judgement as a run folder, which `report` draws and `compare` reads."""
    from cosmolabe.bench.evaluate import write_run as write_it

    return write_it(judgement, folder)


def compare(before: Path | str, after: Path | str, margin: float = 0.005) -> "Comparison":
    """What became better and worse from one run folder to the other."""
    from cosmolabe.bench.compare import compare as compare_them

    return compare_them(before, after, margin)


def quick_check(
    store: "Store", seconds: float = 30.0, split: str = "val"
) -> "Callable[..., Reading]":
    """A function for any training loop: takes a model, gives its final score in `seconds`."""
    from cosmolabe.bench.callback import quick_check as check_of

    return check_of(store, seconds, split)
