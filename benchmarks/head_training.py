"""Head training from cached features against the three minutes it may take, all of it counted.

10,000 steps of 8 pairs are timed as a share of themselves: a step costs the same early and late.
"""

import time
from collections.abc import Iterator

import numpy as np
import torch

from benchmarks.timing import Row
from cosmolabe.core.corpus import ClipRow, PairRow
from cosmolabe.nets.head_recipe import HeadRecipe
from cosmolabe.nets.head_training import begin

WIDTH, TIMES, CLIPS = 1280, 48, 400
STEPS, ALLOWED = 10_000, 180.0  # seconds
TIMED = {"stats": 600, "mean": 600, "events": 200, "attention": 60}


def rows() -> Iterator[Row]:
    """Processor seconds of 10,000 steps of each head, and of five at once."""
    torch.set_num_threads(1)
    features, clips, pairs = _data()
    for kind, steps in TIMED.items():
        recipe = HeadRecipe(kind=kind)
        target = 1.0 if kind == "stats" else None
        yield _row(f"10,000 steps of a {kind} head", recipe, steps, target, features, clips, pairs)
    five = HeadRecipe(members=5)
    yield _row("10,000 steps of five stats heads", five, 100, None, features, clips, pairs)


def _row(
    name: str,
    recipe: HeadRecipe,
    steps: int,
    target: float | None,
    features: dict[str, np.ndarray],
    clips: list[ClipRow],
    pairs: list[PairRow],
) -> Row:
    start = time.process_time()
    descent = begin(features, clips, pairs, recipe)
    pooling = time.process_time() - start
    for _ in range(10):
        descent.learn()
    start = time.process_time()
    for _ in range(steps):
        descent.learn()
    took = pooling + (time.process_time() - start) * STEPS / steps
    note = f"width {WIDTH}, one thread; pooling {CLIPS} clips once took {pooling:.2f} s of it"
    return Row(name, took, ALLOWED, "3 minutes", ALLOWED / took, "processor seconds", target, note)


def _data() -> tuple[dict[str, np.ndarray], list[ClipRow], list[PairRow]]:
    dice = np.random.default_rng(0)
    worst = dice.random(CLIPS)
    features = {str(k): dice.normal(size=(TIMES, WIDTH)).astype(np.float32) for k in range(CLIPS)}
    clips = [ClipRow(str(k), "damage", violation=float(worst[k])) for k in range(CLIPS)]
    drawn = dice.integers(0, CLIPS, (3000, 2))
    pairs = [
        PairRow(str(a), str(b), float(worst[a] > worst[b]), abs(worst[a] - worst[b]), "damage")
        for a, b in drawn
        if a != b
    ]
    return features, clips, pairs
