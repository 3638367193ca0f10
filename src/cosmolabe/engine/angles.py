"""Sine and cosine from polynomials, so that a replay is bit-identical on any libm.

Angles are in turns (1 = a full circle): quarter turns come out exact. The error is below 1e-9.
"""

import numpy as np

from cosmolabe.engine.compiling import rule

# Taylor coefficients of sin(x) and cos(x), x = 2 pi t, |t| <= 1/8.
_TAU = 6.283185307179586
_S = (1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0, -1.0 / 39916800.0)
_C = (1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0, -1.0 / 3628800.0)


@rule
def sine_cosine(turns):
    """(sin, cos) of an angle in turns."""
    t = turns - np.floor(turns)
    quarter = np.floor(t * 4.0 + 0.5)
    x = (t - quarter * 0.25) * _TAU
    xx = x * x
    s = x * (_S[0] + xx * (_S[1] + xx * (_S[2] + xx * (_S[3] + xx * (_S[4] + xx * _S[5])))))
    c = _C[0] + xx * (_C[1] + xx * (_C[2] + xx * (_C[3] + xx * (_C[4] + xx * _C[5]))))
    if quarter == 1.0:
        return c, -s
    if quarter == 2.0:
        return -s, -c
    if quarter == 3.0:
        return -c, s
    return s, c


@rule
def sine(turns):
    """Sine of an angle in turns."""
    return sine_cosine(turns)[0]


@rule
def cosine(turns):
    """Cosine of an angle in turns."""
    return sine_cosine(turns)[1]
