"""Fits a physics head on cached features: what no weight touches is done once per clip, before.

Several members are trained in one go, as stacks of weights; each has a start and draws of its own.
What is random follows from (seed, step), so the step number is all the random state there is, and a
resumed training ends with the very weights of an uninterrupted one.
"""

import copy
import math
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import xxhash
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from cosmolabe.core.corpus import ClipRow
from cosmolabe.core.record import plain, read_json, write_json
from cosmolabe.core.seeds import seed_of
from cosmolabe.nets.checkpoints import check_tensors, read_tensors, write_tensors
from cosmolabe.nets.fitted_head import FittedHead
from cosmolabe.nets.head import Head, build_head
from cosmolabe.nets.head_losses import (
    anchor_loss,
    bounded_target,
    domain_loss,
    magnitude_loss,
    rank_loss,
    rank_target,
)
from cosmolabe.nets.head_pairs import Labels, Pairs, Pool, draw_pairs, labels_of, pool_of
from cosmolabe.nets.head_recipe import HeadRecipe
from cosmolabe.nets.moments import MOMENTS, moments_of
from cosmolabe.nets.progress import OnProgress, Progress

STATE, STATE_TENSORS = "training.json", "training.safetensors"
SCHEMA = 1
SPOKEN = 50  # steps from one Progress to the next
SAVE_SECONDS = 60.0
LEAST_SPREAD = 1e-6  # an input that spreads less over the training clips is only shifted


def fit_head(
    features: Mapping[str, np.ndarray],
    clips: Sequence[ClipRow],
    pairs: Pairs,
    recipe: HeadRecipe | None = None,
    seed: int = 42,
    *,
    encoder: str = "",
    folder: Path | str | None = None,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> FittedHead:
    """Train to the end; see `fitting`."""
    descent = begin(features, clips, pairs, recipe or HeadRecipe(), seed)
    for progress in fitting(descent, folder, resume):
        if on_progress is not None:
            on_progress(progress)
    return descent.fitted(encoder)


def fitting(
    descent: "HeadDescent", folder: Path | str | None = None, resume: bool = False
) -> Iterator[Progress]:
    """Train step by step; a Progress every 50 steps, the last one `finished`.

    With a folder, a state to go on from is kept there: every minute, and whenever the consumer
    stops listening.
    """
    if resume:
        if folder is None:
            raise ValueError("to resume, say in which folder the training was")
        descent.restore(Path(folder))
    saved = time.monotonic()
    try:
        while descent.step < descent.recipe.steps:
            descent.learn()
            done = descent.step == descent.recipe.steps
            if folder is not None and time.monotonic() - saved > SAVE_SECONDS:
                descent.save(Path(folder))
                saved = time.monotonic()
            if descent.step % SPOKEN == 0 or done:
                yield descent.progress(done)
    finally:
        if folder is not None:
            descent.save(Path(folder))


def begin(
    features: Mapping[str, np.ndarray],
    clips: Sequence[ClipRow],
    pairs: Pairs,
    recipe: HeadRecipe,
    seed: int = 42,
) -> "HeadDescent":
    """Prepare every clip once and build untrained heads.

    `features` maps a clip's id to (time, width); clips without features are left out, and pairs
    with them.
    """
    left_out = set(recipe.leave_out)
    used = [c for c in clips if c.id in features and not left_out & {c.dataset, c.group}]
    if not used:
        raise ValueError(f"none of {len(clips)} clips has features that the recipe keeps")
    width = np.asarray(features[used[0].id]).shape[-1]
    heads = []
    for member in range(recipe.members):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of("head", seed, member))
            heads.append(build_head(width, recipe))
    table = Table.of(heads[0], features, [c.id for c in used])
    if recipe.standardise:
        shift, scale = table.moments()
        for head in heads:
            head.shift.copy_(shift)
            head.scale.copy_(scale)
    return HeadDescent(heads, table, labels_of(used, recipe), pairs, recipe, seed)


def decay_at(step: int, ema: float = 0.9999, warmup: bool = True) -> float:
    """How much of the running mean the `step`-th update (from 1) keeps.

    A bare 0.9999 keeps 36.8 % of the start over 10,000 steps; with warm-up it is 3.6e-30.
    """
    return min(ema, (1 + step) / (10 + step)) if warmup else ema


