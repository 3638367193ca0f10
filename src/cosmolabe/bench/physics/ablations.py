"""What each choice of the bundled judge's heads brings: one choice changed, all else as it was.

Heads are fitted anew on the train split's features and measured on the val split, never on test:
an ablation is for choosing. The raw scores' range stands in every row, for a judge that says
nearly the same of everything can still rank well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.physics.certificate import leakage, pairwise, rho
from cosmolabe.bench.physics.making import JudgeRecipe, features_of, head_of
from cosmolabe.bench.physics.twin_scores import Scored
from cosmolabe.data.twin_rows import TwinRow
from cosmolabe.judges.physics.physics import Physics
from cosmolabe.nets.head_recipe import HeadRecipe
from cosmolabe.nets.twin_maps import SeenClip, see_all

Tell = Callable[[str], None]
NUM = 300  # resamples


@dataclass(frozen=True)
class Variant:
    """One change."""

    change: Callable[[HeadRecipe], HeadRecipe] = lambda head: head
    keeps: Callable[[SeenClip], bool] = lambda clip: True
    """Which training clips are used."""


VARIANTS: Mapping[str, Variant] = {
    "as it is": Variant(),
    "no rank loss": Variant(lambda h: replace(h, rank_weight=0.0)),
    "no magnitude loss": Variant(lambda h: replace(h, magnitude_weight=0.0)),
    "no anchors": Variant(lambda h: replace(h, anchor_weight=0.0)),
    "mean pooling": Variant(lambda h: replace(h, kind="mean", differences=0)),
    "attention": Variant(lambda h: replace(h, kind="attention", differences=0, heads=4)),
    "no differences": Variant(lambda h: replace(h, differences=0)),
    "event windows": Variant(lambda h: replace(h, kind="events", window=16, stride=8)),
    "not standardised": Variant(lambda h: replace(h, standardise=False)),
    "one head": Variant(lambda h: replace(h, members=1)),
    "domains made alike": Variant(lambda h: replace(h, domain_weight=0.1, domain_by="group")),
    "no rare lawful clips": Variant(keeps=lambda c: c.role != "lawful"),
    "no other quality": Variant(keeps=lambda c: c.role not in ("quality", "worse")),
    "no games": Variant(keeps=lambda c: c.row.family != "games"),
    "no MuJoCo": Variant(keeps=lambda c: c.row.family != "mujoco"),
    "half of the data": Variant(lambda h: replace(h, fraction=0.5)),
}
"""By name; attention takes the features as they are, so it has no differences to take, and as many
heads as divide the eye's width."""


def ablate(
    work: Path,
    rows: Sequence[TwinRow],
    judge: Physics,
    recipe: JudgeRecipe,
    names: Sequence[str] = (),
    tell: Tell = print,
) -> list[dict[str, Any]]:
    """One row a variant: accuracy, ρ and leakage on val, and where the raw scores lie."""
    unknown = sorted(set(names) - set(VARIANTS))
    if unknown:
        raise ValueError(f"no ablations {unknown}; have {list(VARIANTS)}")
    net = judge.encoder.net  # ty: ignore[missing-attribute]
    parts = {
        split: see_all(work / "twins", [r for r in rows if r.split == split], work / "maps")
        for split in ("train", "val")
    }
    features = {split: features_of(clips, net) for split, clips in parts.items()}
    held = [row for row in rows if row.split == "val"]
    found = []
    for name in names or VARIANTS:
        variant = VARIANTS[name]
        mine = replace(recipe, head=variant.change(recipe.head))
        clips = [clip for clip in parts["train"] if variant.keeps(clip)]
        fitted = head_of(clips, features["train"], mine, judge.encoder.key, lambda line: None)
        scores = val_scores(parts["val"], features["val"], fitted.score)
        found.append({"variant": name, **measured(held, scores)})
        tell(f"{name}: {found[-1]}")
    return found


def val_scores(
    clips: Sequence[SeenClip],
    features: Mapping[str, np.ndarray],
    score: Callable[[Sequence[np.ndarray]], np.ndarray],
) -> dict[str, Scored]:
    """Raw scores by file, from features of clips."""
    mine = [clip for clip in clips if clip.role != "worse"]
    raw = score([features[clip.id] for clip in mine])
    names = [c.row.true if c.role in ("true", "lawful") else c.row.damaged for c in mine]
    return {name: Scored(float(value)) for name, value in zip(names, raw, strict=True)}


def measured(rows: Sequence[TwinRow], scores: Mapping[str, Scored]) -> dict[str, Any]:
    """The numbers of one variant."""
    known = [row for row in rows if row.true in scores and row.damaged in scores]
    shown = [row for row in known if row.role == "damage" and not row.sub_threshold]
    raw = np.array([one.raw for one in scores.values()])
    return {
        "pairwise": pairwise(shown, scores, NUM, 0).value,
        "rho": rho(shown, scores, NUM, 0)["mean"].value,
        "leakage": leakage(known, scores, NUM, 0, near=0.15)["value"],
        "lowest": float(raw.min()),
        "median": float(np.median(raw)),
        "highest": float(raw.max()),
        "pairs": len(shown),
    }
