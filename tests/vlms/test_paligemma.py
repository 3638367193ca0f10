"""Our PaliGemma rows against transformers' own processor, number by number."""

import numpy as np
import pytest
import torch
from PIL import Image

from cosmolabe.core import parts
from cosmolabe.nets.vlm_pixels import stretched
from cosmolabe.nets.vlm_tokens import WordTokens
from cosmolabe.vlms.tiny import build_tiny

QUESTION = "What is the character doing?"
WORDS = ["what", "is", "the", "character", "doing", "?", "moving", "left", "up"]


def pictures(count, side=32, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (count, side, side, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def processor():
    """The class's own, around our words; it adds 1,152 tokens of its own behind them."""
    import transformers

    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=WordTokens.of(WORDS).tokenizer,
        pad_token="<pad>", eos_token="<eos>", bos_token="<bos>", unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>"},
    )  # fmt: skip
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    image = SiglipImageProcessorPil(size={"height": 32, "width": 32})
    image.image_seq_length = 4
    return transformers.PaliGemmaProcessor(image, fast)


@pytest.fixture(scope="module")
def vlm():
    part = {"hidden": 16, "mlp": 32, "layers": 1, "heads": 2}
    return build_tiny(WORDS, image=32, vision=part, language=part)


# The class itself hands numpy a tensor in a way that numpy 2 dislikes.
OF_THE_CLASS = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@OF_THE_CLASS
def test_rows_are_those_of_the_processor(processor, vlm):
    frames = [pictures(3), pictures(2, seed=1)]
    answers = ["moving left", "up"]
    theirs = processor(
        images=[[Image.fromarray(frame) for frame in clip] for clip in frames],
        text=["<image>" * len(clip) + f"answer en {QUESTION}" for clip in frames],
        suffix=answers, padding="longest", padding_side="right", return_tensors="pt",
    )  # fmt: skip
    for number, (clip, answer) in enumerate(zip(frames, answers, strict=True)):
        laid = vlm.lay_out(len(clip), QUESTION)
        prefix, suffix = laid.pictures + laid.question, vlm.answer_ids(answer)
        n = len(prefix) + len(suffix)
        assert theirs["input_ids"][number, :n].tolist() == prefix + suffix
        assert theirs["attention_mask"][number].sum() == n
        types = theirs["token_type_ids"][number, :n].tolist()
        assert types == [0] * len(prefix) + [1] * len(suffix)
        labels = theirs["labels"][number, :n].tolist()
        assert labels == [-100] * len(prefix) + suffix
    ours = torch.cat([vlm.pixels(clip) for clip in frames])
    torch.testing.assert_close(theirs["pixel_values"], ours, atol=1e-6, rtol=0)


@OF_THE_CLASS
def test_without_a_suffix_the_processor_gives_labels_whose_loss_is_nan(processor, vlm):
    """The trap that `loss` closes: it takes answers, and refuses empty ones."""
    theirs = processor(
        images=[[Image.fromarray(frame) for frame in pictures(1)]],
        text=[f"<image>answer en {QUESTION}"], return_tensors="pt",
    )  # fmt: skip
    assert (theirs["labels"] == -100).all()
    with torch.no_grad():
        assert torch.isnan(vlm.module(**theirs).loss)


def test_pictures_are_stretched_as_the_processor_stretches_them(processor):
    for side, seed in ((96, 0), (20, 1)):
        (frame,) = pictures(1, side, seed)
        theirs = processor.image_processor(Image.fromarray(frame), return_tensors="pt")
        wanted = (theirs["pixel_values"][0] * 0.5 + 0.5) * 255
        assert torch.equal(stretched(frame[None], 32)[0], wanted.round())


def test_the_window_of_sliding_layers_is_part_of_it():
    """Its small net has a window of 24, shorter than the prompt: without it the loss is another."""
    vlm = parts.load("vlms", "paligemma2").load(random=True)
    seen = vlm.see([pictures(3)])
    with torch.no_grad():
        narrow = float(vlm.loss(seen, [QUESTION], ["moving left"]))
        vlm.config.text_config.sliding_window = 4096
        wide = float(vlm.loss(seen, [QUESTION], ["moving left"]))
    assert abs(narrow - wide) > 1e-5
