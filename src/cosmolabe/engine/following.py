"""Small patches of pictures looked for in the picture before and in the one after: compiled loops.

Everything is written in place. `nets.motion_maps` says what it is for.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def follow(pad, moves, cost, same, best, which):
    """For every pixel of every picture its best match before, after, and by one move through both.

    `pad` is (time, size + 2 edge, size + 2 edge) float32, `moves` (move, 2) down and right with
    (0, 0) first, `cost` one a move. Written: `same` (time, size, size), the difference where
    nothing moved; `best` (3, time, size, size), least cost before, after and through both, which
    comes in large; `which` (2, time, size, size), the moves of the first two.
    """
    times, size = same.shape[0], same.shape[1]
    edge = (pad.shape[1] - size) // 2
    since, until = np.empty((size, size), np.float32), np.empty((size, size), np.float32)
    rows = np.empty((size + 2, size + 2), np.float32)
    for t in range(times):
        past, following = max(t - 1, 0), min(t + 1, times - 1)
        for m in range(len(moves)):
            down, right = moves[m, 0], moves[m, 1]
            differ(pad[t], pad[past], edge, -down, -right, rows, since)
            differ(pad[t], pad[following], edge, down, right, rows, until)
            if m == 0:
                same[t] = since
            for y in range(size):
                for x in range(size):
                    one, other = since[y, x] + cost[m], until[y, x] + cost[m]
                    closer, nearer = one < best[0, t, y, x], other < best[1, t, y, x]
                    best[0, t, y, x] = one if closer else best[0, t, y, x]
                    which[0, t, y, x] = m if closer else which[0, t, y, x]
                    best[1, t, y, x] = other if nearer else best[1, t, y, x]
                    which[1, t, y, x] = m if nearer else which[1, t, y, x]
                    best[2, t, y, x] = min(best[2, t, y, x], one + other)


@njit(cache=True)
def differ(one, other, edge, down, right, rows, out):
    """Mean difference of patches of 3 x 3 pixels, the other's taken (down, right) away.

    `rows` is room for (size + 2, size + 2) numbers.
    """
    size = out.shape[0]
    first = edge - 1
    for y in range(size + 2):
        for x in range(size + 2):
            rows[y, x] = abs(one[first + y, first + x] - other[first + y + down, first + x + right])
    ninth = np.float32(1 / 9)
    for y in range(size):
        for x in range(size + 2):
            rows[y, x] = rows[y, x] + rows[y + 1, x] + rows[y + 2, x]
        for x in range(size):
            out[y, x] = (rows[y, x] + rows[y, x + 1] + rows[y, x + 2]) * ninth