def rate_at(step: int, recipe: HeadRecipe) -> float:
    """Learning rate of the step with this number (from 0): linear warm-up, then cosine to zero."""
    if step < recipe.warmup:
        return recipe.rate * (step + 1) / recipe.warmup
    share = (step - recipe.warmup) / max(1, recipe.steps - recipe.warmup)
    return recipe.rate * (1 + math.cos(math.pi * min(1.0, share))) / 2


@dataclass(frozen=True)
class Table:
    """Prepared rows of every training clip."""

    rows: Sequence[Tensor] | Float[Tensor, "clip row column"]
    """Of each clip (row, column); one tensor where all have as many rows."""
    masks: Sequence[Tensor] | Bool[Tensor, "clip row"]

    @classmethod
    def of(cls, head: Head, features: Mapping[str, np.ndarray], ids: Sequence[str]) -> "Table":
        """Each clip prepared by itself; one tensor where all have as many rows."""
        rows, masks = [], []
        for name in ids:
            clip = np.array(features[name], np.float32, order="C")
            if clip.ndim != 2 or clip.shape[1] != head.width or not len(clip):
                raise ValueError(
                    f"clip {name!r}: features are (time, {head.width}) with at least one time; "
                    f"got {clip.shape}"
                )
            if not np.isfinite(clip).all():
                raise ValueError(f"clip {name!r}: a feature is not a finite number; encode again")
            row, mask = head.prepare(torch.from_numpy(clip)[None])
            rows.append(row[0])
            masks.append(mask[0])
        if len({len(row) for row in rows}) == 1:
            return cls(torch.stack(rows), torch.stack(masks))
        return cls(rows, masks)

    def take(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Rows (*places, row, column) and their masks, padded to the longest of them."""
        if isinstance(self.rows, Tensor) and isinstance(self.masks, Tensor):
            return self.rows[places], self.masks[places]
        flat = places.flatten().tolist()
        rows = nn.utils.rnn.pad_sequence([self.rows[place] for place in flat], batch_first=True)
        masks = nn.utils.rnn.pad_sequence([self.masks[place] for place in flat], batch_first=True)
        return rows.unflatten(0, places.shape), masks.unflatten(0, places.shape)

    def moments(self) -> tuple[Float[Tensor, " column"], Float[Tensor, " column"]]:
        """Mean and spread of every column over all rows."""
        every = torch.cat(list(self.rows)).double()
        spread = every.std(0, correction=0)
        spread = torch.where(spread < LEAST_SPREAD, 1.0, spread)
        return every.mean(0).float(), spread.float()

    def digest(self) -> str:
        """16 hex digits that follow from every number."""
        state = xxhash.xxh3_64()
        for row in self.rows:
            state.update(row.numpy().tobytes())
        return state.hexdigest()


class Seen(nn.Module):
    """A head as training sees it: scores, and what its last layer read."""

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.head = head

    def forward(self, rows: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Raw scores (batch), and the mean over rows of the last hidden layer (batch, hidden)."""
        hidden = self.head.hidden(rows, mask)
        if hidden.shape[1] == 1:
            return self.head.told(hidden, mask), hidden[:, 0]
        here = mask.unsqueeze(-1)
        mean = torch.where(here, hidden, 0.0).sum(1) / here.sum(1)
        return self.head.told(hidden, mask), mean


class HeadDescent:
    """Everything that changes while heads learn."""

    def __init__(
        self,
        heads: Sequence[Head],
        table: Table,
        labels: Labels,
        pairs: Pairs,
        recipe: HeadRecipe,
        seed: int,
    ) -> None:
        self.heads, self.table, self.labels = heads, table, labels
        self.pairs, self.recipe, self.seed = pairs, recipe, seed
        self.step, self.seconds = 0, 0.0
        self.losses: deque = deque(maxlen=20)
        self._round, self._pool, self._draws = -1, None, np.zeros(0)
        self._places = {name: place for place, name in enumerate(labels.ids)}
        self._violation = torch.from_numpy(labels.violation).float()
        self._anchor = torch.from_numpy(labels.anchor).float()
        self._domain = torch.from_numpy(labels.domain)
        seen = [Seen(head) for head in heads]
        self.weights, self._buffers = stack_module_state(seen)
        self._skeleton = seen[0]
        self.mean = {name: weight.detach().clone() for name, weight in self.weights.items()}
        matrices = [w for w in self.weights.values() if w.ndim > 2]
        vectors = [w for w in self.weights.values() if w.ndim <= 2]
        groups = [
            {"params": matrices, "weight_decay": recipe.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=recipe.rate, fused=True)

    @property
    def pool(self) -> Pool:
        """The pairs of this round."""
        self._draw()
        assert self._pool is not None
        return self._pool

    def learn(self) -> None:
        """One step of every member."""
        began = time.monotonic()
        for group in self.optimizer.param_groups:
            group["lr"] = rate_at(self.step, self.recipe)
        parts = self.losses_of(self._drawn())
        self.optimizer.zero_grad(set_to_none=True)
        parts["total"].sum().backward()
        self.optimizer.step()
        self.step += 1
        decay = decay_at(self.step, self.recipe.ema, self.recipe.ema_warmup)
        with torch.no_grad():
            for name, weight in self.weights.items():
                self.mean[name].lerp_(weight, 1 - decay)
        self.losses.append({name: part.detach() for name, part in parts.items()})
        if self.step % SPOKEN == 0 and not torch.isfinite(parts["total"]).all():
            raise ValueError(
                f"training diverged: the loss of step {self.step} is not a number; try a rate "
                f"below {self.recipe.rate:g}"
            )
        self.seconds += time.monotonic() - began

    def losses_of(self, drawn: np.ndarray) -> dict[str, Tensor]:
        """Each term and their weighted sum by member; `drawn` (member, pair) points into `pool`."""
        recipe, pool = self.recipe, self.pool
        sides = torch.from_numpy(np.concatenate([pool.first[drawn], pool.second[drawn]], 1))
        scores, hidden = self._see(*self.table.take(sides))
        first, second = scores.chunk(2, -1)
        violation, anchor = self._violation[sides], self._anchor[sides]
        parts = {
            "rank": rank_loss(first, second, self._target(drawn, violation, anchor)),
            "magnitude": magnitude_loss(scores, violation, recipe.huber),
            "anchor": anchor_loss(scores, anchor),
        }
        total = (
            recipe.rank_weight * parts["rank"]
            + recipe.magnitude_weight * parts["magnitude"]
            + recipe.anchor_weight * parts["anchor"]
        )
        if recipe.domain_weight:
            label = torch.where(anchor.isnan(), violation, anchor)
            parts["domain"] = domain_loss(hidden, self._domain[sides], label)
            total = total + recipe.domain_weight * parts["domain"]
        return {"total": total, **parts}

    def fitted(self, encoder: str = "") -> FittedHead:
        """The heads with the running mean of their weights."""
        kept = []
        for member in range(self.recipe.members):
            head = copy.deepcopy(self.heads[member])
            own = {
                name.removeprefix("head."): value[member].detach().clone()
                for name, value in {**self.mean, **self._buffers}.items()
            }
            head.load_state_dict(own)
            kept.append(head)
        return FittedHead(
            kept, self.recipe, kept[0].width, self.seed, self.step, encoder, self.data
        )

    @property
    def data(self) -> str:
        """Fingerprint of features and labels."""
        state = xxhash.xxh3_64(self.table.digest().encode())
        state.update("\x1f".join(self.labels.ids).encode())
        for values in (self.labels.violation, self.labels.anchor, self.labels.domain):
            state.update(values.tobytes())
        return state.hexdigest()

    def progress(self, finished: bool = False) -> Progress:
        """Where training stands; losses are means over members and the last 20 steps."""
        names = self.losses[0] if self.losses else {}
        parts = {n: float(np.mean([row[n].mean().item() for row in self.losses])) for n in names}
        return Progress(
            self.step,
            self.seconds,
            parts.get("total", math.nan),
            parts,
            rate_at(self.step, self.recipe),
            self.step / self.recipe.steps,
            0.0,
            finished=finished,
        )

    def save(self, folder: Path) -> None:
        """Write what `restore` needs, tensors first."""
        write_tensors(folder / STATE_TENSORS, self._tensors())
        state = {"schema": SCHEMA, "step": self.step, "seconds": self.seconds, "seed": self.seed}
        write_json(folder / STATE, {**state, **self._facts(), "recipe": asdict(self.recipe)})

    def restore(self, folder: Path) -> None:
        """Go on from what `save` wrote; another recipe, seed, features or pairs are refused."""
        state = read_json(folder / STATE)
        if not isinstance(state, dict) or state.get("schema") != SCHEMA:
            raise ValueError(f"{folder / STATE}: not a training state of schema {SCHEMA}")
        step, seconds, was = (state.get(name) for name in ("step", "seconds", "recipe"))
        if type(step) is not int or step < 0 or type(seconds) not in (int, float):
            raise ValueError(f"{folder / STATE}: step or seconds are not what we wrote")
        now = plain(asdict(self.recipe))
        changed = [k for k in now if not isinstance(was, dict) or was.get(k) != now[k]]
        self.step, self.seconds = step, float(seconds)
        here = {"seed": self.seed, **self._facts()}
        changed += [name for name, value in here.items() if state.get(name) != value]
        if changed:
            raise ValueError(
                f"{folder}: cannot resume, for {changed} changed since; train in another folder"
            )
        tensors = read_tensors(folder / STATE_TENSORS)
        check_tensors(folder / STATE_TENSORS, tensors, self._tensors())
        for name, weight in self.weights.items():
            read = {k: torch.from_numpy(tensors[f"{k}/{name}"].copy()) for k in KEPT}
            with torch.no_grad():
                weight.copy_(read["weight"])
            self.mean[name].copy_(read["mean"])
            self.optimizer.state[weight] = {k: read[k] for k in MOMENTS}

    def _tensors(self) -> dict[str, np.ndarray]:
        found = {}
        for name, weight in self.weights.items():
            values = {"weight": weight, "mean": self.mean[name]}
            values |= moments_of(self.optimizer, weight)
            found |= {f"{k}/{name}": v.detach().numpy() for k, v in values.items()}
        return found

    def _facts(self) -> dict[str, str]:
        pool = self.pool
        state = xxhash.xxh3_64()
        for values in (pool.first, pool.second, pool.p_first_worse, pool.gap, pool.counts):
            state.update(values.tobytes())
        return {"data": self.data, "pairs": state.hexdigest()}

    def _draw(self) -> None:
        """Draw the pairs of this step's round, unless they are."""
        round_ = min(self.step, self.recipe.steps - 1) // self.recipe.redraw
        if round_ == self._round:
            return
        recipe = self.recipe
        fixed = self._pool is not None and isinstance(self.pairs, Sequence)
        if not fixed:
            drawn = draw_pairs(self.pairs, self.seed, round_)
            self._pool = pool_of(drawn, self._places, recipe, self.seed)
        assert self._pool is not None
        self._draws = np.stack(
            [
                self._pool.draw(recipe.redraw, recipe.batch, self.seed, round_, member)
                for member in range(recipe.members)
            ]
        )
        self._round = round_

    def _drawn(self) -> np.ndarray:
        self._draw()
        return self._draws[:, self.step % self.recipe.redraw]

    def _see(self, rows: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        def one(
            weights: dict[str, Tensor], buffers: dict[str, Tensor], rows: Tensor, mask: Tensor
        ) -> tuple[Tensor, Tensor]:
            return functional_call(self._skeleton, (weights, buffers), (rows, mask))

        return vmap(one)(self.weights, self._buffers, rows, mask)

    def _target(self, drawn: np.ndarray, violation: Tensor, anchor: Tensor) -> Tensor:
        recipe, pool = self.recipe, self.pool
        worse = torch.from_numpy(pool.p_first_worse[drawn]).float()
        gap = torch.from_numpy(pool.gap[drawn]).float()
        if recipe.rank_margin == "open":
            return rank_target(worse, gap, recipe.smoothing)
        known = torch.where(violation.isnan(), anchor, violation)
        first, second = known.chunk(2, -1)
        return bounded_target(worse, gap, first - second, recipe.rank_slope)


KEPT = ("weight", "mean", *MOMENTS)
