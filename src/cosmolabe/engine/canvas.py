"""An anti-aliased rasteriser over uint8 pictures.

Exact area coverage for boxes, one-pixel ramps for round shapes and sprites. Positions are floats,
so velocity is never quantised.

All lengths here are pixels of the canvas; games convert with its height and width.
"""

import numpy as np

from cosmolabe.engine.compiling import inlined, rule
from cosmolabe.engine.stamp import sprite

__all__ = [
    "PATTERNS",
    "background",
    "blend",
    "box",
    "disc",
    "line",
    "number",
    "ring",
    "sprite",
    "triangle",
]

PATTERNS = ("plain", "gradient", "stars", "grid", "checker", "speckle", "stripes")


@inlined
def blend(canvas, row, column, colour, share):
    """Lay a colour over one pixel with the given coverage, 0..1."""
    _lay(canvas, row, column, colour, np.int64(share * 256.0 + 0.5))


# Places are unsigned where it pays: that spares numba its test for negative ones, and lets inner
# loops vectorise.


@inlined
def _lay(canvas, row, column, colour, weight):
    """Lay a colour over one pixel with a weight of 0..256."""
    i, j = np.uint64(row), np.uint64(column)
    for k in range(3):
        old = np.int64(canvas[i, j, k])
        canvas[i, j, k] = np.uint8(old + (((np.int64(colour[k]) - old) * weight + 128) >> 8))


@inlined
def _fill(canvas, row, first, last, colour):
    """Paint the pixels first..last - 1 of a row."""
    red, green, blue = colour[0], colour[1], colour[2]
    line = canvas[np.uint64(row)]
    for column in range(np.uint64(first), np.uint64(last)):
        line[column, 0] = red
        line[column, 1] = green
        line[column, 2] = blue


@rule
def box(canvas, x, y, half_width, half_height, colour):
    """A filled axis-aligned box about a centre; edges cover by exact area."""
    height, width = canvas.shape[0], canvas.shape[1]
    left, right = max(x - half_width, 0.0), min(x + half_width, width * 1.0)
    top, bottom = max(y - half_height, 0.0), min(y + half_height, height * 1.0)
    if not (left < right and top < bottom):
        return
    first, last = np.int64(left), np.int64(np.ceil(right))
    left_share = min(right, first + 1.0) - left
    right_share = right - (last - 1.0)
    for row in range(np.int64(top), np.int64(np.ceil(bottom))):
        tall = min(bottom, row + 1.0) - max(top, row * 1.0)
        weight = np.int64(tall * 256.0 + 0.5)
        inner_first, inner_last = first, last
        if left_share < 1.0 or last - first == 1:
            _lay(canvas, row, first, colour, np.int64(tall * left_share * 256.0 + 0.5))
            inner_first += 1
        if right_share < 1.0 and last - first > 1:
            _lay(canvas, row, last - 1, colour, np.int64(tall * right_share * 256.0 + 0.5))
            inner_last -= 1
        if weight == 256:
            if inner_first < inner_last:
                _fill(canvas, row, inner_first, inner_last, colour)
        else:
            for column in range(inner_first, inner_last):
                _lay(canvas, row, column, colour, weight)


@rule
def disc(canvas, x, y, radius, colour):
    """A filled disc."""
    height, width = canvas.shape[0], canvas.shape[1]
    reach, core = radius + 0.5, max(radius - 0.5, 0.0)
    for row in range(max(np.int64(y - reach), 0), min(np.int64(y + reach) + 1, height)):
        dy = row + 0.5 - y
        if dy * dy >= reach * reach:
            continue
        half = np.sqrt(reach * reach - dy * dy)
        first, last = max(np.int64(x - half - 0.5), 0), min(np.int64(x + half + 0.5), width)
        inner_first, inner_last = last, last
        if dy * dy < core * core:
            half = np.sqrt(core * core - dy * dy)
            inner_first = min(max(np.int64(np.ceil(x - half - 0.5)), first), last)
            inner_last = min(max(np.int64(np.floor(x + half + 0.5)), inner_first), last)
        _arc(canvas, row, first, inner_first, x, dy, 0.0, reach, colour)
        if inner_first < inner_last:
            _fill(canvas, row, inner_first, inner_last, colour)
        _arc(canvas, row, inner_last, last, x, dy, 0.0, reach, colour)


