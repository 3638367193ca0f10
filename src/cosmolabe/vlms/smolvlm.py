"""SmolVLM2: SigLIP, patches folded into few tokens, SmolLM2; 256 million numbers at the least."""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from cosmolabe.core.vlm import VlmPart
from cosmolabe.nets.vlm_chat import ChatVlm, Look
from cosmolabe.nets.vlm_hub import Size, Source, family_of
from cosmolabe.nets.vlm_tokens import HubTokens

FAMILY = family_of(r"model\.connector\.", r"model\.vision_model\.", r"model\.text_model\.")
AROUND, GLOBAL, IMAGE = "<fake_token_around_image>", "<global-img>", "<image>"
START, END = "<|im_start|>", "<end_of_utterance>"
NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip


class SmolVlm(ChatVlm):
    """Each frame a picture with its time before it, as the family's processor writes videos."""

    before_answer = " "

    def __init__(self, module: nn.Module, tokens: HubTokens, kind: str) -> None:
        config: Any = module.config
        look = Look(config.vision_config.image_size)
        super().__init__("smolvlm", module, tokens, FAMILY, look, IMAGE)
        patches = (look.side // config.vision_config.patch_size) ** 2
        width, scale = config.vision_config.hidden_size, config.scale_factor
        self._per_frame = (patches, width, patches // scale**2)

    @property
    def per_frame(self) -> tuple[int, int, int]:
        """Patches, width, tokens after folding."""
        return self._per_frame

    @property
    def language(self) -> Any:  # noqa: ANN401 - of transformers
        """SmolLM2."""
        model: Any = self.module
        return model.model.text_model

    def tower(
        self, pixels: Float[Tensor, "frame 3 side side"]
    ) -> Float[Tensor, "frame token width"]:
        """SigLIP's last states."""
        model: Any = self.module
        return model.model.vision_model(pixels.to(model.dtype)).last_hidden_state

    def project(
        self, features: Float[Tensor, "frame token width"]
    ) -> Float[Tensor, "frame folded hidden"]:
        """Folded, then a linear layer."""
        model: Any = self.module
        return model.model.connector(features.to(model.dtype))

    def turn(self, frames: int, prompt: str) -> tuple[str, str]:
        """As the family's template and video processor write it."""
        number = NUMBERS[frames] if frames < len(NUMBERS) else str(frames)
        seconds = int((frames - 1) * self.spacing)
        told = (
            f"{number} frames from a {seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        )
        said = f"{START}User: You are provided the following series of {told} [H:MM:SS] video.\n"
        for frame in range(frames):
            at = int(frame * self.spacing)
            said += f"\nFrame from {at // 60:02d}:{at % 60:02d}:"
            said += f"{AROUND}{GLOBAL}{self.pictured}{AROUND}"
        return said, f"\n\n{prompt}{END}\nAssistant:"


def small(transformers: Any, kind: str, tokens: HubTokens) -> Any:  # noqa: ANN401
    """The config of an untrained net of the same classes."""
    language = {
        "model_type": "llama", "vocab_size": len(tokens), "hidden_size": 32,
        "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "pad_token_id": tokens.pad,
    }  # fmt: skip
    vision = {
        "hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "image_size": 32, "patch_size": 8,
    }  # fmt: skip
    return transformers.SmolVLMConfig(
        text_config=language, vision_config=vision, scale_factor=2,
        image_token_id=tokens.number(IMAGE), tie_word_embeddings=True, pad_token_id=tokens.pad,
    )  # fmt: skip


SOURCE = Source(
    "smolvlm",
    {"smolvlm": "SmolVLMForConditionalGeneration"},
    {
        "256M": Size("HuggingFaceTB/SmolVLM2-256M-Video-Instruct"),
        "500M": Size("HuggingFaceTB/SmolVLM2-500M-Video-Instruct"),
        "2.2B": Size("HuggingFaceTB/SmolVLM2-2.2B-Instruct"),
    },
    ("<|im_end|>", "<|endoftext|>", START, END, AROUND, GLOBAL, IMAGE),
    (END,),
    small,
)


VLM = VlmPart(
    "smolvlm",
    "SmolVLM2: the smallest that is worth asking without training, a CPU can run it.",
    SOURCE.loader(SmolVlm),
    licence="Apache-2.0",
    family=FAMILY,
    **SOURCE.told,
)
