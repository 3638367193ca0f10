"""PSNR: peak signal-to-noise ratio of imagined frames against true ones."""

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.core.metric import Metric

MOST = 100.0  # decibels; stands for "the same picture", where the ratio has no bound


def psnr(
    true: UInt8[np.ndarray, "*batch height width 3"],
    imagined: UInt8[np.ndarray, "*batch height width 3"],
) -> Float[np.ndarray, "*batch"]:
    """10 log10(255² / mean squared error) per picture, at most 100 dB."""
    gap = np.subtract(true, imagined, dtype=np.int32)
    error = np.square(gap).mean((-3, -2, -1), dtype=np.float64)
    floor = 255.0**2 / 10 ** (MOST / 10)
    return 10.0 * np.log10(255.0**2 / np.maximum(error, floor))


METRIC = Metric(
    name="psnr",
    summary="Peak signal-to-noise ratio of drawn frames; 100 for equal pictures.",
    unit="dB",
    low=0.0,
    high=MOST,
    direction="higher",
    function=psnr,
)
