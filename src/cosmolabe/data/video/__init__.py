"""Video in and out: clips for the judges of pictures, and our own episodes as mp4.

`find_inputs` says what there is, `open_clips` reads one, `safe_clips` the same in a process that
can be killed, `decoded` many with the next ones already under way. docs/video.md tells it whole.
"""

from cosmolabe.data.video.clips import each_clip, open_clips
from cosmolabe.data.video.inputs import Input, find_inputs
from cosmolabe.data.video.protocols import CANVASES, LIMITS, SAMPLINGS, Canvas, Limits, Sampling
from cosmolabe.data.video.worker import Worker, decoded, safe_clips
from cosmolabe.data.video.writing import (
    QUALITY,
    TOGETHER,
    export_video,
    read_video,
    write_video,
)

__all__ = [
    "CANVASES",
    "LIMITS",
    "QUALITY",
    "SAMPLINGS",
    "TOGETHER",
    "Canvas",
    "Input",
    "Limits",
    "Sampling",
    "Worker",
    "decoded",
    "each_clip",
    "export_video",
    "find_inputs",
    "open_clips",
    "read_video",
    "safe_clips",
    "write_video",
]
