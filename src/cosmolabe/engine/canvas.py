"""An anti-aliased rasteriser over uint8 pictures.

Exact area coverage for boxes, one-pixel ramps for round shapes and sprites. Positions are floats,
so velocity is never quantised.

All lengths here are pixels of the canvas; games convert with its height and width.
"""

import numpy as np

from cosmolabe.engine.compiling import rule

PATTERNS = ("plain", "gradient", "stars", "grid", "checker", "speckle", "stripes")


@rule
def blend(canvas, row, column, colour, share):
    """Lay a colour over one pixel with the given coverage, 0..1."""
    weight = np.int64(share * 256.0 + 0.5)
    for k in range(3):
        old = np.int64(canvas[row, column, k])
        canvas[row, column, k] = np.uint8(old + (((np.int64(colour[k]) - old) * weight + 128) >> 8))


@rule
def box(canvas, x, y, half_width, half_height, colour):
    """A filled axis-aligned box about a centre; edges cover by exact area."""
    height, width = canvas.shape[0], canvas.shape[1]
    left, right = max(x - half_width, 0.0), min(x + half_width, width * 1.0)
    top, bottom = max(y - half_height, 0.0), min(y + half_height, height * 1.0)
    if not (left < right and top < bottom):
        return
    red, green, blue = colour[0], colour[1], colour[2]
    first, last = np.int64(left), min(np.int64(np.ceil(right)), width)
    # Unsigned places spare numba the test for negative ones, so that the inner loop vectorises.
    inner_first, inner_last = np.uint64(np.ceil(left)), np.uint64(right)
    for row in range(np.int64(top), min(np.int64(np.ceil(bottom)), height)):
        tall = min(bottom, row + 1.0) - max(top, row * 1.0)
        if tall < 0.999 or inner_first >= inner_last:
            for column in range(first, last):
                wide = min(right, column + 1.0) - max(left, column * 1.0)
                blend(canvas, row, column, colour, tall * wide)
            continue
        line = canvas[row]
        for column in range(inner_first, inner_last):
            line[column, 0] = red
            line[column, 1] = green
            line[column, 2] = blue
        if first < np.int64(inner_first):
            blend(canvas, row, first, colour, np.ceil(left) - left)
        if np.int64(inner_last) < last:
            blend(canvas, row, last - 1, colour, right - np.floor(right))


@rule
def disc(canvas, x, y, radius, colour):
    """A filled disc."""
    height, width = canvas.shape[0], canvas.shape[1]
    reach = radius + 0.5
    for row in range(max(np.int64(y - reach), 0), min(np.int64(y + reach) + 1, height)):
        dy = row + 0.5 - y
        for column in range(max(np.int64(x - reach), 0), min(np.int64(x + reach) + 1, width)):
            dx = column + 0.5 - x
            share = reach - np.sqrt(dx * dx + dy * dy)
            if share > 0.0:
                blend(canvas, row, column, colour, min(share, 1.0))


@rule
def ring(canvas, x, y, radius, thickness, colour):
    """A circle line about its radius."""
    height, width = canvas.shape[0], canvas.shape[1]
    reach = radius + thickness / 2 + 0.5
    for row in range(max(np.int64(y - reach), 0), min(np.int64(y + reach) + 1, height)):
        dy = row + 0.5 - y
        for column in range(max(np.int64(x - reach), 0), min(np.int64(x + reach) + 1, width)):
            dx = column + 0.5 - x
            off = abs(np.sqrt(dx * dx + dy * dy) - radius)
            share = thickness / 2 + 0.5 - off
            if share > 0.0:
                blend(canvas, row, column, colour, min(share, 1.0))


@rule
def line(canvas, ax, ay, bx, by, thickness, colour):
    """A thick line with round ends (a capsule)."""
    height, width = canvas.shape[0], canvas.shape[1]
    reach = thickness / 2 + 0.5
    ux, uy = bx - ax, by - ay
    length = ux * ux + uy * uy
    for row in range(
        max(np.int64(min(ay, by) - reach), 0), min(np.int64(max(ay, by) + reach) + 1, height)
    ):
        for column in range(
            max(np.int64(min(ax, bx) - reach), 0), min(np.int64(max(ax, bx) + reach) + 1, width)
        ):
            px, py = column + 0.5 - ax, row + 0.5 - ay
            along = 0.0 if length == 0.0 else min(max((px * ux + py * uy) / length, 0.0), 1.0)
            dx, dy = px - along * ux, py - along * uy
            share = reach - np.sqrt(dx * dx + dy * dy)
            if share > 0.0:
                blend(canvas, row, column, colour, min(share, 1.0))


