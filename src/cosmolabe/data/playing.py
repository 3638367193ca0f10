"""Play a game by script, to pictures, or by hand, in a window.

    played = play_script(load("games", "pong"), "up*20,stay*5,down", seed=3)
    save_sheet(played.frames, Path("pong.png"))

A script is the name of a player ("heuristic", "random", "mixed") or action words separated by
commas, each with an optional count of ticks.
"""

import itertools
import math
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image

from cosmolabe.core.seeds import seed_of
from cosmolabe.data.players import PLAYERS
from cosmolabe.engine import kernels
from cosmolabe.engine.game import LEVEL, LIVES, SCORE, TERMINATED, Appearance, Game, layout_of
from cosmolabe.engine.render import draw_frames

MAX_COUNT = 100_000  # ticks of one word in a script


@dataclass(frozen=True)
class Played:
    """One game as it went."""

    actions: UInt8[np.ndarray, " tick"]
    states: Float[np.ndarray, "time slot state"]
    """Every state, the first included."""
    globals: Float[np.ndarray, "time global"]
    terminal: Bool[np.ndarray, " time"]
    frames: UInt8[np.ndarray, "picture height width 3"]
    """Every n-th state's picture, as asked for, and the last one's."""
    fps: float
    """Pictures a second that show the game at its own speed."""

    @property
    def score(self) -> float:
        """Points at the end."""
        return float(self.globals[-1, SCORE])


def parse_script(game: Game, script: str) -> list[int]:
    """Action numbers, one a tick, of words like `up*20,stay*5,down`."""
    actions = []
    for part in script.split(","):
        word, star, count = (piece.strip() for piece in part.partition("*"))
        if word not in game.actions:
            raise ValueError(
                f"no action '{word}' in {game.name}; have {list(game.actions)}, or a player of "
                f"{list(PLAYERS)} as the whole script"
            )
        if star and not (count.isdecimal() and 1 <= int(count) <= MAX_COUNT):
            raise ValueError(
                f"'{part.strip()}': the count after * must be a whole number 1..{MAX_COUNT}"
            )
        actions += [game.actions.index(word)] * (int(count) if star else 1)
    return actions


def play_script(
    game: Game,
    script: str,
    seed: int = 0,
    num_ticks: int | None = None,
    level: int = 1,
    parameters: np.ndarray | None = None,
    appearance: Appearance | None = None,
    size: int = 224,
    every: int = 1,
) -> Played:
    """Play a script from a fresh world.

    A player plays `num_ticks` ticks (600 where not said); action words last as long as they
    say, then repeat if `num_ticks` is longer. The game may end earlier. `every` n-th state is
    drawn.
    """
    if every < 1 or (num_ticks is not None and num_ticks < 1):
        raise ValueError(f"num_ticks and every must be at least 1; got {num_ticks}, {every}")
    constants = game.default_parameters() if parameters is None else parameters
    start = game.new_world(seed, level, constants)
    if script in PLAYERS:
        actions = _player_actions(game, script, start, constants, seed, num_ticks or 600)
    else:
        words = np.array(parse_script(game, script), np.uint8)
        actions = np.resize(words, num_ticks or len(words))
    return replay(game, start, actions, constants, appearance, size, every)


def _player_actions(
    game: Game, name: str, start: np.ndarray, constants: np.ndarray, seed: int, num_ticks: int
) -> np.ndarray:
    player = PLAYERS[name]
    key = seed_of("play", game.name, name, seed)
    actions, lengths = np.zeros((1, num_ticks), np.uint8), np.zeros(1, np.int64)
    kernels.play(
        game.step, game.decide, start[None].copy(), constants[None],
        np.array([[key & 0xFFFFFFFF, key >> 32]], np.uint64), len(game.actions),
        player.randomness, player.hold, actions, np.zeros((1, game.num_world)), num_ticks, lengths,
    )  # fmt: skip
    return actions[0, : lengths[0] - 1]


def replay(
    game: Game,
    start: np.ndarray,
    actions: UInt8[np.ndarray, " tick"],
    constants: np.ndarray,
    appearance: Appearance | None = None,
    size: int = 224,
    every: int = 1,
) -> Played:
    """Given actions from a given world, with pictures."""
    public = np.zeros((1, len(actions) + 1, game.num_public), np.float32)
    lengths = np.zeros(1, np.int64)
    kernels.simulate(
        game.step, start[None].copy(), actions[None].copy(), constants[None], public, lengths
    )
    length, layout, manifest = int(lengths[0]), layout_of(game), game.manifest
    states = np.zeros((length, manifest.num_slots, manifest.profile.num_state), np.float32)
    numbers = np.zeros((length, len(manifest.profile.global_fields)), np.float32)
    terminal = np.zeros(length, bool)
    kernels.expand(
        public[0, :length], layout.target, layout.scale, layout.template, layout.wrap, 0, states,
        numbers, terminal,
    )  # fmt: skip
    drawn = sorted({*range(0, length, every), length - 1})
    return Played(
        actions=actions[: length - 1].copy(),
        states=states,
        globals=numbers,
        terminal=terminal,
        frames=draw_frames(game, states[drawn], numbers[drawn], appearance, size),
        fps=manifest.fps / every,
    )


def save_sheet(
    frames: UInt8[np.ndarray, "picture height width 3"],
    path: Path,
    columns: int = 6,
    max_pictures: int = 24,
) -> None:
    """A contact sheet as PNG: pictures spread over the play, in reading order."""
    count = min(len(frames), max_pictures)
    chosen = frames[np.linspace(0, len(frames) - 1, count).round().astype(int)]
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    _, height, width, _ = frames.shape
    gap = 2
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for place, frame in enumerate(chosen):
        top, left = place // columns * (height + gap), place % columns * (width + gap)
        sheet[top : top + height, left : left + width] = frame
    Image.fromarray(sheet).save(path, format="PNG")


def save_gif(frames: UInt8[np.ndarray, "picture height width 3"], path: Path, fps: float) -> None:
    """An endless GIF; players show no more than 50 pictures a second, so some may be left out."""
    step = max(math.ceil(fps / 50), 1)
    pictures = [Image.fromarray(frame) for frame in frames[::step]]
    ends = np.round(np.arange(len(pictures) + 1) * 100 * step / fps).astype(int)
    durations = (np.diff(ends) * 10).tolist()  # GIF counts hundredths of a second
    pictures[0].save(
        path, format="GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0
    )


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
        self._layout = layout_of(game)
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
        manifest, layout = self.game.manifest, self._layout
        states = np.zeros((1, manifest.num_slots, manifest.profile.num_state), np.float32)
        numbers = np.zeros((1, len(manifest.profile.global_fields)), np.float32)
        kernels.expand(
            self._rows, layout.target, layout.scale, layout.template, layout.wrap, 2, states,
            numbers, np.zeros(1, bool),
        )  # fmt: skip
        return draw_frames(self.game, states, numbers, appearance, size)[0]

    def caption(self) -> str:
        """What the window's title says."""
        score, lives, level = (int(self.world[at]) for at in (SCORE, LIVES, LEVEL))
        text = f"{self.game.name}: score {score}, lives {lives}, level {level}"
        if self.world[TERMINATED] != 0:
            return f"{text}. Over: r plays again, escape ends"
        return f"{text}. Paused" if self.is_paused else text
