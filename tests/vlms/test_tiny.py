"""The tiny model against the class it is made of, its words, and its folder."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from cosmolabe.nets.vlm_tokens import SPECIAL, WordTokens, words_of
from cosmolabe.vlms.tiny import FEW_WORDS, build_tiny, folded, load_tiny

SMALL = {
    "image": 32,
    "patch": 16,
    "vision": {"hidden": 16, "mlp": 32, "layers": 2, "heads": 2},
    "language": {"hidden": 24, "mlp": 32, "layers": 2, "heads": 2},
}
QUESTION = "what is the character doing?"
LABELS = ("moving up", "moving down", "jumping", "staying still")
WORDS = words_of([QUESTION, "is it moving up? answer yes or no", *LABELS])


def clips(count, frames=2, side=32, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, (frames, side, side, 3), dtype=np.uint8) for _ in range(count)]


@pytest.fixture(scope="module")
def vlm():
    return build_tiny(WORDS, **SMALL)


def by_the_class(vlm, clip, prompt, answer, **changed):
    """Logits and loss of PaliGemmaForConditionalGeneration, called as its documentation says."""
    prefix = [vlm.picture] * (len(clip) * 4) + [vlm.tokens.bos]
    prefix += vlm.tokens.ids(f"answer en {prompt}\n")
    suffix = [*vlm.tokens.ids(answer), vlm.tokens.eos]
    given = {
        "input_ids": torch.tensor([prefix + suffix]),
        "token_type_ids": torch.tensor([[0] * len(prefix) + [1] * len(suffix)]),
        "labels": torch.tensor([[-100] * len(prefix) + suffix]),
        "pixel_values": vlm.pixels(clip),
        "attention_mask": torch.ones(1, len(prefix + suffix), dtype=torch.long),
    }
    with torch.no_grad():
        return vlm.module(**given | changed)


def test_loss_and_likelihood_are_those_of_the_real_class(vlm):
    given = clips(3)
    answers = ["moving up", "jumping", "staying still"]
    seen = vlm.see(given)
    with torch.no_grad():
        ours = [vlm.loss([s], [QUESTION], [a]).item() for s, a in zip(seen, answers, strict=True)]
    theirs = [by_the_class(vlm, c, QUESTION, a).loss for c, a in zip(given, answers, strict=True)]
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    likely = vlm.likelihood(seen, [QUESTION] * 3, [LABELS] * 3)
    lengths = [len(vlm.answer_ids(a)) for a in answers]
    for row, answer, loss, n in zip(likely, answers, theirs, lengths, strict=True):
        assert row[LABELS.index(answer)] == pytest.approx(-float(loss) * n, abs=2e-6)


def test_without_token_types_the_class_is_silently_another_model(vlm):
    (clip,) = clips(1)
    right = by_the_class(vlm, clip, QUESTION, "jumping").loss
    wrong = by_the_class(vlm, clip, QUESTION, "jumping", token_type_ids=None).loss
    assert abs(float(right) - float(wrong)) > 1e-4


def test_words_go_in_and_come_out():
    tokens = WordTokens.of(WORDS)
    assert tokens.text(tokens.ids("What is the character doing?")) == QUESTION
    assert [tokens.tokenizer.id_to_token(i) for i in tokens.ids("up\nno")] == ["up", "\n", "no"]
    assert len(tokens) == len({*SPECIAL, "\n", "answer", "en", *WORDS})


def test_a_word_nobody_taught_it_is_refused_by_name(vlm):
    with pytest.raises(ValueError, match="'zebra'"):
        vlm.tokens.ids("moving zebra")


def test_a_saved_model_is_the_same_model(vlm, tmp_path):
    vlm.save(tmp_path)
    again = load_tiny(tmp_path)
    assert again.key == vlm.key
    seen = vlm.see(clips(2))
    before = vlm.likelihood(seen, [QUESTION] * 2, [LABELS] * 2)
    after = again.likelihood(seen, [QUESTION] * 2, [LABELS] * 2)
    np.testing.assert_array_equal(before, after)


def changed(folder, file, **told):
    path = folder / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **told}))


VISION = SMALL["vision"]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"image": 10**9}, "image is a whole number, 8 to 1024"),
        ({"image": "32"}, "got '32'"),
        ({"image": True}, "got True"),
        ({"marks": -1}, "marks is a whole number"),
        ({"vision": {**VISION, "hidden": 10**7}}, "hidden is a whole number"),
        ({"vision": {**VISION, "layers": 10**9}}, "layers is a whole number"),
        ({"vision": {**VISION, "heads": 0}}, "heads is a whole number"),
        ({"vision": {**VISION, "heads": 3}}, "even number for each"),
        ({"vision": [16]}, "vision: expected"),
        ({"vision": {**VISION, "hidden": 4096, "layers": 64}}, "weights of another net"),
        ({"extra": 1}, "expected"),
        ({"schema": 2}, "schema 1"),
        ({"patch": 64}, "no larger than the image"),
        ({"patch": 5}, "multiple of its folded patches"),
    ],
)
def test_sizes_that_the_weights_do_not_have_are_refused_unbuilt(vlm, tmp_path, told, why):
    vlm.save(tmp_path)
    changed(tmp_path, "tiny.json", **told)
    with pytest.raises(ValueError, match=why):
        load_tiny(tmp_path)


@pytest.mark.parametrize("odd", ["nan", "whole", "shape"])
def test_weights_that_are_no_numbers_are_refused_by_name(vlm, tmp_path, odd):
    vlm.save(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    name = next(iter(tensors))
    changes = {
        "nan": lambda t: t * float("nan"),
        "whole": lambda t: t.to(torch.int8),
        "shape": lambda t: t[:1],
    }
    tensors[name] = changes[odd](tensors[name]).contiguous()
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"finite number|another net"):
        load_tiny(tmp_path)


def with_words(change):
    def made(told):
        change(told["model"]["vocab"])
        return told

    return made


@pytest.mark.parametrize(
    "change",
    [
        lambda told: [],
        lambda told: {"model": {"vocab": []}},
        lambda told: {**told, "pre_tokenizer": {"type": "Whitespace"}},
        lambda told: {**told, "normalizer": None},
        with_words(lambda vocab: vocab.pop("<image>")),
        with_words(lambda vocab: vocab.update(zebra=10**9)),
        with_words(lambda vocab: vocab.update(zebra=0)),
        with_words(lambda vocab: vocab.update(zebra="1")),
        with_words(lambda vocab: vocab.update({"two words": len(vocab)})),
        with_words(lambda vocab: vocab.update({"UP": len(vocab)})),
    ],
    ids=map(str, range(10)),
)
def test_words_that_are_no_list_of_words_are_refused(vlm, tmp_path, change):
    vlm.save(tmp_path)
    path = tmp_path / "words.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(ValueError, match="words"):
        load_tiny(tmp_path)


def test_a_huge_file_of_words_is_not_read(vlm, tmp_path):
    vlm.save(tmp_path)
    with (tmp_path / "words.json").open("r+b") as file:
        file.truncate(1 << 30)
    with pytest.raises(ValueError, match="are the most"):
        load_tiny(tmp_path)


def test_the_default_model_is_small_and_looks_at_36_patches():
    made = build_tiny(WORDS)
    assert made.per_frame[2] == 36
    assert 5e5 < sum(p.numel() for p in made.module.parameters()) < 1e6


def test_folded_patches_are_fewer_tokens_that_hold_the_same_numbers() -> None:
    features = torch.arange(2 * 16 * 3).reshape(2, 16, 3).float()
    found = folded(features, 2)
    assert found.shape == (2, 4, 12)
    assert found[0, 0].tolist() == torch.cat([features[0, i] for i in (0, 1, 4, 5)]).tolist()


def test_a_folding_model_is_written_and_read_back(tmp_path) -> None:
    vlm = build_tiny(FEW_WORDS, image=32, patch=8, fold=2)
    vlm.save(tmp_path)
    again = load_tiny(tmp_path)
    clip = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), np.uint8)
    question, labels = "What is the character doing?", [["moving up", "jumping"]]
    told = [v.likelihood(v.see([clip]), [question], labels)[0] for v in (vlm, again)]
    assert told[0].tolist() == told[1].tolist()
    assert vlm.per_frame == (16, 96, 4)
    assert again.key == vlm.key != build_tiny(FEW_WORDS, image=32, patch=8).key


def test_a_fold_that_does_not_divide_the_patches_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple of its folded patches"):
        build_tiny(FEW_WORDS, image=24, patch=8, fold=2)


def test_marks_tell_frames_apart_and_are_of_the_projector() -> None:
    marked = build_tiny(WORDS, **SMALL, marks=4)
    clip = clips(1, frames=4)[0]
    both = marked.see([clip, clip[::-1].copy()])
    told = [marked.likelihood([one], [QUESTION], [LABELS])[0] for one in both]
    with torch.no_grad():
        marked.marks.copy_(torch.randn_like(marked.marks))
    after = [marked.likelihood([one], [QUESTION], [LABELS])[0] for one in both]
    assert not np.allclose(told[0], after[0])
    assert not np.allclose(after[0], after[1])
    names = [name for name, _ in marked.module.named_parameters() if "marks" in name]
    assert [marked.family.group(name) for name in names] == ["projector"]
    two = marked.likelihood(marked.see([clip[:2]]), [QUESTION], [LABELS])[0]
    assert np.isfinite(two).all()


def test_marks_are_written_and_read_back(tmp_path) -> None:
    marked = build_tiny(WORDS, **SMALL, marks=4)
    with torch.no_grad():
        marked.marks.fill_(0.5)
    marked.save(tmp_path)
    assert torch.equal(load_tiny(tmp_path).marks, marked.marks)
