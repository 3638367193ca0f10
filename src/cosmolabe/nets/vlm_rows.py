"""What a language model is shown of a question, as a tree: what several answers share stands once.

A row is a stem (pictures, and words before the answers) with branches. A token of a branch sees the
stem and its own ancestors, never a neighbour branch, and stands at the place it would have if its
branch were alone. So all labels of a question, and for models that read strictly from left to right
all questions about a clip, cost one pass, and the numbers are those of separate passes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@dataclass
class Row:
    """One sequence of the batch; places count from the stem's first token."""

    stem: list[int]
    nodes: list[int] = field(default_factory=list)
    """Tokens that stand after the stem; the last of a branch is only asked for, never shown."""
    parents: list[int] = field(default_factory=list)
    """The place before each node."""
    asked: list[tuple[int, int]] = field(default_factory=list)
    """(place, token): how likely is this token after this place?"""
    _places: dict[tuple[int, int], int] = field(default_factory=dict)
    _questions: dict[tuple[int, int], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.stem) + len(self.nodes)

    @property
    def end(self) -> int:
        """The stem's last place."""
        return len(self.stem) - 1

    def follow(self, place: int, tokens: Sequence[int]) -> int:
        """Let tokens stand after a place; gives the last one's place. What is there is used."""
        for token in tokens:
            found = self._places.get((place, token))
            if found is None:
                found = len(self)
                self._places[place, token] = found
                self.nodes.append(token)
                self.parents.append(place)
            place = found
        return place

    def ask(self, place: int, tokens: Sequence[int]) -> list[int]:
        """Ask for each of these tokens after those before it; gives where the answers will be."""
        found = []
        for number, token in enumerate(tokens):
            if number:
                place = self.follow(place, [tokens[number - 1]])
            found.append(self._questions.setdefault((place, token), len(self.asked)))
            if found[-1] == len(self.asked):
                self.asked.append((place, token))
        return found

    def sight(self, stem: Bool[Tensor, "stem stem"]) -> Bool[Tensor, "place place"]:
        """Who sees whom, (seeing, seen), where the stem's tokens see each other as `stem` says."""
        n, first = len(self), len(self.stem)
        seen = torch.zeros(n, n, dtype=torch.bool)
        seen[:first, :first] = stem
        seen[first:, :first] = True
        for number, parent in enumerate(self.parents):
            place = first + number
            if parent >= first:
                seen[place, first:place] = seen[parent, first:place]
            seen[place, place] = True
        return seen

    def places(self, stem: Int[Tensor, "axis stem"]) -> Int[Tensor, "axis place"]:
        """Positions: those of the stem, then one more than the token before."""
        if not self.nodes:
            return stem
        depths: list[int] = []
        for parent in self.parents:
            at_stem = parent < len(self.stem)
            depths.append(1 if at_stem else depths[parent - len(self.stem)] + 1)
        return torch.cat([stem, stem[:, -1:] + torch.tensor(depths)], 1)


@dataclass(frozen=True)
class Batch:
    """Rows of different lengths as tensors."""

    ids: Int[Tensor, "row place"]
    sight: Bool[Tensor, "row place seen"]
    """What fills up sees itself alone and is seen by nobody else."""
    positions: Int[Tensor, "axis row place"]
    before: Int[Tensor, "row seen"]
    """Positions of what may be seen, those of the first axis."""
    real: Bool[Tensor, "row place"]
    later: Bool[Tensor, "row place"]
    """After the stem."""
    asked: Int[Tensor, "asked 3"]
    """Row, place and token of all that is asked, row after row."""

    def to(self, device: str | torch.device) -> "Batch":
        """On another device."""
        return Batch(*(getattr(self, name).to(device) for name in self.__dataclass_fields__))


def batched(
    rows: Sequence[Row],
    sights: Sequence[Tensor],
    stems: Sequence[Tensor],
    pad: int,
    left: bool = False,
) -> Batch:
    """Rows filled up to the longest one, on the right or on the left.

    `sights` and `stems` hold, for each row, who sees whom in its stem and the stem's positions.
    """
    n = max(len(row) for row in rows)
    ids = torch.full((len(rows), n), pad)
    sight = torch.eye(n, dtype=torch.bool).repeat(len(rows), 1, 1)
    positions = torch.ones(stems[0].shape[0], len(rows), n, dtype=torch.long)
    real = torch.zeros(len(rows), n, dtype=torch.bool)
    later = torch.zeros_like(real)
    asked = []
    for number, (row, seen, stem) in enumerate(zip(rows, sights, stems, strict=True)):
        first = n - len(row) if left else 0
        own = slice(first, first + len(row))
        ids[number, own] = torch.tensor(row.stem + row.nodes)
        sight[number, own, own] = row.sight(seen)
        positions[:, number, own] = row.places(stem)
        real[number, own] = True
        later[number, first + len(row.stem) : first + len(row)] = True
        asked += [(number, first + place, token) for place, token in row.asked]
    return Batch(
        ids,
        sight,
        positions,
        positions[0],
        real,
        later,
        torch.tensor(asked, dtype=torch.long).reshape(-1, 3),
    )
