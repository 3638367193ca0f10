"""Strategies are read as they are written; what they move, the conformance test of VLMs says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.nets.strategies import LETTERS, Strategy, apply, count, parse_strategy
from cosmolabe.vlms.tiny import build_tiny

GROUPS = sorted(LETTERS.values())


def small():
    part = {"hidden": 16, "mlp": 32, "layers": 1, "heads": 2}
    return build_tiny(["up", "down"], image=32, vision=part, language=part)


@given(whole=st.sets(st.sampled_from(GROUPS)))
def test_letters_are_read_as_they_are_written(whole):
    strategy = Strategy(frozenset(whole))
    assert parse_strategy(str(strategy)) == strategy
    assert parse_strategy(f" {str(strategy).lower()} ") == strategy


@given(
    on=st.sampled_from([{"vision"}, {"language"}, {"vision", "language"}]),
    rank=st.integers(1, 64),
    alpha=st.sampled_from([0.5, 8.0, 16.0]),
    projector=st.booleans(),
)
def test_lora_is_read_as_it_is_written(on, rank, alpha, projector):
    whole = frozenset({"projector"} if projector else ())
    strategy = Strategy(whole, frozenset(on), rank, alpha)
    assert parse_strategy(str(strategy)) == strategy


def test_lora_alone_means_the_papers():
    assert str(parse_strategy("lora")) == "lora(r=8,alpha=8,on=L)"


@pytest.mark.parametrize(
    "text",
    ["", "X", "PP", "lora(r=0)", "lora(r=a)", "lora(on=P)", "lora(on=LL)", "lora(q=1)", "lora(8)",
     "lora(r=1,r=2)", "lora(alpha=inf)", "zero P"],
)  # fmt: skip
def test_what_is_no_strategy_is_refused(text):
    with pytest.raises(ValueError, match="strategy"):
        parse_strategy(text)


def test_a_second_lora_is_refused():
    vlm = small()
    apply("lora(r=2)", vlm)
    with pytest.raises(ValueError, match="already"):
        apply("P", vlm)


def test_shares_count_a_tied_head_once_and_say_what_twice_would_be():
    vlm = small()
    found = count("P", vlm)
    table = vlm.module.get_input_embeddings().weight.numel()
    assert found.tied == table
    assert found.total == sum(p.numel() for p in vlm.module.parameters())
    assert found.share == found.groups["projector"] / found.total
    assert found.share_tied_twice == found.groups["projector"] / (found.total + table)


def test_what_lora_adds_is_counted_beside_the_parts():
    before = count("zero", small())
    after = count("lora(r=4,on=L,+P)", small())
    assert before.trains == 0
    assert after.groups == before.groups
    assert after.trains == after.added + after.groups["projector"]
    # 7 linear layers of one block: 16x16 four times, 16x32 three times
    assert after.added == 4 * (4 * (16 + 16) + 3 * (16 + 32))
