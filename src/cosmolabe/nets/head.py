"""Physics heads: features over time in, one raw score of violation out.

A head works in two moves, so that training can make the first one once per clip: `prepare` turns
the features of a clip into rows that no weight touches (pooled over time, or cut into windows),
`score` turns rows into a raw score. `forward` is both, for tensors, with a gradient to the
features. A score of 0 means that nothing is violated, 1 that it is blatant; it is not clipped here.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from cosmolabe.nets.head_recipe import HeadRecipe

HEADS = 16  # of the attention head, as in the released package


def pool(
    features: Float[Tensor, "batch time width"], mask: Bool[Tensor, "batch time"] | None = None
) -> Float[Tensor, "batch 3*width"]:
    """Mean, spread and peak over time, side by side (PhyProbe, statistics pooling).

    The spread divides by the number of times, so one frame gives 0 and never NaN. Times where
    `mask` is False are padding and count for nothing; every clip needs one that is not.
    """
    here = _mask_of(features, mask).unsqueeze(-1)
    count = here.sum(1)
    mean = torch.where(here, features, 0.0).sum(1) / count
    gap = torch.where(here, features - mean.unsqueeze(1), 0.0)
    variance = gap.square().sum(1) / count
    moves = variance > 0  # the slope of a root is endless at 0: padding it keeps gradients finite
    spread = torch.where(moves, torch.where(moves, variance, 1.0).sqrt(), 0.0)
    peak = torch.where(here, features, -torch.inf).amax(1)
    return torch.cat([mean, spread, peak], -1)


def pool_changes(
    features: Float[Tensor, "batch time width"],
    orders: int,
    mask: Bool[Tensor, "batch time"] | None = None,
) -> Float[Tensor, "batch pooled"]:
    """`pool` of the features and of their first `orders` differences over time.

    A clip too short for a difference gets zeros in its place.
    """
    here = _mask_of(features, mask)
    parts = [pool(features, here)]
    for _ in range(orders):
        features = features[:, 1:] - features[:, :-1]
        here = here[:, 1:] & here[:, :-1]
        if not features.shape[1]:
            parts.append(torch.zeros_like(parts[0]))
            continue
        none = ~here.any(1, keepdim=True)
        known = torch.where(here.unsqueeze(-1), features, 0.0)
        parts.append(pool(known, here | none))
    return torch.cat(parts, -1)


def quantile_over(
    values: Float[Tensor, "batch window"], mask: Bool[Tensor, "batch window"], share: float
) -> Float[Tensor, " batch"]:
    """Linearly interpolated quantile of each row's values where `mask` is True."""
    ranked = torch.where(mask, values, torch.inf).sort(-1).values
    place = share * (mask.sum(-1, keepdim=True) - 1).to(values.dtype)
    low = place.floor().long()
    high = place.ceil().long()
    below, above = ranked.gather(-1, low), ranked.gather(-1, high)
    return (below + (above - below) * (place - low)).squeeze(-1)


