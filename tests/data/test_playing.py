"""Playing by script and by hand."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cosmolabe.core import parts
from cosmolabe.data.by_hand import held_action, play_window
from cosmolabe.data.playing import parse_script, play_script, save_gif, save_sheet
from cosmolabe.engine.game import Appearance
from cosmolabe.games.pong import GAME as PONG
from cosmolabe.games.racer import GAME as RACER

GAMES = parts.names("games")


def test_words_and_counts_become_one_action_a_tick():
    assert parse_script(PONG, "up*3, stay ,down*2") == [1, 1, 1, 0, 2, 2]


@given(st.lists(st.tuples(st.sampled_from(PONG.actions), st.integers(1, 50)), min_size=1))
def test_a_script_lasts_as_long_as_its_counts_say(pieces):
    script = ",".join(f"{word}*{count}" for word, count in pieces)
    actions = parse_script(PONG, script)
    assert len(actions) == sum(count for _, count in pieces)
    assert actions[0] == PONG.actions.index(pieces[0][0])
    assert actions[-1] == PONG.actions.index(pieces[-1][0])


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("jump", r"no action 'jump' in pong; have \['stay', 'up', 'down'\]"),
        ("", "no action ''"),
        ("up*0", "whole number"),
        ("up*many", "whole number"),
        ("up*", "whole number"),
        ("up*-3", "whole number"),
        ("up*9999999999", "whole number"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused_in_its_own_words(script, message):
    with pytest.raises(ValueError, match=message):
        play_script(PONG, script)


def test_a_script_moves_the_player_and_shows_it():
    played = play_script(PONG, "up*10,down*5", seed=1, size=48)
    y = played.states[:, 0, 1]
    assert played.frames.shape == (16, 48, 48, 3)
    assert (np.diff(y[:11]) < 0).all()
    assert (np.diff(y[10:]) > 0).all()
    assert played.actions.tolist() == [1] * 10 + [2] * 5
    assert not np.array_equal(played.frames[0], played.frames[10])


def test_a_script_repeats_until_the_ticks_asked_for():
    played = play_script(PONG, "up,stay", num_ticks=7, size=32)
    assert played.actions.tolist() == [1, 0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("player", ["heuristic", "random", "mixed"])
@pytest.mark.parametrize("game", GAMES)
def test_every_player_plays_every_game_the_same_way_twice(game, player):
    made = parts.load("games", game)
    first, second = (
        play_script(made, player, seed=4, num_ticks=90, size=32, every=30) for _ in range(2)
    )
    assert first.actions.tobytes() == second.actions.tobytes()
    assert first.frames.tobytes() == second.frames.tobytes()
    assert first.fps == 2


def test_every_nth_state_and_the_last_are_drawn():
    played = play_script(PONG, "stay*10", size=32, every=4)
    whole = play_script(PONG, "stay*10", size=32)
    assert np.array_equal(played.frames, whole.frames[[0, 4, 8, 10]])
    assert played.fps == 15


def test_a_game_that_ends_stops_the_script():
    played = play_script(PONG, "stay", num_ticks=5000, size=16, every=1000)
    assert played.terminal[-1]
    assert len(played.states) < 5000
    assert len(played.actions) == len(played.states) - 1


def test_level_parameters_and_looks_are_passed_on():
    usual = play_script(RACER, "gas*80", size=48, every=80)
    later = play_script(RACER, "gas*80", level=2, size=48, every=80)
    weak = play_script(
        RACER, "gas*80", parameters=RACER.default_parameters(power=0.0), size=48, every=80
    )
    dark = play_script(RACER, "gas*80", appearance=Appearance(theme="night"), size=48, every=80)
    pictures = {played.frames[-1].tobytes() for played in (usual, later, weak, dark)}
    assert len(pictures) == 4
    assert np.array_equal(usual.states, dark.states)


def test_a_contact_sheet_holds_the_pictures_in_reading_order(tmp_path):
    frames = np.zeros((7, 10, 12, 3), np.uint8) + np.arange(7, dtype=np.uint8)[:, None, None, None]
    save_sheet(frames, tmp_path / "sheet.png", columns=3)
    with Image.open(tmp_path / "sheet.png") as opened:
        sheet = np.array(opened)
    assert sheet.shape == (3 * 12 - 2, 3 * 14 - 2, 3)
    corners = [sheet[12 * row, 14 * column, 0] for row in range(3) for column in range(3)]
    assert corners == [0, 1, 2, 3, 4, 5, 6, 255, 255]


def test_a_long_play_is_thinned_to_fit_the_sheet(tmp_path):
    frames = (
        np.zeros((100, 8, 8, 3), np.uint8) + np.arange(100, dtype=np.uint8)[:, None, None, None]
    )
    save_sheet(frames, tmp_path / "sheet.png", columns=2, max_pictures=4)
    with Image.open(tmp_path / "sheet.png") as opened:
        sheet = np.array(opened)
    assert [sheet[0, 0, 0], sheet[0, 10, 0], sheet[10, 0, 0], sheet[10, 10, 0]] == [0, 33, 66, 99]


def test_a_gif_keeps_the_games_speed(tmp_path):
    played = play_script(PONG, "up*30,down*29", size=32)
    save_gif(played.frames, tmp_path / "play.gif", played.fps)
    with Image.open(tmp_path / "play.gif") as opened:
        seconds = 0
        for place in range(opened.n_frames):
            opened.seek(place)
            seconds += opened.info["duration"] / 1000
        assert opened.n_frames > 20
    assert seconds == pytest.approx(1, abs=0.011)


def test_no_key_does_nothing_and_the_last_key_counts():
    assert held_action(PONG, []) == 0
    assert held_action(PONG, ["x"]) == 0
    assert held_action(PONG, ["up", "down"]) == PONG.actions.index("down")
    assert held_action(PONG, ["down", "up"]) == PONG.actions.index("up")


@pytest.mark.parametrize("held", [["up", "left"], ["left", "up"]])
def test_keys_held_together_join_into_an_action(held):
    assert RACER.actions[held_action(RACER, held)] == "gas_left"


@pytest.mark.parametrize("game", GAMES)
def test_keys_reach_every_action_but_the_idle_one(game):
    made = parts.load("games", game)
    keys = list(made.action_keys)
    reached = {held_action(made, [key]) for key in keys}
    reached |= {held_action(made, [a, b]) for a in keys for b in keys if a != b}
    missing = [word for k, word in enumerate(made.actions) if k and k not in reached]
    assert not missing


def test_without_pygame_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ValueError, match=r"pip install 'cosmolabe\[play\]'"):
        play_window(PONG)


@pytest.fixture
def pygame(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    return pygame


def press(pygame, monkeypatch, script):
    """Hand the window these events, tick by tick."""
    ticks = iter(script)
    monkeypatch.setattr(pygame.event, "get", lambda: next(ticks, []))


def test_a_window_plays_what_the_keys_say(pygame, monkeypatch):
    down = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_UP)
    up = pygame.event.Event(pygame.KEYUP, key=pygame.K_UP)
    press(pygame, monkeypatch, [[], [down], [], [up], [down, up], []])
    played = play_window(PONG, seed=2, size=64, num_ticks=6)
    assert played.actions.tolist() == [0, 1, 1, 0, 1, 0]
    assert played.frames.shape[1:] == (64, 64, 3)


def test_pause_restart_and_escape_speak_to_the_window(pygame, monkeypatch):
    def key(name):
        return pygame.event.Event(pygame.KEYDOWN, key=getattr(pygame, f"K_{name}"))

    press(pygame, monkeypatch, [[], [key("p")], [], [key("p")], []])
    assert len(play_window(PONG, size=32, num_ticks=5).actions) == 3
    press(pygame, monkeypatch, [[], [], [key("r")], []])
    assert len(play_window(PONG, size=32, num_ticks=4).actions) == 2
    press(pygame, monkeypatch, [[], [key("ESCAPE")]])
    assert len(play_window(PONG, size=32).actions) == 2
    press(pygame, monkeypatch, [[pygame.event.Event(pygame.QUIT)]])
    assert len(play_window(PONG, size=32).actions) == 1