@rule
def triangle(canvas, ax, ay, bx, by, cx, cy, colour):
    """A filled triangle, corners in any order."""
    height, width = canvas.shape[0], canvas.shape[1]
    if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0.0:
        bx, by, cx, cy = cx, cy, bx, by
    la = np.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay)) + 1e-9
    lb = np.sqrt((cx - bx) * (cx - bx) + (cy - by) * (cy - by)) + 1e-9
    lc = np.sqrt((ax - cx) * (ax - cx) + (ay - cy) * (ay - cy)) + 1e-9
    top, bottom = min(ay, by, cy) - 0.5, max(ay, by, cy) + 0.5
    left, right = min(ax, bx, cx) - 0.5, max(ax, bx, cx) + 0.5
    for row in range(max(np.int64(top), 0), min(np.int64(bottom) + 1, height)):
        py = row + 0.5
        for column in range(max(np.int64(left), 0), min(np.int64(right) + 1, width)):
            px = column + 0.5
            da = ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / la
            db = ((cx - bx) * (py - by) - (cy - by) * (px - bx)) / lb
            dc = ((ax - cx) * (py - cy) - (ay - cy) * (px - cx)) / lc
            share = min(da, db, dc) + 0.5
            if share > 0.0:
                blend(canvas, row, column, colour, min(share, 1.0))


@rule
def sprite(canvas, art, x, y, half_width, half_height, sin_turn, cos_turn, mirror):
    """Lay a sprite (height, width, RGBA) about a centre, turned clockwise, maybe mirrored.

    Texels stay crisp but meet in a one-pixel ramp, so sub-pixel motion shows at any size.
    """
    height, width = canvas.shape[0], canvas.shape[1]
    tall, wide = art.shape[0], art.shape[1]
    reach_x = half_width * abs(cos_turn) + half_height * abs(sin_turn) + 1.0
    reach_y = half_width * abs(sin_turn) + half_height * abs(cos_turn) + 1.0
    per_x, per_y = wide / (2.0 * half_width), tall / (2.0 * half_height)
    flip = -1.0 if mirror else 1.0
    for row in range(max(np.int64(y - reach_y), 0), min(np.int64(y + reach_y) + 1, height)):
        dy = row + 0.5 - y
        for column in range(max(np.int64(x - reach_x), 0), min(np.int64(x + reach_x) + 1, width)):
            dx = column + 0.5 - x
            u = ((dx * cos_turn + dy * sin_turn) * flip + half_width) * per_x
            v = (dy * cos_turn - dx * sin_turn + half_height) * per_y
            if u > -1.0 and v > -1.0 and u < wide + 1.0 and v < tall + 1.0:
                _texel(canvas, row, column, art, u, v, 1.0 / per_x, 1.0 / per_y)


@rule
def _texel(canvas, row, column, art, u, v, pixels_x, pixels_y):
    """Blend one pixel of a sprite: the four nearest texels, weighted by the ramp between them.

    u, v are the place in texels; pixels_x, pixels_y the size of a texel in pixels.
    """
    tall, wide = art.shape[0], art.shape[1]
    seam_u, seam_v = np.floor(u + 0.5), np.floor(v + 0.5)
    if seam_u < 0.0 or seam_v < 0.0 or seam_u > wide or seam_v > tall:
        return
    right = min(max((u - seam_u) * pixels_x + 0.5, 0.0), 1.0)
    down = min(max((v - seam_v) * pixels_y + 0.5, 0.0), 1.0)
    if (right == 0.0 or right == 1.0) and (down == 0.0 or down == 1.0):  # inside one texel
        a, b = np.int64(seam_v + down) - 1, np.int64(seam_u + right) - 1
        if 0 <= a < tall and 0 <= b < wide and art[a, b, 3] > 0:
            canvas[row, column, 0] = art[a, b, 0]
            canvas[row, column, 1] = art[a, b, 1]
            canvas[row, column, 2] = art[a, b, 2]
        return
    alpha, red, green, blue = 0.0, 0.0, 0.0, 0.0
    for i in range(2):
        a = np.int64(seam_v) - 1 + i
        share_v = down if i == 1 else 1.0 - down
        if share_v == 0.0 or a < 0 or a >= tall:
            continue
        for j in range(2):
            b = np.int64(seam_u) - 1 + j
            share = share_v * (right if j == 1 else 1.0 - right)
            if share == 0.0 or b < 0 or b >= wide or art[a, b, 3] == 0:
                continue
            alpha += share
            red += share * art[a, b, 0]
            green += share * art[a, b, 1]
            blue += share * art[a, b, 2]
    if alpha > 0.0:
        left = 1.0 - alpha
        canvas[row, column, 0] = np.uint8(canvas[row, column, 0] * left + red + 0.5)
        canvas[row, column, 1] = np.uint8(canvas[row, column, 1] * left + green + 0.5)
        canvas[row, column, 2] = np.uint8(canvas[row, column, 2] * left + blue + 0.5)


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
