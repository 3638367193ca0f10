"""Takes the measure of a world model as something to plan with, beside floor and ceiling.

    ground = lay_out_planning("pong")           floor and ceiling play
    judged = judge_planning(model, ground)      readings, and one row for the report and the table

Floor: the random player. Ceiling: the same planner with the true simulator. All play the same
episodes, so intervals are over episodes drawn again, the same ones for all.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from time import process_time
from typing import Any

import numpy as np
from jaxtyping import Float

from cosmolabe.bench.planning.diagnosis import Looker, mechanism
from cosmolabe.bench.planning.futures import Dreamer, InsideModel, InsideRules, Moment
from cosmolabe.bench.planning.playing import (
    Outcome,
    PlanProtocol,
    play_plain,
    play_planned,
    starts,
)
from cosmolabe.bench.planning.returns import PARTS, terms_of
from cosmolabe.core import bootstrap, parts
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import WorldModel
from cosmolabe.engine.game import Game
from cosmolabe.nets.shaping import SHAPING

USUAL = PlanProtocol()
PLAIN = ("stay", "random", "heuristic")
"""Players without a plan, from the same starts."""


@dataclass(frozen=True)
class Ground:
    """One game's episodes and what others get from them."""

    game: Game
    protocol: PlanProtocol
    planner: str
    start: Moment
    plain: dict[str, Outcome]
    true: Outcome
    """The planner with the true rules, not clairvoyant."""
    clairvoyant: Outcome
    """The planner with the true rules and the true luck."""
    data: str
    """Fingerprint of the starts."""

    @property
    def fingerprint(self) -> str:
        """Of every choice: protocol, planner and the terms of the return."""
        told = [(t.name, t.weight, t.gains_only, str(t.most)) for t in terms_of(self.game)]
        return fingerprint(self.protocol.fingerprint, self.planner, told)


@dataclass(frozen=True)
class PlanningJudgement:
    """Readings of a model, and all of them as one row."""

    readings: list[Reading]
    row: dict[str, Any]
    outcome: Outcome


def can_plan(manifest: Manifest) -> bool:
    """Whether this is the very game for which a return is defined."""
    game = manifest.game
    return game in SHAPING and parts.load("games", game).manifest == manifest


@lru_cache(maxsize=8)
def lay_out_planning(
    game: str,
    protocol: PlanProtocol = USUAL,
    planner: str = "cem",
) -> Ground:
    """Let floor and ceiling play."""
    if game not in SHAPING:
        raise ValueError(f"no return is defined for plans in '{game}'; have {sorted(SHAPING)}")
    part: Game = parts.load("games", game)
    start = starts(part, protocol)
    rules = [InsideRules(protocol.streams), InsideRules(0)]
    true, clairvoyant = (play_planned(start, r, planner, protocol) for r in rules)
    return Ground(
        game=part,
        protocol=protocol,
        planner=planner,
        start=start,
        plain={who: play_plain(start, who, protocol) for who in PLAIN},
        true=true,
        clairvoyant=clairvoyant,
        data=fingerprint(game, part.manifest.version, start.worlds.tolist()),
    )


