"""How far a frame model's frames are from the true ones, step by step."""

from typing import Any

import numpy as np

from cosmolabe.bench.frame_models.rolling import Painted
from cosmolabe.metrics.psnr import psnr


def psnr_by_step(told: Painted) -> list[dict[str, Any]]:
    """Mean PSNR (dB) of each painted frame, beside that of holding the last given one.

    Where a frame is met exactly PSNR is endless; such frames count as 100 dB.
    """
    still = np.repeat(told.true[:, told.given - 1 : told.given], told.true.shape[1], 1)
    rows = []
    for at in range(told.given, told.true.shape[1]):
        pairs = {"psnr": told.painted[:, at], "still": still[:, at]}
        means = {name: float(psnr(told.true[:, at], film).mean()) for name, film in pairs.items()}
        rows.append({"step": at - told.given + 1, **means, "n": len(told.true)})
    return rows
