"""What a set of twins is made of: its recipe, the order for one group, and one row a pair."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.seeds import generator

FAMILIES = ("games", "mujoco", "real")
SPLITS = ("train", "val", "test")
THRESHOLD = 2  # of 255: what changes no pixel by more is under the threshold
UNSEEN = (
    ("kind", "scene", "look"), ("kind",), ("scene", "look"), (), ("kind", "scene", "look"),
    ("kind", "look"),
)  # fmt: skip
"""What a group of the test split takes from what is held out, in turn; others take nothing."""


@dataclass(frozen=True)
class TwinRecipe:
    """All that decides the bytes of a set of twins, with its seed."""

    groups: Mapping[str, int] = field(
        default_factory=lambda: {"train": 480, "val": 60, "test": 120}
    )
    """Groups of each split: a true clip and its doubles of one kind, each size a clip."""
    shares: Mapping[str, float | int] = field(default_factory=lambda: {"games": 0.6, "mujoco": 0.4})
    """Of the groups, by family; a family with share 0 needs nothing installed or on disk."""
    size: int = 112
    """Height of the pictures in pixels; games and scenes are square."""
    frames: int = 48
    fps: tuple[float, ...] = (16.0,)
    """Rates, one drawn for each group; a real clip of a lower rate keeps its own."""
    onset: tuple[float, float] = (0.25, 0.5)
    """Where the damage begins, as shares of the clip."""
    rungs: int = 3
    """Sizes of a group in train and val: one in each equal part of `least`..1, drawn within it."""
    least: float = 0.1
    """The smallest size of a rung."""
    ladder: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0)
    """Sizes of a group in test."""
    below: float = 0.15
    """Share of groups with one more double under the threshold."""
    quality: float = 0.5
    """Changes of quality of the true clip, per group; in test twice as many."""
    lawful: float = 0.1
    """Share of groups that are instead one true clip of rare but lawful motion."""
    games: tuple[str, ...] = ()
    """Empty means all."""
    scenes: tuple[str, ...] = ()
    """Of MuJoCo; empty means all."""
    real: tuple[str, ...] = ()
    """Files of real clips: mp4 and its like, or npz of `frames` and `fps`."""
    episodes: int = 48
    """Of each game and split, played for this."""
    coding: Literal["mp4", "npz"] = "mp4"
    """Intra-only h264, or bit for bit."""
    schema: int = 1

    def __post_init__(self) -> None:
        wrong = [name for name in self.groups if name not in SPLITS]
        if wrong or not self.groups or min(self.groups.values()) < 0:
            raise ValueError(f"groups are counted for {list(SPLITS)}; got {dict(self.groups)}")
        wrong = [name for name in self.shares if name not in FAMILIES]
        if wrong or min(self.shares.values(), default=0) < 0 or not sum(self.shares.values()):
            raise ValueError(f"shares are given to {list(FAMILIES)}; got {dict(self.shares)}")
        if self.size < 32 or self.size % 2:
            raise ValueError(f"size is an even number of pixels, 32 or more; got {self.size}")
        if self.frames < 12 or not self.fps or min(self.fps) <= 0 or max(self.fps) > 60:
            raise ValueError(
                f"a clip has 12 frames or more at up to 60 fps; got {self.frames} at {self.fps}"
            )
        if not 0 < self.onset[0] <= self.onset[1] < 1:
            raise ValueError(f"onset is a range of shares inside 0..1; got {self.onset}")
        if self.rungs < 1 or not 0 < self.least < 1 or not self.ladder:
            raise ValueError("a group has at least one rung, of a size between least and 1")
        if min(self.ladder) <= 0 or max(self.ladder) > 1:
            raise ValueError(f"sizes of the ladder are in 0..1 without 0; got {self.ladder}")
        if self.coding not in ("mp4", "npz"):
            raise ValueError(f"clips are coded as mp4 or npz; got {self.coding!r}")
        if self.shares.get("real") and not self.real:
            raise ValueError(
                "the recipe has a share of real clips and names none; give files in `real`, or "
                "leave the family out of `shares`"
            )


@dataclass(frozen=True)
class Order:
    """One group as it is asked for; what it becomes follows from this and the recipe alone."""

    index: int
    """In its split."""
    split: str
    family: str
    role: Literal["damage", "lawful"]
    unseen: tuple[str, ...]
    """What of it is to be held out of training: kind, scene, look."""
    fps: float
    onset: int
    """Frame of the clip."""
    sizes: tuple[float, ...]
    below: bool
    num_quality: int
    seed: int

    @property
    def name(self) -> str:
        """Of the group and its files."""
        return f"{self.split}-{self.index:06d}"

    def draw(self, *names: str | int) -> np.random.Generator:
        """A stream of this group's own."""
        return generator("twins", self.seed, self.split, self.index, *names)


