"""What two sets of videos share, so that "held out" is a measured claim.

Two sets overlap by video (the same bytes), by id (the same bare name), by prompt (the same words,
whatever their case and punctuation) and by generator. A figure is the share of one side's clips
that the other side knows too; unknown prompts and generators are on neither side.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import xxhash

from cosmolabe.core.corpus import ClipRow, Corpus

BY = ("video", "id", "prompt", "generator")
CHUNK = 1 << 20  # bytes read at once
UNKNOWN = ("", "unknown")


@dataclass(frozen=True)
class Overlap:
    """What two sets share by one measure."""

    first: str
    second: str
    by: str
    shared: int
    """Different videos, ids, prompts or generators that stand on both sides."""
    clips_first: int
    """Clips of the first set whose value the second knows too."""
    clips_second: int
    known_first: int
    """Clips of the first set that have such a value at all."""
    known_second: int

    @property
    def share_second(self) -> float:
        """Of the second set's clips, the test set's, say; NaN where none has a value."""
        return self.clips_second / self.known_second if self.known_second else float("nan")

    @property
    def share_first(self) -> float:
        """Of the first set's clips."""
        return self.clips_first / self.known_first if self.known_first else float("nan")


def overlaps(
    corpora: Sequence[Corpus], folders: Mapping[str, Path] | None = None
) -> tuple[Overlap, ...]:
    """Every two of the sets by every measure; by video where `folders` says where both lie.

    A corpus that holds train and test splits is taken apart first by `by_split`.
    """
    folders = folders or {}
    found = []
    for first, second in combinations(corpora, 2):
        here = (folders.get(first.name), folders.get(second.name))
        if here[0] is not None and here[1] is not None:
            found.append(_by_video(first, second, here[0], here[1]))
        for by, value in VALUES.items():
            found.append(_compare(first, second, by, value))
    return tuple(found)


def by_split(corpus: Corpus) -> tuple[Corpus, ...]:
    """One corpus a split, named NAME/SPLIT; itself where it knows no two splits."""
    splits = sorted({clip.split for clip in corpus.clips})
    if len(splits) < 2:
        return (corpus,)
    return tuple(
        replace(
            corpus,
            name=f"{corpus.name}/{split or 'unsaid'}",
            clips=tuple(clip for clip in corpus.clips if clip.split == split),
            stated_pairs=(),
        )
        for split in splits
    )


def normalised(text: str) -> str:
    """A prompt without case, accents' spelling, punctuation and blanks' number."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def hash_of(path: Path) -> str:
    """The bytes of a video as 32 hex digits."""
    digest = xxhash.xxh3_128()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _id(clip: ClipRow) -> str:
    """The bare name: sets file the same video in different folders."""
    return re.sub(r"\W+", "_", clip.id.rsplit("/", 1)[-1]).casefold()


def _generator(clip: ClipRow) -> str:
    """kling_1.5 and Kling-1.5 are one; real footage has none."""
    return re.sub(r"[\W_]+", "", clip.generator).casefold()


VALUES: Mapping[str, Callable[[ClipRow], str]] = {
    "id": _id,
    "prompt": lambda clip: normalised(clip.prompt),
    "generator": _generator,
}


def _compare(first: Corpus, second: Corpus, by: str, value: Callable[[ClipRow], str]) -> Overlap:
    return _counted(first, second, by, map(value, first.clips), map(value, second.clips))


def _counted(
    first: Corpus, second: Corpus, by: str, ones: Iterable[str], others: Iterable[str]
) -> Overlap:
    one, other = (Counter(v for v in values if v not in UNKNOWN) for values in (ones, others))
    shared = one.keys() & other.keys()
    return Overlap(
        first.name,
        second.name,
        by,
        len(shared),
        sum(one[value] for value in shared),
        sum(other[value] for value in shared),
        one.total(),
        other.total(),
    )


def _by_video(first: Corpus, second: Corpus, home: Path, other_home: Path) -> Overlap:
    """Only videos whose size stands on both sides are read: others cannot be the same bytes."""
    files = [
        {clip.id: Path(folder, clip.path) for clip in corpus.present() if clip.path}
        for corpus, folder in ((first, home), (second, other_home))
    ]
    sizes = [{name: path.stat().st_size for name, path in side.items()} for side in files]
    both = set(sizes[0].values()) & set(sizes[1].values())
    values = [
        [hash_of(path) if size[name] in both else f"size {size[name]}" for name, path in f.items()]
        for f, size in zip(files, sizes, strict=True)
    ]
    return _counted(first, second, "video", *values)