@inlined
def _arc(canvas, row, first, last, x, dy, radius, reach, colour):
    """Pixels of a row that lie less than reach from the circle about (x, row + 0.5 - dy)."""
    for column in range(first, last):
        dx = column + 0.5 - x
        share = reach - abs(np.sqrt(dx * dx + dy * dy) - radius)
        if share > 0.0:
            _lay(canvas, row, column, colour, np.int64(min(share, 1.0) * 256.0 + 0.5))


@rule
def ring(canvas, x, y, radius, thickness, colour):
    """A circle line about its radius."""
    height, width = canvas.shape[0], canvas.shape[1]
    margin = thickness / 2 + 0.5
    reach, hole = radius + margin, max(radius - margin, 0.0)
    for row in range(max(np.int64(y - reach), 0), min(np.int64(y + reach) + 1, height)):
        dy = row + 0.5 - y
        if dy * dy >= reach * reach:
            continue
        half = np.sqrt(reach * reach - dy * dy)
        first, last = max(np.int64(x - half - 0.5), 0), min(np.int64(x + half + 0.5) + 1, width)
        hole_first, hole_last = last, last
        if dy * dy < hole * hole:
            half = np.sqrt(hole * hole - dy * dy)
            hole_first = min(max(np.int64(np.ceil(x - half - 0.5)), first), last)
            hole_last = min(max(np.int64(np.floor(x + half + 0.5)), hole_first), last)
        _arc(canvas, row, first, hole_first, x, dy, radius, margin, colour)
        _arc(canvas, row, hole_last, last, x, dy, radius, margin, colour)


@rule
def line(canvas, ax, ay, bx, by, thickness, colour):
    """A thick line with round ends (a capsule)."""
    height, width = canvas.shape[0], canvas.shape[1]
    reach = thickness / 2 + 0.5
    core = max(reach - 1.0, 0.0)
    if ay > by:
        ax, ay, bx, by = bx, by, ax, ay
    ux, uy = bx - ax, by - ay
    length = ux * ux + uy * uy
    per_length = 0.0 if length == 0.0 else 1.0 / length
    slope = 0.0 if uy == 0.0 else ux / uy
    # Half the width of a row's cut through the endless band about the line.
    cut = 1e9 if uy == 0.0 else reach * np.sqrt(length) / uy
    for row in range(max(np.int64(ay - reach), 0), min(np.int64(by + reach) + 1, height)):
        py = row + 0.5 - ay
        # Where the line passes within reach of this row: nothing farther off can be near it.
        near, far = max(py - reach, 0.0) * slope, min(py + reach, uy) * slope
        if uy == 0.0:
            near, far = 0.0, ux
        left = max(min(near, far) - reach, py * slope - cut) + ax
        right = min(max(near, far) + reach, py * slope + cut) + ax
        first, last = max(np.int64(left - 0.5), 0), min(np.int64(right + 0.5) + 1, width)
        for side in range(2):  # from either end up to what is covered in full
            while first < last:
                column = first if side == 0 else last - 1
                px = column + 0.5 - ax
                along = min(max((px * ux + py * uy) * per_length, 0.0), 1.0)
                dx, dy = px - along * ux, py - along * uy
                off = dx * dx + dy * dy
                if off <= core * core:
                    break
                if off < reach * reach:
                    share = min(reach - np.sqrt(off), 1.0)
                    _lay(canvas, row, column, colour, np.int64(share * 256.0 + 0.5))
                if side == 0:
                    first += 1
                else:
                    last -= 1
        if first < last:
            _fill(canvas, row, first, last, colour)


@inlined
def _edge(ax, ay, bx, by):
    """A triangle's edge: the distance inwards is kx * x + ky * y + k; and 1 / kx."""
    length = np.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay)) + 1e-9
    kx, ky = -(by - ay) / length, (bx - ax) / length
    return kx, ky, -(kx * ax + ky * ay), 1.0 / kx if abs(kx) > 1e-9 else 0.0


@inlined
def _cut(low, high, full_low, full_high, per_k, rest):
    """Narrow low..high to where k * x + rest > -0.5, and the full part to where it is >= 0.5."""
    if per_k > 0.0:
        at, half = -rest * per_k, 0.5 * per_k
        return max(low, at - half), high, max(full_low, at + half), full_high
    if per_k < 0.0:
        at, half = -rest * per_k, -0.5 * per_k
        return low, min(high, at + half), full_low, min(full_high, at - half)
    if rest < -0.501:
        return low, low - 1.0, low, low - 1.0
    if rest < 0.5:
        return low, high, low, low - 1.0
    return low, high, full_low, full_high


