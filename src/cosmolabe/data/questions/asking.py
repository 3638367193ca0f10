"""What a task finds in a clip: one label out of a closed set, and whom the question is about."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cosmolabe.core.question import AskedClip


@dataclass(frozen=True)
class Found:
    """The true label of a clip, and what the question's template wants to know."""

    template: str
    """`task.variant` of `templates.toml`."""
    label: str
    labels: tuple[str, ...]
    """The closed answer space."""
    fill: Mapping[str, str] = field(default_factory=dict)
    """What stands for the names in the template, {label} and {options} apart."""

    def __post_init__(self) -> None:
        assert self.label in self.labels, (self.label, self.labels)
        assert len(set(self.labels)) == len(self.labels) >= 2, self.labels


@dataclass(frozen=True)
class Task:
    """One thing to ask about."""

    name: str
    summary: str
    find: Callable[[AskedClip, Mapping[str, Sequence[str]]], Found | None]
    """find(clip, space) -> what the clip shows, or None where it does not decide it. `space` holds
    the labels that the whole set of clips has, by what `space_of` calls them."""
    space: Callable[[AskedClip], tuple[str, str] | None] = lambda clip: None
    """(name of the answer space, label) that a clip adds; None where the space is fixed."""