@dataclass(frozen=True)
class Drawn:
    """A true clip, and a way to hurt it."""

    true: UInt8[np.ndarray, "time height width 3"]
    scene: str
    hurt: Callable[[float], UInt8[np.ndarray, "time height width 3"]] | None = None
    """hurt(size): the double; before the onset it is the true clip."""
    kind: str = ""
    entity: str = ""
    theme: str = ""
    characters: tuple[str, ...] = ()
    fps: float | None = None
    """Where it is not the one that was ordered."""
    tags: tuple[str, ...] = ()
    """What rare thing lawfully happens."""
    glance: Callable[[float], UInt8[np.ndarray, "time height width 3"]] | None = None
    """`hurt` where pictures are dear: right in some frames, the true clip in the others."""


@dataclass(frozen=True)
class TwinRow:
    """One pair: a true clip and its double, or a true clip of lawful rare motion by itself."""

    id: str
    group: str
    """Rows of a group share their true clip."""
    role: Literal["damage", "quality", "lawful"]
    family: str
    """games, mujoco or real."""
    scene: str
    """game/play, game/scenario, mujoco/scene or real/file."""
    theme: str
    characters: tuple[str, ...]
    kind: str
    """Of the damage or of the change of quality; empty for lawful motion."""
    size: float
    """Of the damage, or the amount of the change of quality; 0 for lawful motion."""
    onset: int
    """The first frame that may differ; 0 where the whole clip does."""
    entity: str
    """Empty for the whole world."""
    true: str
    """File, relative to the folder."""
    damaged: str
    """File of the double; empty for lawful motion."""
    sub_threshold: bool
    """No pixel of any frame differs by more than 2/255."""
    largest: int
    """The largest difference of any pixel, of 255, before coding."""
    difference: float
    """Mean difference of pixels over the frames from the onset on, of 255, before coding."""
    changed: float
    """Largest share of pixels of one frame that differ by more than 8/255."""
    held_out: tuple[str, ...]
    """What of it no training may see: kind, scene, theme, characters."""
    split: str
    fps: float
    frames: int
    tags: tuple[str, ...] = ()
    schema: int = 1


def orders(recipe: TwinRecipe, seed: int) -> list[Order]:
    """Every group of a set, in order; each follows from the recipe, the seed and its place."""
    return [
        _order(recipe, seed, split, index)
        for split in SPLITS
        for index in range(recipe.groups.get(split, 0))
    ]


def _order(recipe: TwinRecipe, seed: int, split: str, index: int) -> Order:
    draw = generator("twin order", seed, split, index)
    family = _in_turn(recipe.shares, index)
    first, last = (share * recipe.frames for share in recipe.onset)
    onset = int(np.clip(round(draw.uniform(first, last)), 2, recipe.frames - 2))
    sizes = recipe.ladder
    if split != "test":
        steps = recipe.least + (1 - recipe.least) * (np.arange(recipe.rungs + 1) / recipe.rungs)
        sizes = tuple(round(float(draw.uniform(a, b)), 3) for a, b in pairwise(steps))
    count = recipe.quality * (2 if split == "test" else 1)
    lawful = draw.random() < recipe.lawful and family != "real"
    return Order(
        index=index,
        split=split,
        family=family,
        role="lawful" if lawful else "damage",
        unseen=UNSEEN[draw.integers(len(UNSEEN))] if split == "test" else (),
        fps=float(draw.choice(recipe.fps)),
        onset=onset,
        sizes=sizes,
        below=bool(draw.random() < recipe.below),
        num_quality=int(count + draw.random()),
        seed=seed,
    )


def _in_turn(shares: Mapping[str, float | int], index: int) -> str:
    """The families in turn, each as often as its share says, spread evenly."""
    total = sum(shares.values())
    due = {name: 0.0 for name in FAMILIES if shares.get(name)}
    name = ""
    for _ in range(index % 1000 + 1):
        for each in due:
            due[each] += shares[each] / total
        name = max(due, key=lambda each: due[each])
        due[name] -= 1
    return name


def row_from(found: Mapping[str, Any]) -> TwinRow:
    """A row as it stands in twins.jsonl."""
    lists = {name: tuple(found[name]) for name in ("characters", "held_out", "tags")}
    values: dict[str, Any] = {**found, **lists}
    return TwinRow(**values)
