"""PaliGemma 2: SigLIP, a linear projector, Gemma 2 that reads its prompt in both directions.

As `transformers` has it (universe.md §3), and checked against that class:

    <image> x tokens x frames, <bos>, "answer en QUESTION", newline | ANSWER, <eos>

What stands before the bar sees itself whole, the answer sees it and its own past. Positions count
from 1. Frames carry no marks of their own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.vlm import Family
from cosmolabe.nets.pretrained import require
from cosmolabe.nets.vlm_pixels import stretched
from cosmolabe.nets.vlm_rows import Batch
from cosmolabe.nets.vlm_torch import Layout, TorchVlm, additive, cached, plain

FAMILY = Family(
    projector=r"multi_modal_projector\.",
    vision=r"vision_tower\.",
    language=r"language_model\.|lm_head\.",
)
PREFIX = "answer en "


class PaliGemma(TorchVlm):
    """`PaliGemmaForConditionalGeneration` behind the interface of `core.vlm`."""

    bidirectional = True

    def __init__(self, name: str, module: nn.Module, tokens: Any) -> None:  # noqa: ANN401
        super().__init__(name, module, tokens, FAMILY)
        config: Any = module.config
        self.config = config
        self.side: int = config.vision_config.image_size
        tokens_a_frame = (self.side // config.vision_config.patch_size) ** 2
        self._per_frame = (tokens_a_frame, config.vision_config.hidden_size, tokens_a_frame)

    @property
    def picture(self) -> int:
        """The number of <image>."""
        return self.config.image_token_id

    @property
    def per_frame(self) -> tuple[int, int, int]:
        """Patches, the tower's width, patches."""
        return self._per_frame

    @property
    def told(self) -> dict[str, Any]:
        """Shapes, prompt, resize."""
        return {
            "config": {
                part: plain(getattr(self.config, part).to_dict())
                for part in ("vision_config", "text_config")
            },
            "prompt": PREFIX,
            "tokens": fingerprint(self.tokens.told),
            "resize": "stretch bicubic",
        }

    def pixels(
        self, frames: UInt8[np.ndarray, "frame height width 3"]
    ) -> Float[Tensor, "frame 3 side side"]:
        """Stretched to the tower's square, (x / 255 - 0.5) / 0.5."""
        return (stretched(frames, self.side) / 255 - 0.5) / 0.5

    def tower(
        self, pixels: Float[Tensor, "frame 3 side side"]
    ) -> Float[Tensor, "frame token width"]:
        """SigLIP's last states, its closing normalisation included."""
        model: Any = self.module
        return model.model.vision_tower(pixels.to(model.dtype)).last_hidden_state

    def project(
        self, features: Float[Tensor, "frame token width"]
    ) -> Float[Tensor, "frame token hidden"]:
        """The linear layer."""
        model: Any = self.module
        return model.model.multi_modal_projector(features.to(model.dtype))

    def lay_out(self, frames: int, prompt: str) -> Layout:
        """Pictures, then the words before the answer."""
        words = self.tokens.ids(f"{PREFIX}{self.tokens.said(prompt)}\n")
        pictures = [self.picture] * (frames * self.per_frame[2])
        return Layout(pictures, [self.tokens.bos, *words])

    def stem_positions(self, stem: list[int]) -> Int[Tensor, "axis stem"]:
        """From 1 on."""
        return torch.arange(1, len(stem) + 1)[None]

    def read(
        self,
        embedded: Float[Tensor, "row place hidden"],
        batch: Batch,
        deep: Sequence[Tensor] = (),
        cache: Any = None,  # noqa: ANN401 - of transformers
    ) -> Float[Tensor, "row place hidden"]:
        """Gemma 2 with our masks; in sliding layers an answer sees as far as the window."""
        model: Any = self.module
        whole = near = additive(batch.sight, embedded.dtype)
        window = self.config.text_config.sliding_window
        if window is not None and batch.sight.shape[-1] > window:
            far = batch.positions[0][:, :, None] - batch.before[:, None, :] >= window
            near = additive(batch.sight & ~(far & batch.later[:, :, None]), embedded.dtype)
        language = model.model.language_model
        return language(
            inputs_embeds=embedded,
            attention_mask={"full_attention": whole, "sliding_attention": near},
            position_ids=batch.positions[0],
            **cached(language, cache),
        ).last_hidden_state

    def logits(self, states: Float[Tensor, "*any hidden"]) -> Float[Tensor, "*any vocabulary"]:
        """Of the tied head, capped where the config says so."""
        model: Any = self.module
        found = model.lm_head(states)
        cap = self.config.text_config.final_logit_softcapping
        return found if cap is None else torch.tanh(found / cap) * cap


def config_of(vision: dict[str, Any], language: dict[str, Any], image: int) -> Any:  # noqa: ANN401
    """A config of the real classes; `image` is the number of the picture token."""
    transformers = require("transformers", "vlm")
    seeing = transformers.SiglipVisionConfig(
        vision_use_head=False, projection_dim=language["hidden_size"], **vision
    )
    return transformers.PaliGemmaConfig(
        vision_config=seeing,
        text_config=transformers.Gemma2Config(**language),
        image_token_id=image,
        projection_dim=language["hidden_size"],
        hidden_size=language["hidden_size"],
    )


def build(vision: dict[str, Any], language: dict[str, Any], image: int) -> nn.Module:
    """An untrained net of the real classes."""
    maker = require("transformers", "vlm").PaliGemmaForConditionalGeneration
    return maker(config_of(vision, language, image))
