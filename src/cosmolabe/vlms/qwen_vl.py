"""Qwen2.5-VL and Qwen3-VL: two frames make one place in time, the projector sits in the tower.

Qwen3-VL writes the time before each place and hands pictures to its first layers too (DeepStack);
Qwen2.5-VL tells time by its positions.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from cosmolabe.core.vlm import Family, VlmPart
from cosmolabe.nets.pretrained import require
from cosmolabe.nets.vlm_chat import ChatVlm, Look
from cosmolabe.nets.vlm_hub import Size, Source
from cosmolabe.nets.vlm_pixels import patched
from cosmolabe.nets.vlm_rows import Batch
from cosmolabe.nets.vlm_tokens import HubTokens

FAMILY = Family(
    projector=r"visual\.(merger|deepstack_merger_list)\.",
    vision=r"visual\.",
    language=r"language_model\.|lm_head\.",
)
START, END = "<|im_start|>", "<|im_end|>"
OPEN, CLOSE, IMAGE, VIDEO = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"
SYSTEM = f"{START}system\nYou are a helpful assistant.{END}\n"
CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
"""Mean and spread that Qwen2.5-VL's processor names after OpenAI's CLIP."""
ACROSS = 8
"""Tokens a side (our choice): 224 pixels for Qwen2.5-VL, 256 for Qwen3-VL, 64 tokens a place."""


class QwenVl(ChatVlm):
    """Either generation, as a video."""

    def __init__(self, module: nn.Module, tokens: HubTokens, kind: str) -> None:
        config: Any = module.config
        vision = config.vision_config
        self.newer = kind == "qwen3_vl"
        self.patch, self.merge = vision.patch_size, vision.spatial_merge_size
        self.together = vision.temporal_patch_size
        side = ACROSS * self.patch * self.merge
        look = Look(side) if self.newer else Look(side, *CLIP)
        super().__init__("qwen_vl", module, tokens, FAMILY, look, VIDEO)
        self.across = side // self.patch
        self.levels = 1 + len(vision.deepstack_visual_indexes) if self.newer else 1
        self.width: int = vision.hidden_size
        patches = self.across**2
        self._per_frame = (patches, self.width * self.levels, patches // self.merge**2)

    @property
    def per_frame(self) -> tuple[int, int, int]:
        """Of two frames: patches, width of all levels side by side, tokens."""
        return self._per_frame

    @property
    def visual(self) -> Any:  # noqa: ANN401 - of transformers
        """The tower, projector inside."""
        model: Any = self.module
        return model.model.visual

    def pixels(
        self, frames: UInt8[np.ndarray, "frame height width 3"]
    ) -> Float[Tensor, "place patch number"]:
        """Two frames a place, an odd last one held."""
        return patched(self.look(frames), self.patch, self.merge, self.together)

    def tower(
        self, pixels: Float[Tensor, "place patch number"]
    ) -> Float[Tensor, "place patch width"]:
        """States before the projector; of Qwen3-VL those of the deeper levels beside them."""
        visual, places = self.visual, len(pixels)
        model: Any = self.module
        grid = torch.tensor([[places, self.across, self.across]], device=pixels.device)
        kept: list[Tensor] = []
        hooks = [
            merger.register_forward_pre_hook(lambda _, given: kept.append(given[0]))
            for merger in (visual.deepstack_merger_list if self.newer else ())
        ]
        try:
            found = visual(pixels.flatten(0, 1).to(model.dtype), grid_thw=grid).last_hidden_state
        finally:
            for hook in hooks:
                hook.remove()
        if not self.newer:
            found = self._in_order(found, grid)
        return torch.cat([found, *kept], -1).unflatten(0, (places, -1))

    def _in_order(
        self, states: Float[Tensor, "patch width"], grid: Int[Tensor, "1 3"]
    ) -> Float[Tensor, "patch width"]:
        """Qwen2.5-VL's tower gives patches window by window; here they stand row by row again."""
        model: Any = self.module
        vision = model.config.vision_config
        index, _ = require("transformers.vision_utils", "vlm").get_vision_window_index(
            grid, self.merge, vision.window_size, self.patch
        )
        return states.unflatten(0, (-1, self.merge**2))[index.argsort()].flatten(0, 1)

    def project(
        self, features: Float[Tensor, "place patch width"]
    ) -> Float[Tensor, "place token hidden"]:
        """The merger of every level, side by side."""
        visual = self.visual
        model: Any = self.module
        mergers = [visual.merger, *(visual.deepstack_merger_list if self.newer else ())]
        parts = features.flatten(0, 1).to(model.dtype).split(self.width, -1)
        found = [merger(part.contiguous()) for merger, part in zip(mergers, parts, strict=True)]
        return torch.cat(found, -1).unflatten(0, (len(features), -1))

    def turn(self, frames: int, prompt: str) -> tuple[str, str]:
        """`frames` counts places in time. A newer one has its time written before it."""
        asked = f"{prompt}{END}\n{START}assistant\n"
        if not self.newer:
            shown = f"{OPEN}{self.pictured * frames}{CLOSE}"
            return f"{SYSTEM}{START}user\n{shown}", asked
        said = f"{START}user\n"
        for place in range(frames):
            middle = (place + 0.5) * self.together - 0.5
            said += f"<{middle * self.spacing:.1f} seconds>{OPEN}{self.pictured}{CLOSE}"
        return said, asked

    def stem_positions(self, stem: list[int]) -> Int[Tensor, "3 stem"]:
        """Time, row and column, by the class's own counting."""
        model: Any = self.module
        ids = torch.tensor([stem])
        places = int((ids == self.picture).sum()) // self.per_frame[2]
        grid = torch.tensor([[places, self.across, self.across]])
        given: dict[str, Any] = {"video_grid_thw": grid}
        if not self.newer:
            given["second_per_grid_ts"] = [self.together * self.spacing]
        found, _ = model.model.get_rope_index(
            ids, mm_token_type_ids=torch.where(ids == self.picture, 2, 0), **given
        )
        return found[:, 0]

    def deepened(self, batch: Batch, deep: Sequence[Tensor]) -> dict[str, Any]:
        """What DeepStack adds, and where."""
        if not deep:
            return {}
        places = (batch.ids == self.picture) & batch.real
        return {"visual_pos_masks": places, "deepstack_visual_embeds": list(deep)}


