"""Sprites onto the canvas: crisp texels that meet in a ramp one pixel wide, at sub-pixel places."""

import numpy as np

from cosmolabe.engine.compiling import inlined, rule

# A texel is four lanes of 16 bits: one multiplication weighs red, green, blue and cover at once.
_ROUND = np.uint64(0x0080008000800080)
_LANES = np.uint64(0x00FF00FF00FF00FF)
_EVEN, _ODD = np.uint64(0x00FF00FF), np.uint64(0xFF00FF00)
_CLEAR = np.uint64(0x00FFFFFF)  # the last texel without cover
_COVER = np.uint64(0x00FF000000000000)
_ONE = 65536.0  # of places in 16 + 16 bits
_BYTE = np.uint64(255)


@rule
def sprite(canvas, art, x, y, half_width, half_height, sin_turn, cos_turn, mirror):
    """Lay a sprite (height, width, RGBA) about a centre, turned clockwise, maybe mirrored.

    Texels stay crisp but meet in a one-pixel ramp, so sub-pixel motion shows at any size.
    """
    if not (half_width > 0.0 and half_height > 0.0):
        return
    fine = 2.0 * half_width < art.shape[1] or 2.0 * half_height < art.shape[0]
    if sin_turn == 0.0 and not fine:
        forth = cos_turn > 0.0
        _upright(canvas, art, x, y, half_width, half_height, forth != mirror, forth, False)
    elif cos_turn == 0.0 and not fine:
        forth = sin_turn > 0.0
        _upright(canvas, art, x, y, half_height, half_width, not forth, forth != mirror, True)
    else:
        flip = -1.0 if mirror else 1.0
        _turned(canvas, art, x, y, half_width, half_height, sin_turn, cos_turn, flip)


@inlined
def _beyond(first, last, k, rest, least):
    """Narrow the places first..last to those where k * place + rest is at least `least`."""
    if k > 1e-9:
        return max(first, (least - rest) / k), last
    if k < -1e-9:
        return first, min(last, (least - rest) / k)
    if rest < least - 1e-3:
        return first, first - 1.0
    return first, last


@inlined
def _lanes(texel):
    """Four bytes spread over lanes: red, blue, green, cover; zero where see-through."""
    four = np.uint64(texel)
    spread = (four & _EVEN) | ((four & _ODD) << np.uint64(24)) | _COVER
    return spread * np.uint64(four > _CLEAR)


@inlined
def _scaled(sum_of_256):
    """Lanes from a sum whose weights make 256."""
    return ((sum_of_256 + _ROUND) >> np.uint64(8)) & _LANES


@inlined
def _stamp(canvas, first, last, left, right, lanes):
    """Lay a colour in lanes, already weighted by its cover, over rows and columns."""
    cover = lanes >> np.uint64(48)
    red, blue = lanes & _BYTE, (lanes >> np.uint64(16)) & _BYTE
    green = (lanes >> np.uint64(32)) & _BYTE
    if cover == _BYTE:
        for i in range(np.uint64(first), np.uint64(last)):
            for j in range(np.uint64(left), np.uint64(right)):
                canvas[i, j, 0] = np.uint8(red)
                canvas[i, j, 1] = np.uint8(green)
                canvas[i, j, 2] = np.uint8(blue)
    elif cover > np.uint64(0):
        rest = np.uint64(257) * (_BYTE - cover)  # 65535 stands for one
        for i in range(np.uint64(first), np.uint64(last)):
            for j in range(np.uint64(left), np.uint64(right)):
                canvas[i, j, 0] = _under(canvas[i, j, 0], rest, red)
                canvas[i, j, 1] = _under(canvas[i, j, 1], rest, green)
                canvas[i, j, 2] = _under(canvas[i, j, 2], rest, blue)


@inlined
def _under(old, rest, over):
    return np.uint8(over + ((np.uint64(old) * rest + np.uint64(32768)) >> np.uint64(16)))


@inlined
def _seam(place, size, count):
    """The two texels about the seam nearest to a place, and their weights, 0..256.

    Place (in texels) and size (of a texel, in pixels) are in 16 + 16 bits.
    """
    seam = min(max((place + 32768) >> 16, 0), count)
    after = min(max((((place - (seam << 16)) * size) >> 24) + 128, 0), 256)
    before = 256 - after
    before = before if seam > 0 else 0
    after = after if seam < count else 0
    return max(seam - 1, 0), min(seam, count - 1), np.uint64(before), np.uint64(after)


