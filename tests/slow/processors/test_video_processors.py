"""Against the families' own processors, which need torchvision (`make slow-timm`)."""

import numpy as np
import pytest
import torch

from cosmolabe.core import parts

QUESTION = "What is the character doing?"


def frames(side, count=4):
    return np.random.default_rng(0).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def as_video(clip):
    return torch.from_numpy(clip).permute(0, 3, 1, 2)


def settled(**more):
    return {"do_resize": False, "do_sample_frames": False, "return_tensors": "pt", **more}


@pytest.mark.parametrize("size", ["3-2B", "2.5-3B"])
def test_patches_are_those_of_qwens_video_processor(size):
    from transformers import Qwen2VLVideoProcessor, Qwen3VLVideoProcessor

    vlm = parts.load("vlms", "qwen_vl").load(random=True, size=size)
    clip = frames(vlm.look.side, 5)
    maker = Qwen3VLVideoProcessor if vlm.newer else Qwen2VLVideoProcessor
    found = maker(patch_size=vlm.patch, merge_size=vlm.merge)([as_video(clip)], **settled())
    ours = vlm.pixels(clip)
    assert found["video_grid_thw"].tolist() == [[len(ours), vlm.across, vlm.across]]
    torch.testing.assert_close(found["pixel_values_videos"], ours.flatten(0, 1), atol=2e-6, rtol=0)


def test_patches_are_those_of_videollamas_video_processor():
    from transformers import VideoLlama3VideoProcessor

    vlm = parts.load("vlms", "videollama3").load(random=True)
    clip = frames(vlm.look.side, 3)
    made = VideoLlama3VideoProcessor(patch_size=vlm.patch, merge_size=2)
    found = made([as_video(clip)], **settled())
    assert found["video_merge_sizes"].tolist() == [2]
    ours = vlm.pixels(clip).flatten(0, 1)
    torch.testing.assert_close(found["pixel_values_videos"], ours, atol=2e-6, rtol=0)


def test_words_and_pictures_are_those_of_smolvlms_processor():
    from transformers import SmolVLMImageProcessor, SmolVLMProcessor, SmolVLMVideoProcessor
    from transformers.video_utils import VideoMetadata

    vlm = parts.load("vlms", "smolvlm").load(random=True)
    vlm.spacing = 0.5
    clip = frames(vlm.look.side, 4)
    video = SmolVLMVideoProcessor(
        size={"longest_edge": 32}, max_image_size={"longest_edge": 32}, num_frames=8, fps=2
    )
    made = SmolVLMProcessor(SmolVLMImageProcessor(), vlm.tokens.tokenizer, video, image_seq_len=4)
    told = VideoMetadata(
        total_num_frames=4, fps=2.0, duration=1.5, frames_indices=[0, 1, 2, 3], width=32, height=32
    )
    text = f"<|im_start|>User: <video>{QUESTION}<end_of_utterance>\nAssistant:"
    found = made(text=[text], videos=[as_video(clip)], video_metadata=[told], **settled())
    laid = vlm.lay_out(4, QUESTION)
    assert found["input_ids"][0].tolist() == laid.pictures + laid.question
    torch.testing.assert_close(found["pixel_values"][0], vlm.pixels(clip), atol=2e-6, rtol=0)
