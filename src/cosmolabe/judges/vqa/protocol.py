"""The protocols of the vqa judge: every choice that can move a reading, the weights included.

A protocol names the model and the certificate it is judged by only once they are loaded (`bound`),
so its fingerprint changes with either.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from cosmolabe.core.answers import FINGERPRINT
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.question import FORMATS, Format
from cosmolabe.data.questions.protocol import PROTOCOLS as CLIPS
from cosmolabe.data.questions.protocol import SAMPLERS, ClipProtocol
from cosmolabe.data.questions.wording import templates_hash
from cosmolabe.judges.vqa.votes import Votes

Mode = Literal["likelihood", "generate"]


@dataclass(frozen=True)
class VqaProtocol:
    """Every choice that can move a vqa reading."""

    name: str = "vqa/1"
    clip: ClipProtocol = field(default_factory=ClipProtocol)
    """How clips are cut."""
    frames: int = 8
    """Pictures of a clip that the model sees."""
    sampler: str = "uniform"
    """Which of the clip's pictures they are."""
    mode: Mode = "likelihood"
    """The likeliest of a question's labels, or what the model writes."""
    votes: Votes = field(default_factory=Votes)
    formats: tuple[Format, ...] = FORMATS
    motion_floor: float = 0.001
    """Shares of full brightness a second, mean over the picture; a clip that moves less is frozen:
    it is not asked about, and counts as disobedient where the true clip moves (ours)."""
    motion_ignored: float = 2.0
    """Levels of 255, after averaging 4 x 4 pixels, below which nothing has moved."""
    templates: str = ""
    """Hash of all wording."""
    answers: str = FINGERPRINT
    """Of the rules by which replies are read."""
    vlm: str = ""
    """Key of the model: weights, pixels, prompt layout."""
    certificate: str = ""
    """Fingerprint of what sensitivity and specificity were taken from."""

    def __post_init__(self) -> None:
        if self.sampler not in SAMPLERS:
            raise ValueError(f"no sampler '{self.sampler}'; have {list(SAMPLERS)}")
        if not 1 <= self.frames <= self.clip.length:
            raise ValueError(
                f"a clip of {self.clip.length} frames shows 1 to so many; got {self.frames}"
            )
        if self.mode not in ("likelihood", "generate"):
            raise ValueError(f"answers come by likelihood or generate; got '{self.mode}'")
        if not self.formats or set(self.formats) - set(FORMATS):
            raise ValueError(f"formats are some of {list(FORMATS)}; got {list(self.formats)}")

    def bound(self, vlm: str, certificate: str = "", **choices: Any) -> "VqaProtocol":  # noqa: ANN401
        """The same for one model and one certificate; `choices` change it and its fingerprint."""
        return replace(
            self, vlm=vlm, certificate=certificate, templates=templates_hash(), **choices
        )

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when any choice changes."""
        return fingerprint(self)


PROTOCOLS = {
    each.name: each
    for each in (
        VqaProtocol(),
        VqaProtocol(
            "vqa/universe-1",
            CLIPS["vqa/universe-1"],
            mode="generate",
            votes=Votes(5, "frame_offsets"),
        ),
    )
}
"""By name; the first is the default. `vqa/universe-1` keeps UNIVERSE's every frame, written answers
and five votes; what varies between the votes is ours, for five greedy answers would be equal."""


def protocol_named(name: str) -> VqaProtocol:
    """The protocol; an unknown name is refused with the names there are."""
    if name not in PROTOCOLS:
        raise ValueError(f"the vqa judge has no protocol '{name}'; have {list(PROTOCOLS)}")
    return PROTOCOLS[name]
