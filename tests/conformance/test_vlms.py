"""Every vision-language model of the product that runs here, by name: small, untrained, offline."""

import inspect

import numpy as np
import pytest
import torch

from cosmolabe.core import parts
from cosmolabe.core.vlm import Vlm, VlmPart
from cosmolabe.nets.strategies import LETTERS, LORA, apply, parse_strategy

NAMES = parts.names("vlms")
SOMETIMES = {"qwen_vl": ("3-2B", "2.5-3B")}
"""Families that are several classes."""
HERE = [(n, s) for n in NAMES if n != "endpoint" for s in SOMETIMES.get(n, ("",))]
PROMPTS = [
    "What is the character doing?",
    "Is the character moving up? Answer yes or no",
    "What is the character doing? jumping, moving left",
]
LABELS = [["moving up", "moving down", "jumping"], ["yes", "no"], ["jumping", "moving left"]]
ANSWERS = ["moving down", "yes", "moving left"]
CLOSE = 1e-6


def clip_of(frames=2, seed=0, side=40):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (frames, side, side, 3), dtype=np.uint8)


def made(name, size):
    return parts.load("vlms", name).load(random=True, size=size)


@pytest.fixture(scope="module", params=HERE, ids=lambda pair: "-".join(filter(None, pair)))
def pair(request):
    return request.param


@pytest.fixture(scope="module")
def vlm(pair):
    return made(*pair)


@pytest.fixture(scope="module")
def seen(vlm):
    return vlm.see([clip_of(seed=seed) for seed in range(3)])


@pytest.fixture(scope="module")
def likely(vlm, seen):
    return vlm.likelihood(seen, PROMPTS, LABELS)


@pytest.mark.parametrize("name", NAMES)
def test_a_vlm_offers_its_part(name):
    part = parts.load("vlms", name)
    assert isinstance(part, VlmPart)
    assert part.name == name
    assert part.summary.endswith(".")
    assert part.licence
    given = inspect.signature(part.load).parameters
    assert next(iter(given)) == "source"
    assert {"size", "random", "device", "dtype"} <= set(given)
    assert set(part.revisions) <= set(part.sizes)


def test_it_is_a_vlm_whose_parts_share_no_parameter(vlm):
    assert isinstance(vlm, Vlm)
    names = [name for name, _ in vlm.module.named_parameters()]
    groups = vlm.family.partition(names)
    assert sorted(name for group in groups.values() for name in group) == sorted(names)
    assert not any("lm_head" in n or "embed_tokens" in n for n in groups["vision"])


def test_what_is_seen_is_a_row_of_numbers_a_token(vlm, seen):
    tokens, width, _ = vlm.per_frame
    for clip in seen:
        assert clip.shape[1:] == (tokens, width)
        assert torch.isfinite(clip).all()
        assert clip.std() > 0
    assert not torch.equal(seen[0], seen[1])


def test_a_second_one_is_the_same_and_loading_draws_from_nobody(pair, vlm, seen):
    torch.manual_seed(7)
    other = made(*pair)
    after = torch.rand(1)
    torch.manual_seed(7)
    assert torch.equal(after, torch.rand(1))
    assert other.key == vlm.key
    assert other.seen_key == vlm.seen_key
    torch.testing.assert_close(other.see([clip_of()])[0], vlm.see([clip_of()])[0], atol=0, rtol=0)


def test_loss_is_minus_the_likelihood_of_the_answers(vlm, seen, likely):
    with torch.no_grad():
        loss = float(vlm.loss(seen, PROMPTS, ANSWERS))
    wanted = sum(row[way.index(a)] for row, way, a in zip(likely, LABELS, ANSWERS, strict=True))
    tokens = sum(len(vlm.answer_ids(answer)) for answer in ANSWERS)
    assert loss == pytest.approx(-wanted / tokens, abs=CLOSE)


def test_neither_batch_nor_order_changes_anything(vlm, seen, likely):
    for number in (2, 0, 1):
        alone = vlm.likelihood([seen[number]], [PROMPTS[number]], [LABELS[number]])[0]
        np.testing.assert_allclose(alone, likely[number], atol=5 * CLOSE, rtol=CLOSE)
    order = [2, 0, 1]
    turned = vlm.likelihood(
        [seen[i] for i in order], [PROMPTS[i] for i in order], [LABELS[i][::-1] for i in order]
    )
    for place, number in enumerate(order):
        np.testing.assert_allclose(turned[place][::-1], likely[number], atol=5 * CLOSE, rtol=CLOSE)