def judge_planning(
    model: WorldModel,
    ground: Ground,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> PlanningJudgement:
    """Plan inside the model, play in the true game; nothing the model does is raised."""
    return judge_dreamer(InsideModel(model), ground, tell)


def judge_dreamer(
    dreamer: Dreamer,
    ground: Ground,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> PlanningJudgement:
    """The same of anybody who can say where plans lead."""
    began = process_time()
    looker = Looker(dreamer, ground.protocol)
    look = looker.look if ground.protocol.looks else None
    got = play_planned(ground.start, dreamer, ground.planner, ground.protocol, look, tell)
    seconds = process_time() - began
    row = _row(dreamer.name, got, ground, seconds)
    if look is not None:
        found = looker.result()
        row["diagnosis"] = {k: v for k, v in asdict(found).items() if not k.endswith("_of")}
        row["diagnosis"]["parts"] = [
            {"part": p, "ranks": found.ranks_of[p], "stakes": found.stakes_of[p]} for p in PARTS
        ]
        row["mechanism"] = mechanism(row["share"], found)
    return PlanningJudgement(_readings(row, got, ground), row, got)


def _row(name: str, got: Outcome, ground: Ground, seconds: float) -> dict[str, Any]:
    protocol = ground.protocol
    share, low, high = share_of(got.value, ground.plain["random"].value, ground.true.value)
    points = share_of(got.score, ground.plain["random"].score, ground.true.score)
    mean, mean_low, mean_high = _with_interval(got.value)
    return {
        "game": ground.game.name,
        "version": ground.game.manifest.version,
        "model": name,
        "planner": ground.planner,
        "horizon": protocol.horizon,
        "dials": {
            "horizon": protocol.horizon,
            "episodes": protocol.episodes,
            "ticks": protocol.ticks,
            "hold": protocol.hold,
            "replan": protocol.replan * protocol.hold,
            "streams": protocol.streams,
            **asdict(protocol.effort),
        },
        "return": mean,
        "low": mean_low,
        "high": mean_high,
        "score": float(got.score.mean()),
        "parts": {p: float(got.parts[:, k].mean()) for k, p in enumerate(PARTS)},
        "share": share,
        "share_low": low,
        "share_high": high,
        "score_share": points[0],
        **{f"return_{who}": float(out.value.mean()) for who, out in ground.plain.items()},
        "return_true": float(ground.true.value.mean()),
        "return_clairvoyant": float(ground.clairvoyant.value.mean()),
        **{f"score_{who}": float(out.score.mean()) for who, out in ground.plain.items()},
        "score_true": float(ground.true.score.mean()),
        "plans": protocol.rounds,
        "imagined": protocol.rounds * protocol.effort.rounds * protocol.effort.candidates,
        "broken": got.broken,
        "why": list(got.why),
        "seconds": seconds,
        "protocol": ground.fingerprint,
        "data": ground.data,
    }


def share_of(
    mine: Float[np.ndarray, " episode"],
    floor: Float[np.ndarray, " episode"],
    top: Float[np.ndarray, " episode"],
) -> tuple[float, float, float]:
    """(mine - floor) / (top - floor) of the means, with its interval over episodes.

    NaN where the way from floor to top is within noise: its interval reaches 0, or one episode
    tells none.
    """
    weights = bootstrap.resamples(np.arange(len(mine)))
    way = bootstrap.weighted_mean(top - floor, weights)
    if not bootstrap.interval(way)[0] > 0:
        return np.nan, np.nan, np.nan
    gained = bootstrap.weighted_mean(mine - floor, weights)
    room = np.where(way > 0, way, np.nan)
    low, high = bootstrap.interval(gained / room)
    return float((mine - floor).mean() / (top - floor).mean()), float(low), float(high)


def _with_interval(values: Float[np.ndarray, " episode"]) -> tuple[float, float, float]:
    weights = bootstrap.resamples(np.arange(len(values)))
    low, high = bootstrap.interval(bootstrap.weighted_mean(values, weights))
    return float(values.mean()), float(low), float(high)


def _readings(row: dict[str, Any], got: Outcome, ground: Ground) -> list[Reading]:
    shared: dict[str, Any] = {
        "judge": "state",
        "direction": "higher",
        "n": len(got.score),
        "protocol": ground.fingerprint,
        "data": ground.data,
        "game": ground.game.name,
        "model": row["model"],
    }
    note = f"{got.broken} imagined plans invalid: {'; '.join(got.why)}" if got.broken else ""
    points, points_low, points_high = _with_interval(got.score)
    why = row.get("mechanism", "") or note
    return [
        Reading(
            metric="planning_return", value=row["return"], low=row["low"], high=row["high"],
            unit="return", floor=row["return_random"], ceiling=row["return_true"], why=note,
            **shared,
        ),
        Reading(
            metric="planning_score", value=points, low=points_low, high=points_high,
            unit="points", floor=row["score_random"], ceiling=row["score_true"], why=note, **shared,
        ),
        Reading(
            metric="planning_share", value=row["share"], low=row["share_low"],
            high=row["share_high"], unit="share of the true planner's gain", floor=0.0,
            ceiling=1.0, why=why, **shared,
        ),
    ]  # fmt: skip
