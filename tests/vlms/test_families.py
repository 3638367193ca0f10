"""Each family against its own class of transformers, called as its documentation says.

What stands here is the claim that our rows, masks, positions and features are the class's own.
"""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from cosmolabe.core import parts

QUESTION, ANSWER = "What is the character doing?", "moving left"


def clip(frames=3, side=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (frames, side, side, 3), dtype=np.uint8)


def paligemma(vlm, frames, ids):
    pixels = vlm.pixels(frames)
    types = torch.ones_like(ids)
    types[:, : -len(vlm.answer_ids(ANSWER))] = 0
    return {"pixel_values": pixels, "token_type_ids": types}


def smolvlm(vlm, frames, ids):
    return {"pixel_values": vlm.pixels(frames)[None]}


def internvl(vlm, frames, ids):
    return {"pixel_values": vlm.pixels(frames)}


def gemma3(vlm, frames, ids):
    return {"pixel_values": vlm.pixels(frames), "token_type_ids": (ids == vlm.picture).long()}


def qwen(vlm, frames, ids):
    pixels = vlm.pixels(frames)
    grid = torch.tensor([[len(pixels), vlm.across, vlm.across]])
    types = torch.where(ids == vlm.picture, 2, 0)
    given = {"pixel_values_videos": pixels.flatten(0, 1), "video_grid_thw": grid}
    if not vlm.newer:
        given["second_per_grid_ts"] = torch.tensor([2 * vlm.spacing])
    return {**given, "mm_token_type_ids": types}


def videollama(vlm, frames, ids):
    pixels = vlm.pixels(frames)
    grid = torch.tensor([[len(pixels), 16, 16]])
    flat = pixels.flatten(0, 1)
    sizes = torch.tensor([2])
    return {"pixel_values_videos": flat, "video_grid_thw": grid, "video_merge_sizes": sizes}


FAMILIES = [
    ("paligemma2", "", paligemma),
    ("tiny", "", paligemma),
    ("smolvlm", "", smolvlm),
    ("internvl", "", internvl),
    ("gemma3", "", gemma3),
    ("qwen_vl", "3-2B", qwen),
    ("qwen_vl", "2.5-3B", qwen),
    ("videollama3", "", videollama),
]


def whole(vlm, frames):
    """Prompt and answer as one row of numbers, with labels on the answer alone."""
    laid = vlm.lay_out(len(vlm.see([frames])[0]), QUESTION)
    suffix = vlm.answer_ids(ANSWER)
    prefix = laid.pictures + laid.question
    ids = torch.tensor([prefix + suffix])
    return ids, torch.tensor([[-100] * len(prefix) + suffix])


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda f: f"{f[0]}{f[1]}")
def family(request):
    name, size, given = request.param
    return parts.load("vlms", name).load(random=True, size=size), given


@pytest.fixture(params=[f for f in FAMILIES if f[0] != "tiny"], ids=lambda f: f"{f[0]}{f[1]}")
def of_the_hub(request):
    name, size, _ = request.param
    return parts.load("vlms", name).load(random=True, size=size)


def test_our_loss_is_the_loss_of_the_class(family):
    vlm, given = family
    frames = clip()
    ids, labels = whole(vlm, frames)
    with torch.no_grad():
        theirs = vlm.module(input_ids=ids, labels=labels, **given(vlm, frames, ids)).loss
        ours = vlm.loss(vlm.see([frames]), [QUESTION], [ANSWER])
    assert float(ours) == pytest.approx(float(theirs), abs=2e-6)


def test_labels_that_are_all_ignored_give_the_class_nan_and_us_an_error(family):
    vlm, given = family
    frames = clip()
    ids, labels = whole(vlm, frames)
    with torch.no_grad():
        found = vlm.module(
            input_ids=ids, labels=torch.full_like(labels, -100), **given(vlm, frames, ids)
        )
    assert torch.isnan(found.loss)
    with pytest.raises(ValueError, match="at least one token"):
        vlm.loss(vlm.see([frames]), [QUESTION], [" "])


def test_a_saved_folder_is_the_same_model_again(family, tmp_path):
    vlm, _ = family
    if vlm.name == "tiny":
        vlm.save(tmp_path)
    else:
        vlm.module.save_pretrained(tmp_path)
        vlm.tokens.tokenizer.save_pretrained(tmp_path)
    again = parts.load("vlms", vlm.name).load(tmp_path)
    assert again.key == vlm.key
    seen = vlm.see([clip()])
    labels = [[ANSWER, "jumping"]]
    np.testing.assert_array_equal(
        again.likelihood(again.see([clip()]), [QUESTION], labels),
        vlm.likelihood(seen, [QUESTION], labels),
    )


def test_a_folder_that_lacks_a_tensor_or_is_another_familys_is_refused(of_the_hub, tmp_path):
    vlm = of_the_hub
    vlm.module.save_pretrained(tmp_path)
    vlm.tokens.tokenizer.save_pretrained(tmp_path)
    other = "smolvlm" if vlm.name != "smolvlm" else "gemma3"
    with pytest.raises(ValueError, match="expected"):
        parts.load("vlms", other).load(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    name = next(iter(sorted(tensors)))
    save_file({n: t.clone() for n, t in tensors.items() if n != name}, file, {"format": "pt"})
    with pytest.raises(ValueError, match="missing"):
        parts.load("vlms", vlm.name).load(tmp_path)


def test_weights_that_are_not_here_are_named_with_the_command_that_fetches_them(of_the_hub):
    part = parts.load("vlms", of_the_hub.name)
    assert "hf download" in part.find()
    with pytest.raises(ValueError, match="nowhere"):
        part.load("/nowhere")


def test_times_are_written_for_places_in_time():
    newer = parts.load("vlms", "qwen_vl").load(random=True, size="3-2B")
    newer.spacing = 0.5
    said, _ = newer.turn(2, "?")
    assert [part.split(" seconds>")[0] for part in said.split("<") if " seconds>" in part] == [
        "0.2", "1.2",
    ]  # fmt: skip  # frames at 0, 0.5 and 1, 1.5 seconds
    llama = parts.load("vlms", "videollama3").load(random=True)
    llama.spacing = 0.5
    assert "Time 0.0s:" in llama.turn(3, "?")[0]
    assert ",Time 1.0s:" in llama.turn(3, "?")[0]
    before = llama.key
    llama.spacing = 0.25
    assert llama.key != before


def test_time_moves_the_positions_of_qwen_2_5():
    older = parts.load("vlms", "qwen_vl").load(random=True, size="2.5-3B")
    older.spacing = 0.5  # two frames: a second; 4 positions a second
    stem = older.lay_out(2, "?").pictures
    axes = older.stem_positions(stem)
    shown = torch.tensor(stem) == older.picture
    assert axes[0][shown].unique().diff().tolist() == [4]


def test_an_odd_frame_is_held_to_make_a_place_in_time():
    vlm = parts.load("vlms", "qwen_vl").load(random=True)
    three = clip(3)
    held = np.concatenate([three, three[-1:]])
    torch.testing.assert_close(vlm.see([three])[0], vlm.see([held])[0], atol=0, rtol=0)
