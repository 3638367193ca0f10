"""Trains the bundled eye on maps of twins: where it is wrong, when, and which twin is the worse.

What is random follows from (seed, step), so a resumed training ends with the very weights of an
uninterrupted one.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import xxhash
from jaxtyping import Bool, Float
from scipy import ndimage
from torch import Tensor, nn
from torch.nn import functional

from cosmolabe.core.record import plain, read_json, write_json
from cosmolabe.core.seeds import generator
from cosmolabe.nets.checkpoints import check_tensors, read_tensors, write_tensors
from cosmolabe.nets.moments import kept_of, put_back
from cosmolabe.nets.motion_maps import CELLS, SIDEWAYS
from cosmolabe.nets.steps import slope
from cosmolabe.nets.tiny_net import TOP, TinyNet
from cosmolabe.nets.twin_maps import SeenClip

STATE, STATE_TENSORS = "eye.json", "eye.safetensors"
LASTING = ("gravity", "restitution", "friction", "speed", "ghosting", "mass", "levitate")
"""Kinds that may show at any time after the onset; others show there or nowhere so clearly."""
LEAST = 12
"""Pictures of a stretch: some before the onset and some after it."""
OUTSIDE = -30.0  # log odds where nothing is asked


@dataclass(frozen=True)
class EyeRecipe:
    """How the eye is trained; all numbers are ours, chosen on training kinds left out in turn."""

    steps: int = 2500
    batch: int = 8
    """Pairs of a step: a lawful stretch and a hurt one of the same group."""
    frames: int = 20
    """Pictures of a stretch."""
    places: int = 8
    """Places along a side of the cut of the picture that is looked at: less than all, for speed."""
    rate: float = 3e-3
    warmup: float = 0.1
    """Share of the steps, linear; then cosine to zero."""
    weight_decay: float = 0.05
    clip: float = 1.0
    """Largest norm of a gradient."""
    after: int = 4
    """Pictures after the onset within which a sudden violation is looked for."""
    other_quality: float = 0.35
    """Share of stretches shown in another quality, where the group has one."""
    lawful_weight: float = 0.5
    found_weight: float = 1.0
    rank_weight: float = 1.0
    told_weight: float = 0.5

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "frames", "places", "after"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        if self.frames < LEAST or self.places > CELLS:
            raise ValueError(
                f"frames is {LEAST} or more and places at most {CELLS}; got {self.frames}, "
                f"{self.places}"
            )


@dataclass(frozen=True)
class _Group:
    lawful: tuple[SeenClip, ...]
    """The true clip first, then other qualities of it."""
    hurt: tuple[SeenClip, ...]
    worse: Mapping[str, SeenClip]


class EyeDescent:
    """The eye in training."""

    def __init__(self, clips: Sequence[SeenClip], recipe: EyeRecipe, seed: int) -> None:
        self.groups, self.recipe, self.seed, self.step = _grouped(clips), recipe, seed, 0
        if not any(group.hurt for group in self.groups):
            raise ValueError("none of the clips is hurt; the eye has nothing to find")
        self.data = _fingerprint(clips)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = TinyNet()
        self.scale = nn.Parameter(torch.tensor([0.5, 1.0, 0.0]))
        """How peaks and means of the odds become one score, in training only."""
        self.optimizer = torch.optim.AdamW(
            [
                {"params": list(self.net.parameters())},
                {"params": [self.scale], "weight_decay": 0.0},
            ],
            lr=recipe.rate,
            weight_decay=recipe.weight_decay,
        )
        self.losses: list[dict[str, float]] = []

    def learn(self) -> None:
        """One step."""
        recipe = self.recipe
        lawful, hurt, wrong, known = self._batch()
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.rate * slope((self.step + 1) / recipe.steps, recipe.warmup)
        _, odds = self.net.judged(torch.cat([lawful, hurt]))
        calm, torn = odds.chunk(2)
        told = self._told(odds).chunk(2)
        some = wrong.flatten(1).any(1)
        nowhere = functional.softplus(calm.flatten(2))
        parts = {
            "lawful": 20 * nowhere.mean() + nowhere.topk(4, -1).values.mean(),
            "found": _mean(functional.softplus(-_peak(torn, wrong)), some),
            "rank": _mean(functional.softplus(told[0] - told[1]), known),
            "told": functional.softplus(told[0]).mean()
            + _mean(functional.softplus(-told[1]), known),
        }
        total = sum(getattr(recipe, f"{name}_weight") * part for name, part in parts.items())
        assert isinstance(total, Tensor)
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), recipe.clip)
        self.optimizer.step()
        right = ((told[1] > told[0]) & known).sum() / known.sum().clamp_min(1)
        self.losses = [
            *self.losses[-49:],
            {**{name: part.item() for name, part in parts.items()}, "right": right.item()},
        ]
        self.step += 1

    def _told(self, odds: Float[Tensor, "clip time row column"]) -> Float[Tensor, " clip"]:
        high = odds.flatten(2).topk(TOP, -1).values.mean(-1)
        peak, mean = high.topk(TOP, -1).values.mean(-1), functional.softplus(high).mean(-1)
        return self.scale[0] * peak + self.scale[1] * mean + self.scale[2]

    def _batch(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        dice = generator("eye batch", self.seed, self.step)
        rows = []
        while len(rows) < self.recipe.batch:
            group = self.groups[int(dice.integers(len(self.groups)))]
            pair = _cut(_pair(group, self.recipe, dice), self.recipe.places, dice)
            rows.append(_mirrored(pair, dice.random() < 0.5))
        lawful, hurt, wrong, known = zip(*rows, strict=True)
        calm, torn = (torch.from_numpy(np.stack(x).astype(np.float32)) for x in (lawful, hurt))
        return calm, torn, torch.from_numpy(np.stack(wrong)), torch.tensor(known)

    def save(self, folder: Path) -> None:
        """Write what `restore` needs, tensors first."""
        write_tensors(folder / STATE_TENSORS, self._tensors())
        write_json(folder / STATE, {"schema": 1, "step": self.step, **self._facts()})

    def restore(self, folder: Path) -> None:
        """Go on from what `save` wrote; another recipe, seed or data are refused."""
        found = read_json(folder / STATE)
        facts = self._facts()
        changed = [name for name, value in facts.items() if found.get(name) != value]
        if changed:
            raise ValueError(f"{folder}: cannot resume, {changed} changed; train in another folder")
        tensors = read_tensors(folder / STATE_TENSORS)
        check_tensors(folder / STATE_TENSORS, tensors, self._tensors())
        self.step = int(found["step"])
        put_back(self.optimizer, self._weights(), tensors)

    def _weights(self) -> Iterator[tuple[str, nn.Parameter]]:
        yield from self.net.named_parameters()
        yield "scale", self.scale

    def _tensors(self) -> dict[str, np.ndarray]:
        return kept_of(self.optimizer, self._weights())

    def _facts(self) -> dict[str, object]:
        facts = {"seed": self.seed, "data": self.data, "recipe": asdict(self.recipe)}
        read = plain(facts)
        assert isinstance(read, dict)
        return read


Pair = tuple[np.ndarray, np.ndarray, np.ndarray, bool]
"""Lawful maps, hurt maps, where the latter are wrong, whether there are hurt ones at all."""


def fit_eye(
    clips: Sequence[SeenClip],
    recipe: EyeRecipe | None = None,
    seed: int = 42,
    folder: Path | None = None,
    every: int = 40,
) -> Iterator[EyeDescent]:
    """Train to the end, giving the descent every so many steps; goes on from `folder`."""
    descent = EyeDescent(clips, recipe or EyeRecipe(), seed)
    if folder is not None and (folder / STATE).exists():
        descent.restore(folder)
    saved = time.monotonic()
    while descent.step < descent.recipe.steps:
        descent.learn()
        done = descent.step == descent.recipe.steps
        if folder is not None and (done or time.monotonic() - saved > 30):
            descent.save(folder)
            saved = time.monotonic()
        if descent.step % every == 0 or done:
            yield descent
    yield descent


def _grouped(clips: Sequence[SeenClip]) -> list[_Group]:
    found: dict[str, list[SeenClip]] = {}
    for clip in clips:
        found.setdefault(clip.row.group, []).append(clip)
    groups = []
    for mine in found.values():
        lawful = tuple(c for c in mine if c.role in ("true", "lawful"))
        lawful += tuple(c for c in mine if c.role == "quality")
        hurt = tuple(c for c in mine if c.role == "damage" and c.wrong.any())
        worse = {c.row.id: c for c in mine if c.role == "worse"}
        groups.append(_Group(lawful, hurt, worse))
    return groups


def _pair(group: _Group, recipe: EyeRecipe, dice: np.random.Generator) -> Pair:
    """Two stretches of one group."""
    length = recipe.frames
    true = group.lawful[0]
    other = group.lawful[1:] and dice.random() < recipe.other_quality
    calm = group.lawful[1 + int(dice.integers(len(group.lawful) - 1))] if other else true
    nowhere = np.zeros((length, CELLS, CELLS), bool)
    if not group.hurt:
        lawful = _stretch(calm.maps, _anywhere(calm, length, dice), length)
        return lawful, lawful, nowhere, False
    hurt = group.hurt[int(dice.integers(len(group.hurt)))]
    onset = int(np.argmax(hurt.wrong.any((1, 2))))
    last = max(0, len(hurt.maps) - length)
    start = int(np.clip(onset - dice.integers(4, length - 6), 0, last))
    moment = int(np.flatnonzero(hurt.place == start)[0])
    begin = int(true.place[min(moment, len(true.place) - 1)])
    begin = min(begin, max(0, len(true.maps) - length))
    lawful = _stretch(calm.maps, _anywhere(calm, length, dice) if other else begin, length)
    worse = group.worse.get(hurt.row.id)
    if worse is not None and dice.random() < recipe.other_quality:
        torn = _stretch(worse.maps, _anywhere(worse, length, dice), length)
        return lawful, torn, nowhere, True
    wrong = _asked(hurt, start, onset, length, recipe.after)
    return lawful, _stretch(hurt.maps, start, length), wrong, True


def _asked(
    clip: SeenClip, start: int, onset: int, length: int, after: int
) -> Bool[np.ndarray, "time row column"]:
    """Places, and their neighbours, of which at least one is to be found wrong."""
    part = clip.wrong[start : start + length]
    wrong = np.zeros((length, CELLS, CELLS), bool)
    wrong[: len(part)] = ndimage.binary_dilation(part, np.ones((1, 3, 3), bool))
    here = onset - start
    if here > 0:
        wrong[here - 1] |= wrong[here]
    times = np.arange(length)
    until = length if clip.row.kind in LASTING else here + after
    return wrong & ((times >= here - 1) & (times < until))[:, None, None]


def _anywhere(clip: SeenClip, length: int, dice: np.random.Generator) -> int:
    return int(dice.integers(max(0, len(clip.maps) - length) + 1))


def _stretch(maps: np.ndarray, start: int, length: int) -> np.ndarray:
    part = maps[start : start + length]
    lacking = length - len(part)
    return np.concatenate([part, np.repeat(part[-1:], lacking, 0)]) if lacking else part


def _cut(pair: Pair, places: int, dice: np.random.Generator) -> Pair:
    """The same cut of both, with a place in it that is wrong where there is one."""
    lawful, hurt, wrong, known = pair
    times, rows, columns = np.nonzero(wrong)
    last = CELLS - places
    if len(rows):
        first = np.flatnonzero(times <= times[0] + 1)
        pick = first[int(dice.integers(len(first)))]
        corner = [
            int(np.clip(at - dice.integers(places), 0, last)) for at in (rows[pick], columns[pick])
        ]
    else:
        corner = [int(dice.integers(last + 1)) for _ in range(2)]
    here = tuple(slice(at, at + places) for at in corner)
    return (
        lawful[..., here[0], here[1]],
        hurt[..., here[0], here[1]],
        wrong[:, here[0], here[1]],
        known,
    )


def _mirrored(pair: Pair, mirror: bool) -> Pair:
    if not mirror:
        return pair
    lawful, hurt, wrong, known = pair
    sign = np.ones(lawful.shape[1], lawful.dtype)
    sign[list(SIDEWAYS)] = -1
    turned = [maps[..., ::-1] * sign[:, None, None] for maps in (lawful, hurt)]
    return turned[0], turned[1], wrong[..., ::-1].copy(), known


def _peak(odds: Tensor, wrong: Tensor) -> Float[Tensor, " clip"]:
    return torch.where(wrong, odds, OUTSIDE).flatten(1).topk(2, -1).values.mean(-1)


def _mean(values: Tensor, known: Tensor) -> Tensor:
    return torch.where(known, values, 0.0).sum() / known.sum().clamp_min(1)


def _fingerprint(clips: Sequence[SeenClip]) -> str:
    state = xxhash.xxh3_64()
    for clip in clips:
        state.update(clip.id.encode())
        for values in (clip.maps, clip.place, clip.wrong):
            state.update(np.ascontiguousarray(values).data)
    return state.hexdigest()
