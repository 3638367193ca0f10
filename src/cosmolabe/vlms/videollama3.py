"""VideoLLaMA 3: SigLIP with free sizes, four patches averaged to one, Qwen 2.5.

Only converted checkpoints fit (`lkhl/VideoLLaMA3-2B-Image-HF`): the authors' own repositories hold
code, which is not run. Its processor would drop patches that hardly change from frame to frame;
here all are kept, so that a still clip costs what a moving one costs.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from cosmolabe.core.vlm import VlmPart
from cosmolabe.nets.vlm_chat import ChatVlm, Look
from cosmolabe.nets.vlm_hub import Size, Source, family_of
from cosmolabe.nets.vlm_pixels import patched
from cosmolabe.nets.vlm_tokens import HubTokens

FAMILY = family_of(r"model\.projector\.", r"model\.vision_model\.", r"language_model\.")
START, END = "<|im_start|>", "<|im_end|>"
IMAGE, VIDEO = "<|image_pad|>", "<|video_pad|>"
MERGE = 2
"""Of videos, a side; pictures are not merged."""
ACROSS = 8
"""Tokens a side (our choice): 224 pixels, 64 tokens a frame."""


class VideoLlama3(ChatVlm):
    """A video, its times written between frames."""

    def __init__(self, module: nn.Module, tokens: HubTokens, kind: str) -> None:
        config: Any = module.config
        self.patch: int = config.vision_config.patch_size
        side = ACROSS * MERGE * self.patch
        super().__init__("videollama3", module, tokens, FAMILY, Look(side), VIDEO)
        self._per_frame = (ACROSS**2, config.vision_config.hidden_size, ACROSS**2)

    @property
    def per_frame(self) -> tuple[int, int, int]:
        """Tokens after merging, which the tower itself does; width; the same tokens."""
        return self._per_frame

    def pixels(
        self, frames: UInt8[np.ndarray, "frame height width 3"]
    ) -> Float[Tensor, "frame patch number"]:
        """Rows of patches."""
        return patched(self.look(frames), self.patch, MERGE, 1)

    def tower(
        self, pixels: Float[Tensor, "frame patch number"]
    ) -> Float[Tensor, "frame token width"]:
        """SigLIP's last states, merged."""
        model: Any = self.module
        frames = len(pixels)
        device = pixels.device
        found = model.model.vision_model(
            pixels.flatten(0, 1).to(model.dtype),
            grid_thw=torch.tensor([[frames, ACROSS * MERGE, ACROSS * MERGE]], device=device),
            merge_sizes=torch.tensor([MERGE], device=device),
        ).last_hidden_state
        return found.unflatten(0, (frames, -1))

    def project(
        self, features: Float[Tensor, "frame token width"]
    ) -> Float[Tensor, "frame token hidden"]:
        """Two layers."""
        model: Any = self.module
        return model.model.projector(features.to(model.dtype))

    def turn(self, frames: int, prompt: str) -> tuple[str, str]:
        """As the family's processor writes times; the turn around it is Qwen's."""
        shown = [f"Time {n * self.spacing:.1f}s:{self.pictured}" for n in range(frames)]
        said = f"{START}user\n" + ",".join(shown)
        return said, f"\n{prompt}{END}\n{START}assistant\n"


def small(transformers: Any, kind: str, tokens: HubTokens) -> Any:  # noqa: ANN401
    """The config of an untrained net of the same classes."""
    language = {
        "model_type": "qwen2", "vocab_size": len(tokens), "hidden_size": 32,
        "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "pad_token_id": tokens.pad, "tie_word_embeddings": True,
    }  # fmt: skip
    vision = {
        "hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 2, "patch_size": 4,
    }  # fmt: skip
    return transformers.VideoLlama3Config(
        text_config=language, vision_config=vision, image_token_id=tokens.number(IMAGE),
        video_token_id=tokens.number(VIDEO),
    )  # fmt: skip


SOURCE = Source(
    "videollama3",
    {"video_llama_3": "VideoLlama3ForConditionalGeneration"},
    {"2B": Size("lkhl/VideoLLaMA3-2B-Image-HF")},
    ("<|endoftext|>", END, START, IMAGE, VIDEO),
    (END,),
    small,
)


VLM = VlmPart(
    "videollama3",
    "VideoLLaMA 3, which the paper asked untrained.",
    SOURCE.loader(VideoLlama3),
    licence="Apache-2.0",
    family=FAMILY,
    **SOURCE.told,
)
