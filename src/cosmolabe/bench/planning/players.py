"""Players trained inside a model, played in the true game.

    measured = train_inside(model, store, steps=60_000)       needs the extra `rl`

PPO practises in what the model imagines; another learns with the same settings, starts, rewards and
number of decisions in the true game. Both then play the true game from the planners' starts.
"""

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from cosmolabe.bench.planning.futures import Moment, simulated
from cosmolabe.bench.planning.judging import share_of
from cosmolabe.bench.planning.playing import (
    LIVES_OF_CHANCE,
    SALT,
    Outcome,
    PlanProtocol,
    outcome,
    play_plain,
    starts,
)
from cosmolabe.bench.planning.practice import ImaginedMoments, Moments, TrueMoments
from cosmolabe.core.rollout import WorldModel
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.policy import Policy
from cosmolabe.data.sight import sight_of
from cosmolabe.nets.practice import first_look

USUAL = PlanProtocol(episodes=32, ticks=240)
"""Playing costs nothing, so it is measured on more episodes than planning."""


def train_inside(
    model: WorldModel,
    store: Any,  # noqa: ANN401 - a replay store
    steps: int = 60_000,
    num_worlds: int = 64,
    seed: int = 0,
    protocol: PlanProtocol = USUAL,
    tell: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """What a player trained inside the model gets in the true game, and all it is compared with."""
    game = store.part
    start = starts(game, protocol)
    plain = {who: play_plain(start, who, protocol) for who in ("stay", "random", "heuristic")}
    sight = sight_of(game)
    shared = (store, sight, first_look(game, sight, seed), num_worlds, seed)
    rooms: dict[str, Moments] = {
        "inside": ImaginedMoments(model, *shared),
        "true": TrueMoments(*shared),
    }
    played, seconds = {}, {}
    for name, room in rooms.items():
        began = process_time()
        played[name] = play_policy(start, _learnt(room, steps, tell), protocol)
        seconds[name] = process_time() - began
    values = {**plain, **played}
    share, low, high = share_of(played["inside"].value, plain["random"].value, played["true"].value)
    return {
        "game": game.name,
        "version": game.manifest.version,
        "model": model.name,
        "decisions": steps,
        "seed": seed,
        "share": share,
        "share_low": low,
        "share_high": high,
        **{f"return_{who}": float(got.value.mean()) for who, got in values.items()},
        **{f"score_{who}": float(got.score.mean()) for who, got in values.items()},
        **{f"seconds_{who}": spent for who, spent in seconds.items()},
        "episodes": protocol.episodes,
        "ticks": protocol.ticks,
        "lasts": rooms["inside"].lasts,
        "num_worlds": num_worlds,
        "protocol": protocol.fingerprint,
    }


def _learnt(room: Moments, steps: int, tell: Callable[[int, int], None] | None) -> Policy:
    from cosmolabe.nets.reinforce import LearnConfig, learn

    config = LearnConfig(steps=steps, seed=room.seed, num_worlds=len(room.worlds))
    return learn(room.game, config, tell, room)[0]


def play_policy(start: Moment, policy: Policy, protocol: PlanProtocol) -> Outcome:
    """A trained player from the given starts, several times with other luck of its own."""
    game = start.game
    worlds = np.repeat(start.worlds, LIVES_OF_CHANCE, 0)
    keys = [
        seed_of(SALT, "policy", game.name, protocol.seed, episode, k)
        for episode in start.seeds
        for k in range(LIVES_OF_CHANCE)
    ]
    luck = np.array([[key & 0xFFFFFFFF, key >> 32] for key in keys], np.uint64)
    actions = np.zeros((len(worlds), protocol.ticks), np.uint8)
    policy.play(
        game, worlds.copy(), game.default_parameters(), luck, 0.0, actions, np.zeros_like(worlds),
        protocol.ticks, np.zeros(len(worlds), np.int64),
    )  # fmt: skip
    got = outcome(game, simulated(game, worlds, actions), protocol.hold)
    return Outcome(
        got.score.reshape(-1, LIVES_OF_CHANCE).mean(1),
        got.parts.reshape(len(start), LIVES_OF_CHANCE, -1).mean(1),
    )
