"""Cells and a run read again: what could not be read is wrong, counted, and never dropped."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.answers import STATUSES, Parsed
from cosmolabe.core.question import Question
from cosmolabe.data.questions import write_questions
from cosmolabe.judges.vqa.cells import Answered, cells, confusions, readings
from cosmolabe.judges.vqa.replies import FILE, Replies, Reply
from cosmolabe.judges.vqa.rescore import answer_of, rescore

LABELS = ("left", "right", "up")


def binary(n, answer="yes"):
    return Question(
        f"b{n}", f"clip{n}", "action_recognition", "binary", "Does it go left?", answer,
        ("yes", "no"), truth="left", asked="left",
    )  # fmt: skip


def choice(n, answer="left"):
    return Question(
        f"m{n}", f"clip{n}", "action_recognition", "multiple_choice", "Where does it go?", answer,
        LABELS, ("up", "left", "right"), truth=answer,
    )  # fmt: skip


def said(question, label=None, status="unparsed", reply=None):
    parsed = Parsed(status, None, "none") if label is None else Parsed("ok", label, "text")
    return Answered(question, parsed, reply)


bad = tuple(status for status in STATUSES if status != "ok")
outcome = st.one_of(st.sampled_from(["yes", "no"]), st.sampled_from(bad))


@given(found=st.lists(st.tuples(st.sampled_from(["yes", "no"]), outcome), min_size=1, max_size=12))
def test_every_question_counts_whatever_became_of_it(found):
    """T2V-CompBench, mlcommons/endpoints 315: failures left the mean, which rose by it."""
    answered = [
        said(binary(n, truth), *((out,) if out in ("yes", "no") else (None, out)))
        for n, (truth, out) in enumerate(found)
    ]
    cell, *by_label = cells(answered, num=20)
    assert cell.n == len(found) == sum(cell.statuses.values())
    assert cell.em.value == pytest.approx(np.mean([truth == out for truth, out in found]))
    assert cell.coverage == pytest.approx(np.mean([out in ("yes", "no") for _, out in found]))
    assert sum(part.n for part in by_label) == cell.n
    (matrix,) = confusions(answered)
    assert matrix.counts.sum() == cell.n
    assert matrix.columns == ("no", "yes", *bad)


def test_a_cell_tells_majority_balance_and_lean():
    truth = ["yes", "yes", "yes", "no"]
    (cell, no, yes) = cells([said(binary(n, t), "yes", reply="Yes.") for n, t in enumerate(truth)])
    assert (cell.em.value, cell.majority, cell.balanced.value) == (0.75, 0.75, 0.5)
    assert (cell.yes_rate.value, cell.strict.value, cell.rouge.value) == (1.0, 0.0, 0.75)
    assert (no.label, no.em.value, yes.em.value) == ("no", 0.0, 1.0)
    assert math.isnan(no.majority)
    assert cell.em.low < 0.75 < cell.em.high
    assert cell.wilson[0] < 0.75 < cell.wilson[1]
    assert math.isnan(cell.ece)


def test_intervals_are_over_clips_and_not_over_questions():
    one_clip = [replace(binary(n), clip=f"c{n // 10}") for n in range(40)]
    right = [n // 10 < 2 for n in range(40)]
    together = cells([said(q, "yes" if r else "no") for q, r in zip(one_clip, right, strict=True)])
    alone = cells([said(binary(n), "yes" if r else "no") for n, r in enumerate(right)])
    wide, narrow = (c[0].em.high - c[0].em.low for c in (together, alone))
    assert wide > 2 * narrow
    assert together[0].clips == 4


def test_the_same_questions_give_the_same_intervals_in_any_run():
    answered = [said(binary(n), "yes" if n % 3 else "no") for n in range(30)]
    assert cells(answered)[0].em == cells(answered)[0].em


def test_readings_are_of_whole_tasks_with_the_majority_as_floor():
    answered = [said(binary(n), "yes") for n in range(4)] + [said(choice(9), status="refused")]
    rows = {row.metric: row for row in readings(cells(answered, num=20), "p", "d", "m")}
    right = rows["action_recognition.binary.exact_match"]
    assert (right.value, right.floor, right.n, right.skipped, right.protocol) == (1, 1, 4, 0, "p")
    refused = rows["action_recognition.multiple_choice.exact_match"]
    assert (refused.value, refused.n, refused.skipped) == (0, 1, 1)
    assert rows["action_recognition.binary.yes_rate"].direction == "none"
    assert "action_recognition.multiple_choice.yes_rate" not in rows


def run_of(folder, replies):
    questions = [binary(0), binary(1, "no"), choice(2), choice(3, "up"), choice(4, "right")]
    write_questions(folder, questions)
    kept = Replies(folder)
    for n, (question, reply) in enumerate(replies):
        kept.add(replace(reply, key=f"k{n}", question=question, model=reply.model or "m"))
    return folder


def test_a_run_is_counted_again_without_a_model(tmp_path):
    run_of(tmp_path, [
        ("b0", Reply("", "", reply="Yes, it does.")),
        ("b1", Reply("", "", reply="eyes")),
        ("m2", Reply("", "", reply="**B**")),
        ("m3", Reply("", "", status="missing_video", why="no file")),
        ("gone", Reply("", "", reply="B")),
    ])  # fmt: skip
    with (tmp_path / FILE).open("a") as file:
        file.write('{"key": "k9", "quest')
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    found = rescore(tmp_path)
    assert found.statuses == {"ok": 2, "unparsed": 1, "missing_video": 1, "error": 1}
    assert found.rules == {"first_word": 1, "none": 1, "letter": 1, "not_asked": 2}
    assert (found.not_asked, found.strangers, found.torn) == (1, 1, 1)
    em = {cell.format: cell.em.value for cell in found.cells if not cell.label}
    assert em == {"binary": 0.5, "multiple_choice": pytest.approx(1 / 3)}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_option_order_of_its_own_is_read_by_that_order(tmp_path):
    shown = ("right", "up", "left")
    run_of(tmp_path, [
        ("m2", Reply("", "", reply="B", variation="order 0")),
        ("m2", Reply("", "", reply="C", options=shown, variation="order 1")),
        ("m2", Reply("", "", reply="A", options=shown, variation="order 2")),
    ])  # fmt: skip
    (cell,) = [c for c in rescore(tmp_path).cells if c.format == "multiple_choice" and not c.label]
    assert cell.em.value == pytest.approx(1 / 3)
    assert cell.agreement == pytest.approx(2 / 3)
    assert cell.rules["vote"] == 1


def test_a_reply_to_other_options_than_the_questions_is_refused_by_name(tmp_path):
    forged = ("right", "up", "fly")
    run_of(tmp_path, [("m2", Reply("", "", reply="B", options=forged))])
    with pytest.raises(ValueError, match="other options than question m2"):
        rescore(tmp_path)


def test_scored_labels_need_no_reading_and_give_a_probability():
    scores = {"left": math.log(0.6), "right": math.log(0.15), "up": math.log(0.05)}
    got = answer_of(choice(0), [Reply("k", "m0", scores=scores)])
    assert got.parsed == Parsed("ok", "left", "likelihood")
    assert got.probability == pytest.approx(0.75)
    table = cells([got], num=20)
    assert table[0].ece == pytest.approx(0.25)
    assert table[0].strict.value == 1
    broken = answer_of(choice(0), [Reply("k", "m0", scores={"nowhere": 0.0})])
    assert broken.parsed.status == "error"


def test_two_models_in_one_folder_are_not_mixed(tmp_path):
    run_of(tmp_path, [
        ("b0", Reply("", "", reply="yes", model="tiny-1")),
        ("b0", Reply("", "", reply="no", model="big-2")),
    ])  # fmt: skip
    with pytest.raises(ValueError, match="big-2"):
        rescore(tmp_path)
    by_model = [rescore(tmp_path, name).cells[0].em.value for name in ("tiny", "big")]
    assert by_model == [0.5, 0.0]


def test_a_folder_without_replies_is_refused(tmp_path):
    write_questions(tmp_path, [binary(0)])
    with pytest.raises(ValueError, match=FILE):
        rescore(tmp_path)
    (tmp_path / "questions.jsonl").write_text(json.dumps({"id": "q"}) + "\n")
    with pytest.raises(ValueError, match=r"questions\.jsonl"):
        rescore(tmp_path)
