"""Play a game by hand, in a window (the extra `play`)."""

import itertools
import types
from collections.abc import Sequence

import numpy as np

from cosmolabe.data.dense import dense
from cosmolabe.data.playing import Played, replay
from cosmolabe.engine import kernels
from cosmolabe.engine.game import LEVEL, LIVES, SCORE, TERMINATED, Appearance, Game
from cosmolabe.engine.render import draw_frames


def held_action(game: Game, held: Sequence[str]) -> int:
    """The action of the keys held down, oldest first.

    Words of keys held together are joined where the game has such an action (`jump` and `left`
    make `jump_left`); otherwise the key pressed last counts.
    """
    words = [game.action_keys[key] for key in held if key in game.action_keys]
    for count in range(len(words), 1, -1):
        for some in itertools.permutations(reversed(words), count):
            joined = "_".join(some)
            if joined in game.actions:
                return game.actions.index(joined)
    return game.actions.index(words[-1]) if words else 0


def _pygame() -> types.ModuleType:
    try:
        import pygame
    except ImportError:
        raise ValueError(
            "playing in a window needs pygame: pip install 'cosmolabe[play]'; "
            "a script plays without it"
        ) from None
    return pygame


def play_window(
    game: Game,
    seed: int = 0,
    level: int = 1,
    parameters: np.ndarray | None = None,
    appearance: Appearance | None = None,
    size: int = 640,
    num_ticks: int | None = None,
) -> Played:
    """Play by hand: the game's keys, p pauses, r starts again, escape ends.

    Returns the last game played, with its final picture. `num_ticks` ends it after so many
    ticks of the window's clock.
    """
    pygame = _pygame()
    constants = game.default_parameters() if parameters is None else parameters
    width = round(size * game.manifest.aspect)
    pygame.init()
    try:
        window = pygame.display.set_mode((width, size))
        table = _Table(game, constants, seed, level)
        clock = pygame.time.Clock()
        while table.is_open and (num_ticks is None or table.clock < num_ticks):
            for event in pygame.event.get():
                table.hear(pygame, event)
            table.tick()
            picture = table.picture(appearance, size)
            pygame.surfarray.blit_array(window, picture.swapaxes(0, 1))
            pygame.display.set_caption(table.caption())
            pygame.display.flip()
            clock.tick(game.manifest.fps)
    finally:
        pygame.quit()
    actions = np.array(table.actions, np.uint8)
    whole = max(len(actions), 1)
    return replay(game, table.start, actions, constants, appearance, size, whole)


class _Table:
    """A game in the hands of one player: the world, the keys, the pauses."""

    def __init__(self, game: Game, constants: np.ndarray, seed: int, level: int) -> None:
        self.game, self.constants = game, constants
        self.seed, self.level = seed, level
        self.held: list[str] = []
        self.tapped: list[str] = []
        self.is_open, self.is_paused = True, False
        self.clock = 0
        self.deal(seed)

    def deal(self, seed: int) -> None:
        """A fresh world."""
        self.seed = seed
        self.start = self.game.new_world(seed, self.level, self.constants)
        self.world = self.start.copy()
        self.actions: list[int] = []
        self._rows = np.tile(self.world[: self.game.num_public].astype(np.float32), (3, 1))

    def hear(self, pygame: types.ModuleType, event: object) -> None:
        """One event of the window."""
        kind = getattr(event, "type", None)
        if kind == pygame.QUIT:
            self.is_open = False
        if kind not in (pygame.KEYDOWN, pygame.KEYUP):
            return
        key = pygame.key.name(getattr(event, "key", 0))
        if key in self.held:
            self.held.remove(key)
        if kind == pygame.KEYDOWN:
            self.held.append(key)
            self.tapped.append(key)
            self.command(key)

    def command(self, key: str) -> None:
        """Keys that speak to the window, unless the game uses them itself."""
        if key == "escape":
            self.is_open = False
        elif key in self.game.action_keys:
            return
        elif key == "p":
            self.is_paused = not self.is_paused
        elif key == "r":
            self.deal(self.seed + 1)

    def tick(self) -> None:
        """One tick of the game; a key tapped within the tick counts as held."""
        self.clock += 1
        keys = [*(key for key in self.tapped if key not in self.held), *self.held]
        self.tapped = []
        if self.is_paused or self.world[TERMINATED] != 0:
            return
        action = held_action(self.game, keys)
        self.actions.append(action)
        kernels.advance(
            self.game.step, self.world[None], np.array([[action]], np.uint8), self.constants[None]
        )
        self._rows = np.roll(self._rows, -1, 0)
        self._rows[2] = self.world[: self.game.num_public]

    def picture(self, appearance: Appearance | None, size: int) -> np.ndarray:
        """The present state, uint8 (height, width, 3)."""
        states, numbers, _ = dense(self.game, self._rows, skip=2)
        return draw_frames(self.game, states, numbers, appearance, size)[0]

    def caption(self) -> str:
        """What the window's title says."""
        score, lives, level = (int(self.world[at]) for at in (SCORE, LIVES, LEVEL))
        text = f"{self.game.name}: score {score}, lives {lives}, level {level}"
        if self.world[TERMINATED] != 0:
            return f"{text}. Over: r plays again, escape ends"
        return f"{text}. Paused" if self.is_paused else text