class Head(nn.Module):
    """What all heads share: three layers behind fixed shift and scale."""

    def __init__(self, width: int, inputs: int, hidden: int) -> None:
        super().__init__()
        self.width = width
        self.inputs = inputs
        self.shift: Tensor
        self.scale: Tensor
        self.register_buffer("shift", torch.zeros(self.columns))
        self.register_buffer("scale", torch.ones(self.columns))
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden),
            nn.GELU(),
            nn.Linear(hidden, hidden // 2),
            nn.GELU(),
            nn.Linear(hidden // 2, 1),
        )

    @property
    def columns(self) -> int:
        """Numbers in one prepared row."""
        return self.inputs

    def prepare(
        self,
        features: Float[Tensor, "batch time width"],
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch row column"], Bool[Tensor, "batch row"]]:
        """Rows no weight has touched, and which of them are not padding."""
        raise NotImplementedError

    def hidden(
        self, rows: Float[Tensor, "batch row column"], mask: Bool[Tensor, "batch row"]
    ) -> Float[Tensor, "batch told hidden"]:
        """What the last layer reads: one row a clip, or one an event window."""
        return self.layers[:-1](self.standard(rows))

    def told(
        self, hidden: Float[Tensor, "batch told hidden"], mask: Bool[Tensor, "batch row"]
    ) -> Float[Tensor, " batch"]:
        """The raw score from what `hidden` gave."""
        return self.layers[-1](hidden)[:, 0, 0]

    def standard(
        self, rows: Float[Tensor, "batch row column"]
    ) -> Float[Tensor, "batch row column"]:
        """Rows shifted and scaled as the training set said."""
        return (rows - self.shift) / self.scale

    def score(
        self, rows: Float[Tensor, "batch row column"], mask: Bool[Tensor, "batch row"]
    ) -> Float[Tensor, " batch"]:
        """Raw scores from prepared rows."""
        return self.told(self.hidden(rows, mask), mask)

    def forward(
        self,
        features: Float[Tensor, "batch time width"],
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> Float[Tensor, " batch"]:
        """Raw scores of clips; times where `mask` is False are padding."""
        if features.shape[1] == 0 or (mask is not None and not mask.any(1).all()):
            raise ValueError("a clip without a single frame has no score; leave it out")
        return self.score(*self.prepare(features, mask))


class StatsHead(Head):
    """Statistics pooling and three layers: 1,016,321 weights at width 1280 (PhyProbe)."""

    def __init__(self, width: int, hidden: int = 256, differences: int = 0) -> None:
        super().__init__(width, 3 * width * (1 + differences), hidden)
        self.differences = differences

    def prepare(
        self,
        features: Float[Tensor, "batch time width"],
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch row column"], Bool[Tensor, "batch row"]]:
        """One row a clip: mean, spread and peak."""
        return _one_row(pool_changes(features, self.differences, mask))


class MeanHead(Head):
    """The mean over time and three layers: 360,961 weights at width 1280 (PhyProbe's ablation)."""

    def __init__(self, width: int, hidden: int = 256) -> None:
        super().__init__(width, width, hidden)

    def prepare(
        self,
        features: Float[Tensor, "batch time width"],
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch row column"], Bool[Tensor, "batch row"]]:
        """One row a clip: the mean."""
        return _one_row(pool(features, mask)[:, : self.width])


class EventHead(StatsHead):
    """The statistics head on short windows; a clip's score is a high quantile of theirs.

    A glitch of three frames fills a window, where over the whole clip it would be averaged away.
    """

    def __init__(
        self,
        width: int,
        hidden: int = 256,
        differences: int = 0,
        window: int = 16,
        stride: int = 8,
        quantile: float = 0.9,
    ) -> None:
        super().__init__(width, hidden, differences)
        self.window, self.stride, self.quantile = window, stride, quantile

    def prepare(
        self,
        features: Float[Tensor, "batch time width"],
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch row column"], Bool[Tensor, "batch row"]]:
        """One row a window; the last window ends with the longest clip.

        Only a clip's own times count, so a padded one gets the windows it would get alone, but for
        where its last one starts: cut clips of different lengths one at a time.
        """
        here = _mask_of(features, mask)
        starts = window_starts(features.shape[1], self.window, self.stride)
        rows, known = [], []
        for start in starts:
            cut, mine = (x[:, start : start + self.window] for x in (features, here))
            some = mine.any(1)
            safe = mine | ~some[:, None]
            pooled = pool_changes(cut, self.differences, safe)
            rows.append(torch.where(some[:, None], pooled, 0.0))
            known.append(some)
        return torch.stack(rows, 1), torch.stack(known, 1)

    def told(
        self, hidden: Float[Tensor, "batch told hidden"], mask: Bool[Tensor, "batch row"]
    ) -> Float[Tensor, " batch"]:
        """The quantile of the windows' scores."""
        return quantile_over(self.each(hidden), mask, self.quantile)

    def each(self, hidden: Float[Tensor, "batch row hidden"]) -> Float[Tensor, "batch row"]:
        """The raw score of every window."""
        return self.layers[-1](hidden)[:, :, 0]


class AttentionHead(Head):
    """A learnt query looks over the times: 6,920,961 weights at width 1280 (an ablation)."""

    def __init__(self, width: int, hidden: int = 256, heads: int = HEADS) -> None:
        if width % heads:
            raise ValueError(f"attention of {heads} heads needs a width they divide; got {width}")
        super().__init__(width, width, hidden)
        self.heads = heads
        self.query = nn.Parameter(torch.empty(width))
        nn.init.trunc_normal_(self.query, std=0.02)
        self.ask, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def prepare(
        self,
        features: Float[Tensor, "batch time width"],
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch row column"], Bool[Tensor, "batch row"]]:
        """The times themselves."""
        return features, _mask_of(features, mask)

    def hidden(
        self, rows: Float[Tensor, "batch row column"], mask: Bool[Tensor, "batch row"]
    ) -> Float[Tensor, "batch told hidden"]:
        """One row a clip: what the query found, through the first two layers.

        One query asks all times, so it goes through the keys' matrix before it meets them, and the
        values' matrix comes after the times are mixed: the same numbers for far less work.
        """
        rows = self.standard(rows)
        query = self.ask(self.query).unflatten(-1, (self.heads, -1))
        size = query.shape[-1]
        keys, values = (
            layer.weight.unflatten(0, (self.heads, -1)) for layer in (self.key, self.value)
        )
        probe = torch.einsum("hc,hcw->hw", query, keys)
        constant = (query * self.key.bias.unflatten(0, (self.heads, -1))).sum(-1)
        match = (rows @ probe.mT + constant) / size**0.5
        share = torch.where(mask.unsqueeze(-1), match, -torch.inf).softmax(1)
        mixed = torch.einsum("bth,btw->bhw", share, rows)
        found = torch.einsum("bhw,hcw->bhc", mixed, values).flatten(1) + self.value.bias
        return self.layers[:-1](self.out(found))[:, None]


def build_head(width: int, recipe: HeadRecipe) -> Head:
    """An untrained head for features of this width."""
    if recipe.kind == "events":
        return EventHead(
            width,
            recipe.hidden,
            recipe.differences,
            recipe.window,
            recipe.stride,
            recipe.quantile,
        )
    if recipe.kind == "stats":
        return StatsHead(width, recipe.hidden, recipe.differences)
    if recipe.differences:
        raise ValueError(f"only stats and events heads pool differences, not '{recipe.kind}'")
    if recipe.kind == "mean":
        return MeanHead(width, recipe.hidden)
    return AttentionHead(width, recipe.hidden, recipe.heads)


def window_starts(times: int, window: int, stride: int) -> list[int]:
    """First time of each window; the last ends with the clip, a short clip is one window."""
    last = max(0, times - window)
    return [*range(0, last, stride), last]


def _one_row(
    pooled: Float[Tensor, "batch column"],
) -> tuple[Float[Tensor, "batch 1 column"], Bool[Tensor, "batch 1"]]:
    return pooled[:, None], torch.ones(len(pooled), 1, dtype=torch.bool, device=pooled.device)


def _mask_of(
    features: Float[Tensor, "batch time width"], mask: Bool[Tensor, "batch time"] | None
) -> Bool[Tensor, "batch time"]:
    if mask is not None:
        return mask
    return torch.ones(features.shape[:2], dtype=torch.bool, device=features.device)
