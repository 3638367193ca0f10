"""Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011), one stream a world.

The key and the counter are the last three numbers of the world vector, so a world carries its
own luck: same seed and actions give the same bits whatever the batch, thread or process.
"""

import numpy as np

from cosmolabe.engine.compiling import rule

KEY_LOW, KEY_HIGH, COUNTER = -3, -2, -1  # places in the world vector

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32, _5, _6 = np.uint64(32), np.uint64(5), np.uint64(6)
_TWO_53 = 1.0 / 9007199254740992.0


@rule
def philox(c0, c1, c2, c3, k0, k1):
    """Ten rounds over a 4 x 32-bit counter with a 2 x 32-bit key, each word held in a uint64."""
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0 = ((p1 >> _32) ^ c1 ^ k0) & _LOW
        c1 = p1 & _LOW
        c2 = ((p0 >> _32) ^ c3 ^ k1) & _LOW
        c3 = p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@rule
def uniform_at(key_low, key_high, counter, lane):
    """The number in [0, 1) at a place of a stream, 53 random bits; lanes are independent."""
    zero = np.uint64(0)
    a, b, _, _ = philox(counter & _LOW, counter >> _32, lane, zero, key_low, key_high)
    return np.float64((a >> _5) * np.uint64(67108864) + (b >> _6)) * _TWO_53


@rule
def uniform(world):
    """The world's next number in [0, 1)."""
    counter = world[COUNTER]
    world[COUNTER] = counter + 1.0
    return uniform_at(
        np.uint64(world[KEY_LOW]), np.uint64(world[KEY_HIGH]), np.uint64(counter), np.uint64(0)
    )


@rule
def integer(world, bound):
    """The world's next whole number in 0 .. bound - 1."""
    return np.int64(uniform(world) * bound)
