"""Frozen nets as eyes: pictures one by one, or several together, always in the same chunks.

A net runs on a fixed number of items at once, the last chunk filled up with grey. So what stands
beside a clip, and in which order, changes nothing in its features.
"""

import contextlib
from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import numpy as np
import torch
import xxhash
from jaxtyping import Float
from torch import Tensor, nn

from cosmolabe.core.clip import Clip
from cosmolabe.core.protocol import fingerprint
from cosmolabe.nets.pixels import FILL, Look, from_pictures

PRECISIONS = ("fp32", "bf16")
Net = TypeVar("Net", bound=nn.Module)
AT_ONCE = 8  # pictures fitted into the square at once
VERSION = 1
"""Of what stands in this file and in `nets.pixels`; part of every key."""


class _Eye:
    def __init__(
        self,
        name: str,
        net: nn.Module,
        look: Look,
        width: int,
        device: str = "",
        precision: str = "fp32",
    ) -> None:
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        if precision not in PRECISIONS:
            raise ValueError(f"precision is one of {list(PRECISIONS)}; got {precision!r}")
        if precision == "bf16" and device == "cpu":
            raise ValueError(
                "bf16 on a CPU is about 200 times slower than fp32; leave precision at 'fp32'"
            )
        self.name, self.width, self.canvas, self.look = name, width, look.canvas, look
        self.weights = weights_hash(net)
        """Hash of every number of the net."""
        self.key = fingerprint(name, look, width, self.weights, precision, VERSION)
        self.net = net.to(device).eval().requires_grad_(False)
        self.device, self.precision = device, precision

    @contextlib.contextmanager
    def exactly(self) -> Generator[None]:
        """What runs inside is computed in this eye's precision: fp32 is not quietly TF32."""
        with contextlib.ExitStack() as stack:
            if self.device != "cpu":
                stack.enter_context(torch.backends.cudnn.flags(allow_tf32=False))
            if self.precision == "bf16":
                kind = self.device.partition(":")[0]
                stack.enter_context(torch.autocast(kind, torch.bfloat16))
            yield

    def _run(self, pixels: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        with self.exactly():
            return self.net(pixels).float()

    def _finite(self, features: Tensor) -> np.ndarray:
        found = features.float().cpu().numpy()
        if not np.isfinite(found).all():
            raise ValueError(
                f"encoder '{self.name}' gave NaN or infinity; are its weights whole, and is "
                f"{self.precision} wide enough for them?"
            )
        return found


class PictureEye(_Eye):
    """Each picture by itself: `net` takes (n, 3, canvas, canvas) and gives (n, width)."""

    def __init__(
        self,
        name: str,
        net: nn.Module,
        look: Look,
        width: int,
        device: str = "",
        precision: str = "fp32",
        chunk: int = 0,
    ) -> None:
        super().__init__(name, net, look, width, device, precision)
        self.chunk = chunk or (1 if self.device == "cpu" else 16)
        """Pictures at once. On one core more are hardly faster, and a lone picture costs them."""

    def encode(self, clip: Clip) -> Float[np.ndarray, "time width"]:
        """One row a grid time; a picture that is shown more than once is looked at once."""
        used, place = np.unique(clip.shown, return_inverse=True)
        rows = []
        with torch.inference_mode():
            for first in range(0, len(used), self.chunk):
                pictures = clip.frames[used[first : first + self.chunk]]
                rows.append(self._rows(from_pictures(pictures, self.device)))
        return self._finite(torch.cat(rows))[place]

    def features(
        self, pixels: Float[Tensor, "batch time 3 tall wide"]
    ) -> Float[Tensor, "batch time width"]:
        """The same of pixels in 0..1, with a gradient to them."""
        flat = pixels.to(self.device).flatten(0, 1)
        rows = [self._rows(part) for part in flat.split(self.chunk)]
        return torch.cat(rows).unflatten(0, pixels.shape[:2])

    def _rows(self, pixels: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n width"]:
        lacking = self.chunk - len(pixels)
        if lacking:
            grey = pixels.new_full((lacking, *pixels.shape[1:]), FILL)
            pixels = torch.cat([pixels, grey])
        return self._run(self.look(pixels))[: self.chunk - lacking]


class MotionEye(_Eye):
    """Several pictures together: `net` takes (1, time, 3, canvas, canvas), gives (1, row, width).

    One clip at a time: what the net makes of a time depends on the other times.
    """

    def encode(self, clip: Clip) -> Float[np.ndarray, "row width"]:
        """Rows of the window as it plays, repeats included: a still second is a second."""
        with torch.inference_mode():
            return self._finite(self._run(self.looked(clip)))[0]

    def looked(self, clip: Clip) -> Float[Tensor, "1 time 3 canvas canvas"]:
        """The window as the net takes it; a few pictures at a time, for they may be large."""
        starts = range(0, len(clip.frames), AT_ONCE)
        pieces = (from_pictures(clip.frames[i : i + AT_ONCE], self.device) for i in starts)
        pictures = torch.cat([self.look(piece) for piece in pieces])
        shown = torch.from_numpy(np.ascontiguousarray(clip.shown)).to(self.device)
        return pictures[shown][None]

    def features(
        self, pixels: Float[Tensor, "batch time 3 tall wide"]
    ) -> Float[Tensor, "batch row width"]:
        """The same of pixels in 0..1, with a gradient to them."""
        clips = pixels.to(self.device)
        return torch.cat([self._run(self.look(clip)[None]) for clip in clips])


def weights_hash(net: nn.Module) -> str:
    """32 hex digits of names, shapes and numbers; the same wherever the net came from."""
    found = xxhash.xxh3_128()
    for name, tensor in sorted(net.state_dict().items()):
        found.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        for part in _parts(tensor):
            found.update(part)
    return found.hexdigest()


def _parts(tensor: Tensor) -> Iterator[bytes]:
    flat = tensor.detach().cpu().contiguous().flatten()
    yield from (part.view(torch.uint8).numpy().tobytes() for part in flat.split(1 << 24))


def untrained(build: Callable[[], Net], seed: int = 0) -> Net:
    """`build()` with the same random numbers each time; the caller's generator is left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def hold_last(
    pixels: Float[Tensor, "1 time 3 height width"], length: int
) -> Float[Tensor, "1 length 3 height width"]:
    """The window made `length` long by its last picture."""
    lacking = length - pixels.shape[1]
    assert lacking >= 0
    return torch.cat([pixels, pixels[:, -1:].expand(-1, lacking, -1, -1, -1)], 1)
