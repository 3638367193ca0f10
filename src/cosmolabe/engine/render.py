"""Pictures of states: one code for true and for imagined ones.

Drawing is a function of public state and appearance alone, so an imagined state is drawn by the
same lines as a true one.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float, UInt8
from numba import njit, types

from cosmolabe.engine.canvas import background
from cosmolabe.engine.compiling import rule
from cosmolabe.engine.game import Appearance, Game, Theme
from cosmolabe.engine.rng import uniform_at
from cosmolabe.engine.sprites import sprite_sheet

TICK_SHARE = 5  # column of the globals that tells the time; drives the camera jitter
_DRAW = types.FunctionType(
    types.void(
        types.uint8[:, :, ::1],
        types.float32[:, ::1],
        types.float32[::1],
        types.uint8[:, ::1],
        types.uint8[:, :, :, ::1],
        types.float64[::1],
    )
)


@rule
def _copy(to, source):
    """A plain loop: LLVM makes it a memcpy, which numba's own array assignment is not."""
    for i in range(source.shape[0]):
        to[i] = source[i]


@rule
def _shifted_copy(to, source, down, right):
    height, width = source.shape[0], source.shape[1]
    for row in range(height):
        from_row = min(max(row - down, 0), height - 1)
        for column in range(width):
            from_column = min(max(column - right, 0), width - 1)
            for k in range(3):
                to[row, column, k] = source[from_row, from_column, k]


@njit(
    types.void(
        _DRAW,
        types.float32[:, :, ::1],
        types.float32[:, ::1],
        types.uint8[:, :, ::1],
        types.uint8[:, ::1],
        types.uint8[:, :, :, ::1],
        types.float64,
        types.uint64,
        types.float64,
        types.uint8[:, :, :, ::1],
    ),
    cache=True,
    nogil=True,
)
def paint(draw, states, numbers, still, palette, sprites, jitter, seed, ticks, frames):
    """Draw T frames: background, shifted by the camera jitter, then the game's own drawing."""
    height, row_bytes = still.shape[0], still.shape[1] * 3
    flat_still = still.reshape(height * row_bytes)
    flat_frames = frames.reshape((frames.shape[0], height * row_bytes))
    camera = np.zeros(2)
    for t in range(states.shape[0]):
        if jitter > 0.0:
            tick = np.uint64(max(numbers[t, TICK_SHARE] * ticks + 0.5, 0.0))
            for axis in range(2):
                whim = uniform_at(seed, np.uint64(7), tick, np.uint64(axis))
                camera[axis] = np.floor((2.0 * whim - 1.0) * jitter + 0.5)
            _shifted_copy(frames[t], still, np.int64(camera[1]), np.int64(camera[0]))
        else:
            _copy(flat_frames[t], flat_still)
        draw(frames[t], states[t], numbers[t], palette, sprites, camera)


def theme_of(game: Game, appearance: Appearance) -> Theme:
    """The appearance's theme; the game's first where none is named."""
    if not appearance.theme:
        return game.themes[0]
    for theme in game.themes:
        if theme.name == appearance.theme:
            return theme
    raise ValueError(
        f"{game.name} has no theme '{appearance.theme}'; have {[t.name for t in game.themes]}"
    )


def characters_of(game: Game, appearance: Appearance) -> tuple[str, ...]:
    """One character for each role; the game's first ones where none are named."""
    chosen = appearance.characters or tuple(
        game.characters[index % len(game.characters)] for index in range(len(game.roles))
    )
    unknown = [name for name in chosen if name not in game.characters]
    if unknown or len(chosen) != len(game.roles):
        raise ValueError(
            f"{game.name} wants {len(game.roles)} character(s) of {list(game.characters)}; "
            f"got {list(chosen)}"
        )
    return chosen


@lru_cache(maxsize=64)
def _scenery(
    game_name: str, theme: Theme, size: tuple[int, int], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    palette = np.array(theme.palette, np.uint8)
    still = background(theme.pattern, theme.palette[0], theme.palette[1], size, seed)
    still.setflags(write=True)
    return np.ascontiguousarray(still), palette


def draw_frames(
    game: Game,
    states: Float[np.ndarray, "time slot state"],
    numbers: Float[np.ndarray, "time global"],
    appearance: Appearance | None = None,
    size: int = 224,
    out: UInt8[np.ndarray, "time height width 3"] | None = None,
) -> UInt8[np.ndarray, "time height width 3"]:
    """RGB pictures of dense states; `size` is the height in pixels, the width follows the aspect.

    A state that is not finite is drawn where it can be: NaN entities are left out.
    """
    appearance = appearance or Appearance()
    theme = theme_of(game, appearance)
    height, width = size, round(size * game.manifest.aspect)
    still, palette = _scenery(game.name, theme, (height, width), appearance.seed)
    sprites = sprite_sheet((*characters_of(game, appearance), *game.art))
    frames = out if out is not None else np.empty((len(states), height, width, 3), np.uint8)
    paint(
        game.draw,
        _drawable(states),
        np.ascontiguousarray(np.nan_to_num(numbers), np.float32),
        still,
        palette,
        sprites,
        theme.jitter * size / 224,
        np.uint64(appearance.seed & 0xFFFFFFFF),
        float(game.manifest.max_ticks),
        frames,
    )
    return frames


def _drawable(states: np.ndarray) -> np.ndarray:
    states = np.ascontiguousarray(states, np.float32)
    if np.isfinite(states).all() and np.abs(states[..., :2]).max(initial=0) < 16:
        return states
    broken = ~np.isfinite(states).all(-1) | (np.abs(states[..., :2]) >= 16).any(-1)
    states = np.where(broken[..., None], np.float32(0), states)
    return np.ascontiguousarray(states, np.float32)
