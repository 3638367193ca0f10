"""Pictures of play with what truly stands in them, drawn as they are needed."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from jaxtyping import UInt8

from cosmolabe.bench.vqa.looks import trainable_look
from cosmolabe.core import parts
from cosmolabe.core.seeds import generator, seed_of
from cosmolabe.data.dense import dense, simulated
from cosmolabe.data.held_out import held_out
from cosmolabe.data.players import PLAYERS, let_play
from cosmolabe.engine.game import Game
from cosmolabe.engine.render import draw_frames
from cosmolabe.nets.vlm_sight import Sights, sights_of

TICKS = 500
WORLDS = 48
"""Games of each kind that are played at once; pictures are drawn from all of their ticks."""
WHO_PLAYS = ("heuristic", "random", "mixed")


@cache
def characters() -> tuple[str, ...]:
    """Characters that may be trained on, of all games."""
    found = {
        name
        for game in parts.names("games")
        for name in held_out().trainable_characters(parts.load("games", game))
    }
    return tuple(sorted(found))


def slots_of_roles(game: Game) -> tuple[int, ...]:
    """The slot of each role: the player's is the one that keys move, others are called as it."""
    names = [slot.name for slot in game.manifest.slots]
    player = next(i for i, slot in enumerate(game.manifest.slots) if slot.controllable)
    return (player, *(names.index(role) for role in game.roles[1:]))


class SightSource:
    """Batches of pictures of all games, in looks that may be trained on."""

    def __init__(
        self, size: int, patch: int, seed: int, turned: float, games: Sequence[str] = ()
    ) -> None:
        self.size, self.cells, self.seed, self.turned = size, size // patch, seed, turned
        self.games = tuple(games) or parts.names("games")
        self._played: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def batch(self, number: int, count: int) -> tuple[UInt8[np.ndarray, "n h w 3"], Sights]:
        """`count` pictures and their sights; the same for the same number."""
        dice = generator("sights", self.seed, number)
        frames, found = [], []
        for share in np.array_split(np.arange(count), len(self.games) * 2):
            which = int(dice.integers(len(self.games)))
            pictures, sights = self._some(self.games[which], which, len(share), dice)
            frames.append(pictures)
            found.append(sights)
        return np.concatenate(frames), Sights.joined(found)

    def _some(
        self, name: str, which: int, count: int, dice: np.random.Generator
    ) -> tuple[np.ndarray, Sights]:
        game: Game = parts.load("games", name)
        states, numbers, lengths = self._episodes(game)
        look = trainable_look(game, dice, self.turned)
        world = dice.integers(len(states))
        ticks = dice.integers(0, lengths[world], count)
        seen = states[world, ticks]
        pictures = draw_frames(look.game, seen, numbers[world, ticks], look.appearance, self.size)
        worn = {
            slot: characters().index(name)
            for slot, name in zip(slots_of_roles(game), look.appearance.characters, strict=True)
        }
        return pictures, sights_of(game.manifest, seen, worn, which, self.cells)

    def _episodes(self, game: Game) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if game.name not in self._played:
            self._played[game.name] = play(game, WORLDS, self.seed)
        return self._played[game.name]


def play(game: Game, worlds: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States (world, tick, slot, state), globals and lengths of games by players in turn."""
    constants = game.default_parameters()
    states, numbers, lengths = [], [], []
    for index in range(worlds):
        name = WHO_PLAYS[index % len(WHO_PLAYS)]
        key = seed_of("sights", game.name, name, seed, index)
        start = game.new_world(key & 0xFFFFFFFF, 1 + index % 2, constants)
        actions, length = np.zeros((1, TICKS), np.uint8), np.zeros(1, np.int64)
        luck = np.array([[key & 0xFFFFFFFF, key >> 32]], np.uint64)
        let_play(
            PLAYERS[name], game, start[None].copy(), constants, luck, actions,
            np.zeros((1, game.num_world)), TICKS, length,
        )  # fmt: skip
        done = actions[:, : max(int(length[0]) - 1, 1)]
        public, count = simulated(game, start[None].copy(), done, constants)
        one, other, _ = dense(game, public[0, : int(count[0])])
        pad = TICKS + 1 - len(one)
        states.append(np.pad(one, ((0, pad), (0, 0), (0, 0)), mode="edge"))
        numbers.append(np.pad(other, ((0, pad), (0, 0)), mode="edge"))
        lengths.append(len(one))
    return np.stack(states), np.stack(numbers), np.array(lengths)
