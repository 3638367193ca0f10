"""What an entity does next, as tokens: every number of its next state becomes one of a few words.

The vocabulary of one number has three parts, in this order.

- *Exact*: words that stand for one value each, read from the present state. For x and y: coast (the
  last velocity goes on), rest, mirror (the velocity turned round), the displacement before the
  last, that one turned round, and fall (the velocity plus its last gain). For alive: dead, alive.
  For a game field: it stays as it is.
- *Changes*: bins of the displacement minus the last velocity, or of a field's change; symmetric,
  and finer near zero (their edges grow by a constant ratio). Fields of few values have none.
- *Places*: bins of equal width over the range of the number itself; a jump.

What was dead is said relative to whatever stands in its row; `discrete.grounded` puts the player's
place there, since shots begin where somebody shoots.

An offset within a bin makes changes and places continuous; without it a bin means its middle.

Globals have words of their own (`Dials`): it stays, nought, one, changes, places. A clock that runs
down and jumps back is then two words, where a number in between would be neither.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY, VX
from cosmolabe.core.manifest import Manifest

COORDINATES = 2  # x and y come first, then alive, then the game fields in use
NUM_EXACT = 6  # room for the exact words of x and y, which have most
SMALLEST, LARGEST = 0.01, 8.0
"""Changes told apart from none and from a jump, in units of the number's typical change."""

GRIDS = {
    "asteroids": (200, 200),
    "breakout": (160, 200),
    "frogger": (256, 224),
    "kong": (160, 120),
    "platformer": (160, 120),
    "pong": (160, 120),
    "racer": (200, 200),
    "snake": (20, 20),
}
"""Bins of x and y in AutoWorldModel-Bench, by game."""
OTHER_GRID = (160, 160)  # for games it does not have
WORDS = {
    "age": 32, "col": 16, "direction": 4, "hp": 16, "lane_type": 5, "on_ground": 2,
    "piece_type": 7, "reached": 2, "rotation": 32, "row": 16, "segment_index": 32,
    "size_class": 3, "tagged": 2, "tagged_count": 16,
}  # fmt: skip
"""Bins of a game field there; but for rotation, which here is a heading (ours)."""
OTHER_WORDS = 32  # for fields it does not have
FEW = 16  # a field of so many values or fewer is one of a few things
SHARES = ("age", "rotation")  # fields of 0..1; the others count


