"""What the vqa judge says of films: which clips it asks about, and what freezing brings."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.data.questions.protocol import PROTOCOLS
from cosmolabe.judges.vqa.films import Film, Span, held, pieces_of
from cosmolabe.judges.vqa.judging import Vqa
from cosmolabe.judges.vqa.measured import Measured
from cosmolabe.judges.vqa.readings import readings_of
from cosmolabe.judges.vqa.views import view

PONG = parts.load("games", "pong")
TABLE = np.array(PONG.action_table, np.float32)
WORDS = [PONG.words[word] for word in PONG.actions]
VQA1 = PROTOCOLS["vqa/1"]


class Bright:
    """Sees one thing: is the picture bright? Bright clips show the second action, dark the first.

    Characters are the same where the first picture is as bright as the last.
    """

    name, family, module, key = "bright", None, None, "bright-key"

    def see(self, clips):
        return [
            (float(clip.mean()), float(clip[0].mean()), float(clip[-1].mean())) for clip in clips
        ]

    def loss(self, seen, prompts, answers):
        raise NotImplementedError

    def _answer(self, seen, prompt, labels):
        said = WORDS[1] if seen[0] > 100 else WORDS[0]
        if "same as in the first" in prompt:
            return "yes" if abs(seen[1] - seen[2]) < 30 else "no"
        if set(labels) == {"yes", "no"}:
            return "yes" if said in prompt else "no"
        return said

    def likelihood(self, seen, prompts, labels):
        return [
            np.array([0.0 if label == self._answer(s, p, row) else -5.0 for label in row])
            for s, p, row in zip(seen, prompts, labels, strict=True)
        ]

    def generate(self, seen, prompts, tokens=16):
        return [self._answer(s, p, ()) for s, p in zip(seen, prompts, strict=True)]


def film(level, action=1, *, moves=True, length=60, **more):
    frames = np.full((length, 32, 32, 3), level, np.uint8)
    if moves:
        for tick in range(length):
            frames[tick, 8 * (tick // 4 % 4) : 8 * (tick // 4 % 4) + 8] ^= 64
    told = {
        "id": "one",
        "game": "pong",
        "model": "mine",
        "actions": np.tile(TABLE[action], (length, 1)),
    }
    return Film(**{"pictures": held(frames), "length": length, **told, **more})


def judged(*films, sensitivity=0.9, specificity=0.8):
    rates = {
        "sensitivity": {"share": sensitivity, "n": 50.0},
        "specificity": {"share": specificity, "n": 50.0},
    }
    mine = {"obedience": rates, "identity": rates, "by_format": {"binary": rates}}
    measured = Measured({"pong": mine}, "b")
    vqa = Vqa.of(Bright(), measured=measured)
    rows = vqa.judge(films)
    return rows, {r.metric: r for r in readings_of(rows, vqa.protocol, vqa.measured)}


def test_an_obeyed_command_is_seen_in_all_three_formats():
    rows, told = judged(film(180))
    assert rows[0]["status"] == "scored"
    assert set(rows[0]["pieces"][0]["answers"]) == {"binary", "multiple_choice", "open_ended"}
    assert told["obedience"].value == 1.0
    assert told["obedience.binary"].value == 1.0


def test_another_action_than_the_commanded_one_is_no_obedience():
    _, told = judged(film(180, action=0), film(30, action=0, id="two"))
    assert told["obedience"].value == 0.5


def test_freezing_pays_nothing_though_the_frozen_picture_would_be_answered_right():
    rows, told = judged(film(180, moves=False))
    assert rows[0]["status"] == "abstained"
    assert "hardly moves" in rows[0]["why"]
    assert told["obedience"].value == 0.0
    assert told["frozen"].value == 1.0


def test_blindness_is_held_against_sight():
    _, told = judged(film(30, action=0))
    assert told["obedience"].value == 1.0
    assert told["obedience.blind"].value == 0.0  # grey is bright


def test_who_is_drawn_from_states_has_no_identity_to_lose():
    _, told = judged(film(180))
    assert np.isnan(told["identity"].value)
    assert "not measurable" in told["identity"].why


def test_a_painted_character_that_changes_after_the_given_frames_is_noticed():
    frames = np.full((120, 32, 32, 3), 20, np.uint8)
    frames[1:] = 160
    frames[::8, :8] ^= 64
    changed = film(180, pictures=held(frames), own_characters=True, length=120, id="changed")
    _, told = judged(changed, film(180, own_characters=True))
    assert 0 < told["identity"].value < 1


def test_the_corrected_share_stands_beside_the_raw_one_with_a_wider_interval():
    films = [film(180 if n % 3 else 30, id=str(n)) for n in range(12)]
    _, told = judged(*films)
    raw, right = told["obedience"], told["obedience_corrected"]
    assert right.value == pytest.approx((raw.value + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert right.low < right.value < right.high


@settings(max_examples=30)
@given(
    sensitivity=st.floats(0, 1), over=st.floats(-0.5, 0.15), obeyed=st.integers(0, 6),
    frozen=st.integers(0, 3),
)  # fmt: skip
def test_no_reading_of_a_judge_at_chance_can_be_taken_for_the_models(
    sensitivity, over, obeyed, frozen
):
    """50 clips a side tell nothing from chance until the rates sum to 1.13 or more."""
    specificity = min(max(1 + over - sensitivity, 0.0), 1.0)
    films = [film(180 if n < obeyed else 30, id=str(n), own_characters=True) for n in range(6)]
    films += [film(180, id=f"f{n}", moves=False, own_characters=True) for n in range(frozen)]
    _, told = judged(*films, sensitivity=sensitivity, specificity=specificity)
    if sensitivity + specificity > 1.1:
        return
    for name in ("obedience", "identity"):
        right = told[f"{name}_corrected"]
        assert np.isnan([right.value, right.low, right.high]).all()
        assert "at chance" in right.why
    for name in ("obedience", "obedience.binary", "identity"):
        assert told[name].direction == "none"  # more of it is nothing better
        assert "at chance" in told[name].why
    assert told["obedience.open_ended"].direction == "higher"  # was never measured by itself


def test_a_judge_that_sees_has_its_direction_and_no_remark():
    _, told = judged(film(180, own_characters=True))
    for name in ("obedience", "obedience.binary", "identity"):
        assert (told[name].direction, told[name].why) == ("higher", "")


def test_what_never_moves_is_disobedient_whatever_the_judge_errs():
    films = [film(180, id=str(n), moves=False) for n in range(4)]
    for rates in ((0.9, 0.8), (0.5, 0.5)):
        _, told = judged(*films, sensitivity=rates[0], specificity=rates[1])
        right = told["obedience_corrected"]
        assert (right.value, right.low) == (0.0, 0.0)
        assert 0.2 < right.high < 0.7  # four clips
        assert right.why == "every clip stands still"


def test_how_many_stand_still_is_not_known_exactly_either():
    moving = [film(180 if n % 3 else 30, id=str(n)) for n in range(12)]
    still = [film(180, id=f"f{n}", moves=False) for n in range(12)]
    _, among_moving = judged(*moving)
    _, told = judged(*moving, *still)
    all_move, half = among_moving["obedience_corrected"], told["obedience_corrected"]
    assert half.value == pytest.approx(all_move.value / 2)
    assert half.low < all_move.low / 2
    assert half.high > all_move.high / 2


def test_without_a_certificate_nothing_is_corrected_and_the_reading_says_what_to_do():
    vqa = Vqa.of(Bright())
    rows = vqa.judge([film(180)])
    told = {r.metric: r for r in readings_of(rows, vqa.protocol, vqa.measured)}
    assert np.isnan(told["obedience_corrected"].value)
    assert "vqa certificate" in told["obedience_corrected"].why


def test_too_short_a_film_is_skipped_and_counted():
    rows, told = judged(film(180, length=40), film(180))
    assert rows[0]["status"] == "skipped"
    assert rows[0]["why"].startswith("too short")
    assert (told["obedience"].n, told["obedience"].skipped) == (1, 1)


def test_a_clip_in_which_the_truth_stands_still_counts_for_nobody():
    rows, told = judged(film(180, moves=False), film(180, role="true", model="", moves=False))
    assert [row["pieces"][0]["status"] for row in rows] == ["skipped", "skipped"]
    assert told["obedience"].n == 0


class Away(Bright):
    """A served model that cannot be reached for dark clips, and never comes near every label."""

    def likelihood(self, seen, prompts, labels):
        found = super().likelihood(seen, prompts, labels)
        for row, one in zip(found, seen, strict=True):
            row[row < 0] = np.nan
            row[:] = row if one[0] > 100 else np.nan
        return found


def test_a_call_that_failed_is_nobodys_disobedience():
    vqa = Vqa.of(Away())
    rows = vqa.judge([film(160), film(20, id="two")])
    assert [row["status"] for row in rows] == ["scored", "skipped"]
    assert rows[1]["why"] == "the model could not be asked: a call failed"
    told = {r.metric: r for r in readings_of(rows, vqa.protocol, vqa.measured)}
    assert (told["obedience"].value, told["obedience"].skipped) == (1.0, told["obedience"].n)
    lost = vqa.judge([film(20)])
    obedience = readings_of(lost, vqa.protocol, vqa.measured)[0]
    assert np.isnan(obedience.value)
    assert "could not be asked" in obedience.why


def test_an_unseen_effect_is_skipped_and_not_asked_about():
    spans = (Span(0, WORDS[1], "its effect cannot be seen"),)
    rows, told = judged(film(180, spans=spans))
    assert rows[0]["pieces"][0]["status"] == "skipped"
    assert told["obedience"].n == 0


def test_a_film_is_judged_alike_whatever_stands_beside_it():
    one, two = film(180), film(30, id="two")
    alone = judged(one)[0][0]
    beside = judged(two, one)[0][1]
    assert json.dumps(alone) == json.dumps(beside)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 90)), min_size=1, max_size=6))
def test_clips_are_covered_by_their_word_do_not_overlap_and_none_is_missed(runs):
    words = np.concatenate([np.full(n, a) for a, n in runs])
    one = film(100, length=len(words), actions=TABLE[words], moves=False)
    pieces, why = pieces_of(one, VQA1)
    assert bool(pieces) != bool(why)
    ends = 0
    for piece in pieces:
        ticks = words[piece.first : piece.first + 53]
        assert piece.first >= ends
        assert (ticks[::4] == WORDS.index(piece.label)).sum() >= 12
        ends = piece.first + 53
    if any(n >= 53 for _, n in runs):
        assert pieces


@given(st.integers(2, 30), st.text(max_size=5))
def test_shuffling_moves_every_picture_and_loses_none(count, seed):
    from dataclasses import replace

    from cosmolabe.judges.vqa.protocol import PROTOCOLS as JUDGING

    protocol = replace(JUDGING["vqa/1"], frames=min(count, 14))
    frames = np.arange(count, dtype=np.uint8)[:, None, None, None] * np.ones((1, 8, 8, 3), np.uint8)
    plain = view(frames, protocol)[:, 0, 0, 0]
    mixed = view(frames, protocol, "shuffled", seed=seed)[:, 0, 0, 0]
    assert sorted(plain) == sorted(mixed)
    assert not (plain == mixed).any()
