"""A batch of worlds to practise in: decisions in, features and shaped rewards out.

The adapter to Stable-Baselines3 (`nets.reinforce`) is thin; everything that can be tested without
it is here.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32

from cosmolabe.core.seeds import generator, seed_of
from cosmolabe.data.dense import simulated
from cosmolabe.data.players import player_named
from cosmolabe.data.policy import Policy
from cosmolabe.data.sight import Sight
from cosmolabe.engine import kernels
from cosmolabe.engine.game import LEVEL, LIVES, PHASE, SCORE, TERMINATED, TICK, WON, Game
from cosmolabe.nets.shaping import shaped

HOLD = player_named("rl").hold
"""Ticks a decision stands for, in practice as in play."""
LATER_STARTS, LATEST_START = 0.3, 3
"""Share of practice worlds that start in a later level, and the latest of them."""
MEASURED_WORLDS = 64


@dataclass(frozen=True)
class Outcome:
    """What one decision brought in each world."""

    features: Float32[np.ndarray, "batch feature"]
    """Of fresh worlds where the old ones ended."""
    rewards: Float[np.ndarray, " batch"]
    ended: Bool[np.ndarray, " batch"]
    by_clock: Bool[np.ndarray, " batch"]
    """Ended because the game's clock ran out: the rewards would have gone on."""
    last: Float32[np.ndarray, "batch feature"]
    """What was seen before fresh worlds took the place of ended ones."""


class Practice:
    """Worlds that start again as they end."""

    def __init__(
        self,
        game: Game,
        sight: Sight,
        norm: Float32[np.ndarray, "2 feature"],
        num_worlds: int,
        seed: int,
    ) -> None:
        self.game, self.sight, self.norm, self.seed = game, sight, norm, seed
        self.worlds = np.zeros((num_worlds, game.num_world))
        self._constants = game.default_parameters()
        self._random = generator("practice", game.name, seed)
        self._born = 0

    def reset(self) -> Float32[np.ndarray, "batch feature"]:
        """Fresh worlds everywhere."""
        for place in range(len(self.worlds)):
            self._give_birth(place)
        return self._seen()

    def step(self, actions: np.ndarray) -> Outcome:
        """HOLD ticks of every world."""
        before = self._rows()
        held = np.repeat(np.asarray(actions, np.uint8)[:, None], HOLD, 1)
        kernels.advance(self.game.step, self.worlds, held, self._constants[None])
        rewards = shaped(self.game, before, self._rows())
        ended = self.worlds[:, TERMINATED] != 0
        by_clock = ended & (
            (self.worlds[:, TICK] >= self.game.manifest.max_ticks)
            & (self.worlds[:, PHASE] != WON)
            & (self.worlds[:, LIVES] > 0)
        )
        last = self._seen()
        for place in np.flatnonzero(ended):
            self._give_birth(int(place))
        return Outcome(self._seen() if ended.any() else last, rewards, ended, by_clock, last)

    def _give_birth(self, place: int) -> None:
        later = self._random.random() < LATER_STARTS
        level = int(self._random.integers(2, LATEST_START + 1)) if later else 1
        seed = seed_of("practice", self.game.name, self.seed, self._born)
        self._born += 1
        self.worlds[place] = self.game.new_world(seed, level, self._constants)

    def _rows(self) -> np.ndarray:
        return self.worlds[:, : self.game.num_public].astype(np.float32)

    def _seen(self) -> np.ndarray:
        return self.sight.features(self._rows(), self.norm)


def first_look(game: Game, sight: Sight, seed: int = 0) -> Float32[np.ndarray, "2 feature"]:
    """The norm of the features, from what heuristic and random play comes to see."""
    rows = []
    for name in ("heuristic", "random", "mixed"):
        player = player_named(name)
        seeds = np.array([seed_of("first look", game.name, name, seed, k) for k in range(16)])
        worlds = game.new_worlds(seeds)
        actions = np.zeros((len(seeds), game.manifest.max_ticks), np.uint8)
        lengths = np.zeros(len(seeds), np.int64)
        kernels.play(
            game.step, game.decide, worlds.copy(), game.default_parameters()[None],
            np.stack([seeds & 0xFFFFFFFF, seeds >> 32], 1).astype(np.uint64), len(game.actions),
            player.randomness, player.hold, actions,
            np.zeros((len(seeds), game.num_world)), actions.shape[1], lengths,
        )  # fmt: skip
        public, lengths = simulated(game, worlds, actions, game.default_parameters())
        rows += [own[:length:7] for own, length in zip(public, lengths, strict=True)]
    return sight.fitted(np.concatenate(rows))


def measure(
    game: Game, policy: Policy, randomness: float, num_worlds: int = MEASURED_WORLDS
) -> dict[str, float | int]:
    """Mean score, level, episode length and shaped return of a policy in worlds of level 1.

    The worlds are those of no training and no split.
    """
    seeds = np.array([seed_of("measured player", game.name, k) for k in range(num_worlds)])
    luck = np.stack([seeds & 0xFFFFFFFF, seeds >> 32], 1).astype(np.uint64)
    constants = game.default_parameters()
    worlds = game.new_worlds(seeds)
    actions = np.zeros((num_worlds, game.manifest.max_ticks), np.uint8)
    lengths = np.zeros(num_worlds, np.int64)
    policy.play(
        game, worlds.copy(), constants, luck, randomness, actions,
        np.zeros((num_worlds, game.num_world)), actions.shape[1], lengths,
    )  # fmt: skip
    public, lengths = simulated(game, worlds, actions, constants)
    returns = [
        shaped(game, own[: n - 1 : 1], own[1:n]).sum()
        for own, n in zip(public, lengths, strict=True)
    ]
    return {
        "worlds": num_worlds,
        "score": float(worlds[:, SCORE].mean()),
        "level": float(public[np.arange(num_worlds), lengths - 1, LEVEL].mean()),
        "ticks": float(lengths.mean() - 1),
        "shaped_return": float(np.mean(returns)),
    }