def test_six_questions_about_one_clip_are_six_separate_ones(vlm, seen):
    prompts, labels = PROMPTS * 2, [*LABELS, *LABELS[::-1]]
    together = vlm.likelihood([seen[0]] * 6, prompts, labels)
    for row, prompt, own in zip(together, prompts, labels, strict=True):
        alone = vlm.likelihood([seen[0].clone()], [prompt], [own])[0]
        np.testing.assert_allclose(row, alone, atol=5 * CLOSE, rtol=CLOSE)


def test_the_tower_runs_once_for_all_questions(vlm, monkeypatch):
    calls = []
    tower = vlm.tower
    monkeypatch.setattr(vlm, "tower", lambda pixels: calls.append(1) or tower(pixels))
    seen = vlm.see([clip_of()])
    for _ in range(3):
        vlm.likelihood(seen * 3, PROMPTS, LABELS)
    vlm.generate(seen, PROMPTS[:1], 2)
    assert len(calls) == 1


def test_left_and_right_padding_give_the_same(vlm, seen):
    rows, pictures = [], []
    for clip, prompt, own in zip(seen, PROMPTS, ANSWERS, strict=True):
        asked = vlm._rows([clip], [prompt], [[own]])
        rows += asked.rows
        pictures.append(vlm.project(clip))
    with torch.no_grad():
        right = vlm.log_p(vlm.batch(rows), pictures)
        left = vlm.log_p(vlm.batch(rows, left=True), pictures)
    torch.testing.assert_close(left, right, atol=CLOSE, rtol=CLOSE)


