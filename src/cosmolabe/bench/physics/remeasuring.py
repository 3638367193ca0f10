"""A certificate measured again: the twins drawn anew, scored by the weights at hand, compared."""

import importlib.util
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.physics.certificate import certify, meets, read_certificate
from cosmolabe.bench.physics.twin_scores import Twofold, score_rows
from cosmolabe.bench.scenario_episodes import ScenarioEpisodes
from cosmolabe.core import parts
from cosmolabe.core.record import plain
from cosmolabe.data import twin_games
from cosmolabe.data.twin_rows import Order, TwinRecipe, TwinRow, orders
from cosmolabe.data.twin_set import SOURCES, write_group
from cosmolabe.judges.physics.physics import Physics

BOUND = 2e-3
"""Largest difference of a raw score between two machines that counts as the same: codecs, BLAS and
the last bits of a float differ."""
Tell = Callable[[str], None]


def remeasure(
    head: str | Path = "",
    work: Path | None = None,
    groups: int | None = None,
    families: Sequence[str] = (),
    tell: Tell = print,
) -> dict[str, Any]:
    """Score the certificate's twins again, the first so many groups, and compare clip by clip.

    `families` are those that can be drawn here where none are named: the games always, MuJoCo where
    it is installed.
    """
    written = read_certificate(head)
    families = families or _drawable()
    if work is None:
        with tempfile.TemporaryDirectory() as folder:
            return _remeasure(head, written, Path(folder), groups, families, tell)
    return _remeasure(head, written, work, groups, families, tell)


def twins_of(written: Mapping[str, Any]) -> TwinRecipe:
    """The recipe of the certificate's twins."""
    told = dict(written["twins"]["recipe"])
    known: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in told.items()}
    return TwinRecipe(**known)


def draw_again(
    folder: Path, recipe: TwinRecipe, asked: Sequence[Order], seed: int, tell: Tell
) -> list[TwinRow]:
    """The rows of these groups, their clips written below `folder`."""
    if any(order.family == "games" for order in asked):
        games = recipe.games or parts.names("games")
        twin_games.prepare(folder / SOURCES, recipe, games, seed)
        starts = {game: ScenarioEpisodes(game) for game in games}
        twin_games.prepare_scenarios(folder / SOURCES, starts, seed)
    rows = []
    for number, order in enumerate(asked):
        rows += write_group(folder, recipe, order)
        tell(f"drawn {number + 1}/{len(asked)}")
    return rows


def _drawable() -> tuple[str, ...]:
    found = ["games"]
    if importlib.util.find_spec("mujoco") is not None:
        found.append("mujoco")
    return tuple(found)


def _remeasure(
    head: str | Path,
    written: Mapping[str, Any],
    work: Path,
    groups: int | None,
    families: Sequence[str],
    tell: Tell,
) -> dict[str, Any]:
    recipe, seed = twins_of(written), int(written["twins"]["seed"])
    split = written["twins"]["split"]
    asked = [order for order in orders(recipe, seed) if order.split == split]
    mine = [order for order in asked if order.family in families][:groups]
    only = replace(recipe, groups={split: recipe.groups[split]})
    rows = draw_again(work / "twins", only, mine, seed, tell)
    judge = Physics.load(head)
    out = work / f"scores-{judge.protocol.fingerprint}.jsonl"
    both = Twofold.of(judge)
    scores = score_rows(
        work / "twins", rows, both.score, out, attacks=False,
        progress=lambda done, total: tell(f"scored {done}/{total}"),
    )  # fmt: skip
    shared = [name for name in scores if name in written["raw"]]
    gaps = np.array([abs(scores[name].raw - written["raw"][name]) for name in shared])
    found = plain(certify(rows, scores))
    largest = float(gaps.max()) if len(gaps) else float("nan")
    return {
        "clips": len(scores),
        "compared": len(shared),
        "largest": largest,
        "bound": BOUND,
        "agrees": bool(len(shared) == len(scores) and largest <= BOUND),
        "families": list(families),
        "groups": len(mine),
        "left_out": len(asked) - len(mine),
        "fingerprint": judge.protocol.fingerprint,
        "certificate": {**found, "meets": meets(found)},
    }
