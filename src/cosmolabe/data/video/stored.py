"""Pictures stored as plain arrays: .npy and .npz. Nothing in them is ever unpickled.

An array is read picture by picture from where it lies, so a long one costs no more memory than a
short one. Form: (T, H, W), (T, H, W, 1|3|4) or (T, 1|3|4, H, W); uint8, uint16 or floats in 0..1.
"""

import io
import lzma
import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.data.video.letterbox import letterbox
from cosmolabe.data.video.protocols import Canvas, Limits
from cosmolabe.data.video.source import one_line, over

NAMES = ("frames", "video", "pictures", "images", "arr_0")
"""Members of an .npz that may hold the pictures, in this order; else its only array."""
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError)
"""What reading a damaged, encrypted or strangely packed archive raises."""
DTYPES = ("uint8", "uint16", "float16", "float32", "float64")


@dataclass(frozen=True)
class ArrayPicture:
    """One picture as it lies in the file."""

    values: np.ndarray
    """(H, W), (H, W, C) in uint8."""

    def draw(self, canvas: Canvas, square: np.ndarray) -> None:
        """Grey as RGB, transparency laid over the fill."""
        values = self.values[..., None] if self.values.ndim == 2 else self.values
        if values.shape[-1] == 4:
            values = over(values, canvas.fill)
        letterbox(np.broadcast_to(values, (*values.shape[:2], 3)), canvas, square)


class Stored:
    """An array as a video; see `source.Source`."""

    def __init__(self, path: Path, limits: Limits, fps: float | None, assumed: float) -> None:
        """Read the header; the rate is `fps`, what the file says, or `assumed`."""
        self.path = path
        self.warnings: list[str] = []
        self.doubtful: set[int] = set()
        self.archive, self.member, stated = _member(path, limits)
        try:
            self._read_header(limits, fps or stated, assumed)
        except BaseException:
            self.close()
            raise

    def _read_header(self, limits: Limits, rate: float | None, assumed: float) -> None:
        path = self.path
        with self._opened() as file:
            self.shape, self.dtype, fortran, self.start = _header(file, path)
        self.first = _axes(self.shape, path)
        if fortran:
            raise ValueError(f"{path} is stored column by column; save np.ascontiguousarray of it")
        height, width, _ = self._form()
        if height * width > limits.pixels:
            raise ValueError(
                f"{path} has pictures of {width}x{height}; at most {limits.pixels} pixels are read "
                "(limit `pixels`)"
            )
        self._check_bytes(limits)
        if rate is None:
            self.warnings.append(f"no rate given (`fps` in the .npz); {assumed:g} fps assumed")
            rate = assumed
        if not 0 < rate < 10_000:
            raise ValueError(f"{path}: fps is frames per second, above 0; got {rate}")
        count = self.shape[0]
        if count > limits.frames or count / rate > limits.seconds:
            raise ValueError(
                f"{path} has {count} frames at {rate:g} fps (limits `frames`, `seconds`)"
            )
        self.times, self.end, self.rate = np.arange(count) / rate, count / rate, float(rate)
        self.facts: dict[str, Any] = {
            "kind": "arrays",
            "codec": self.dtype.name,
            "width": width,
            "height": height,
            "frames": count,
            "seconds": self.end,
            "alpha": self._form()[2] == 4,
        }

    def pictures(self, wanted: Sequence[int]) -> Iterator[tuple[int, ArrayPicture]]:
        """Those pictures, read from where they lie."""
        size = math.prod(self.shape[1:]) * self.dtype.itemsize
        with self._opened() as file:
            for index in wanted:
                try:
                    file.seek(self.start + index * size)
                    data = file.read(size)
                except DAMAGE as error:
                    raise ValueError(
                        f"{self.path} is damaged ({one_line(error)}); write it again"
                    ) from None
                if len(data) < size:
                    raise ValueError(f"{self.path} is cut short at frame {index}; write it again")
                picture = np.frombuffer(data, self.dtype).reshape(self.shape[1:])
                yield index, ArrayPicture(self._bytes(picture))

    def resurvey(self) -> None:
        """The header told all there is."""

    def close(self) -> None:
        """Close the archive."""
        if self.archive is not None:
            self.archive.close()

    def _opened(self) -> io.BufferedIOBase:
        if self.archive is None:
            return self.path.open("rb")
        try:
            file = self.archive.open(self.member)
        except DAMAGE as error:
            raise ValueError(
                f"{self.path} is damaged ({one_line(error)}); write it again"
            ) from None
        assert isinstance(file, io.BufferedIOBase)
        return file

    def _form(self) -> tuple[int, int, int]:
        """Height, width, channels."""
        if len(self.shape) == 3:
            return self.shape[1], self.shape[2], 1
        if self.first:
            return self.shape[2], self.shape[3], self.shape[1]
        return self.shape[1], self.shape[2], self.shape[3]

    def _check_bytes(self, limits: Limits) -> None:
        needed = math.prod(self.shape) * self.dtype.itemsize
        if needed > limits.bytes:
            raise ValueError(f"{self.path} claims {needed} bytes; limit `bytes` is {limits.bytes}")
        if self.archive is not None:
            held = self.archive.getinfo(self.member).file_size
        else:
            held = self.path.stat().st_size
        if held < self.start + needed:
            raise ValueError(
                f"{self.path} claims {self.shape} but holds {held} bytes; it is cut short"
            )

    def _bytes(self, picture: np.ndarray) -> UInt8[np.ndarray, "..."]:
        picture = np.moveaxis(picture, 0, -1) if self.first else picture
        if self.dtype.kind == "u" and self.dtype.itemsize == 1:
            return picture
        if self.dtype.kind == "u":
            return np.round(picture / 257).astype(np.uint8)
        if not (np.isfinite(picture).all() and picture.min() >= 0 and picture.max() <= 1):
            raise ValueError(f"{self.path}: floats are colours in 0..1, and finite")
        return np.round(picture.astype(np.float64) * 255).astype(np.uint8)


