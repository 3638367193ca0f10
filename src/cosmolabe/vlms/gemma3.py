"""Gemma 3: SigLIP at 896 pixels pooled to 256 tokens; tokens of one picture see each other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from cosmolabe.core.vlm import VlmPart
from cosmolabe.nets.vlm_chat import ChatVlm, Look
from cosmolabe.nets.vlm_hub import Size, Source, family_of
from cosmolabe.nets.vlm_rows import Batch
from cosmolabe.nets.vlm_tokens import HubTokens
from cosmolabe.nets.vlm_torch import additive, cached

FAMILY = family_of(r"multi_modal_projector\.", r"vision_tower\.", r"language_model\.")
IMAGE, OPEN, CLOSE = "<image_soft_token>", "<start_of_image>", "<end_of_image>"
START, END = "<start_of_turn>", "<end_of_turn>"


class Gemma3(ChatVlm):
    """Each frame a picture of its own; no times."""

    def __init__(self, module: nn.Module, tokens: HubTokens, kind: str) -> None:
        config: Any = module.config
        side = config.vision_config.image_size
        super().__init__("gemma3", module, tokens, FAMILY, Look(side), IMAGE)
        patches = (side // config.vision_config.patch_size) ** 2
        self._per_frame = (patches, config.vision_config.hidden_size, config.mm_tokens_per_image)
        self.window: int | None = config.text_config.sliding_window

    @property
    def per_frame(self) -> tuple[int, int, int]:
        """Patches, width, tokens after pooling."""
        return self._per_frame

    def tower(
        self, pixels: Float[Tensor, "frame 3 side side"]
    ) -> Float[Tensor, "frame token width"]:
        """SigLIP's last states."""
        model: Any = self.module
        return model.model.vision_tower(pixels.to(model.dtype)).last_hidden_state

    def project(
        self, features: Float[Tensor, "frame token width"]
    ) -> Float[Tensor, "frame pooled hidden"]:
        """Pooled, normalised, then a matrix."""
        model: Any = self.module
        return model.model.multi_modal_projector(features.to(model.dtype))

    def turn(self, frames: int, prompt: str) -> tuple[str, str]:
        """Pictures with two empty lines around each, as the family's processor writes them."""
        shown = f"\n\n{OPEN}{self.pictured}{CLOSE}" + f"\n\n\n\n{OPEN}{self.pictured}{CLOSE}" * (
            frames - 1
        )
        opening = f"{self.tokens.tokenizer.bos_token}{START}user\n"
        return opening + shown, f"\n\n{prompt}{END}\n{START}model\n"

    def stem_sight(self, stem: list[int]) -> Bool[Tensor, "stem stem"]:
        """From left to right, but the tokens of one picture see each other."""
        ids = torch.tensor(stem)
        shown = ids == self.picture
        starts = shown & ~torch.cat([shown.new_zeros(1), shown[:-1]])
        block = torch.where(shown, starts.cumsum(0), 0)
        together = (block[:, None] == block[None]) & shown[:, None] & shown[None]
        return torch.ones(len(stem), len(stem), dtype=torch.bool).tril() | together

    def read(
        self,
        embedded: Float[Tensor, "row place hidden"],
        batch: Batch,
        deep: Sequence[Tensor] = (),
        cache: Any = None,  # noqa: ANN401 - of transformers
    ) -> Float[Tensor, "row place hidden"]:
        """Five of six layers see no further back than the window."""
        whole = near = additive(batch.sight, embedded.dtype)
        if self.window is not None and batch.sight.shape[-1] > self.window:
            far = batch.positions[0][:, :, None] - batch.before[:, None, :] >= self.window
            near = additive(batch.sight & ~far, embedded.dtype)
        return self.language(
            inputs_embeds=embedded,
            attention_mask={"full_attention": whole, "sliding_attention": near},
            position_ids=batch.positions[0],
            **cached(self.language, cache),
        ).last_hidden_state


def small(transformers: Any, kind: str, tokens: HubTokens) -> Any:  # noqa: ANN401
    """The config of an untrained net of the same classes; its window is shorter than a prompt."""
    language = transformers.Gemma3TextConfig(
        vocab_size=len(tokens), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8, query_pre_attn_scalar=8,
        sliding_window=24, layer_types=["sliding_attention", "full_attention"],
        pad_token_id=tokens.pad, eos_token_id=tokens.eos, bos_token_id=tokens.bos,
    )  # fmt: skip
    vision = transformers.SiglipVisionConfig(
        hidden_size=24, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        image_size=32, patch_size=8, vision_use_head=False,
    )  # fmt: skip
    return transformers.Gemma3Config(
        text_config=language, vision_config=vision, mm_tokens_per_image=4,
        image_token_index=tokens.number(IMAGE), boi_token_index=tokens.number(OPEN),
        eoi_token_index=tokens.number(CLOSE),
    )  # fmt: skip


SOURCE = Source(
    "gemma3",
    {"gemma3": "Gemma3ForConditionalGeneration"},
    {
        "4B": Size("google/gemma-3-4b-it"),
        "12B": Size("google/gemma-3-12b-it"),
    },
    ("<pad>", "<eos>", "<bos>", START, END, IMAGE, OPEN, CLOSE),
    (END,),
    small,
    note="accept Gemma's terms on the hub first",
)


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "cpu",
    dtype: str = "float32",
) -> Gemma3:
    """See `core.vlm.VlmPart`."""
    vlm = SOURCE.load(Gemma3, source, size, random, device, dtype)
    if random:
        _draw(vlm.module)
    return vlm


def _draw(net: Any) -> None:  # noqa: ANN401 - of transformers
    """The class starts its projection with zeros: an untrained model would be blind."""
    weight = net.model.multi_modal_projector.mm_input_projection_weight
    generator = torch.Generator(weight.device).manual_seed(0) if not weight.is_meta else None
    with torch.no_grad():
        weight.normal_(0, weight.shape[0] ** -0.5, generator=generator)


VLM = VlmPart(
    "gemma3",
    "Gemma 3 from four billion numbers on; 256 tokens a frame at 896 pixels.",
    load,
    licence="Gemma Terms of Use",
    family=FAMILY,
    **SOURCE.told,
)
