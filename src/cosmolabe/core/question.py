"""A question about a short clip, and the clip it is asked about: what the vqa judge works on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from jaxtyping import Float, UInt8
from numpy import ndarray

Format = Literal["binary", "multiple_choice", "open_ended"]
FORMATS: tuple[Format, ...] = ("binary", "multiple_choice", "open_ended")
TASKS = (
    "action_recognition", "character_recognition",
    "event", "count", "direction", "contact", "order", "persistence",
)  # fmt: skip
"""The first two are UNIVERSE's (paper section 3); the others are ours."""
YES, NO = "yes", "no"


@dataclass(frozen=True)
class AskedClip:
    """Pictures that questions are asked about, and what is known of them."""

    id: str
    frames: UInt8[ndarray, "time height width 3"]
    fps: float
    """Frames of this clip a second."""
    actions: Float[ndarray, "time action"] | None = None
    """What was commanded at each frame, in the seven action columns."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """game, theme, characters, source, first tick, words of the description."""


@dataclass(frozen=True)
class Question:
    """One question with its true answer."""

    id: str
    """Unique in its set."""
    clip: str
    """AskedClip.id."""
    task: str
    """One of TASKS."""
    format: Format
    text: str
    """As it is asked: template filled in, options written out."""
    answer: str
    """A label of `labels`, as text; yes or no where the format is binary."""
    labels: tuple[str, ...]
    """The closed set `answer` is one of: yes and no, or every label of the answer space."""
    options: tuple[str, ...] = ()
    """Of a multiple choice, in the order in which they are shown; letters are A, B, .."""
    truth: str = ""
    """The clip's true label, whatever the format."""
    asked: str = ""
    """The label that a binary question asks about."""
    template: str = ""
    """Name and version of the template."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """game, theme, seeds, what the clip's row says."""

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ValueError(f"question {self.id}: no format {self.format!r}; have {list(FORMATS)}")
        if not self.answer or self.answer not in self.labels:
            raise ValueError(
                f"question {self.id}: the answer {self.answer!r} is none of its labels "
                f"{list(self.labels)[:20]}"
            )
        if self.format == "multiple_choice" and self.answer not in self.options:
            raise ValueError(f"question {self.id}: the answer is none of its options")
        unknown = set(self.options) - set(self.labels)
        if unknown or len(set(self.options)) < len(self.options):
            raise ValueError(
                f"question {self.id}: options are some of its labels, each once; got "
                f"{list(self.options)[:20]}"
            )
