"""Judges rollouts that are already there: a folder, or what `cosmolabe.rollout` gave."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.data.rollouts import Rollout, stack
from cosmolabe.judges.state.protocol import PROTOCOLS, RobustProtocol, StateProtocol
from cosmolabe.judges.state.readings import readings_of
from cosmolabe.judges.state.scoring import digest_of, score
from cosmolabe.models.constant_velocity import ConstantVelocity
from cosmolabe.models.still import Still

FLOORS = (Still(), ConstantVelocity())
"""The trivial models; the better one is the floor."""


def judge(
    rollouts: Sequence[Rollout], protocol: str = "state/1"
) -> tuple[list[Reading], list[dict]]:
    """Readings of rollouts with states, one group per game and model, and one row per rollout."""
    if protocol not in PROTOCOLS:
        raise ValueError(f"the state judge has no protocol '{protocol}'; have {list(PROTOCOLS)}")
    chosen = PROTOCOLS[protocol]
    if chosen.teacher_forced_first:
        raise ValueError(
            f"{protocol} scores step 1 from true states at every step, which a finished rollout "
            "does not hold; judge the model itself, or use state/1"
        )
    if isinstance(chosen, RobustProtocol):
        raise ValueError(
            f"{protocol} corrupts what a model is shown, and a finished rollout has been shown "
            "what it was; judge the model itself, or use state/1"
        )
    readings, rows = [], []
    for (game, model), group in _groups(rollouts).items():
        usable = []
        for rollout in group:
            why = _too_short(rollout, chosen)
            rows.append(
                {
                    "id": rollout.id,
                    "game": game,
                    "model": model,
                    "episode": _first(rollout, "episodes"),
                    "start": _first(rollout, "starts"),
                    "status": "skipped",
                    "why": why,
                    "final": None,
                    "composite": {},
                }
            )
            if not why:
                usable.append((rollout, rows[-1]))
        readings += _judge_group(game, model, usable, len(group) - len(usable), chosen)
    return readings, rows


def _groups(rollouts: Sequence[Rollout]) -> dict[tuple[str, str], list[Rollout]]:
    groups: dict[tuple[str, str], list[Rollout]] = {}
    for rollout in rollouts:
        groups.setdefault((rollout.game, rollout.model), []).append(rollout)
    return groups


def _first(rollout: Rollout, place: str) -> int | None:
    """Episode or tick the rollout's window comes from, where it has states."""
    return None if rollout.window is None else int(getattr(rollout.window, place)[0])


def _too_short(rollout: Rollout, protocol: StateProtocol) -> str:
    if rollout.window is None or rollout.prediction is None:
        return "no states"
    given = rollout.window.states.shape[1] - rollout.prediction.states.shape[1]
    if given != protocol.window:
        return f"{given} context states, {protocol.name} wants {protocol.window}"
    if rollout.prediction.states.shape[1] < protocol.horizon:
        return "too short"
    return ""


def _judge_group(
    game: str,
    model: str,
    usable: Sequence[tuple[Rollout, dict]],
    skipped: int,
    protocol: StateProtocol,
) -> list[Reading]:
    shared: dict[str, Any] = {
        "judge": "state",
        "protocol": protocol.fingerprint,
        "game": game,
        "model": model,
        "n": len(usable),
        "skipped": skipped,
    }
    if not usable:
        return [
            Reading(
                metric="final",
                value=np.nan,
                unit="score",
                direction="higher",
                why="too short",
                **shared,
            )
        ]
    windows, prediction = stack([rollout for rollout, _ in usable], protocol.horizon)
    scores = score(windows, prediction, protocol)
    for (_, row), final, values, why in zip(
        usable, scores.final, scores.composite, scores.why, strict=True
    ):
        row.update(
            status="invalid" if why else "ok",
            why=why,
            final=float(final),
            composite={str(h): float(values[h - 1]) for h, _ in protocol.weights},
        )
    data = fingerprint([rollout.id for rollout, _ in usable], digest_of(windows))
    context = windows.context(protocol.window, protocol.horizon)
    floors = [score(windows, floor.rollout(context), protocol) for floor in FLOORS]
    return readings_of(scores, windows.episodes, protocol, {**shared, "data": data}, floors)