@dataclass(frozen=True)
class Vocabulary:
    """The words of every number of an entity; numbers are x, y, alive and the fields in use."""

    columns: tuple[int, ...]
    """Of a state row."""
    turns: tuple[bool, ...]
    """Numbers that are headings: 0 and 1 are the same."""
    places: tuple[int, ...]
    """How many bins of its own range each number has."""
    changes: int
    """Bins of change to either side of none; 0: only places, as in the paper."""
    ranges: tuple[tuple[float, float], ...]
    """From where to where each number's places reach."""
    picks: tuple[bool, ...]
    """Numbers that are one of a few things, as a direction is: no change to them has a size."""

    @property
    def size(self) -> int:
        """Words of every number, with those that not every number has."""
        return NUM_EXACT + 2 * self.changes + max(self.places)

    def known(self) -> Bool[Tensor, "number word"]:
        """Which words each number has."""
        word = torch.arange(self.size)
        start = NUM_EXACT + 2 * self.changes
        rows = []
        for number, places in enumerate(self.places):
            exact = 2 if number == ALIVE else 0
            if self.changes and number != ALIVE:
                exact = NUM_EXACT if number < COORDINATES else 1
            change = (word >= NUM_EXACT) & (word < start) & (number != ALIVE)
            change &= not self.picks[number]
            place = (word >= start) & (word < start + places) & (number != ALIVE)
            rows.append((word < exact) | change | place)
        return torch.stack(rows)

    def exact(self, states: Float[Tensor, "*batch state"]) -> Float[Tensor, "*batch number exact"]:
        """The values the exact words stand for after these states."""
        moved, before = states[..., VX : VX + 2], states[..., -NUM_HISTORY + 2 :]
        gain = states[..., -NUM_HISTORY : 2 - NUM_HISTORY] - before
        moves = torch.stack([moved, 0 * moved, -moved, before, -before, moved + gain], -1)
        coordinates = states[..., :2, None] + moves
        alive = torch.zeros_like(coordinates[..., :1, :])
        alive[..., 1] = 1
        fields = states[..., list(self.columns[COORDINATES + 1 :]), None]
        fields = fields.expand(*fields.shape[:-1], NUM_EXACT)
        return torch.cat([coordinates, alive, fields], -2)

    def gap(self, delta: Float[Tensor, "*batch number"], wrap: Tensor) -> Tensor:
        """The shortest way where an axis wraps and between headings."""
        rest = torch.tensor(self.turns[COORDINATES:])
        round_ = torch.cat([wrap.to(torch.bool), rest])
        return torch.where(round_, delta - torch.floor(delta + 0.5), delta)

    def encode(
        self,
        states: Float[Tensor, "*batch state"],
        after: Float[Tensor, "*batch state"],
        wrap: Bool[Tensor, "2"],
        unit: Tensor,
    ) -> tuple[Int[Tensor, "*batch number"], Float[Tensor, "*batch number"]]:
        """The word of every number of the state after, and where in its bin it lies (-0.5..0.5)."""
        values, exact = after[..., list(self.columns)], self.exact(states)
        start = NUM_EXACT + 2 * self.changes
        counts = torch.tensor(self.places)
        low, high = torch.tensor(self.ranges).T
        along = (values - low) / (high - low) * counts
        place = torch.minimum(along.floor().clamp(min=0), counts - 1)
        words, offsets = start + place.long(), along - place - 0.5
        if self.changes:
            change = self.gap(values - exact[..., 0], wrap) / unit
            step = torch.log(change.abs().clamp(min=1e-9) / SMALLEST) / self.growth
            small = (step < self.changes) & ~torch.tensor(self.picks)
            step = step.floor().clamp(0, self.changes - 1)
            low, width = self.bin_of(step)
            inside = (change.abs() - low) / width - 0.5
            side = torch.where(change < 0, 0, self.changes)
            words = torch.where(small, NUM_EXACT + side + step.long(), words)
            offsets = torch.where(small, inside * change.sign(), offsets)
            words = self._exactly(words, values, exact, wrap, unit)
        words[..., ALIVE] = (after[..., ALIVE] > 0.5).long()
        return words, offsets.clamp(-0.5, 0.5)

    def _exactly(
        self, words: Tensor, values: Tensor, exact: Tensor, wrap: Tensor, unit: Tensor
    ) -> Tensor:
        """The first exact word that says the value, else the word it has."""
        for word in range(NUM_EXACT - 1, -1, -1):
            near = self.gap(values - exact[..., word], wrap).abs() < SMALLEST * unit
            words = torch.where(near & self.known()[:, word], word, words)
        return words

    def decode(
        self,
        words: Int[Tensor, "*batch number"],
        offsets: Float[Tensor, "*batch number"],
        states: Float[Tensor, "*batch state"],
        unit: Tensor,
    ) -> Float[Tensor, "*batch number"]:
        """The values of the words after these states."""
        exact = self.exact(states)
        start = NUM_EXACT + 2 * self.changes
        counts = torch.tensor(self.places)
        along = ((words - start).clamp(min=0) + offsets + 0.5) / counts
        low, high = torch.tensor(self.ranges).T
        values = low + along * (high - low)
        if self.changes:
            step = (words - NUM_EXACT).clamp(0, 2 * self.changes - 1)
            sign = torch.where(step < self.changes, -1.0, 1.0)
            low, width = self.bin_of(step % self.changes)
            change = sign * (low + (offsets * sign + 0.5) * width) * unit
            values = torch.where(words < start, exact[..., 0] + change, values)
        said = exact.gather(-1, words.clamp(max=NUM_EXACT - 1)[..., None])[..., 0]
        return torch.where(words < NUM_EXACT, said, values)

    @property
    def growth(self) -> float:
        """Logarithm of the ratio of one edge of a change to the one before."""
        return float(torch.log(torch.tensor(LARGEST / SMALLEST))) / self.changes

    def bin_of(self, step: Tensor) -> tuple[Tensor, Tensor]:
        """Lower edge and width of a bin of change, in units."""
        low = SMALLEST * torch.exp(step * self.growth)
        return low, low * (torch.exp(torch.tensor(self.growth)) - 1)


