from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.core.question import NO, YES
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

GAMES = parts.names("games")
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
    assert {clip.about["label"] for clip in clips} > {""}


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
        slack = 1 if "same" not in kind else answers.count(YES)  # unseen characters all say yes
        assert abs(answers.count(YES) - answers.count(NO)) <= max(1, slack)


def test_the_order_of_options_follows_from_the_seed_alone():
    clips = game_clips("frogger", 20, seed=4, size=16)
    orders = [
        [each.options for each in questions_of(given, seed) if each.format == "multiple_choice"]
        for given, seed in ((clips, 1), (clips, 1), (clips, 2))
    ]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_a_character_no_training_has_seen_is_only_asked_whether_it_stays():
    clips = game_clips("pong", 30, seed=5, size=16, characters=("bat_ice", "bat_wood"))
    asked = [
        each
        for each in questions_of(clips, 1, tasks=("character_recognition",))
        if "bat_ice" in each.about["characters"].values() and each.truth == YES
    ]
    assert asked
    assert {each.template for each in asked} == {"character_recognition.same/1"}
    words = {word for each in questions_of(clips, 1) for word in each.labels}
    assert "the icy bat" not in words


def test_a_clip_in_which_somebody_changes_shows_it_and_is_answered_no():
    clips = game_clips("breakout", 20, seed=6, size=48, swapped=1.0)
    plain = game_clips("breakout", 20, seed=6, size=48, swapped=0.0)
    assert {each.answer for each in questions_of(clips, 1, ("character_recognition",))} == {NO}
    for clip in clips:
        assert 4 <= clip.about["swapped_at"] <= 10
        assert clip.about["swapped_to"] != clip.about["characters"][clip.about["swapped_role"]]
    assert len(plain) == 20


def test_a_mix_takes_one_question_a_clip():
    clips = game_clips("pong", 100, seed=7, size=16)
    cells = mixture(80, *PAPER)
    mix = sample_mix(questions_of(clips, 1), cells, seed=1)
    assert len({each.clip for each in mix}) == len(mix) == sum(cells.values())
    for (task, form), count in cells.items():
        assert sum((each.task, each.format) == (task, form) for each in mix) == count
    with pytest.raises(ValueError, match="draw more clips"):
        sample_mix(questions_of(clips[:10], 1), cells, seed=1)


def test_questions_come_back_from_disk_as_they_were(tmp_path):
    made = questions_of(game_clips("pong", 6, seed=8, size=16), 1)
    write_questions(tmp_path, made)
    assert read_questions(tmp_path) == made
