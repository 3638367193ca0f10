"""Models that read from left to right and are spoken to in turns: what their families share.

Questions about one clip share the pictures' part of a row. A family says how a turn is written, how
many tokens a frame is and where its tower and projector are. Frames are square, stretched (our
choice, as PaliGemma's); the processors of these families would keep the shape or cut tiles, and
their video processors need torchvision, so pixels are made here from uint8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.vlm import Family
from cosmolabe.nets.vlm_pixels import stretched
from cosmolabe.nets.vlm_rows import Batch
from cosmolabe.nets.vlm_tokens import HubTokens
from cosmolabe.nets.vlm_torch import Layout, TorchVlm, additive, cached, plain

SPACING = 8 / 60
"""Seconds between shown frames where nobody says otherwise: 8 of 14 frames, every 4th of 60 a
second, stand about so far apart."""


@dataclass(frozen=True)
class Look:
    """How a tower wants its frames."""

    side: int
    """Pixels."""
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)

    def __call__(
        self, frames: UInt8[np.ndarray, "frame height width 3"]
    ) -> Float[Tensor, "frame 3 side side"]:
        """(x / 255 - mean) / std of the stretched frames."""
        pixels = stretched(frames, self.side) / 255
        mean, std = (pixels.new_tensor(part)[:, None, None] for part in (self.mean, self.std))
        return (pixels - mean) / std


class CausalVlm(TorchVlm):
    """A model that reads from left to right."""

    @property
    def language(self) -> Any:  # noqa: ANN401 - of transformers
        """The language model without its head."""
        model: Any = self.module
        return model.model.language_model

    def read(
        self,
        embedded: Float[Tensor, "row place hidden"],
        batch: Batch,
        deep: Sequence[Tensor] = (),
        cache: Any = None,  # noqa: ANN401 - of transformers
    ) -> Float[Tensor, "row place hidden"]:
        """The language model under our masks and positions."""
        axes = batch.positions
        return self.language(
            inputs_embeds=embedded,
            attention_mask=additive(batch.sight, embedded.dtype),
            position_ids=axes[0] if len(axes) == 1 else axes,
            **cached(self.language, cache),
            **self.deepened(batch, deep),
        ).last_hidden_state

    def deepened(self, batch: Batch, deep: Sequence[Tensor]) -> dict[str, Any]:
        """How a family hands pictures to deeper layers."""
        return {}

    def logits(self, states: Float[Tensor, "*any hidden"]) -> Float[Tensor, "*any vocabulary"]:
        """Of the head."""
        model: Any = self.module
        return model.lm_head(states)


class ChatVlm(CausalVlm):
    """A class of `transformers` that answers in turns, behind the interface of `core.vlm`."""

    before_answer = ""
    """What stands between the turn's opening and the answer."""

    def __init__(
        self,
        name: str,
        module: nn.Module,
        tokens: HubTokens,
        family: Family,
        look: Look,
        picture: str,
    ) -> None:
        super().__init__(name, module, tokens, family)
        self.look = look
        self.picture_name = picture
        self._picture = tokens.number(picture)
        self.spacing = SPACING
        """Seconds between the frames that are shown, for families that write times."""

    # What a family says.

    def turn(self, frames: int, prompt: str) -> tuple[str, str]:
        """The prompt as text, up to the last picture's end and after it."""
        raise NotImplementedError

    # What is the same for all.

    @property
    def picture(self) -> int:
        """The number of the token that pictures replace."""
        return self._picture

    @property
    def pictured(self) -> str:
        """The placeholders of one frame."""
        return self.picture_name * self.per_frame[2]

    @property
    def ends(self) -> tuple[int, ...]:
        """What ends a turn, then what ends a text."""
        return tuple(dict.fromkeys((*self.tokens.ends, self.tokens.eos)))

    @property
    def told(self) -> dict[str, Any]:
        """Config, prompt, pixels, spacing."""
        config: Any = self.module.config
        return {
            "config": plain(config.to_dict()),
            "prompt": [*self.turn(2, "QUESTION"), self.before_answer],
            "tokens": fingerprint(self.tokens.told),
            "resize": "stretch bicubic",
            "look": self.look,
            "spacing": self.spacing,
        }

    def pixels(
        self, frames: UInt8[np.ndarray, "frame height width 3"]
    ) -> Float[Tensor, "place ..."]:
        """One item a place in time that has tokens of its own."""
        return self.look(frames)

    def lay_out(self, frames: int, prompt: str) -> Layout:
        """The turn as numbers."""
        pictures, question = self.turn(frames, self.tokens.said(prompt.strip()))
        return Layout(self.tokens.ids(pictures), self.tokens.ids(question))

    def answer_ids(self, answer: str) -> list[int]:
        """An answer as numbers, the turn's end included."""
        said = self.tokens.ids(self.before_answer + self.tokens.said(answer))
        return [*said, self.ends[0]]
