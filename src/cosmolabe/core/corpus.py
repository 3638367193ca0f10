"""What one file of `corpora/` offers: an outside labelled video set as rows of one shape.

Polarity is explicit everywhere: `violation` is 0 for nothing violated and 1 for blatant, whatever
the set's own scale says; the set's own label is kept beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class ClipRow:
    """One video of a corpus."""

    id: str
    dataset: str
    path: str = ""
    """Relative to the corpus folder; empty where the set names a URL only."""
    url: str = ""
    split: str = ""
    generator: str = ""
    """Who made it; empty for real footage."""
    prompt: str = ""
    group: str = ""
    """What belongs together: an action, a reference, a scene."""
    kind: Literal["real", "generated", "simulated"] = "generated"
    violation: float | None = None
    """0 nothing violated .. 1 blatant; None where the set does not say."""
    anchor: Literal[0, 1] | None = None
    """Where training pins the score: 0 lawful, 1 a blatant failure."""
    label: Mapping[str, Any] = field(default_factory=dict)
    """The set's own label, as it stands there."""
    mask: str = ""
    """Path of a mask video or folder, where there is one."""


@dataclass(frozen=True)
class PairRow:
    """Two videos of which one is judged the more violating."""

    first: str
    """ClipRow.id."""
    second: str
    p_first_worse: float
    """1, 0, or 0.5 for a tie."""
    gap: float
    """How far apart the labels are, 0..1 (reference 4.5); 0 for a tie."""
    source: str
    corresponds: Literal["image+text", "text", "scene", "none"] = "none"
    """What the two share."""

    def __post_init__(self) -> None:
        if self.p_first_worse not in (0.0, 0.5, 1.0):
            raise ValueError(f"a pair is 1, 0 or 0.5; got {self.p_first_worse}")
        if not 0 <= self.gap <= 1:
            raise ValueError(f"a pair's gap is in 0..1; got {self.gap}")


@dataclass(frozen=True)
class Corpus:
    """A set as it was found on disk."""

    name: str
    clips: tuple[ClipRow, ...]
    missing: tuple[str, ...] = ()
    """Videos the tables name and the folder lacks, by id: listed, never fatal."""
    bad: tuple[str, ...] = ()
    """Rows that could not be understood: where, and why."""
    stated_pairs: tuple[PairRow, ...] = ()
    """Pairs the set itself states; others are drawn by `CorpusPart.pairs`."""

    def present(self) -> tuple[ClipRow, ...]:
        """Rows whose video is there."""
        gone = set(self.missing)
        return tuple(row for row in self.clips if row.id not in gone)


@dataclass(frozen=True)
class CorpusPart:
    """A corpus by name: how to read it and how its pairs are drawn."""

    name: str
    summary: str
    """One sentence for lists and docs."""
    read: Callable[[Path], Corpus]
    """read(folder): every table it finds there, checked row by row."""
    pairs: Callable[[Corpus, int, int], tuple[PairRow, ...]]
    """pairs(corpus, most, seed): at most so many pairs over clips that are present."""
    licence: str
    source: str
    """Where the set is found."""
    use: Literal["train", "evaluate", "both"] = "both"
    weight: float = 1.5 / 17
    """Share of training draws (reference 4.6), over the sets that are present."""
    schema: str = ""
    """The files `read` looks for, in a line."""
    prepare: Callable[[Path], int] | None = None
    """prepare(folder): work that has to be done once before `read` can say all (masks measured,
    say); resumable, keeps what it finds in the folder, gives how many videos it worked on."""
