"""What a corpus in a folder comes to: counts, labels, pairs; and all corpora in one table."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmolabe.core import parts
from cosmolabe.core.corpus import Corpus, CorpusPart, PairRow
from cosmolabe.core.markdown import markdown_table

OWN = ("damage", "mujoco")
"""Sets this package films itself; they have a page of their own."""
MOST_TELLING = 8  # values of a set's own label that explain a violation; more are numbers


@dataclass(frozen=True)
class Level:
    """Clips of one violation, with what the set itself says of them."""

    violation: float | None
    clips: int
    told: str
    """The set's own label, where it decides the violation."""


@dataclass(frozen=True)
class Inspection:
    """A corpus as it was found."""

    corpus: Corpus
    pairs: tuple[PairRow, ...]
    levels: tuple[Level, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Clips, those present and missing, rows that were bad, and pairs by kind."""
        ties = sum(pair.p_first_worse == 0.5 for pair in self.pairs)
        return {
            "clips": len(self.corpus.clips),
            "present": len(self.corpus.present()),
            "missing": len(self.corpus.missing),
            "bad": len(self.corpus.bad),
            "stated_pairs": len(self.corpus.stated_pairs),
            "pairs": len(self.pairs),
            "ties": ties,
        }

    def by(self, field: str) -> dict[str, int]:
        """Clips by kind, split, generator or anchor."""
        counted = Counter(str(getattr(clip, field)) for clip in self.corpus.clips)
        return dict(sorted(counted.items()))


def inspect_corpus(part: CorpusPart, folder: Path, most: int, seed: int) -> Inspection:
    """Read a folder and draw pairs of it."""
    corpus = part.read(folder)
    return Inspection(corpus, part.pairs(corpus, most, seed), levels_of(corpus))


def levels_of(corpus: Corpus) -> tuple[Level, ...]:
    """Violations from lawful to blatant; clips without one come last."""
    keys = _deciding(corpus)
    groups: dict[float | None, list] = {}
    for clip in corpus.clips:
        groups.setdefault(clip.violation, []).append(clip)
    order = sorted(groups, key=lambda value: (value is None, value or 0.0))
    return tuple(
        Level(
            value,
            len(groups[value]),
            ", ".join(
                f"{key} {'|'.join(sorted({_brief(c.label.get(key)) for c in groups[value]}))}"
                for key in keys
            )
            if value is not None
            else "",
        )
        for value in order
    )


def corpus_table() -> list[tuple[Any, ...]]:
    """A row an outside set: name, what it is, use, weight, licence, where it is, files read."""
    rows = []
    for name in parts.names("corpora"):
        if name in OWN:
            continue
        part: CorpusPart = parts.load("corpora", name)
        weight = f"{part.weight:.3f}" if part.weight else "–"
        rows.append((name, part.summary, part.use, weight, part.licence, part.source, part.schema))
    return rows


TABLE_COLUMNS = ("corpus", "what it is", "use", "weight", "licence", "source", "files read")


def corpus_markdown() -> str:
    """`corpus_table` for docs/corpora.md."""
    return markdown_table(TABLE_COLUMNS, corpus_table())


def _deciding(corpus: Corpus) -> tuple[str, ...]:
    """Keys of the set's own label each of whose values always goes with one violation."""
    values: dict[str, dict[Any, set]] = {}
    rated = [clip for clip in corpus.clips if clip.violation is not None]
    if len({clip.violation for clip in rated}) < 2:
        return ()
    for clip in rated:
        for key, value in clip.label.items():
            if isinstance(value, (str, int, float)):
                values.setdefault(key, {}).setdefault(value, set()).add(clip.violation)
    everywhere = [key for key in values if all(key in clip.label for clip in rated)]
    return tuple(
        key
        for key in everywhere
        if 2 <= len(values[key]) <= MOST_TELLING and all(len(v) == 1 for v in values[key].values())
    )


def _brief(value: Any) -> str:  # noqa: ANN401 - a set's own label
    return f"{value:g}" if isinstance(value, float) else str(value)
