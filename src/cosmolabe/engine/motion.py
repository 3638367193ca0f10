"""Small motions and collisions that games share; IEEE-exact operations only."""

import numpy as np

from cosmolabe.engine.compiling import rule


@rule
def clamp(value, low, high):
    """The value, kept within low..high."""
    return min(max(value, low), high)


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


@rule
def discs_meet(ax, ay, a_radius, bx, by, b_radius):
    """Whether two discs overlap."""
    dx, dy, reach = ax - bx, ay - by, a_radius + b_radius
    return dx * dx + dy * dy < reach * reach


@rule
def disc_meets_box(x, y, radius, bx, by, half_width, half_height):
    """Whether a disc and a box overlap."""
    dx = max(abs(x - bx) - half_width, 0.0)
    dy = max(abs(y - by) - half_height, 0.0)
    return dx * dx + dy * dy < radius * radius
