"""What a model loses when it is shown less, or worse, than the truth.

Every robustness protocol of the state judge on the same episodes as the clean one: score, floor
and ceiling under that protocol, and the loss against the clean score with its interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosmolabe.bench.bed import FLOORS, NUM_EPISODES, Bed, lay_out, play
from cosmolabe.bench.driving import CHUNK
from cosmolabe.bench.readings import finals_of, reading_of, shared_by
from cosmolabe.core import bootstrap
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import WorldModel
from cosmolabe.judges.state import (
    CLEAN,
    ROBUST,
    RobustProtocol,
    WindowScores,
    aggregate,
    all_once,
    every_of,
)
from cosmolabe.judges.state import FLOORS as TRIVIAL

Row = dict[str, Any]


@dataclass(frozen=True)
class Robustness:
    """Readings `final_noise`, `loss_noise` … and one row per variant, the clean one first."""

    readings: list[Reading]
    rows: list[Row]
    """{game, model, variant, protocol, horizon, value, floor, ceiling, loss, low, high, n}; low and
    high belong to the loss."""


def variant_beds(
    bed: Bed, *, num_episodes: int = NUM_EPISODES, per_episode: int = 1, seed: int = 0
) -> list[Bed]:
    """The bed under each robustness protocol; truth and ceiling are shared where states are.

    Only a protocol that skips states needs windows of its own, from the same episodes. Where
    nobody can be steered there is no partial view; its readings are NaN and say so.
    """
    if bed.protocol.name != CLEAN:
        raise ValueError(f"robustness is measured against {CLEAN}, not {bed.protocol.name}")
    beds = []
    for protocol in ROBUST.values():
        if protocol.reach and is_blind(bed):
            continue
        if every_of(protocol) > 1:
            beds.append(
                lay_out(
                    bed.store,
                    bed.split,
                    protocol,
                    num_episodes=num_episodes,
                    per_episode=per_episode,
                    seed=seed,
                )
            )
            continue
        floors = {model.name: play(model, bed.windows, protocol)[0] for model in TRIVIAL}
        beds.append(replace(bed, protocol=protocol, floors=floors))
    return beds


def is_blind(bed: Bed) -> bool:
    """Whether the manifest marks nobody around whom a partial view could be shown."""
    return not any(slot.controllable for slot in bed.store.manifest.slots)


def judge_robustness(
    model: WorldModel,
    bed: Bed,
    scores: WindowScores,
    beds: Sequence[Bed],
    seed: int = 0,
    chunk: int = CHUNK,
) -> Robustness:
    """Judge the model under each of `beds`; `scores` are its own on the clean `bed`."""
    readings, rows = [], [_row(model.name, bed, scores, "clean")]
    for other in beds:
        assert isinstance(other.protocol, RobustProtocol)
        mine, _ = play(model, other.windows, other.protocol, seed, chunk)
        word, shared = other.protocol.variant, shared_by(mine, other, model.name)
        row = _row(model.name, other, mine, word)
        weights = bootstrap.resamples(other.windows.episodes)
        final = reading_of(
            f"final_{word}", finals_of(mine, weights, other.protocol), "score", "higher", shared
        )
        readings.append(replace(final, floor=row["floor"], ceiling=row["ceiling"]))
        lost, episodes = _loss(scores, bed, mine, other)
        loss = reading_of(f"loss_{word}", lost, "score", "lower", shared)
        readings.append(replace(loss, why=f"clean less {word}, {episodes} shared episodes"))
        row |= {"loss": loss.value, "low": loss.low, "high": loss.high}
        rows.append(row)
    unseen = [p for p in ROBUST.values() if p.reach] if is_blind(bed) else []
    for protocol in unseen:
        shared = shared_by(scores, bed, model.name) | {"protocol": protocol.fingerprint, "n": 0}
        for name, better in (("final", "higher"), ("loss", "lower")):
            nothing = np.full(2, np.nan)
            none = reading_of(f"{name}_{protocol.variant}", nothing, "score", better, shared)
            readings.append(replace(none, why="the manifest marks no controllable entity"))
    return Robustness(readings, rows)


def _row(model: str, bed: Bed, scores: WindowScores, variant: str) -> Row:
    def final(one: WindowScores | None) -> float:
        if one is None:
            return np.nan
        return float(aggregate(one, all_once(one), bed.protocol).final[0])

    return {
        "game": bed.game,
        "model": model,
        "variant": variant,
        "protocol": bed.protocol.fingerprint,
        "horizon": bed.protocol.horizon,
        "value": final(scores),
        "floor": max(final(bed.floors[name]) for name in FLOORS),
        "ceiling": final(bed.ceiling),
        "loss": np.nan,
        "low": np.nan,
        "high": np.nan,
        "n": len(bed.windows) - scores.num_unmeasurable,
    }


def _loss(clean: WindowScores, bed: Bed, mine: WindowScores, other: Bed) -> tuple[np.ndarray, int]:
    """Clean less corrupted on the same episodes: the data's own first, then the resamples'."""
    shared = np.intersect1d(bed.windows.episodes, other.windows.episodes)
    finals = []
    for scores, where in ((clean, bed), (mine, other)):
        here = np.isin(where.windows.episodes, shared)
        drawn = bootstrap.resamples(where.windows.episodes[here])
        weights = np.zeros((1 + len(drawn), len(here)))
        weights[:, here] = np.concatenate([np.ones((1, here.sum())), drawn])
        finals.append(aggregate(scores, weights, where.protocol).final)
    return finals[0] - finals[1], len(shared)
