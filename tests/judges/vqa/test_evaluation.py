import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("transformers")

from vlm_toys import toy_clips, toy_questions, toy_vlm

from cosmolabe.judges.vqa.evaluation import Row, evaluate, majority, position_bias, summary
from cosmolabe.nets.vlm_features import Features


@pytest.fixture(scope="module")
def asked():
    clips = toy_clips(6)
    return clips, toy_questions(clips)


@pytest.fixture(scope="module")
def rows(asked):
    return evaluate(toy_vlm(), *asked, "uniform:2")


class Oracle:
    """Knows what it is shown by its middle picture, or says what it is made to."""

    name, family, module, key = "oracle", None, None, "oracle"

    def __init__(self, truth, always=None):
        self.truth, self.always = truth, always

    def see(self, clips):
        return [clip.tobytes() for clip in clips]

    def loss(self, seen, prompts, answers):
        raise NotImplementedError

    def likelihood(self, seen, prompts, labels):
        found = []
        for sight, prompt, mine in zip(seen, prompts, labels, strict=True):
            logs = np.full(len(mine), -9.0)
            if self.always is not None:
                logs[min(self.always, len(mine) - 1)] = -0.1
            elif (sight, prompt) in self.truth:
                logs[list(mine).index(self.truth[sight, prompt])] = -0.1
            found.append(logs)
        return found

    def generate(self, seen, prompts, tokens=16):
        return [f"The answer is {self.truth.get(key, 'hm')}" for key in zip(seen, prompts)]  # noqa: B905


def test_a_question_has_a_row_as_it_is_and_one_under_each_control(rows, asked):
    _, questions = asked
    choices = [q for q in questions if q.options]
    count = {}
    for row in rows:
        count[row.control] = count.get(row.control, 0) + 1
    n = len(questions)
    assert count == {
        "": n, "blind": n, "shuffled": n, "single_frame": n, "rotated:1": len(choices),
        "rotated:2": len(choices), "rotated:3": sum(len(q.options) > 3 for q in choices),
    }  # fmt: skip
    assert [row.id for row in rows[:n]] == [q.id for q in questions]
    for row in rows:
        assert row.said == row.labels[int(np.argmax(row.logs))]
        assert row.right == (row.said == row.answer)
        weights = np.exp(row.logs)
        assert row.probability == pytest.approx(weights.max() / weights.sum())
        assert row.truth == pytest.approx(weights[row.labels.index(row.answer)] / weights.sum())


@pytest.mark.parametrize("batch", [1, 5, 64])
def test_neither_batch_size_nor_order_changes_an_answer(batch, rows, asked):
    clips, questions = asked
    dice = np.random.default_rng(batch)
    mixed = [questions[k] for k in dice.permutation(len(questions))]
    found = evaluate(toy_vlm(), clips[::-1], mixed, "uniform:2", batch=batch)
    true = {(row.id, row.control): row for row in rows}
    for row in found:
        other = true[row.id, row.control]
        assert (row.said, row.right, row.place) == (other.said, other.right, other.place)
        assert abs(row.probability - other.probability) <= 1e-6
        assert np.abs(np.subtract(row.logs, other.logs)).max() <= 2e-6
        assert row.logs == other.logs or batch != 64


def test_the_tower_looks_once_at_a_clip_for_all_its_questions_and_orders(asked, tmp_path):
    vlm = toy_vlm()
    looked = []

    def see(pictures):
        looked.extend(pictures)
        return vlm.see(pictures)

    evaluate(vlm, *asked, "uniform:2", controls=("rotated",), see=see)
    assert len(looked) == 6
    features = Features(vlm, tmp_path)
    first = evaluate(vlm, *asked, "uniform:2", see=features.see)
    assert features.looked == 6 * 3 + 1  # plain, shuffled, single; grey is the same for all
    again = Features(toy_vlm(), tmp_path)
    assert evaluate(vlm, *asked, "uniform:2", see=again.see) == first
    assert again.looked == 0


def test_the_label_of_most_log_p_a_token_is_told_beside(asked):
    clips, questions = asked
    vlm = Oracle({})
    vlm.likelihood = lambda seen, prompts, labels: [np.array([-3.0, -4.0])]
    vlm.answer_ids = lambda answer: [*answer.split(), "end"]
    one = replace(questions[2], answer="left right up", labels=("left", "left right up"))
    (row,) = evaluate(vlm, clips, [one], "uniform:2", controls=())
    assert (row.said, row.said_normalised) == ("left", "left right up")
    assert row.right_normalised
    assert not row.right


def test_a_model_that_looks_beats_its_controls_and_one_that_does_not_cannot(asked):
    clips, questions = asked
    shown = {clip.id: clip.frames[[0, 13]].tobytes() for clip in clips}
    truth = {(shown[q.clip], q.text): q.answer for q in questions}
    rows = evaluate(Oracle(truth), clips, questions, "uniform:2")
    told = {(s.control, s.format): s for s in summary(rows) if s.task == "action_recognition"}
    assert told["", "open_ended"].em == 1.0
    assert told["", "binary"].em == told["", "multiple_choice"].em == 1.0
    assert told["blind", "open_ended"].em < 1.0
    assert told["shuffled", "open_ended"].em < 1.0
    assert told["", "open_ended"].low < 1.0 == told["", "open_ended"].high
    written = evaluate(Oracle(truth), clips, questions, "uniform:2", "generate", controls=())
    assert all(row.right and math.isnan(row.probability) for row in written)
    assert {row.reply for row in written} == {f"The answer is {q.answer}" for q in questions}


def test_a_model_that_always_takes_the_first_option_has_all_the_bias_there_is(asked):
    clips, questions = asked
    rows = evaluate(Oracle({}, always=0), clips, questions, "uniform:2", controls=("rotated",))
    found = position_bias(rows)
    assert found.chosen[0] == 1.0
    assert found.agreement == 0.0
    assert found.distance == pytest.approx(1 - found.true[0])
    assert found.right[0] == 1.0
    assert set(found.right[1:]) == {0.0}
    assert position_bias([row for row in rows if row.format == "binary"]) is None


def test_majority_counts_each_set_of_labels_by_itself():
    def row(answer, labels):
        return Row(
            "q", "c", "t", "open_ended", "", "", "", answer, None, False, 0.5, 0.5, labels=labels
        )

    one, two = ("a", "b"), ("x", "y")
    rows = [row("a", one), row("a", one), row("b", one[::-1]), row("x", two), row("y", two)]
    assert majority(rows) == 3 / 5


def test_what_cannot_be_asked_is_refused(asked):
    clips, questions = asked
    with pytest.raises(ValueError, match="not there"):
        evaluate(toy_vlm(), clips[:2], questions)
    with pytest.raises(ValueError, match="deaf"):
        evaluate(toy_vlm(), clips, questions, controls=("deaf",))