def test_no_earlier_word_sees_a_later_one(vlm, seen):
    """The leak that gave labels away: prefix to suffix, and later suffix to earlier."""
    clip, prompt = seen[0], PROMPTS[0]

    def states(answer):
        row = vlm._rows([clip], [prompt], [[answer]]).rows[0]
        with torch.no_grad():
            return vlm.states(vlm.batch([row]), [vlm.project(clip)])[0], row

    one, row = states("moving up")
    other, _ = states("moving down")
    ids = [vlm.answer_ids(answer) for answer in ("moving up", "moving down")]
    shared = next(i for i, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
    known = len(row) - (len(ids[0]) - 1) + shared
    torch.testing.assert_close(one[:known], other[:known], atol=CLOSE, rtol=0)
    assert (one[known] - other[known]).abs().max() > 1e-3


def test_pictures_and_words_before_the_answer_have_a_say(vlm, seen, likely):
    other = vlm.likelihood(seen[1:2], PROMPTS[:1], LABELS[:1])[0]
    assert np.abs(other - likely[0]).max() > 1e-5
    asked = vlm.likelihood(seen[:1], PROMPTS[2:], LABELS[:1])[0]
    assert np.abs(asked - likely[0]).max() > 1e-5


def test_one_tensor_of_kept_features_is_as_good_as_a_list(vlm, seen, likely):
    kept = torch.stack([clip.detach() for clip in seen])
    found = vlm.likelihood(kept, PROMPTS, LABELS)
    for row, wanted in zip(found, likely, strict=True):
        np.testing.assert_allclose(row, wanted, atol=CLOSE, rtol=CLOSE)


def test_what_it_says_is_what_is_likeliest_token_by_token(vlm, seen):
    """Against whole passes without a cache."""
    said = vlm._say([vlm_row(vlm, seen[1], PROMPTS[1])], [vlm.project(seen[1])], 5)[0]
    row, found = vlm_row(vlm, seen[1], PROMPTS[1]), []
    while len(found) < 5 and not (found and found[-1] in vlm.ends):
        row = type(row)(row.stem) if not found else row
        end = row.follow(row.end, found)
        with torch.no_grad():
            states = vlm.states(vlm.batch([row]), [vlm.project(seen[1])])
            found.append(int(vlm.logits(states[0, end]).argmax()))
    assert said == found
    texts = vlm.generate(seen, PROMPTS, 5)
    assert texts[1] == vlm.generate(seen[1:2], PROMPTS[1:2], 5)[0]


def vlm_row(vlm, clip, prompt):
    from cosmolabe.nets.vlm_rows import Row

    laid = vlm.lay_out(len(clip), prompt)
    return Row(laid.pictures + laid.question)


@pytest.mark.parametrize("text", ["zero", "V", "P", "L", "VP", "VL", "PL", "VPL"])
def test_one_step_moves_the_chosen_parts_and_nothing_else(pair, text):
    vlm = made(*pair)
    names = apply(text, vlm)
    before = {name: p.detach().clone() for name, p in vlm.module.named_parameters()}
    moved = step(vlm, names)
    chosen = parse_strategy(text).whole
    assert moved <= set(names)
    for name in before:
        if vlm.family.group(name) not in chosen:
            assert name not in moved
    reached = {vlm.family.group(name) for name in moved}
    assert reached == set(chosen)


@pytest.mark.parametrize("text", ["lora(r=2,on=L)", "lora(r=2,on=V)", "lora(r=2,on=VL,+P)"])
def test_lora_changes_nothing_at_first_and_moves_only_what_it_adds(pair, vlm, likely, text):
    own = made(*pair)
    names = apply(text, own)
    seen = own.see([clip_of(seed=seed) for seed in range(3)])
    untouched = own.likelihood([s.detach() for s in seen], PROMPTS, LABELS)
    for row, wanted in zip(untouched, likely, strict=True):
        np.testing.assert_allclose(row, wanted, atol=5 * CLOSE, rtol=CLOSE)
    moved = step(own, names)
    strategy = parse_strategy(text)
    assert moved
    for name in moved:
        assert LORA in name or own.family.group(name) in strategy.whole
    reached = {own.family.group(name) for name in moved}
    assert reached == set(strategy.touches)


def step(vlm, names):
    """One step of training; gives the names whose numbers changed."""
    own = dict(vlm.module.named_parameters())
    before = {name: p.detach().clone() for name, p in own.items()}
    seen = vlm.see([clip_of(seed=seed) for seed in range(3)])
    if names:
        optimizer = torch.optim.SGD([own[name] for name in names], lr=1.0)
        vlm.loss(seen, PROMPTS, ANSWERS).backward()
        optimizer.step()
    else:
        with torch.no_grad():
            vlm.loss(seen, PROMPTS, ANSWERS)
    return {name for name, p in own.items() if not torch.equal(before[name], p)}


def test_a_frozen_tower_keeps_no_gradient(pair):
    vlm = made(*pair)
    apply("PL", vlm)
    assert not vlm.see([clip_of()])[0].requires_grad
    apply("V", vlm)
    assert vlm.see([clip_of()])[0].requires_grad


def test_frames_that_are_not_bytes_are_refused(vlm):
    with pytest.raises(ValueError, match="uint8"):
        vlm.see([clip_of().astype(np.float32) / 255])
    with pytest.raises(ValueError, match="uint8"):
        vlm.see([clip_of()[..., :1]])
    with pytest.raises(ValueError, match="at least one"):
        vlm.see([clip_of()[:0]])


def test_features_of_another_shape_are_refused(vlm, seen):
    with pytest.raises(ValueError, match="clip 0"):
        vlm.likelihood([seen[0][:, 1:]], PROMPTS[:1], LABELS[:1])


def test_another_number_of_picture_tokens_than_places_is_refused(vlm, seen):
    row = vlm._rows([seen[0]], PROMPTS[:1], [ANSWERS[:1]]).rows[0]
    with pytest.raises(ValueError, match="picture tokens"):
        vlm.states(vlm.batch([row]), [vlm.project(seen[0])[:, 1:]])


def test_an_empty_answer_is_refused_for_its_loss_would_be_of_nothing(vlm, seen):
    with pytest.raises(ValueError, match="at least one token"):
        vlm.loss(seen[:1], PROMPTS[:1], [""])
    with pytest.raises(ValueError, match="as many"):
        vlm.loss(seen[:1], PROMPTS[:2], ANSWERS[:2])


def test_a_prompt_cannot_hold_tokens_that_the_model_obeys(vlm, seen):
    for said in ("<image>", *getattr(vlm.tokens, "_special", ())[:3]):
        if said == "<image>" and said not in getattr(vlm.tokens, "_special", (said,)):
            continue
        with pytest.raises(ValueError, match="obey"):
            vlm.likelihood(seen[:1], [f"What {said} is the character doing?"], LABELS[:1])


def test_a_size_or_a_dtype_that_does_not_exist_is_refused_by_name(pair):
    part = parts.load("vlms", pair[0])
    with pytest.raises(ValueError, match="no-such"):
        part.load(size="no-such", random=True)
    with pytest.raises(ValueError, match="float16"):
        part.load(random=True, dtype="float16")


def test_the_key_follows_the_weights_and_the_seen_key_the_tower_alone(pair):
    vlm = made(*pair)
    key, seen_key = vlm.key, vlm.seen_key
    groups = vlm.family.partition([name for name, _ in vlm.module.named_parameters()])
    own = dict(vlm.module.named_parameters())
    with torch.no_grad():
        own[groups["projector"][0]].add_(1)
    assert vlm.key != key
    assert vlm.seen_key == seen_key
    with torch.no_grad():
        own[groups["vision"][0]].add_(1)
    assert vlm.seen_key != seen_key
    assert set(LETTERS.values()) == set(groups)
