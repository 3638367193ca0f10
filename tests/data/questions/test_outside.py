"""Clips of games nobody here wrote: what the player is seen to do, on made-up states."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data.outside.game import Family, Moment, OutsideGame, Thing
from cosmolabe.data.questions import outside
from cosmolabe.data.questions.building import questions_of
from cosmolabe.data.questions.effects import FAR, STILL
from cosmolabe.data.questions.outside import (
    SIDEWAYS,
    VERTICAL,
    WORDS,
    Cutting,
    Wanted,
    Words,
    held_whims,
    outside_clips,
    seen_doing,
)

BAT = Words("the bat", VERTICAL)
CRAB = Words("the crab", {**VERTICAL, **SIDEWAYS})
LENGTH = 14
THERE = np.ones(LENGTH, bool)


def going(step, axis=1, start=0.5, length=LENGTH):
    """Places of something that moves by `step` a frame, along one axis."""
    places = np.full((length, 2), start)
    places[:, axis] += np.broadcast_to(step, length).cumsum() - np.broadcast_to(step, length)[0]
    return places


@pytest.mark.parametrize(
    ("step", "axis", "label"),
    [
        (0.01, 1, "moving down"), (-0.01, 1, "moving up"), (0.01, 0, "moving right"),
        (-0.01, 0, "moving left"), (0.0, 0, "staying still"),
    ],
)  # fmt: skip
def test_the_label_is_the_way_that_it_moves(step, axis, label):
    assert seen_doing(going(step, axis), THERE, CRAB) == (label, "")


def test_y_grows_downwards_and_the_edge_of_the_screen_stops_what_is_pressed():
    at_the_top = np.maximum(going(-0.05, start=0.1), 0.06)
    assert seen_doing(at_the_top, THERE, BAT) == ("moving up", "")
    resting = np.full((LENGTH, 2), 0.06)
    assert seen_doing(resting, THERE, BAT) == ("staying still", "")


def test_there_and_back_is_dropped():
    steps = np.r_[np.full(7, 0.02), np.full(7, -0.02)]
    label, why = seen_doing(going(steps), THERE, BAT)
    assert label == ""
    assert why == "it moves more than one way"


def test_a_slant_is_dropped_where_neither_way_is_the_whole_of_it():
    places = going(0.01, 1)
    places[:, 0] = going(0.01, 0)[:, 0]
    assert seen_doing(places, THERE, CRAB)[0] == ""


def test_a_little_is_neither_still_nor_moving():
    label, why = seen_doing(going((STILL + FAR) / 2 / (LENGTH - 1)), THERE, BAT)
    assert label == ""
    assert why == "it moves too little to be seen"


def test_a_move_in_the_last_two_frames_alone_is_too_short_to_be_seen():
    late = np.r_[np.zeros(LENGTH - 2), 0.05, 0.05]
    assert seen_doing(going(late), THERE, BAT)[1] == "it moves too little to be seen"


def test_who_is_gone_for_one_frame_is_dropped():
    there = THERE.copy()
    there[6] = False
    assert seen_doing(going(0.01), there, BAT) == ("", "the player is not there all the time")


def test_what_leaves_below_and_comes_back_above_has_moved_down():
    places = going(0.01, start=0.95) % 1.0
    assert seen_doing(places, THERE, BAT, np.array([False, True])) == ("moving down", "")
    assert seen_doing(places, THERE, BAT)[0] == ""


@given(
    steps=st.lists(st.floats(-0.03, 0.03), min_size=LENGTH, max_size=LENGTH),
    axis=st.sampled_from([0, 1]),
)
def test_the_picture_upside_down_says_the_other_way(steps, axis):
    other = {"moving up": "moving down", "moving left": "moving right"}
    other |= {b: a for a, b in other.items()}
    places = going(np.array(steps), axis)
    label, why = seen_doing(places, THERE, CRAB)
    turned = seen_doing(1.0 - places, THERE, CRAB)
    assert turned == (other.get(label, label), why)


class Bat:
    """A bat that obeys; at the edge it stays. Every episode begins alike."""

    def reset(self, seed):
        self.y = 0.5
        return self.moment()

    def step(self, action):
        self.y = float(np.clip(self.y + 0.02 * (0, -1, 1)[action], 0.1, 0.9))
        return self.moment()

    def moment(self):
        return Moment({"bat": [Thing(0.5, self.y)]}, {"reward": 0.0})

    def frame(self):
        picture = np.zeros((32, 32, 3), np.uint8)
        picture[int(self.y * 1000) % 32, int(self.y * 1000) // 32] = 255
        return picture

    def close(self):
        pass


@pytest.fixture
def bats(monkeypatch):
    monkeypatch.setitem(outside.WORDS, "fake/Bats", BAT)
    family = Family(Slot("bat", "player", half_width=0.1, half_height=0.1, controllable=True))
    manifest = Manifest(
        "fake-bats", 1, family.slots(), globals=("reward",), actions=("move_y",), max_ticks=70,
        fps=30.0,
    )  # fmt: skip
    actions = ({}, {"move_y": -1.0}, {"move_y": 1.0})
    return OutsideGame("fake/Bats", manifest, (family,), actions, ("wait", "up", "down"), Bat)


CUTTING = Cutting(ticks=70, per_episode=3)


def cut(game, split, wanted, cutting=CUTTING):
    found, dropped = [], Counter()
    for clip, told in outside_clips(game, split, wanted, cutting):
        assert (clip is None) == bool(told["why"])
        if clip is None:
            dropped[told["why"]] += 1
        else:
            found.append(clip)
    return found, dropped


def test_as_many_clips_of_each_label_come_and_no_more_of_an_episode_than_may(bats):
    clips, _ = cut(bats, "train", Wanted(4))
    assert Counter(clip.about["label"] for clip in clips) == dict.fromkeys(BAT.labels, 4)
    assert max(Counter(clip.about["session"] for clip in clips).values()) <= 3
    assert len({clip.id for clip in clips}) == len(clips) == 12


def test_no_picture_of_the_training_is_in_the_test(bats):
    pictures = set()
    train, _ = cut(bats, "train", Wanted(4, pictures=pictures))
    test, dropped = cut(bats, "test", Wanted(3, pictures=pictures))
    assert dropped["the same pictures as another clip"] > 0
    assert not {c.frames.tobytes() for c in train} & {c.frames.tobytes() for c in test}
    assert not {c.about["session"] for c in train} & {c.about["session"] for c in test}


def test_the_same_clips_come_every_time(bats):
    one, other = (cut(bats, "train", Wanted(3))[0] for _ in range(2))
    assert [clip.id for clip in one] == [clip.id for clip in other]
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.frames, b.frames)


@given(number=st.integers(0, 200), ticks=st.integers(14, 120), between=st.integers(0, 9))
def test_every_clip_begins_where_a_whim_begins_that_lasts_as_long(number, ticks, between):
    cutting = Cutting(ticks=ticks, between=between)
    actions, starts = held_whims(3, cutting, "held", number)
    assert len(actions) <= ticks
    assert len(set(starts)) == len(starts)
    for start in starts:
        assert start + cutting.length <= ticks
        assert len(set(actions[start : start + cutting.length])) == 1
    gaps = np.diff(sorted(starts))
    assert ((gaps >= cutting.length) & (gaps <= cutting.length + between)).all()


def test_the_label_is_what_the_frames_show(bats):
    for clip in cut(bats, "train", Wanted(3))[0]:
        rows, columns = (np.nonzero(clip.frames[..., 0])[axis] for axis in (1, 2))
        heights = (rows + 32 * columns).astype(int)
        way = np.sign(int(heights[-1]) - int(heights[0]))
        assert clip.about["label"] == {0: "staying still", -1: "moving up", 1: "moving down"}[way]


def test_too_much_wanted_of_too_few_episodes_is_refused_with_what_there_is(bats):
    with pytest.raises(ValueError, match=r"2 episodes show .*100 of each label are wanted"):
        cut(bats, "train", Wanted(100), Cutting(ticks=70, most_episodes=2))


def test_a_game_without_words_is_refused_by_name(bats, monkeypatch):
    monkeypatch.delitem(outside.WORDS, "fake/Bats")
    with pytest.raises(ValueError, match="no words for 'fake/Bats'"):
        cut(bats, "train", Wanted(1))


def test_its_questions_are_worded_by_the_plain_templates(bats):
    clips, _ = cut(bats, "train", Wanted(2))
    asked = questions_of(clips, 0, ("action_recognition",), same=False)
    assert len(asked) == 3 * len(clips)
    for one in asked:
        assert one.template.startswith("action_recognition.plain")
        assert one.truth in BAT.labels
        if one.format != "binary":
            assert set(one.labels) == set(BAT.labels)
    assert {one.text for one in asked if one.format == "open_ended"} == {"What is the bat doing?"}


@pytest.mark.parametrize("name", WORDS)
def test_the_words_of_a_game_are_told_apart(name):
    words = WORDS[name]
    assert len(set(words.labels)) == len(words.labels) >= 3
    assert all(np.hypot(*way) == 1.0 for way in words.ways.values())
