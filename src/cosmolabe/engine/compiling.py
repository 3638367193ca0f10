"""How rules and drawing are compiled."""

from numba import njit

rule = njit(cache=True, error_model="numpy", _nrt=False)
"""Compiles a function that only reads and writes the arrays it is given.

Without numba's reference counting (atomic, and paid at every inner call) pong's rules run eight
times as fast; the price is that a rule may not allocate. Division by zero gives inf or NaN, as
IEEE says and as numpy does uncompiled.
"""
