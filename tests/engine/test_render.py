"""Pictures: the same alone as in any company, whatever the state, and nothing out of bounds."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.data.dense import dense
from cosmolabe.engine import kernels
from cosmolabe.engine.game import Appearance, layout_of
from cosmolabe.engine.painting import no_scenery
from cosmolabe.engine.render import characters_of, draw_frames, theme_of

GAMES = tuple(parts.names("games"))
SIZE = 64
NOT_SOUND = (np.nan, np.inf, -np.inf, 1e30, -1e30, 1e9, -5.0, 17.0, 0.5, 0.0, 1.0, 3.0, -1.0)


@cache
def episode(name: str, seed: int = 3, ticks: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Dense states and globals of a random player's episode."""
    game = parts.load("games", name)
    actions = np.random.default_rng(seed).integers(len(game.actions), size=(1, ticks // 4))
    actions = np.ascontiguousarray(actions.repeat(4, 1), np.uint8)
    public = np.zeros((1, ticks + 1, game.num_public), np.float32)
    lengths = np.zeros(1, np.int64)
    worlds, parameters = game.new_worlds(np.array([seed])), game.default_parameters()[None]
    kernels.simulate(game.step, worlds, actions, parameters, public, lengths)
    states, numbers, _ = dense(game, public[0, : int(lengths[0])])
    return states, numbers


def jittery(game) -> Appearance:
    """The look of the first theme whose camera shakes, else of the first theme."""
    shaking = [theme.name for theme in game.themes if theme.jitter > 0]
    return Appearance(theme=shaking[0] if shaking else "", seed=11)


@pytest.mark.parametrize("shaking", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_a_frame_is_the_same_alone_as_in_any_order_and_company(name, shaking):
    game = parts.load("games", name)
    look = jittery(game) if shaking else Appearance()
    states, numbers = (part[::20] for part in episode(name))
    together = draw_frames(game, states, numbers, look, SIZE)
    assert np.array_equal(together, draw_frames(game, states, numbers, look, SIZE))
    order = np.random.default_rng(0).permutation(len(states))
    shuffled = draw_frames(game, states[order], numbers[order], look, SIZE)
    assert np.array_equal(shuffled, together[order])
    other = Appearance(seed=99)  # a look that nothing else draws, so that its set is new
    for t in (0, len(states) // 2, len(states) - 1):
        alone = draw_frames(game, states[t : t + 1], numbers[t : t + 1], look, SIZE)
        assert np.array_equal(alone[0], together[t])
        draw_frames(game, states[:1], numbers[:1], other, SIZE)
    assert (together != together[0]).any()


@pytest.mark.parametrize("name", GAMES)
def test_scenery_kept_from_other_frames_leaves_no_trace(name):
    """With scenery drawn anew for each frame (a fresh copy of the game) the picture is the same."""
    game = parts.load("games", name)
    states, numbers = (part[::40] for part in episode(name))
    noise = np.random.default_rng(1).normal(0, 0.01, states.shape)
    for some in (states, (states + noise).astype(np.float32)):
        together = draw_frames(game, some, numbers, size=SIZE)
        for t in range(len(some)):
            new = dataclasses.replace(game)
            alone = draw_frames(new, some[t : t + 1], numbers[t : t + 1], size=SIZE)
            assert np.array_equal(alone[0], together[t])


@pytest.mark.parametrize("name", GAMES)
def test_scenery_sees_zero_where_it_has_not_declared_a_value(name):
    game = parts.load("games", name)
    if game.scenery is None:
        assert game.scenery_columns == ()
        return
    states, numbers = (part[-1:] for part in episode(name))
    blind = dataclasses.replace(game, scenery_columns=(), draw=no_scenery)
    empty = dataclasses.replace(game, draw=game.scenery, scenery=None)
    assert np.array_equal(
        draw_frames(blind, states, numbers, size=SIZE),
        draw_frames(empty, np.zeros_like(states), np.zeros_like(numbers), size=SIZE),
    )


@pytest.mark.parametrize("name", GAMES)
def test_garbage_is_drawn_without_a_word_and_never_outside_the_frames(name):
    game = parts.load("games", name)
    random = np.random.default_rng(5)
    template = layout_of(game).template
    for share in (0.02, 0.3, 1.0):
        states = np.repeat(template[None], 6, 0)
        wrong = random.random(states.shape) < share
        states[wrong] = random.choice(NOT_SOUND, wrong.sum())
        states[3:, :, 2] = 1
        numbers = random.choice(NOT_SOUND, (6, 17)).astype(np.float32)
        width = round(SIZE * game.manifest.aspect)
        guarded = np.full((18, SIZE, width, 3), 77, np.uint8)
        draw_frames(game, states, numbers, size=SIZE, out=guarded[6:12])
        assert (guarded[:6] == 77).all()
        assert (guarded[12:] == 77).all()
        again = draw_frames(game, states, numbers, size=SIZE)
        assert np.array_equal(guarded[6:12], again)


@pytest.mark.parametrize("name", GAMES)
def test_an_entity_with_a_number_that_is_none_is_left_out(name):
    game = parts.load("games", name)
    states, numbers = (part[:1].copy() for part in episode(name))
    for broken in (np.nan, np.inf):
        lost, gone = states.copy(), states.copy()
        lost[0, 0, 3], gone[0, 0] = broken, 0
        assert np.array_equal(
            draw_frames(game, lost, numbers, size=SIZE), draw_frames(game, gone, numbers, size=SIZE)
        )


@pytest.mark.parametrize("name", GAMES)
def test_a_shaking_camera_moves_the_whole_picture_by_whole_pixels(name):
    game = parts.load("games", name)
    look = jittery(game)
    assert theme_of(game, look).jitter > 0
    states, numbers = (part[:1].repeat(40, 0) for part in episode(name))
    numbers = numbers.copy()
    numbers[:, 5] = np.arange(40) / game.manifest.max_ticks
    frames = draw_frames(game, states, numbers, look, 224).astype(int)
    moved = frames[np.flatnonzero((frames != frames[0]).any((1, 2, 3)))[0]]
    inner, reach = slice(20, -20), range(-6, 7)
    shifted = [
        np.abs(np.roll(frames[0], (down, right), (0, 1)) - moved)[inner, inner].mean()
        for down in reach
        for right in reach
    ]
    assert min(shifted) < 0.3  # of 255; a sharp edge may round the other way
    assert np.abs(frames[0] - moved)[inner, inner].mean() > min(shifted)


@given(size=st.integers(17, 160), name=st.sampled_from(GAMES))
def test_size_is_the_height_and_the_width_follows_the_aspect(size, name):
    game = parts.load("games", name)
    states, numbers = (part[:1] for part in episode(name))
    frames = draw_frames(game, states, numbers, size=size)
    assert frames.shape == (1, size, round(size * game.manifest.aspect), 3)
    assert len(np.unique(frames.reshape(-1, 3), axis=0)) > 3


def test_no_frames_are_no_trouble():
    game = parts.load("games", GAMES[0])
    states, numbers = (part[:0] for part in episode(GAMES[0]))
    assert len(draw_frames(game, states, numbers, size=SIZE)) == 0


def test_a_theme_that_there_is_not_is_refused_with_those_that_there_are():
    game = parts.load("games", "pong")
    states, numbers = (part[:1] for part in episode("pong"))
    with pytest.raises(ValueError, match=rf"pong has no theme 'fog'; have .*{game.themes[1].name}"):
        draw_frames(game, states, numbers, Appearance(theme="fog"))


def test_characters_must_be_known_and_one_for_each_role():
    game = parts.load("games", "pong")
    states, numbers = (part[:1] for part in episode("pong"))
    first = game.characters[0]
    for worn in (("nobody", first), (first,)):
        with pytest.raises(ValueError, match=r"pong wants 2 character\(s\) of .*got"):
            draw_frames(game, states, numbers, Appearance(characters=worn))
    assert characters_of(game, Appearance()) == game.characters[:2]


def test_arrays_of_other_shapes_are_refused_before_anything_is_written():
    game = parts.load("games", "pong")
    states, numbers = (part[:2] for part in episode("pong"))
    with pytest.raises(ValueError, match="pong draws states"):
        draw_frames(game, states[:, 1:], numbers)
    with pytest.raises(ValueError, match="and globals"):
        draw_frames(game, states, numbers[:1])
    for out in (
        np.zeros((1, 224, 224, 3), np.uint8),
        np.zeros((2, 224, 224, 3), np.float32),
        np.zeros((2, 224, 448, 3), np.uint8)[:, :, ::2],
    ):
        with pytest.raises(ValueError, match="out must be a contiguous uint8 array"):
            draw_frames(game, states, numbers, out=out)
    assert draw_frames(game, states, numbers).any()  # a refused call leaves no half-made set behind
