"""SSIM: structural similarity of imagined frames against true ones (Wang et al., 2004)."""

import numpy as np
from jaxtyping import Float, UInt8
from scipy.ndimage import correlate1d

from cosmolabe.core.metric import Metric

SIGMA = 1.5  # pixels, of the Gaussian window (Wang et al., section III.C)
RADIUS = 5  # pixels: the window is 11 x 11
K1, K2 = 0.01, 0.03  # constants of the same section
LUMA = (0.299, 0.587, 0.114)  # grey from red, green, blue (ITU-R BT.601)

_window = np.exp(-0.5 * (np.arange(-RADIUS, RADIUS + 1) / SIGMA) ** 2)
WINDOW = _window / _window.sum()


def _blur(image: Float[np.ndarray, "*batch height width"]) -> Float[np.ndarray, "*batch h w"]:
    """Weighted means over the 11 x 11 windows that lie whole inside the picture."""
    image = correlate1d(correlate1d(image, WINDOW, axis=-1), WINDOW, axis=-2)
    return image[..., RADIUS:-RADIUS, RADIUS:-RADIUS]


def ssim(
    true: UInt8[np.ndarray, "*batch height width 3"],
    imagined: UInt8[np.ndarray, "*batch height width 3"],
) -> Float[np.ndarray, "*batch"]:
    """Mean structural similarity of the grey pictures, -1..1; a picture has at least 11 pixels."""
    if min(true.shape[-3:-1]) < 2 * RADIUS + 1:
        raise ValueError(f"SSIM needs pictures of 11 x 11 pixels or more; got {true.shape[-3:-1]}")
    x, y = true @ np.array(LUMA), imagined @ np.array(LUMA)
    mean_x, mean_y = _blur(x), _blur(y)
    var_x = _blur(x * x) - mean_x**2
    var_y = _blur(y * y) - mean_y**2
    both = _blur(x * y) - mean_x * mean_y
    c1, c2 = (K1 * 255) ** 2, (K2 * 255) ** 2
    top = (2 * mean_x * mean_y + c1) * (2 * both + c2)
    bottom = (mean_x**2 + mean_y**2 + c1) * (var_x + var_y + c2)
    return np.clip((top / bottom).mean((-2, -1)), -1.0, 1.0)


METRIC = Metric(
    name="ssim",
    summary="Mean structural similarity of drawn frames in grey, 11 x 11 Gaussian window.",
    unit="similarity",
    low=-1.0,
    high=1.0,
    direction="higher",
    function=ssim,
)
