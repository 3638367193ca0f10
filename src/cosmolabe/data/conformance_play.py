"""Play for the conformance checks: random and heuristic episodes, run once, kept compact."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cosmolabe.core.seeds import seed_of
from cosmolabe.data.dense import dense, simulated
from cosmolabe.engine import kernels
from cosmolabe.engine.game import Game

RANDOM_HOLD, MIXED_HOLD, HEURISTIC_HOLD = 8, 4, 2  # ticks of one decision
MIXED_SLIPS, HEURISTIC_SLIPS = 0.3, 0.05  # share of a player's decisions left to chance


@dataclass(frozen=True)
class Finding:
    """Whether a promise is kept, and a sentence about it."""

    ok: bool
    detail: str


def ok_if(problems: list[str], praise: str) -> Finding:
    """Kept when there is no problem; the first three problems are told."""
    more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
    return Finding(not problems, "; ".join(problems[:3]) + more if problems else praise)


@dataclass(frozen=True)
class Play:
    """Episodes of one player."""

    actions: np.ndarray
    """uint8 (world, tick)."""
    public: np.ndarray
    """float32 (world, tick + 1, column)."""
    lengths: np.ndarray
    """States of each episode, int64 (world,)."""
    ends: np.ndarray
    """World vectors at the end, float64 (world, ...)."""

    def rows(self, world: int) -> np.ndarray:
        """The public rows of one episode."""
        return self.public[world, : self.lengths[world]]


class Evidence:
    """What the checks look at; everything is played at most once."""

    def __init__(self, game: Game, num_worlds: int) -> None:
        self.game = game
        self.num_worlds = num_worlds
        self.seeds = np.array([seed_of("conformance", game.name, k) for k in range(num_worlds)])

    @cached_property
    def random(self) -> Play:
        """The random player's episodes."""
        return self._play(1.0, RANDOM_HOLD)

    @cached_property
    def heuristic(self) -> Play:
        """The heuristic player's episodes."""
        return self._play(HEURISTIC_SLIPS, HEURISTIC_HOLD)

    @cached_property
    def mixed(self) -> Play:
        """Episodes of a player who errs often enough to meet every danger of the game."""
        return self._play(MIXED_SLIPS, MIXED_HOLD)

    @cached_property
    def plays(self) -> tuple[Play, Play]:
        """Both players' episodes."""
        return self.random, self.heuristic

    def worlds(self, level: int = 1) -> np.ndarray:
        """Fresh worlds of the evidence's seeds."""
        return self.game.new_worlds(self.seeds, level)

    def _play(self, randomness: float, hold: int) -> Play:
        game, ticks = self.game, self.game.manifest.max_ticks
        worlds = self.worlds()
        keys = np.array(
            [
                [seed_of("player", int(seed), hold) & 0xFFFFFFFF, place]
                for place, seed in enumerate(self.seeds)
            ],
            np.uint64,
        )
        actions = np.zeros((self.num_worlds, ticks), np.uint8)
        keyframes = np.zeros((self.num_worlds, game.num_world))
        lengths = np.zeros(self.num_worlds, np.int64)
        kernels.play(
            game.step, game.decide, worlds, game.default_parameters()[None], keys,
            len(game.actions), randomness, hold, actions, keyframes, ticks, lengths,
        )  # fmt: skip
        return self.replay(actions)

    def replay(self, actions: np.ndarray, parameters: np.ndarray | None = None) -> Play:
        """The evidence's worlds under given actions and physics."""
        game, worlds = self.game, self.worlds()
        constants = game.default_parameters() if parameters is None else parameters
        public, lengths = simulated(game, worlds, actions, constants)
        return Play(actions, public, lengths, worlds)

    def dense(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States (time, slot, state) and globals (time, global) of consecutive public rows."""
        return dense(self.game, rows)[:2]

    @cached_property
    def samples(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Dense states and globals of two episodes of each player."""
        return [self.dense(play.rows(world)) for play in self.plays for world in (0, 1)]
