"""Exact bytes, by the clock, in secret order; nothing of the future in any frame."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from wiring import changed_from

from cosmolabe.arena.verifier.asking import Broken, Patience, ask, in_secret_order
from cosmolabe.arena.verifier.verify import Verifier
from cosmolabe.judges.state import PROTOCOLS
from cosmolabe.models.still import Still

STILL = Still()


@pytest.fixture
def frames_of(loopback):
    def frames(bed, chunk=4):
        process = loopback(STILL)
        contexts = {"test": Verifier(Path()).context(bed)}
        ask(process, contexts, seed=0, chunk=chunk)
        return sorted(process.asked)

    return frames


def test_a_change_of_the_future_changes_no_byte_of_any_question(bed, frames_of):
    window = PROTOCOLS["state/1"].window
    changed = changed_from(bed.windows, window)
    actions = replace(changed, actions=bed.windows.actions)  # these alone may be told
    assert frames_of(replace(bed, windows=actions)) == frames_of(bed)
    assert frames_of(replace(bed, windows=changed)) != frames_of(bed)
    shown = changed_from(bed.windows, window - 1)
    assert frames_of(replace(bed, windows=shown)) != frames_of(bed)


def test_every_window_is_asked_for_and_only_the_last_chunk_is_filled_up(bed):
    contexts = {"a": bed.windows.context(8), "b": bed.windows.context(8).take(slice(0, 5))}
    rows = {"a": [], "b": []}
    for name, first, chosen in in_secret_order(contexts, 4):
        assert len(chosen) == 4
        assert chosen[0] == first
        rows[name] += chosen.tolist()
    for name, context in contexts.items():
        assert set(rows[name]) == set(range(len(context)))
        assert len(rows[name]) == -(-len(context) // 4) * 4


def test_the_order_of_chunks_is_drawn_anew_each_time(bed):
    contexts = {"a": bed.windows.context(8)}
    orders = {tuple(first for _, first, _ in in_secret_order(contexts, 1)) for _ in range(20)}
    assert len(orders) > 10


def test_the_order_of_chunks_changes_no_prediction(bed, loopback):
    context = {"a": bed.windows.context(8)}
    one = ask(loopback(STILL), context, seed=0, chunk=4).predictions["a"]
    two = ask(loopback(STILL), context, seed=0, chunk=4).predictions["a"]
    assert np.array_equal(one.states, two.states)
    whole = STILL.rollout(context["a"])
    assert np.array_equal(one.states, whole.states)
    assert np.array_equal(one.globals, whole.globals)


def test_a_byte_too_many_and_nothing_counts(bed, loopback):
    process = loopback(STILL, more=True)
    with pytest.raises(Broken, match="more bytes than its predictions have"):
        ask(process, {"a": bed.windows.context(8)}, seed=0)


@pytest.mark.parametrize(
    ("meanwhile", "why"),
    [
        ("states = states[:, :-1]", "ended before|more bytes|was too slow"),
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("import os; os._exit(0)", "ended before it had answered everything"),
        ("import time; time.sleep(60)", "was too slow"),
        ("import os; os.close(4)", "ended before it had answered everything"),
    ],
)
def test_what_does_not_answer_as_asked_has_no_score(meanwhile, why, submit, package, bed):
    hurried = "sleep" in meanwhile or "[:, :-1]" in meanwhile  # both end by the clock
    verifier = Verifier(package, patience=Patience(3.0 if hurried else 60.0))
    verdict = verifier.verify(submit(meanwhile), {"test": bed})
    assert verdict.status == "verifier_error"
    assert re.search(why, verdict.why), verdict.why
    assert verdict.scores == {}
    assert not verdict.valid


def test_what_a_submission_prints_is_no_answer(submit, verifier, bed):
    loud = submit("print('x' * 300_000, flush=True)", before="print('hello', flush=True)")
    assert verifier.verify(loud, {"test": bed}).status == "ok"


def test_the_sandbox_that_was_in_force_stands_in_the_verdict(submit, verifier, bed):
    verdict = verifier.verify(submit(), {"test": bed})
    assert verdict.level.startswith("bwrap")
    assert verdict.enforced["network"] == "own namespace"
    assert verdict.valid
    assert json.dumps(dict(verdict.enforced))


def test_without_a_sandbox_there_is_no_valid_record(submit, package, bed):
    verdict = Verifier(package, level="unsafe-local").verify(submit(), {"test": bed})
    assert verdict.status == "ok"
    assert verdict.flags == ("unsafe",)
    assert not verdict.valid
