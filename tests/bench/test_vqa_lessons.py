"""What the bundled vision-language model is taught: fresh clips, lawful looks, known words."""

from dataclasses import replace

import numpy as np
import pytest

from cosmolabe.bench.vqa.lessons import (
    DRILLS,
    GRID,
    Lessons,
    action,
    is_action,
    is_who,
    moves,
    path,
    stays,
    who,
)
from cosmolabe.bench.vqa.looks import TURNED, trainable_look, turned_theme
from cosmolabe.bench.vqa.making import STAGES
from cosmolabe.bench.vqa.recipe import SightRecipe, TinyRecipe, WordsRecipe
from cosmolabe.bench.vqa.seeing import LEGS, seed_of_leg
from cosmolabe.bench.vqa.sights import SightSource, characters, slots_of_roles
from cosmolabe.bench.vqa.speaking import seed_of_words
from cosmolabe.bench.vqa.vocabulary import STAYS_WHO
from cosmolabe.bench.vqa.vocabulary import vocabulary as words
from cosmolabe.core import parts
from cosmolabe.core.question import TASKS
from cosmolabe.core.seeds import generator
from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions.building import questions_of
from cosmolabe.data.questions.playing import game_clips
from cosmolabe.nets.vlm_sight import ROTATION
from cosmolabe.nets.vlm_tokens import WordTokens

GAMES = ("pong", "frogger")


def lessons():
    words = replace(WordsRecipe(), clips=4, rows=24, drills=dict.fromkeys(DRILLS, 0.25))
    return Lessons(replace(TinyRecipe(), image=32, turned=0.5), words, 7, GAMES)


@pytest.mark.parametrize("game", parts.names("games"))
def test_no_look_that_is_kept_for_testing_is_ever_drawn(game) -> None:
    part, kept = parts.load("games", game), held_out()
    for number in range(40):
        look = trainable_look(part, generator("look", number), turned=0.5)
        assert not set(look.appearance.characters) & set(kept.characters)
        assert f"{game}/{look.appearance.theme}" not in kept.themes
        if look.appearance.theme == TURNED:
            assert len(look.game.themes[0].palette) == len(part.themes[0].palette)


def test_a_turned_theme_has_other_colours_and_keeps_equal_ones_equal() -> None:
    theme = parts.load("games", "pong").themes[0]
    twice = replace(theme, palette=(*theme.palette, theme.palette[0]))
    found = turned_theme(twice, generator("turn", 3))
    assert found.palette[0] == found.palette[-1]
    assert found.palette != twice.palette


def test_a_step_teaches_the_same_whenever_it_comes() -> None:
    one, other = lessons(), lessons()
    other.clips(0)
    for step in (3, 1):
        a, b = one.clips(step), other.clips(step)
        assert all(np.array_equal(x.frames, y.frames) for x, y in zip(a, b, strict=True))
        assert one.questions(step, a) == other.questions(step, b)


def test_steps_teach_new_clips_of_every_game() -> None:
    found = lessons()
    first, second = found.clips(0), found.clips(1)
    assert {clip.about["game"] for clip in first} == set(GAMES)
    assert not {clip.id for clip in first} & {clip.id for clip in second}


def test_questions_are_as_many_as_asked_for_and_about_the_clip_they_are_numbered_with() -> None:
    found = lessons()
    clips = found.clips(0)
    asked = found.questions(0, clips)
    assert 18 <= len(asked) <= 24  # of somebody dead no place is asked
    assert all(one.clip == clips[number].id for number, one in asked)
    lengths = [len(one.text) for _, one in asked]
    assert lengths == sorted(lengths)


def test_a_path_says_the_row_and_column_of_every_frame_that_is_shown() -> None:
    clip = game_clips("pong", 1, 0, size=32, held_out=False)[0]
    states = clip.about["states"]
    for number in range(8):
        found = path(clip, 4, generator("path", number))
        assert found is not None
        slot = 0 if "left" in found.text else 1
        shown = [states[frame, slot] for frame in (0, 4, 9, 13)]
        places = [str(int(value * GRID)) for state in shown for value in (state[1], state[0])]
        assert found.answer == " ".join(places)


def test_moves_say_which_way_somebody_goes_and_turns_at_each_step() -> None:
    clip = game_clips("asteroids", 1, 0, size=32, held_out=False)[0]
    states = clip.about["states"].copy()
    player = slots_of_roles(parts.load("games", "asteroids"))[0]
    states[:, player, 2] = 1
    states[:, player, 0] = (0.95 + 0.02 * np.arange(14)) % 1  # round the edge, to the right
    states[:, player, 1] = 0.5 - 0.01 * np.arange(14)
    states[:, player, ROTATION] = (0.98 + 0.02 * np.arange(14)) % 1
    moved = replace(clip, about={**clip.about, "states": states})
    found = moves(moved, 4, generator("moves", 0))
    assert found is not None
    assert found.answer == " ".join(["up right clockwise"] * 3)
    states[:, player] = states[0, player]
    still = moves(moved, 4, generator("moves", 0))
    assert still is not None
    assert set(still.answer.split()) == {"stays"}


