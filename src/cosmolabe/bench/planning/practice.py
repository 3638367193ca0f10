"""Worlds to practise in that a model imagines, and the same practice in the true game.

Both begin at the same moments of a store, pay by the same function of states (`returns.gains`) and
last equally long, so that what differs between two players is only where they practised.
"""

from typing import Any

import numpy as np
from jaxtyping import Float32

from cosmolabe.bench.driving import imagine
from cosmolabe.bench.planning.futures import WINDOW, frames_of
from cosmolabe.bench.planning.returns import Frames, gains
from cosmolabe.core.episode import Windows
from cosmolabe.core.fields import PREDICTED
from cosmolabe.core.rollout import Context, WorldModel
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.sight import Sight
from cosmolabe.data.windows import training_batches
from cosmolabe.engine import kernels
from cosmolabe.engine.game import TERMINATED, Game, layout_of
from cosmolabe.nets.features import next_state
from cosmolabe.nets.practice import HOLD, Outcome, Practice

LASTS = 12  # decisions of an episode: as far as models of 20 scored ticks may be trusted, and more


class Moments(Practice):
    """Practice that starts at moments of a store and ends after `lasts` decisions."""

    def __init__(
        self,
        store: Any,  # noqa: ANN401 - a store with `part` and `worlds`, see bench.ceiling
        sight: Sight,
        norm: Float32[np.ndarray, "2 feature"],
        num_worlds: int,
        seed: int,
        lasts: int = LASTS,
    ) -> None:
        super().__init__(store.part, sight, norm, num_worlds, seed)
        self.store, self.lasts = store, lasts
        self._fresh = training_batches(store, "train", WINDOW, num_worlds, seed)
        self._age = np.zeros(num_worlds, np.int64)

    def reset(self) -> Float32[np.ndarray, "batch feature"]:
        """New moments everywhere; their ages differ, so that they do not all end together."""
        self._begin(np.ones(len(self.worlds), bool))
        self._age = np.arange(len(self.worlds)) % self.lasts
        return self._seen()

    def step(self, actions: np.ndarray) -> Outcome:
        """HOLD ticks of every world."""
        rewards, over = self._advance(np.asarray(actions, np.uint8))
        self._age += 1
        ended = over | (self._age >= self.lasts)
        last = self._seen()
        if ended.any():
            self._begin(ended)
        seen = self._seen() if ended.any() else last
        return Outcome(seen, rewards, ended, ended & ~over, last)

    def _begin(self, which: np.ndarray) -> None:
        self._place(next(self._fresh), which)
        self._age[which] = 0

    def _place(self, windows: Windows, which: np.ndarray) -> None:
        """Put the moments in the places of the ended worlds."""
        raise NotImplementedError

    def _advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rewards, and who is over."""
        raise NotImplementedError


class TrueMoments(Moments):
    """The true game goes on from there."""

    def _place(self, windows: Windows, which: np.ndarray) -> None:
        rows = np.flatnonzero(which)
        now = windows.starts[rows] + WINDOW - 1
        self.worlds[rows] = self.store.worlds(windows.episodes[rows], now)

    def _advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        before = self._rows()
        held = np.repeat(actions[:, None], HOLD, 1)
        kernels.advance(self.game.step, self.worlds, held, self._constants[None])
        frames = frames_of(self.game, np.stack([before, self._rows()], 1))
        return gains(self.game, frames).sum(1), self.worlds[:, TERMINATED] != 0


class ImaginedMoments(Moments):
    """A model imagines how it goes on; it sees its own states again."""

    def __init__(self, model: WorldModel, *rest: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*rest, **named)
        self.model = model
        manifest, count = self.game.manifest, len(self.worlds)
        profile = manifest.profile
        shape = (count, WINDOW, manifest.num_slots, profile.num_state)
        self._states = np.zeros(shape, np.float32)
        self._numbers = np.zeros((count, WINDOW, len(profile.global_fields)), np.float32)
        self._past = np.zeros((count, WINDOW, len(profile.action_fields)), np.float32)
        self._table = np.array(self.game.action_table, np.float32)
        self._registry = np.repeat(manifest.registry()[None], count, 0)
        self._rounds = 0

    def _place(self, windows: Windows, which: np.ndarray) -> None:
        self._states[which] = windows.states[which]
        self._numbers[which] = windows.globals[which]
        self._past[which] = windows.actions[which]

    def _advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chosen = np.repeat(self._table[actions][:, None], HOLD, 1)
        moves = np.concatenate([self._past[:, :-1], chosen], 1)
        masks = self.game.manifest.masks()
        context = Context(
            self._registry, self._states, self._numbers,
            np.concatenate([moves, moves[:, -1:]], 1), masks,
        )  # fmt: skip
        seed = seed_of("imagined practice", self.seed, self._rounds) & 0x7FFFFFFF
        self._rounds += 1
        prediction, why = imagine(self.model, context, seed)
        bad = np.array([bool(reason) for reason in why])
        slots = masks.valid & masks.mutable
        mutable = np.broadcast_to(slots, (len(why), len(slots)))
        states = [self._states[:, -1]]
        for tick in range(HOLD):
            states.append(next_state(states[-1], prediction.states[:, tick], mutable, masks.wrap))
        future = np.nan_to_num(np.stack(states[1:], 1)).astype(np.float32)
        numbers = np.nan_to_num(prediction.globals)
        over = np.asarray(prediction.terminal.max(1) > 0) | bad
        frames = Frames(
            np.stack([self._states[:, -1], future[:, -1]], 1)[..., list(PREDICTED)],
            np.stack([self._numbers[:, -1], numbers[:, -1]], 1),
            np.zeros((len(over), 2), bool),
        )
        rewards = np.where(bad, 0.0, gains(self.game, frames).sum(1))
        self._states = np.concatenate([self._states, future], 1)[:, -WINDOW:]
        self._numbers = np.concatenate([self._numbers, numbers], 1)[:, -WINDOW:]
        self._past = np.concatenate([moves, moves[:, -1:]], 1)[:, -WINDOW:]
        return rewards, over

    def _rows(self) -> np.ndarray:
        return compact(self.game, self._states[:, -1], self._numbers[:, -1])


def compact(
    game: Game, states: np.ndarray, numbers: np.ndarray
) -> Float32[np.ndarray, "row public"]:
    """Dense states as the compact rows that players see; the inverse of `data.dense`."""
    layout = layout_of(game)
    flat, target = states.reshape(len(states), -1), layout.target
    rows = np.zeros((len(states), game.num_public), np.float32)
    entity = target >= 0
    known = (target < 0) & (target > -1000)
    rows[:, entity] = flat[:, target[entity]] / layout.scale[entity]
    rows[:, known] = numbers[:, -1 - target[known]] / layout.scale[known]
    return rows
