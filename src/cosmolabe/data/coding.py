"""Pictures coded one by one into the bytes of a video file, and back.

The quantiser is the same for every picture, so twins that are equal before a damage are equal in
the file too, and no clip is coded better than its twin.
"""

import importlib
import io
from fractions import Fraction
from types import ModuleType

import numpy as np
from jaxtyping import UInt8

FINE = 12  # x264's quantiser: what it loses no eye sees


def coded(
    frames: UInt8[np.ndarray, "time height width 3"], fps: float, quantiser: int = FINE
) -> bytes:
    """An mp4 (h264, 4:2:0, every picture by itself); the quantiser goes from 1, fine, to 51."""
    if not 1 <= quantiser <= 51:
        raise ValueError(f"the quantiser is from 1 to 51; got {quantiser}")
    if frames.shape[1] % 2 or frames.shape[2] % 2:
        raise ValueError(f"h264 wants even sides; got pictures of {frames.shape[1:3]}")
    av, file = _av(), io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1001))
        stream.height, stream.width, stream.pix_fmt = *frames.shape[1:3], "yuv420p"
        stream.options = {
            "qp": str(quantiser), "g": "1", "preset": "ultrafast", "threads": "1",
        }  # fmt: skip
        for picture in frames:
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return file.getvalue()


def decoded(content: bytes) -> UInt8[np.ndarray, "time height width 3"]:
    """The pictures of bytes that `coded` made."""
    av = _av()
    with av.open(io.BytesIO(content)) as container:
        return np.stack([f.to_ndarray(format="rgb24") for f in container.decode(video=0)])


def _av() -> ModuleType:
    try:
        return importlib.import_module("av")
    except ImportError:
        raise ValueError(
            "video needs PyAV; install it with `pip install 'cosmolabe[video]'`"
        ) from None
