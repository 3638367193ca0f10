"""Motion amount: how much a clip moves, so that standing still cannot pass for being right."""

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.core.metric import Metric


def motion_amount(
    frames: UInt8[np.ndarray, "*batch time height width 3"],
) -> Float[np.ndarray, "*batch"]:
    """Mean absolute change of a pixel from frame to frame, 0..1; NaN for a single frame."""
    if frames.shape[-4] < 2:
        return np.full(frames.shape[:-4], np.nan)
    newer, older = frames[..., 1:, :, :, :], frames[..., :-1, :, :, :]
    gap = np.maximum(newer, older) - np.minimum(newer, older)  # uint8 cannot hold a signed gap
    return gap.mean((-4, -3, -2, -1), dtype=np.float64) / 255.0


METRIC = Metric(
    name="motion_amount",
    summary="Mean absolute change of a pixel from frame to frame.",
    unit="share of full brightness",
    low=0.0,
    high=1.0,
    direction="none",
    function=motion_amount,
)
