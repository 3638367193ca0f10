"""What passes between whoever asks for predictions and the process that makes them.

One frame a chunk of windows, on stdin: a line of JSON (B, W, H, N, the widths, how many rows the
masks have, the seed), then the arrays of a Context one after the other, little-endian float32 and
uint8. The answer on stdout is nothing but the float32 bytes of a Prediction: states, globals,
terminal. The future of the states is in no frame, so no answer can come from it.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import BinaryIO

import numpy as np

from cosmolabe.core.manifest import Masks
from cosmolabe.core.rollout import Context, Prediction

LONGEST_HEADER = 4096  # bytes
FLOAT = np.dtype("<f4")
BYTE = np.dtype(np.uint8)


def frame_of(context: Context, seed: int = 0) -> bytes:
    """The bytes that ask for one chunk; arrays are copied, so nothing lies in memory behind it."""
    masks = context.masks
    if masks.valid.ndim != masks.mutable.ndim:
        both = np.broadcast_arrays(masks.valid, masks.mutable)
        masks = replace(masks, valid=both[0], mutable=both[1])
    head = _header(context, masks, seed)
    out = [json.dumps(head).encode() + b"\n"]
    for name, shape in _array_shapes(head).items():
        out.append(np.broadcast_to(getattr(context, name), shape).astype(FLOAT).tobytes())
    for name, shape in _mask_shapes(head).items():
        out.append(np.broadcast_to(getattr(masks, name), shape).astype(BYTE).tobytes())
    return b"".join(out)


def read_frame(stream: BinaryIO) -> tuple[Context, int] | None:
    """The next context and its seed; None where no more is asked."""
    line = stream.readline(LONGEST_HEADER)
    if not line:
        return None
    head: dict[str, int] = json.loads(line)
    arrays = {name: _take(stream, shape, FLOAT) for name, shape in _array_shapes(head).items()}
    masks = {name: _take(stream, shape, BYTE) > 0 for name, shape in _mask_shapes(head).items()}
    return Context(**arrays, masks=Masks(**masks)), head["seed"]


def answer_shapes(context: Context) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays that answer a context, in the order they come."""
    batch, horizon, slots = len(context), context.horizon, context.states.shape[2]
    return {
        "states": (batch, horizon, slots, context.states.shape[-1] - 6),  # no motion
        "globals": (batch, horizon, context.globals.shape[-1]),
        "terminal": (batch, horizon),
    }


def answer_size(context: Context) -> int:
    """Exactly how many bytes answer a context."""
    return FLOAT.itemsize * sum(int(np.prod(s)) for s in answer_shapes(context).values())


def answer_of(context: Context, prediction: Prediction) -> bytes:
    """The bytes of a prediction, which must have the shapes asked for."""
    out = []
    for name, shape in answer_shapes(context).items():
        array = np.asarray(getattr(prediction, name))
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
        out.append(array.astype(FLOAT).tobytes())
    return b"".join(out)


def prediction_of(context: Context, data: bytes) -> Prediction:
    """The prediction in an answer; refused unless it is exactly as long as it must be."""
    if len(data) != answer_size(context):
        raise ValueError(f"an answer of {len(data)} bytes, expected {answer_size(context)}")
    arrays, at = {}, 0
    for name, shape in answer_shapes(context).items():
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, FLOAT, count, at).reshape(shape).astype(np.float32)
        at += FLOAT.itemsize * count
    return Prediction(**arrays)


def _header(context: Context, masks: Masks, seed: int) -> dict[str, int]:
    batch, window, slots, state = context.states.shape
    return {
        "B": batch,
        "W": window,
        "H": context.horizon,
        "N": slots,
        "registry": context.registry.shape[-1],
        "state": state,
        "global": context.globals.shape[-1],
        "action": context.actions.shape[-1],
        "masks": masks.valid.shape[0] if masks.valid.ndim > 1 else 0,
        "seed": seed,
    }


def _array_shapes(head: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    batch, window, slots = head["B"], head["W"], head["N"]
    return {
        "registry": (batch, slots, head["registry"]),
        "states": (batch, window, slots, head["state"]),
        "globals": (batch, window, head["global"]),
        "actions": (batch, window + head["H"], head["action"]),
    }


def _mask_shapes(head: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    rows = (head["masks"], head["N"]) if head["masks"] else (head["N"],)
    fields = head["state"] - 9  # neither x, y, alive, velocity nor the four history deltas
    return {
        "valid": rows,
        "mutable": rows,
        "fields": (fields,),
        "globals": (head["global"],),
        "actions": (head["action"],),
        "wrap": (2,),
    }


def _take(stream: BinaryIO, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = int(np.prod(shape)) * dtype.itemsize
    data = stream.read(size)
    if len(data) != size:
        raise ValueError(f"a frame ended after {len(data)} of {size} bytes")
    return np.frombuffer(data, dtype).reshape(shape).copy()
