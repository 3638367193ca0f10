"""What the true simulator scores when only its luck differs: the most a model can be asked for."""

from typing import Any

import numpy as np

from cosmolabe.bench.continuing import give_luck, played_on
from cosmolabe.core.fields import PREDICTED
from cosmolabe.core.rollout import SURE, Prediction
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.dense import dense
from cosmolabe.data.store import Store
from cosmolabe.engine.game import Game


def has_worlds(store: Store) -> bool:
    """Whether the store can say how a moment goes on (a replay store can, a packed one cannot)."""
    return hasattr(store, "worlds") and hasattr(store, "actions")


def simulated(
    store: Any,  # noqa: ANN401 - a store with `worlds`, see has_worlds
    episodes: np.ndarray,
    ticks: np.ndarray,
    horizon: int,
    stream: int | None = None,
) -> Prediction:
    """The true simulator from the worlds at `ticks`, under the recorded actions.

    `stream` None keeps the world's own luck, so this is the truth; a number puts other random
    numbers in its place: what has been decided (timers, plans) stays, what is drawn from then on
    differs. An episode that ends early keeps its last state.
    """
    game: Game = store.part
    worlds = store.worlds(episodes, ticks)
    if stream is not None:
        _other_luck(worlds, game.name, episodes, ticks, stream)
    actions = np.stack(
        [
            store.actions(int(episode))[tick : tick + horizon]
            for episode, tick in zip(episodes, ticks, strict=True)
        ]
    )
    return _prediction(game, played_on(game, worlds, actions, store.constants))


def _other_luck(
    worlds: np.ndarray, game: str, episodes: np.ndarray, ticks: np.ndarray, stream: int
) -> None:
    for world, episode, tick in zip(worlds, episodes, ticks, strict=True):
        give_luck(world, seed_of("other luck", game, int(episode), int(tick), stream))


def _prediction(game: Game, public: np.ndarray) -> Prediction:
    """Compact rows as a prediction; the first row of each world, its present, is left out."""
    batch, horizon = len(public), public.shape[1] - 1
    states, numbers, terminal = dense(game, public[:, 1:].reshape(-1, game.num_public))
    return Prediction(
        states[:, :, list(PREDICTED)].reshape(batch, horizon, game.manifest.num_slots, -1),
        numbers.reshape(batch, horizon, -1),
        SURE * (2 * terminal.reshape(batch, horizon).astype(np.float32) - 1),
    )
