"""A training of any net that can stop at any step and go on to the very same weights."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cosmolabe.core.record import plain, read_json, write_json
from cosmolabe.nets.checkpoints import check_tensors, read_tensors, write_tensors
from cosmolabe.nets.moments import kept_of, put_back

STATE, TENSORS = "state.json", "state.safetensors"
SAVED_EVERY = 30.0  # seconds


class Steps:
    """AdamW on named weights with a linear warm-up and a cosine to zero.

    `loss(step)` gives the loss of a step and numbers to tell; all that is random in it must follow
    from the step's number.
    """

    def __init__(
        self,
        weights: Mapping[str, nn.Parameter],
        loss: Callable[[int], tuple[Tensor, dict[str, float]]],
        *,
        steps: int,
        rate: float,
        warmup: float = 0.1,
        weight_decay: float = 1e-6,
        clip: float = 1.0,
        betas: tuple[float, float] = (0.9, 0.999),
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        if not weights:
            raise ValueError("nothing to train: no weight was given")
        self.weights, self.loss, self.steps, self.rate = dict(weights), loss, steps, rate
        self.warmup, self.clip, self.step = warmup, clip, 0
        self.facts = plain(dict(facts or {}))
        self.optimizer = torch.optim.AdamW(
            list(self.weights.values()), lr=rate, weight_decay=weight_decay, betas=betas
        )

    def learn(self) -> dict[str, float]:
        """One step; gives what the loss tells, the loss itself included."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * slope((self.step + 1) / self.steps, self.warmup)
        loss, told = self.loss(self.step)
        if not torch.isfinite(loss):
            raise ValueError(
                f"the loss is {loss.item()} at step {self.step}; a lower rate than {self.rate}?"
            )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights.values(), self.clip)
        self.optimizer.step()
        self.step += 1
        return {"loss": loss.item(), **told}

    def run(self, folder: Path | None = None, every: int = 50) -> Iterator[dict[str, float]]:
        """Learn to the end, giving means of what was told every so many steps.

        Goes on from what stands in `folder`, and leaves there what it needs for that.
        """
        if folder is not None and (folder / STATE).exists():
            self.restore(folder)
        saved, told = time.monotonic(), []
        while self.step < self.steps:
            told.append(self.learn())
            done = self.step == self.steps
            if folder is not None and (done or time.monotonic() - saved > SAVED_EVERY):
                self.save(folder)
                saved = time.monotonic()
            if self.step % every == 0 or done:
                names = {name for one in told for name in one}
                yield {
                    "step": self.step,
                    **{n: float(np.mean([o[n] for o in told if n in o])) for n in sorted(names)},
                }
                told = []

    def save(self, folder: Path) -> None:
        """Write what `restore` needs, tensors first."""
        write_tensors(folder / TENSORS, self._tensors())
        write_json(folder / STATE, {"schema": 1, "step": self.step, "facts": self.facts})

    def restore(self, folder: Path) -> None:
        """Go on from what `save` wrote; other facts (recipe, seed, data) are refused."""
        found = read_json(folder / STATE)
        if found.get("facts") != self.facts:
            raise ValueError(f"{folder}: cannot resume, the recipe changed; use another folder")
        tensors = read_tensors(folder / TENSORS)
        check_tensors(folder / TENSORS, tensors, self._tensors())
        self.step = int(found["step"])
        put_back(self.optimizer, self.weights.items(), tensors)

    def _tensors(self) -> dict[str, np.ndarray]:
        return kept_of(self.optimizer, self.weights.items())


def slope(share: float, warmup: float) -> float:
    """Of the highest rate, after this share of the steps."""
    if share < warmup:
        return share / warmup
    return 0.5 * (1 + math.cos(math.pi * (share - warmup) / max(1 - warmup, 1e-9)))
