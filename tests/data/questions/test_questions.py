from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.core.fields import AWM as PROFILE
from cosmolabe.core.question import NO, TASKS, YES
from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions import (
    PAPER,
    first,
    game_clips,
    mixture,
    questions_of,
    read_questions,
    sample_mix,
    uniform,
    write_questions,
)
from cosmolabe.data.questions.tasks.character_recognition import role_of
from cosmolabe.engine.game import Appearance
from cosmolabe.engine.render import draw_frames

GAMES = parts.names("games")
PONG, BREAKOUT = parts.load("games", "pong"), parts.load("games", "breakout")
CR = ("character_recognition",)
seeds = st.integers(0, 1 << 31)


def test_the_papers_mix_is_reproduced_to_the_question():
    cells = mixture(32_453, *PAPER)
    assert list(cells.values()) == [3894, 1298, 20769, 973, 324, 5192]


def test_uniform_takes_the_first_and_the_last_frame_and_rounds_halves_to_the_even_one():
    assert uniform(8, 14) == (0, 2, 4, 6, 7, 9, 11, 13)
    assert uniform(20, 14) == tuple(range(14))
    assert first(2, 14) == (0, 1)


@given(count=st.integers(1, 40), length=st.integers(1, 40))
def test_no_frame_is_taken_twice_and_time_runs_forward(count, length):
    for sampler in (uniform, first):
        taken = sampler(count, length)
        assert len(taken) == min(count, length)
        assert all(a < b for a, b in pairwise(taken))
        assert 0 <= taken[0]
        assert taken[-1] < length


@pytest.mark.parametrize("game", GAMES)
def test_a_games_clips_show_actions_that_can_be_told_apart(game):
    clips = game_clips(game, 40, seed=1, size=32)
    part = parts.load("games", game)
    table = np.array(part.action_table, np.float32)
    for clip in clips:
        row = table[part.actions.index(clip.about["action"])]
        assert (clip.actions == row).all(1).sum() >= 12
        assert clip.frames.shape == (14, 32, 32, 3)
        assert clip.fps == 15
    counts = [sum(c.about["action"] == word for c in clips) for word in part.actions]
    assert min(counts) >= 1
    assert max(counts) <= 2.5 * len(clips) / len(part.actions)


@pytest.mark.parametrize("game", GAMES)
def test_no_training_clip_shows_what_is_held_out(game):
    kept = held_out()
    for clip in game_clips(game, 40, seed=2, size=16, held_out=False, swapped=0.5):
        worn = {*clip.about["characters"].values(), clip.about["swapped_to"]}
        assert not worn & set(kept.characters)
        assert f"{game}/{clip.about['theme']}" not in kept.themes


@pytest.mark.parametrize("game", GAMES)
def test_free_play_is_labelled_only_where_one_action_covers_it(game):
    clips = game_clips(game, 64, seed=9, size=16, labelled=False)
    table = np.array(parts.load("games", game).action_table, np.float32)
    for clip in clips:
        same = (clip.actions[:, None] == table[None]).all(2).sum(0).max()
        assert bool(clip.about["label"]) == (clip.about["why"] == "")
        if clip.about["label"]:
            assert same >= 12
    assert "" in {clip.about["label"] for clip in clips}


def test_held_out_clips_show_held_out_themes_alone():
    for clip in game_clips("pong", 20, seed=2, size=16, held_out=True):
        assert f"pong/{clip.about['theme']}" in held_out().themes
        assert not set(clip.about["characters"].values()) & set(held_out().characters)


def test_a_longer_set_begins_like_a_shorter_one():
    short, long = (game_clips("snake", n, seed=3, size=16) for n in (5, 40))
    for one, other in zip(short, long, strict=False):
        assert one.id == other.id
        assert np.array_equal(one.frames, other.frames)


@settings(max_examples=8)
@given(seed=seeds, game=st.sampled_from(GAMES))
def test_every_answer_is_among_its_labels_and_once_among_its_options(seed, game):
    clips = game_clips(game, 12, seed=seed, size=16, held_out=False, swapped=0.3)
    for each in questions_of(clips, seed):
        assert each.answer in each.labels
        assert "{" not in each.text
        if each.format == "multiple_choice":
            assert each.options.count(each.answer) == 1
            assert set(each.options) == set(each.labels)
            assert all(f") {option}" in each.text for option in each.options)
        if each.format == "binary" and "/same/" not in each.id:
            assert each.answer == (YES if each.asked == each.truth else NO)
            assert each.asked in each.text


@settings(max_examples=10)
@given(seed=seeds)
def test_as_many_binary_questions_say_yes_as_no(seed):
    clips = game_clips("pong", 64, seed=1, size=16, swapped=0.3)
    binary = [each for each in questions_of(clips, seed) if each.format == "binary"]
    for kind in {each.template for each in binary}:
        answers = [each.answer for each in binary if each.template == kind]
        assert abs(answers.count(YES) - answers.count(NO)) <= 1