def small(transformers: Any, kind: str, tokens: HubTokens) -> Any:  # noqa: ANN401
    """The config of an untrained net of the same classes."""
    newer = kind == "qwen3_vl"
    language = {
        "vocab_size": len(tokens), "hidden_size": 32, "intermediate_size": 64,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
        "pad_token_id": tokens.pad, "bos_token_id": None, "eos_token_id": tokens.eos,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]},
    }  # fmt: skip
    vision: dict[str, Any] = {
        "depth": 3, "hidden_size": 24, "intermediate_size": 48, "num_heads": 2, "patch_size": 4,
        "out_hidden_size": 32,
    }  # fmt: skip
    if newer:
        language |= {"head_dim": 8}
        vision |= {"num_position_embeddings": 16, "deepstack_visual_indexes": [0, 1]}
        maker = transformers.Qwen3VLConfig
    else:
        vision |= {"window_size": 24, "fullatt_block_indexes": [1]}
        maker = transformers.Qwen2_5_VLConfig
    return maker(
        text_config=language, vision_config=vision, tie_word_embeddings=True,
        image_token_id=tokens.number(IMAGE), video_token_id=tokens.number(VIDEO),
        vision_start_token_id=tokens.number(OPEN), vision_end_token_id=tokens.number(CLOSE),
    )  # fmt: skip


SOURCE = Source(
    "qwen_vl",
    {
        "qwen3_vl": "Qwen3VLForConditionalGeneration",
        "qwen2_5_vl": "Qwen2_5_VLForConditionalGeneration",
    },
    {
        "3-2B": Size("Qwen/Qwen3-VL-2B-Instruct", kind="qwen3_vl"),
        "3-4B": Size("Qwen/Qwen3-VL-4B-Instruct", kind="qwen3_vl"),
        "3-8B": Size("Qwen/Qwen3-VL-8B-Instruct", kind="qwen3_vl"),
        "2.5-3B": Size("Qwen/Qwen2.5-VL-3B-Instruct", kind="qwen2_5_vl"),
        "2.5-7B": Size("Qwen/Qwen2.5-VL-7B-Instruct", kind="qwen2_5_vl"),
    },
    ("<|endoftext|>", END, START, OPEN, CLOSE, IMAGE, VIDEO),
    (END,),
    small,
)


VLM = VlmPart(
    "qwen_vl",
    "Qwen3-VL and Qwen2.5-VL, what most people judge with.",
    SOURCE.loader(QwenVl),
    licence="Apache-2.0 (Qwen2.5-VL-3B: Qwen Research License)",
    family=FAMILY,
    **SOURCE.told,
)