def test_an_action_is_told_by_its_number_and_a_change_of_character_frame_by_frame() -> None:
    game = parts.load("games", "pong")
    clips = game_clips("pong", 24, 0, size=32, held_out=False, swapped=0.5)
    for number, clip in enumerate(clips):
        found = action(clip, 4, generator("action", number))
        if found is not None:
            assert game.words[game.actions[int(found.answer)]] == clip.about["label"]
        named = who(clip, 4, generator("who", number))
        assert named is not None
        numbers = named.answer.split()
        assert (len(set(numbers)) > 1) == bool(0 < clip.about["swapped_at"] <= 13)


def test_whether_somebody_stays_who_they_were_is_told_frame_by_frame() -> None:
    clips = game_clips("pong", 24, 0, size=32, held_out=False, swapped=0.5)
    changed = 0
    for number, clip in enumerate(clips):
        found = stays(clip, 4, generator("stays", number))
        assert found is not None
        at = clip.about["swapped_at"] or len(clip.frames)
        assert found.answer.split() == ["yes" if f < at else "no" for f in (0, 4, 9, 13)]
        changed += "no" in found.answer
    assert 0 < changed < len(clips)


def test_the_players_car_is_unlike_the_others_which_no_question_can_name() -> None:
    racer = parts.load("games", "racer")
    for number in range(20):
        worn = trainable_look(racer, generator("cars", number), turned=0.5).appearance.characters
        assert len(set(worn[1:])) == 1
        assert worn[0] != worn[1]


def test_another_leg_and_another_draw_show_other_pictures() -> None:
    legs = [SightRecipe(leg=leg, drawn=drawn) for leg in LEGS for drawn in range(3)]
    assert len({seed_of_leg(TinyRecipe(), leg) for leg in legs}) == len(legs)


def test_no_two_legs_of_words_see_the_same_clips() -> None:
    parts_of = [getattr(TinyRecipe(), stage) for stage, _ in STAGES]
    legs = [part for part in parts_of if isinstance(part, WordsRecipe)]
    assert len(legs) > 1
    assert len({seed_of_words(TinyRecipe(), leg) for leg in legs}) == len(legs)


def test_is_it_this_number_is_answered_by_the_true_number_and_asked_evenly() -> None:
    clips = game_clips("pong", 24, 0, size=32, held_out=False)
    said = []
    for number, clip in enumerate(clips):
        found = is_action(clip, 4, generator("is it", number))
        true = action(clip, 4, generator("action", number))
        if found is not None and true is not None:
            asked = next(word for word in found.text.replace("?", "").split() if word.isdigit())
            assert found.answer == ("yes" if asked == true.answer else "no")
            said.append(found.answer)
        assert is_who(clip, 4, generator("is who", number)) is not None
    assert {"yes", "no"} == set(said)


def test_of_somebody_who_dies_no_path_is_asked() -> None:
    clip = game_clips("kong", 1, 0, size=32, held_out=False)[0]
    states = clip.about["states"].copy()
    states[-1, :, 2] = 0
    gone = replace(clip, about={**clip.about, "states": states})
    assert path(gone, 4, generator("path", 0)) is None


@pytest.mark.parametrize("game", parts.names("games"))
def test_every_word_of_every_question_is_in_the_vocabulary(game) -> None:
    tokens = WordTokens.of(words())
    tokens.ids(STAYS_WHO.format(who=""))
    clips = game_clips(game, 24, 5, size=16, swapped=0.2)
    for one in questions_of(clips, 1, TASKS):
        tokens.ids(f"{one.text} {one.answer} {' '.join(one.labels)}")


def test_pictures_of_a_batch_and_what_is_said_of_them_are_the_same_each_time() -> None:
    frames, sights = SightSource(32, 8, 3, 0.5, GAMES).batch(4, 10)
    again, other = SightSource(32, 8, 3, 0.5, GAMES).batch(4, 10)
    assert np.array_equal(frames, again)
    assert np.array_equal(sights.named, other.named)
    assert frames.shape == (10, 32, 32, 3)
    assert len(sights) == 10
    assert sights.character.max() < len(characters())


@pytest.mark.parametrize("game", parts.names("games"))
def test_every_role_has_a_slot_of_its_own(game) -> None:
    part = parts.load("games", game)
    slots = slots_of_roles(part)
    assert len(set(slots)) == len(part.roles) == len(slots)
    assert part.manifest.slots[slots[0]].controllable
