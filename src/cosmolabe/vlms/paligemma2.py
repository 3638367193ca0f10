"""PaliGemma 2 3B at 224 pixels: what UNIVERSE adapts (paper section 4)."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from cosmolabe.core.vlm import VlmPart
from cosmolabe.nets.pretrained import require
from cosmolabe.nets.vlm_hub import Size, Source
from cosmolabe.nets.vlm_paligemma import FAMILY, PaliGemma, build, config_of
from cosmolabe.nets.vlm_tokens import HubTokens, byte_tokens

VISION = {
    "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27,
    "num_attention_heads": 16, "image_size": 224, "patch_size": 14,
}  # fmt: skip
LANGUAGE = {
    "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 257_216,
}  # fmt: skip
IMAGE = 257_152
"""SigLIP-So400m/14 and Gemma 2 2B (universe.md §1.4): what is counted where no weights are."""


def small(transformers: Any, kind: str, tokens: HubTokens) -> Any:  # noqa: ANN401
    """The config of an untrained net of the same classes; its window is shorter than a prompt."""
    vision = {
        "hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "image_size": 32, "patch_size": 16,
    }  # fmt: skip
    language = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
        "query_pre_attn_scalar": 8, "vocab_size": len(tokens), "sliding_window": 24,
        "pad_token_id": tokens.pad, "bos_token_id": tokens.bos, "eos_token_id": tokens.eos,
    }  # fmt: skip
    return config_of(vision, language, tokens.number("<image>"))


SOURCE = Source(
    "paligemma2",
    {"paligemma": "PaliGemmaForConditionalGeneration"},
    {
        "3b-pt-224": Size("google/paligemma2-3b-pt-224"),
        "3b-mix-224": Size("google/paligemma2-3b-mix-224"),
        "3b-pt-448": Size("google/paligemma2-3b-pt-448"),
    },
    ("<pad>", "<eos>", "<bos>", "<image>"),
    (),
    small,
    note="accept Gemma's terms on the hub first",
)


def wrap(module: nn.Module, tokens: HubTokens, kind: str) -> PaliGemma:
    """Behind the interface of `core.vlm`."""
    return PaliGemma("paligemma2", module, tokens)


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "cpu",
    dtype: str = "float32",
) -> PaliGemma:
    """See `core.vlm.VlmPart`; on the device "meta" it is there to be counted, without weights."""
    if device == "meta" and source is None and not random:
        require("transformers", "vlm")
        with torch.device("meta"):
            return wrap(build(VISION, LANGUAGE, IMAGE), byte_tokens(SOURCE.special), "paligemma")
    return SOURCE.load(wrap, source, size, random, device, dtype)


VLM = VlmPart(
    "paligemma2",
    "PaliGemma 2 3B, what UNIVERSE adapts; reads its prompt in both directions, pictures only.",
    load,
    licence="Gemma Terms of Use (gated)",
    family=FAMILY,
    **SOURCE.told,
)