def test_the_order_of_options_follows_from_the_seed_alone():
    clips = game_clips("frogger", 20, seed=4, size=16)
    orders = [
        [each.options for each in questions_of(given, seed) if each.format == "multiple_choice"]
        for given, seed in ((clips, 1), (clips, 1), (clips, 2))
    ]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_a_character_no_training_has_seen_is_only_asked_whether_it_stays():
    clips = game_clips("pong", 40, seed=5, size=16, characters=("bat_ice", "bat_wood"), swapped=0.5)
    unseen = {
        clip.id
        for clip in clips
        if not clip.about["swapped_at"] and role_of(clip, PONG) in _wears_ice(clip)
    }
    asked = [each for each in questions_of(clips, 1, CR) if each.clip in unseen]
    assert len(unseen) > 3
    assert asked
    assert {each.template for each in asked} == {"character_recognition.same/1"}
    assert {each.answer for each in asked} == {YES}
    words = {word for each in questions_of(clips, 1) for word in each.labels}
    assert "the icy bat" not in words


def _wears_ice(clip):
    return [role for role, name in clip.about["characters"].items() if name == "bat_ice"]


def test_a_clip_in_which_somebody_changes_shows_it_and_is_answered_no():
    for clip in game_clips("breakout", 20, seed=6, size=48, swapped=1.0):
        at, other = clip.about["swapped_at"], clip.about["swapped_to"]
        assert 4 <= at <= 10
        assert other != clip.about["characters"][clip.about["swapped_role"]]
        look = (clip.about["theme"], clip.about["look_seed"])
        draws = [
            draw_frames(
                BREAKOUT,
                clip.about["states"],
                clip.about["globals"],
                Appearance((name,), *look),
                48,
            )
            for name in (clip.about["characters"]["player"], other)
        ]
        assert np.array_equal(clip.frames[:at], draws[0][:at])
        assert np.array_equal(clip.frames[at:], draws[1][at:])
        assert (draws[0][at:] != draws[1][at:]).any()
        assert [each.answer for each in questions_of([clip], 1, CR)] == [NO]


@pytest.mark.parametrize("game", GAMES)
def test_state_tasks_ask_only_what_the_state_decides(game):
    clips = game_clips(game, 96, seed=10, size=16, labelled=False)
    made = questions_of(clips, 1, TASKS, same=False)
    assert {each.task for each in made} >= {"event", "count", "direction", "persistence"}
    for each in made:
        assert each.truth in (each.labels if each.format != "binary" else (each.truth,))
        assert "{" not in each.text
    by_id = {clip.id: clip for clip in clips}
    lives = PROFILE.global_fields.index("lives")
    for each in made:
        if each.task == "event" and each.truth == "a life is lost":
            assert (np.diff(by_id[each.clip].about["globals"][:, lives]) < 0).any()
        if each.task == "order":
            assert each.truth in (each.labels if each.format != "binary" else (each.truth,))
    binary = [each for each in made if each.format == "binary"]
    for each in binary:
        assert each.answer == (YES if each.asked == each.truth else NO)


def test_the_ball_that_turns_round_at_a_bat_touches_it():
    clips = game_clips("pong", 200, seed=11, size=16, labelled=False)
    found = {each.clip: each.truth for each in questions_of(clips, 1, ("contact",))}
    assert set(found.values()) == {"the left bat", "the right bat", "a rail", "nothing"}
    for clip in clips:
        speed = clip.about["states"][:, 2, 3]
        back = ((speed[:-1] < 0) & (speed[1:] > 0)).any()
        if found.get(clip.id) == "the left bat":
            assert back
        if found.get(clip.id) in ("nothing", "a rail"):
            assert not back


def test_a_mix_takes_one_question_a_clip():
    clips = game_clips("pong", 100, seed=7, size=16)
    cells = mixture(80, *PAPER)
    mix = sample_mix(questions_of(clips, 1), cells, seed=1)
    assert len({each.clip for each in mix}) == len(mix) == sum(cells.values())
    for (task, form), count in cells.items():
        assert sum((each.task, each.format) == (task, form) for each in mix) == count
    with pytest.raises(ValueError, match="draw more clips"):
        sample_mix(questions_of(clips[:10], 1), cells, seed=1)
    actions = questions_of(clips, 1, ("action_recognition",))
    with pytest.raises(ValueError, match=r"there are none in the set, .*--mix all"):
        sample_mix(actions, cells, seed=1)


def test_questions_come_back_from_disk_as_they_were(tmp_path):
    made = questions_of(game_clips("pong", 6, seed=8, size=16), 1)
    write_questions(tmp_path, made)
    assert read_questions(tmp_path) == made
