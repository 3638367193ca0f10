"""What moved where between pictures, and what no motion explains: the bundled eye's first look.

No weight is learnt here. Each small patch is looked for in the picture before and in the one after,
at every displacement within reach. What is found nowhere came from nowhere or goes nowhere; what
cannot be followed through both pictures by one and the same displacement changed its speed.
Brightness is counted in spreads of the whole clip, so a brighter or flatter clip is the same clip.

Two implementations give the same numbers: compiled loops for pictures, torch for a gradient.
"""

from functools import cache

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from cosmolabe.engine.following import follow

SIDE = 96  # pixels of a picture
HALF = 48  # of the picture in which patches are followed
CELLS = 12  # places along a side; the strongest of each is kept, or three pixels would be lost
REACH = 6  # half pixels a patch may move from one picture to the next: an eighth of the picture
WEIGHTS = (0.45, 0.35, 0.2)  # of red, green, blue: uneven, so that few colours look the same
FAINT = 0.03  # spread of brightness added to the clip's own
DISTANCE_COST = 0.004  # spreads a half pixel of displacement: the nearer of two equal matches wins
FLOOR = 1.5  # times the median of what is left unexplained: that much is noise
FOREGROUND = 0.1  # spreads from the clip's median picture at which something stands before it
MOVING = 0.01
NAMES = (
    "changed", "unexplained before", "unexplained after", "speed changed", "foreground",
    "unexplained both", "foreground unexplained", "foreground speed changed",
    "right since", "down since", "right until", "down until", "pushed right", "pushed down",
    "pushed",
)  # fmt: skip
SIDEWAYS = (8, 10, 12)
"""Maps whose sign turns where the picture is mirrored."""


@cache
def displacements() -> tuple[tuple[int, int], ...]:
    """(down, right) in half pixels within reach, the shortest first."""
    reach = range(-REACH, REACH + 1)
    found = [(y, x) for y in reach for x in reach if y * y + x * x <= REACH * REACH + 1]
    return tuple(sorted(found, key=lambda move: (move[0] ** 2 + move[1] ** 2, move)))


def motion_maps(
    pixels: Float[Tensor, "time 3 height width"], *, compiled: bool = True
) -> Float[Tensor, "time map row column"]:
    """The maps of NAMES at CELLS x CELLS places; pixels in 0..1, SIDE on a side."""
    assert pixels.shape[-2:] == (SIDE, SIDE)
    seen = folded(pixels)
    if compiled and not pixels.requires_grad and pixels.device.type == "cpu":
        found = _follow_compiled(seen)
    else:
        found = _follow(seen)
    return _gathered(found)