@rule
def _upright(canvas, art, x, y, half_x, half_y, forth_x, forth_y, swapped):
    """A sprite in quarter turns: columns of the picture are rows or columns of the art.

    Half sizes are those of the picture; forth_x and forth_y say whether the art runs with it.
    A texel is a pixel or more: strips that lie in one column of texels take turns with strips,
    one pixel wide, about the seams.
    """
    width = canvas.shape[1]
    count_x, count_y, stride_x, stride_y = art.shape[1], art.shape[0], 1, art.shape[1]
    if swapped:
        count_x, count_y, stride_x, stride_y = count_y, count_x, stride_y, stride_x
    start = 0
    if not forth_x:
        start, stride_x = start + (count_x - 1) * stride_x, -stride_x
    if not forth_y:
        start, stride_y = start + (count_y - 1) * stride_y, -stride_y
    left, size_x = np.int64((x - half_x) * _ONE), np.int64(2.0 * half_x * _ONE / count_x)
    top, size_y = np.int64((y - half_y) * _ONE), np.int64(2.0 * half_y * _ONE / count_y)
    for at in range(count_x + 1):
        place = start + at * stride_x
        edge = left + at * size_x
        column, weight = edge >> 16, 256 - ((edge & 65535) + 128 >> 8)
        if weight < 256:
            before, after = 256 - weight, weight
            if at == 0:
                before = 0
            if at == count_x:
                after = 0
            if 0 <= column < width:
                _strip(
                    canvas,
                    art,
                    column,
                    column + 1,
                    place - stride_x if at > 0 else place,
                    place if at < count_x else place - stride_x,
                    before,
                    after,
                    stride_y,
                    top,
                    size_y,
                    count_y,
                )
            column += 1
        end = min((edge + size_x) >> 16, width)
        column = max(column, 0)
        if at < count_x and column < end:
            _strip(canvas, art, column, end, place, place, 0, 256, stride_y, top, size_y, count_y)


@rule
def _strip(canvas, art, left, right, before, after, one, other, stride, top, size, count):
    """Columns of the picture that show the same two columns of texels, weighted one and other."""
    height = canvas.shape[0]
    texels = art.view(np.uint32).reshape(art.shape[0] * art.shape[1])
    upper = lower = np.uint64(0)
    for line in range(count + 1):
        upper, lower = lower, np.uint64(0)
        if line < count:
            lower = _lanes(texels[np.uint64(after + line * stride)])
            if other < 256:
                lower *= np.uint64(other)
                lower += _lanes(texels[np.uint64(before + line * stride)]) * np.uint64(one)
                lower = _scaled(lower)
        if (upper | lower) == np.uint64(0):
            continue
        edge = top + line * size
        row, weight = edge >> 16, 256 - ((edge & 65535) + 128 >> 8)
        if weight < 256:
            if 0 <= row < height:
                mixed = upper * np.uint64(256 - weight) + lower * np.uint64(weight)
                _stamp(canvas, row, row + 1, left, right, _scaled(mixed))
            row += 1
        row, end = max(row, 0), min((edge + size) >> 16, height)
        if row < end:
            _stamp(canvas, row, end, left, right, lower)


@rule
def _turned(canvas, art, x, y, half_width, half_height, sin_turn, cos_turn, flip):
    """A sprite at any angle: four texels a pixel, over the pixels of each row that it meets."""
    height, width = canvas.shape[0], canvas.shape[1]
    tall, wide = art.shape[0], art.shape[1]
    reach_x = half_width * abs(cos_turn) + half_height * abs(sin_turn) + 1.0
    reach_y = half_width * abs(sin_turn) + half_height * abs(cos_turn) + 1.0
    size_x, size_y = 2.0 * half_width / wide, 2.0 * half_height / tall
    per_x, per_y = 1.0 / size_x, 1.0 / size_y
    u_step, v_step = cos_turn * flip * per_x, -sin_turn * per_y
    du, dv = np.int64(u_step * _ONE * _ONE), np.int64(v_step * _ONE * _ONE)
    width_of, height_of = np.int64(size_x * _ONE), np.int64(size_y * _ONE)
    left, right = max(x - reach_x, 0.0), min(x + reach_x, width * 1.0)
    texels = art.view(np.uint32).reshape(tall * wide)
    for row in range(max(np.int64(y - reach_y), 0), min(np.int64(y + reach_y) + 1, height)):
        dy = row + 0.5 - y
        u_start = (dy * sin_turn * flip + half_width) * per_x + (0.5 - x) * u_step
        v_start = (dy * cos_turn + half_height) * per_y + (0.5 - x) * v_step
        low, high = _beyond(left, right, u_step, u_start, -0.5)
        low, high = _beyond(low, high, -u_step, -u_start, -0.5 - wide)
        low, high = _beyond(low, high, v_step, v_start, -0.5)
        low, high = _beyond(low, high, -v_step, -v_start, -0.5 - tall)
        if not low <= high:
            continue
        u, v = np.int64(u_start * _ONE * _ONE), np.int64(v_start * _ONE * _ONE)
        for column in range(np.int64(low), min(np.int64(high) + 1, width)):
            p, q, left_share, right_share = _seam((u + column * du) >> 16, width_of, wide)
            a, b, upper_share, lower_share = _seam((v + column * dv) >> 16, height_of, tall)
            upper = _lanes(texels[a * wide + p]) * left_share
            upper += _lanes(texels[a * wide + q]) * right_share
            lower = _lanes(texels[b * wide + p]) * left_share
            lower += _lanes(texels[b * wide + q]) * right_share
            upper, lower = _scaled(upper), _scaled(lower)
            lanes = _scaled(upper * upper_share + lower * lower_share)
            _stamp(canvas, row, row + 1, column, column + 1, lanes)
