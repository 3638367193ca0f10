"""Pictures of states: one code for true and for imagined ones.

Drawing is a function of public state and appearance alone, so an imagined state is drawn by the
same lines as a true one.
"""

import threading
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.engine.canvas import background
from cosmolabe.engine.compiling import address_of
from cosmolabe.engine.game import Appearance, Game, Theme
from cosmolabe.engine.painting import DRAW, no_scenery, paint
from cosmolabe.engine.sprites import sprite_sheet

NO_WISHES = Appearance()
MOST_BENCHES = 16  # kept at a time


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


@dataclass(frozen=True)
class _Bench:
    """All that frames of one game, appearance and size have in common, and the set as it stands."""

    game: Game
    scenery: int
    draw: int
    palette: np.ndarray
    still: np.ndarray
    sprites: np.ndarray
    state_places: np.ndarray
    number_places: np.ndarray
    jitter: float
    set_up: np.ndarray
    seen_state: np.ndarray
    seen_numbers: np.ndarray
    ready: np.ndarray
    """One flag: whether the set has been painted at all."""


class _Benches(threading.local):
    """Each thread's own, since painting works on the set."""

    def __init__(self) -> None:
        self.known: dict[tuple, _Bench] = {}

    def get(self, game: Game, appearance: Appearance, size: int) -> _Bench:
        """The bench for such frames, kept from the last ones where there is room."""
        look = (tuple(appearance.characters), appearance.theme, appearance.seed)
        key = (id(game), *look, size)  # a bench keeps its game alive, so the id is its own
        bench = self.known.get(key)
        if bench is not None:
            return bench
        while len(self.known) >= MOST_BENCHES:
            del self.known[next(iter(self.known))]
        bench = self.known[key] = _bench(game, appearance, size)
        return bench


_benches = _Benches()


def _bench(game: Game, appearance: Appearance, size: int) -> _Bench:
    theme, profile = theme_of(game, appearance), game.manifest.profile
    still = background(
        theme.pattern,
        theme.palette[0],
        theme.palette[1],
        (size, round(size * game.manifest.aspect)),
        appearance.seed,
    )
    state_places = [
        column.slot * profile.num_state + profile.state_columns.index(column.field)
        for column in game.scenery_columns
        if column.slot is not None
    ]
    number_places = [
        profile.global_fields.index(column.field)
        for column in game.scenery_columns
        if column.slot is None
    ]
    return _Bench(
        game=game,
        scenery=address_of(game.scenery or no_scenery, DRAW),
        draw=address_of(game.draw, DRAW),
        palette=np.array(theme.palette, np.uint8),
        still=np.ascontiguousarray(still),
        sprites=sprite_sheet((*characters_of(game, appearance), *game.art)),
        state_places=np.array(state_places, np.int64),
        number_places=np.array(number_places, np.int64),
        jitter=theme.jitter * size / 224,
        set_up=np.empty(still.shape, np.uint8),
        seen_state=np.zeros((game.manifest.num_slots, profile.num_state), np.float32),
        seen_numbers=np.zeros(len(profile.global_fields), np.float32),
        ready=np.zeros(1, np.bool_),
    )


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
    bench = _benches.get(game, appearance or NO_WISHES, size)
    wanted = ((len(states), *bench.seen_state.shape), (len(states), len(bench.seen_numbers)))
    if (states.shape, numbers.shape) != wanted:
        raise ValueError(
            f"{game.name} draws states {wanted[0]} and globals {wanted[1]}; "
            f"got {states.shape} and {numbers.shape}"
        )
    shape = (len(states), *bench.still.shape)
    frames = np.empty(shape, np.uint8) if out is None else out
    if frames.shape != shape or frames.dtype != np.uint8 or not frames.flags.c_contiguous:
        raise ValueError(
            f"out must be a contiguous uint8 array {shape}; got {frames.dtype} {frames.shape}"
        )
    paint(
        bench.scenery,
        bench.draw,
        np.ascontiguousarray(states, np.float32),
        np.ascontiguousarray(numbers, np.float32),
        bench.still,
        bench.palette,
        bench.sprites,
        bench.state_places,
        bench.number_places,
        bench.set_up,
        bench.seen_state,
        bench.seen_numbers,
        bench.ready,
        bench.jitter,
        appearance.seed & 0xFFFFFFFF if appearance else 0,
        game.manifest.max_ticks,
        frames,
    )
    return frames