def folded(pixels: Float[Tensor, "time 3 height width"]) -> Float[Tensor, "time half half"]:
    """One brightness a pixel, in spreads of the clip about its mean, at half the size."""
    grey = (pixels * pixels.new_tensor(WEIGHTS)[None, :, None, None]).sum(1)
    grey = (grey - grey.mean()) / (grey.std(correction=0) + FAINT)
    return functional.avg_pool2d(grey[:, None], SIDE // HALF)[:, 0]


def _gathered(found: dict[str, Tensor]) -> Float[Tensor, "time map row column"]:
    """The strongest of each place, small values told apart by a logarithm."""
    floor = torch.minimum(found["before"], found["after"]).median()
    same, before, after, front = (
        functional.relu(found[name] - FLOOR * floor)
        for name in ("same", "before", "after", "front")
    )
    both = found["both"] - found["before"] - found["after"]
    speed = functional.relu(both - FLOOR / 3 * floor)
    kept = [
        same, before, after, speed, front, torch.minimum(before, after),
        before * (front > FOREGROUND), torch.minimum(speed, front),
    ]  # fmt: skip
    wide = HALF // CELLS
    maps = [functional.max_pool2d(torch.log1p(10 * kind)[:, None], wide)[:, 0] for kind in kept]
    weight = (found["same"] * found["front"] + 1e-6)[:, None]
    highest, place = functional.max_pool2d(weight, wide, return_indices=True)
    moves = (highest[:, 0] > MOVING).to(weight.dtype) / REACH

    def there(values: Tensor) -> Tensor:
        return values.flatten(1).gather(1, place.flatten(1)).unflatten(1, (CELLS, CELLS)) * moves

    since_x, since_y, until_x, until_y = (there(found[name]) for name in MOVES)
    push_x, push_y = until_x - since_x, until_y - since_y
    pushed = (push_x.square() + push_y.square() + 1e-6).sqrt()
    return torch.stack(
        [*maps, since_x, since_y, until_x, until_y, push_x, push_y, pushed], 1
    )  # fmt: skip


MOVES = ("since_x", "since_y", "until_x", "until_y")


def _follow(seen: Float[Tensor, "time half half"]) -> dict[str, Tensor]:
    """What every patch's best matches are, and how good; with a gradient to the pictures."""
    pad = functional.pad(seen[:, None], (REACH + 1,) * 4, mode="replicate")[:, 0]
    full = torch.cat([pad[:1], pad, pad[-1:]])
    worst = torch.full_like(seen, 1e3)
    before = after = both = same = worst
    moves = {name: torch.zeros_like(seen) for name in MOVES}
    edge, size = REACH + 1, seen.shape[-1]
    for down, right in displacements():
        rows, columns = slice(edge - 1, edge + size + 1), slice(edge - 1, edge + size + 1)
        here = pad[:, rows, columns]
        past = full[:-2, rows.start - down : rows.stop - down,
                    columns.start - right : columns.stop - right]  # fmt: skip
        next_ = full[2:, rows.start + down : rows.stop + down,
                     columns.start + right : columns.stop + right]  # fmt: skip
        cost = DISTANCE_COST * (down * down + right * right) ** 0.5
        since, until = (_patches((here - other).abs()) + cost for other in (past, next_))
        if down == right == 0:
            same = since
        for name, value, best in (("since", since, before), ("until", until, after)):
            closer = value < best
            moves[f"{name}_x"] = moves[f"{name}_x"].masked_fill(closer, right)
            moves[f"{name}_y"] = moves[f"{name}_y"].masked_fill(closer, down)
        before, after = torch.minimum(since, before), torch.minimum(until, after)
        both = torch.minimum(both, since + until)
    return {
        "same": same, "before": before, "after": after, "both": both, **moves, "front": _front(seen)
    }  # fmt: skip


def _front(seen: Float[Tensor, "time half half"]) -> Float[Tensor, "time half half"]:
    """How far each patch is from the clip's median picture."""
    away = (seen - seen.median(0).values).abs()
    return _patches(functional.pad(away[:, None], (1, 1, 1, 1), mode="replicate")[:, 0])


def _patches(values: Float[Tensor, "time h w"]) -> Float[Tensor, "time i j"]:
    """Means of 3 x 3; the outermost pixels have none."""
    rows = values[:, :-2] + values[:, 1:-1] + values[:, 2:]
    return (rows[:, :, :-2] + rows[:, :, 1:-1] + rows[:, :, 2:]) / 9


def _follow_compiled(seen: Float[Tensor, "time half half"]) -> dict[str, Tensor]:
    pad = functional.pad(seen[:, None], (REACH + 1,) * 4, mode="replicate")[:, 0].numpy()
    moves = np.array(displacements(), np.int64)
    cost = (DISTANCE_COST * np.sqrt((moves**2).sum(1))).astype(np.float32)
    shape = tuple(seen.shape)
    best = np.full((3, *shape), 1e3, np.float32)
    same, which = np.empty(shape, np.float32), np.zeros((2, *shape), np.int64)
    follow(np.ascontiguousarray(pad), moves, cost, same, best, which)
    down, right = moves[which][..., 0], moves[which][..., 1]
    since_and_until = {
        name: torch.from_numpy(value.astype(np.float32))
        for name, value in zip(MOVES, (right[0], down[0], right[1], down[1]), strict=True)
    }
    before, after, both = (torch.from_numpy(one) for one in best)
    return {
        "same": torch.from_numpy(same), "before": before, "after": after, "both": both,
        **since_and_until, "front": _front(seen),
    }  # fmt: skip
