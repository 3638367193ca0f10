"""Play a game by script, to pictures.

    played = play_script(load("games", "pong"), "up*20,stay*5,down", seed=3)
    save_sheet(played.frames, Path("pong.png"))

A script is the name of a player ("heuristic", "random", "mixed", "rl") or action words separated by
commas, each with an optional count of ticks.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image

from cosmolabe.core.seeds import seed_of
from cosmolabe.data.dense import dense, simulated
from cosmolabe.data.players import PLAYERS, let_play
from cosmolabe.engine.game import SCORE, Appearance, Game
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
    key = seed_of("play", game.name, name, seed)
    actions, lengths = np.zeros((1, num_ticks), np.uint8), np.zeros(1, np.int64)
    luck = np.array([[key & 0xFFFFFFFF, key >> 32]], np.uint64)
    keyframes = np.zeros((1, game.num_world))
    let_play(
        PLAYERS[name], game, start[None].copy(), constants, luck, actions, keyframes, num_ticks,
        lengths,
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
    public, lengths = simulated(game, start[None].copy(), actions[None], constants)
    length = int(lengths[0])
    states, numbers, terminal = dense(game, public[0, :length])
    drawn = sorted({*range(0, length, every), length - 1})
    return Played(
        actions=actions[: length - 1].copy(),
        states=states,
        globals=numbers,
        terminal=terminal,
        frames=draw_frames(game, states[drawn], numbers[drawn], appearance, size),
        fps=game.manifest.fps / every,
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