@rule
def triangle(canvas, ax, ay, bx, by, cx, cy, colour):
    """A filled triangle, corners in any order."""
    height, width = canvas.shape[0], canvas.shape[1]
    if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0.0:
        bx, by, cx, cy = cx, cy, bx, by
    x1, y1, k1, per_1 = _edge(ax, ay, bx, by)
    x2, y2, k2, per_2 = _edge(bx, by, cx, cy)
    x3, y3, k3, per_3 = _edge(cx, cy, ax, ay)
    top, bottom = min(ay, by, cy) - 0.5, max(ay, by, cy) + 0.5
    left = max(np.floor(min(ax, bx, cx) - 0.5), 0.0)
    right = min(np.floor(max(ax, bx, cx) + 0.5) + 1.0, width * 1.0)
    if not left < right:
        return
    for row in range(max(np.int64(top), 0), min(np.int64(bottom) + 1, height)):
        py = row + 0.5
        r1, r2, r3 = y1 * py + k1, y2 * py + k2, y3 * py + k3
        low, high, full_low, full_high = _cut(left, right, left, right, per_1, r1)
        low, high, full_low, full_high = _cut(low, high, full_low, full_high, per_2, r2)
        low, high, full_low, full_high = _cut(low, high, full_low, full_high, per_3, r3)
        first, last = np.int64(low), min(np.int64(high + 0.5), width)
        if low > high or first >= last:
            continue
        inner_first, inner_last = last, last
        if full_low < full_high:
            inner_first = min(max(np.int64(np.ceil(full_low - 0.5)), first), last)
            inner_last = min(max(np.int64(np.floor(full_high + 0.5)), inner_first), last)
            if inner_first < inner_last:
                _fill(canvas, row, inner_first, inner_last, colour)
        for part in range(2):
            begin, end = (first, inner_first) if part == 0 else (inner_last, last)
            for column in range(begin, end):
                px = column + 0.5
                share = min(x1 * px + r1, x2 * px + r2, x3 * px + r3) + 0.5
                if share > 0.0:
                    weight = np.int64(min(share, 1.0) * 256.0 + 0.5)
                    _lay(canvas, row, column, colour, weight)


# A 3 x 5 pixel font for scores: one row of bits per digit, top to bottom, left to right.
DIGITS = np.array([31599, 11415, 29671, 29647, 23497, 31183, 31215, 29257, 31727, 31695], np.int64)


@rule
def number(canvas, right, top, dot, value, colour):
    """A whole number, right-aligned, each dot of the 3 x 5 digits `dot` pixels wide."""
    value = max(value, 0)
    x = right
    while True:
        bits = DIGITS[value % 10]
        for i in range(5):
            for j in range(3):
                if (bits >> (14 - (3 * i + j))) & 1:
                    box(
                        canvas,
                        x - (2.5 - j) * dot,
                        top + (i + 0.5) * dot,
                        dot / 2,
                        dot / 2,
                        colour,
                    )
        value //= 10
        x -= 4.0 * dot
        if value == 0:
            return


def background(
    pattern: str, first: tuple[int, ...], second: tuple[int, ...], size: tuple[int, int], seed: int
) -> np.ndarray:
    """A theme's still background, uint8 (height, width, 3); decorations follow from the seed."""
    height, width = size
    rows, columns = np.mgrid[0:height, 0:width]
    unit = max(height // 28, 1)
    random = np.random.Generator(np.random.Philox(seed))
    share = {
        "plain": lambda: np.zeros(size),
        "gradient": lambda: rows / height,
        "stars": lambda: (random.random(size) < 0.004).astype(float),
        "grid": lambda: ((rows % (2 * unit) == 0) | (columns % (2 * unit) == 0)).astype(float),
        "checker": lambda: ((rows // (2 * unit) + columns // (2 * unit)) % 2).astype(float),
        "speckle": lambda: 0.5 * random.random(size),
        "stripes": lambda: ((rows + columns) // unit % 2).astype(float),
    }
    if pattern not in share:
        raise ValueError(f"no background pattern '{pattern}'; have {list(share)}")
    mix = share[pattern]()[..., None]
    return np.round(np.array(first) * (1 - mix) + np.array(second) * mix).astype(np.uint8)