def _member(path: Path, limits: Limits) -> tuple[zipfile.ZipFile | None, str, float | None]:
    """The archive, the name of the pictures in it, and the rate that it states."""
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return None, "", None
    archive = None
    try:
        archive = zipfile.ZipFile(path)
        names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
        rate = None
        if "fps" in names and archive.getinfo("fps.npy").file_size < 4096:
            with archive.open("fps.npy") as file:
                stated = np.lib.format.read_array(file, allow_pickle=False).reshape(-1)[0]
            if stated.dtype.kind not in "iuf":
                raise ValueError(f"fps is a number; got {stated.dtype}")
            rate = float(stated)
        pictures = [name for name in names if name != "fps"]
        chosen = next((name for name in NAMES if name in pictures), None)
        if chosen is None and len(pictures) != 1:
            raise ValueError(f"no array of {list(NAMES)}; it has {sorted(names)}")
        return archive, f"{chosen or pictures[0]}.npy", rate
    except (*DAMAGE, IndexError, ValueError) as error:
        if archive is not None:
            archive.close()
        raise ValueError(
            f"{path} cannot be read as .npz ({one_line(error)}); write it again"
        ) from None


def _header(file: io.BufferedIOBase, path: Path) -> tuple[tuple[int, ...], np.dtype, bool, int]:
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read is None:
            raise ValueError(f"version {version}")
        shape, fortran, dtype = read(file)
    except Exception as error:  # whatever a damaged header or deflate stream raises
        raise ValueError(
            f"{path} cannot be read as an array ({one_line(error)}); write it again"
        ) from None
    if dtype.hasobject or dtype.name not in DTYPES:
        raise ValueError(f"{path} holds {dtype}, not colours; have {list(DTYPES)}")
    return shape, dtype, fortran, file.tell()


def _axes(shape: tuple[int, ...], path: Path) -> bool:
    """Whether the channels come first."""
    if len(shape) in (3, 4) and all(n > 0 for n in shape):
        if len(shape) == 3 or shape[3] in (1, 3, 4):
            return False
        if shape[1] in (1, 3, 4):
            return True
    raise ValueError(f"{path} has shape {shape}; a video is (T, H, W, 3), and not empty")
