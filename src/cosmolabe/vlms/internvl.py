"""InternVL 3: InternViT, patches folded four to one, a two-layer projector, Qwen 2.5."""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from cosmolabe.core.vlm import VlmPart
from cosmolabe.nets.pixels import IMAGENET
from cosmolabe.nets.vlm_chat import ChatVlm, Look
from cosmolabe.nets.vlm_hub import Size, Source, family_of
from cosmolabe.nets.vlm_tokens import HubTokens

FAMILY = family_of(r"multi_modal_projector\.", r"vision_tower\.", r"language_model\.")
IMAGE, OPEN, CLOSE = "<IMG_CONTEXT>", "<img>", "</img>"
START, END = "<|im_start|>", "<|im_end|>"


class InternVl(ChatVlm):
    """Frames are numbered, as the family's processor writes videos; no times."""

    def __init__(self, module: nn.Module, tokens: HubTokens, kind: str) -> None:
        config: Any = module.config
        side, patch = config.vision_config.image_size[0], config.vision_config.patch_size[0]
        super().__init__("internvl", module, tokens, FAMILY, Look(side, *IMAGENET), IMAGE)
        if config.vision_feature_layer != -1 or config.vision_feature_select_strategy != "default":
            raise ValueError("internvl reads the tower's last layer without its class token only")
        patches = (side // patch) ** 2
        self.ratio: float = config.downsample_ratio
        tokens_a_frame = round(patches * self.ratio**2)
        self._per_frame = (patches, config.vision_config.hidden_size, tokens_a_frame)

    @property
    def per_frame(self) -> tuple[int, int, int]:
        """Patches, width, tokens after folding."""
        return self._per_frame

    def tower(
        self, pixels: Float[Tensor, "frame 3 side side"]
    ) -> Float[Tensor, "frame token width"]:
        """The last states without the class token."""
        model: Any = self.module
        return model.model.vision_tower(pixels.to(model.dtype)).last_hidden_state[:, 1:]

    def project(
        self, features: Float[Tensor, "frame token width"]
    ) -> Float[Tensor, "frame folded hidden"]:
        """Folded, then the projector."""
        model: Any = self.module
        side = round(features.shape[1] ** 0.5)
        square = features.to(model.dtype).unflatten(1, (side, side))
        folded = model.model.pixel_shuffle(square, scale_factor=self.ratio)
        return model.model.multi_modal_projector(folded.flatten(1, 2))

    def turn(self, frames: int, prompt: str) -> tuple[str, str]:
        """`Frame1: <img>..</img>`, one a line."""
        shown = [f"Frame{n + 1}: {OPEN}{self.pictured}{CLOSE}" for n in range(frames)]
        said = f"{START}user\n" + "\n".join(shown)
        return said, f"\n{prompt}{END}\n{START}assistant\n"


def small(transformers: Any, kind: str, tokens: HubTokens) -> Any:  # noqa: ANN401
    """The config of an untrained net of the same classes."""
    language = {
        "model_type": "qwen2", "vocab_size": len(tokens), "hidden_size": 32,
        "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "pad_token_id": tokens.pad,
    }  # fmt: skip
    vision = {
        "hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "image_size": [32, 32], "patch_size": [8, 8],
    }  # fmt: skip
    return transformers.InternVLConfig(
        text_config=language, vision_config=vision, image_token_id=tokens.number(IMAGE),
        image_seq_length=4,
    )  # fmt: skip


SOURCE = Source(
    "internvl",
    {"internvl": "InternVLForConditionalGeneration"},
    {
        "1B": Size("OpenGVLab/InternVL3-1B-hf"),
        "2B": Size("OpenGVLab/InternVL3-2B-hf"),
        "8B": Size("OpenGVLab/InternVL3-8B-hf"),
    },
    ("<|endoftext|>", END, START, IMAGE, OPEN, CLOSE),
    (END,),
    small,
)


VLM = VlmPart(
    "internvl",
    "InternVL 3 in the form that transformers holds, from one billion numbers on.",
    SOURCE.loader(InternVl),
    licence="Apache-2.0 (parts MIT, Qwen)",
    family=FAMILY,
    **SOURCE.told,
)
