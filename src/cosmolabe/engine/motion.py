"""Small motions and collisions that games share; IEEE-exact operations only."""

import numpy as np

from cosmolabe.engine.compiling import rule


@rule
def clamp(value, low, high):
    """The value, kept within low..high."""
    return min(max(value, low), high)


@rule
def whole(value, low, high):
    """The value as a whole number of low..high, low for what is no number: safe as an index."""
    return np.int64(min(value, high)) if value > low else np.int64(low)


@rule
def wrap(value):
    """The value on a circle of length 1, in [0, 1)."""
    wrapped = value - np.floor(value)
    return 0.0 if wrapped >= 1.0 else wrapped


@rule
def wrapped_gap(a, b):
    """Shortest signed way from b to a on a circle of length 1, in [-0.5, 0.5]."""
    gap = a - b
    return gap - np.floor(gap + 0.5)


@rule
def boxes_meet(ax, ay, a_half_width, a_half_height, bx, by, b_half_width, b_half_height):
    """Whether two boxes given by centre and half sizes overlap."""
    return (
        abs(ax - bx) < a_half_width + b_half_width and abs(ay - by) < a_half_height + b_half_height
    )