@dataclass(frozen=True)
class Dials:
    """The words of globals, all alike: it stays, nought, one, then changes, then places."""

    changes: int = 10
    """Bins to a side, in units of the global's usual change; finer near none."""
    places: int = 16
    reach: float = 4.0
    """Places lie within so many spreads of the mean."""

    smallest, largest = 0.02, 2.5
    exact = 3

    @property
    def size(self) -> int:
        """Words of a global."""
        return self.exact + 2 * self.changes + self.places

    def bin_of(self, step: Tensor) -> tuple[Tensor, Tensor]:
        """Lower edge and width of a bin of change, in units."""
        ratio = (self.largest / self.smallest) ** (1 / self.changes)
        low = self.smallest * ratio**step
        return low, low * (ratio - 1)

    def encode(
        self,
        before: Float[Tensor, "*batch global"],
        after: Float[Tensor, "*batch global"],
        unit: Tensor,
        mean: Tensor,
        spread: Tensor,
    ) -> tuple[Int[Tensor, "*batch global"], Float[Tensor, "*batch global"]]:
        """The word of every global, and where in its bin it lies (-0.5..0.5)."""
        along = ((after - mean) / (self.reach * spread) + 1) / 2 * self.places
        place = along.floor().clamp(0, self.places - 1)
        words, offsets = self.exact + 2 * self.changes + place.long(), along - place - 0.5
        change = (after - before) / unit
        ratio = math.log(self.largest / self.smallest) / self.changes
        step = (change.abs().clamp(min=1e-9) / self.smallest).log() / ratio
        small = step < self.changes
        step = step.floor().clamp(0, self.changes - 1)
        low, width = self.bin_of(step)
        side = torch.where(change < 0, 0, self.changes)
        words = torch.where(small, self.exact + side + step.long(), words)
        offsets = torch.where(small, ((change.abs() - low) / width - 0.5) * change.sign(), offsets)
        for word, value in ((2, torch.ones(())), (1, torch.zeros(())), (0, before)):
            near = (after - value).abs() < self.smallest * unit
            words = torch.where(near, word, words)
        return words, offsets.clamp(-0.5, 0.5)

    def decode(
        self,
        words: Int[Tensor, "*batch global"],
        offsets: Float[Tensor, "*batch global"],
        before: Float[Tensor, "*batch global"],
        unit: Tensor,
        mean: Tensor,
        spread: Tensor,
    ) -> Float[Tensor, "*batch global"]:
        """What the words make of the globals before."""
        step = (words - self.exact).clamp(0, 2 * self.changes - 1)
        sign = torch.where(step < self.changes, -1.0, 1.0)
        low, width = self.bin_of(step % self.changes)
        values = before + sign * (low + (offsets * sign + 0.5) * width) * unit
        start = self.exact + 2 * self.changes
        along = ((words - start).clamp(min=0) + offsets + 0.5) / self.places
        values = torch.where(words < start, values, mean + (2 * along - 1) * self.reach * spread)
        said = torch.where(words == 0, before, (words == 2).to(values.dtype))
        return torch.where(words < self.exact, said, values)


def vocabulary_of(manifest: Manifest, changes: int, places: int) -> Vocabulary:
    """The words for a game: so many changes to a side, and at most so many places.

    Grids and fields that need fewer places than that have as many as in the paper.
    """
    names = [n for n in manifest.profile.game_fields if n in manifest.fields]
    columns = [FIELDS_START + manifest.profile.game_fields.index(n) for n in names]
    words = [*GRIDS.get(manifest.game, OTHER_GRID), 1, *(WORDS.get(n, OTHER_WORDS) for n in names)]
    counts = ["count" if n not in SHARES else "share" for n in names]
    ends = [
        (0.0, 1.0) if c == "share" else (-0.5, WORDS.get(n, OTHER_WORDS) - 0.5)
        for n, c in zip(names, counts, strict=True)
    ]
    return Vocabulary(
        columns=(0, 1, ALIVE, *columns),
        turns=(False, False, False, *(n == "rotation" for n in names)),
        places=tuple(min(places, w) for w in words),
        changes=changes,
        ranges=((0.0, 1.0),) * 3 + tuple(ends),
        picks=(False, False, False, *(n not in SHARES and WORDS.get(n, 99) <= FEW for n in names)),
    )
