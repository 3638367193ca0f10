import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.answers import Parsed
from cosmolabe.judges.vqa.votes import SOURCES, Votes, tally

NOTHING = Parsed("unparsed", None, "none")
said = st.lists(st.sampled_from(["left", "right", "up", None]), min_size=1, max_size=7)


def votes(*labels):
    return [NOTHING if label is None else Parsed("ok", label, "text") for label in labels]


def test_several_votes_on_one_input_are_refused_unless_something_varies():
    assert Votes().num == 1
    with pytest.raises(ValueError, match="5 times the same answer"):
        Votes(5)
    assert {Votes(5, source).source for source in SOURCES} == set(SOURCES)
    with pytest.raises(ValueError, match="once or more"):
        Votes(0)


def test_the_commonest_label_wins_and_silence_elects_nobody():
    found = tally(votes("left", None, "left", None, None))
    assert (found.parsed.label, found.agreement) == ("left", 0.4)
    assert tally(votes(None, None)).parsed.status == "unparsed"
    assert tally(votes(None, None)).agreement == 0


def test_a_tie_is_nobodys_unless_told_otherwise():
    tied = votes("left", "right", "right", "left", "up")
    assert tally(tied).parsed == Parsed("tie", None, "tie")
    assert tally(tied, "first").parsed.label == "left"
    assert tally(tied, "logprob", [-3.0, -0.1, -0.2, -3.0, -0.01]).parsed.label == "right"
    with pytest.raises(ValueError, match="not every vote"):
        tally(tied, "logprob")


@given(labels=said)
def test_agreement_and_entropy_say_how_far_votes_differ(labels):
    found = tally(votes(*labels))
    assert 0 <= found.agreement <= 1
    assert 0 <= found.entropy <= math.log2(4)
    assert (found.entropy == 0) == (len(set(labels)) == 1)
    if found.parsed.status == "ok":
        assert labels.count(found.parsed.label) == found.agreement * len(labels)
        assert found.agreement > 0


def test_one_vote_stands_as_it_was_read():
    assert tally(votes("left")).parsed.rule == "text"
    with pytest.raises(ValueError, match="no votes"):
        tally([])
