"""Pictures by Pillow: one alone, a folder of them in the order of their numbers, animated WebP."""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from cosmolabe.data.video.letterbox import letterbox
from cosmolabe.data.video.protocols import Canvas, Limits
from cosmolabe.data.video.source import one_line, over

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")
FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "GIF")


@dataclass(frozen=True)
class StillPicture:
    """One picture in RGB, RGBA or what Pillow makes into them."""

    image: Image.Image

    def draw(self, canvas: Canvas, square: np.ndarray) -> None:
        """Transparency laid over the fill."""
        letterbox(_colours(self.image, canvas.fill), canvas, square)


class Folder:
    """Numbered pictures as a video; see `source.Source`."""

    def __init__(self, path: Path, limits: Limits, fps: float) -> None:
        """List a folder's pictures, or take one file as the only one."""
        self.path, self.limits = path, limits
        self.files = in_order(path) if path.is_dir() else [path]
        if not self.files:
            raise ValueError(f"{path} holds no pictures ({', '.join(SUFFIXES)})")
        if len(self.files) > limits.frames:
            raise ValueError(f"{path} has more than {limits.frames} frames (limit `frames`)")
        size = sum(file.stat().st_size for file in self.files)
        if size > limits.bytes:
            raise ValueError(f"{path} holds {size} bytes; limit `bytes` is {limits.bytes}")
        self.warnings: list[str] = []
        self.doubtful: set[int] = set()
        self.times = np.arange(len(self.files)) / fps
        self.end, self.rate = len(self.files) / fps, fps
        first = self._opened(self.files[0])
        self.size = first.size
        self.facts: dict[str, Any] = {
            "kind": "pictures",
            "codec": (first.format or "").lower(),
            "width": first.width,
            "height": first.height,
            "frames": len(self.files),
            "seconds": self.end,
            "alpha": _transparent(first),
        }
        first.close()

    def pictures(self, wanted: Sequence[int]) -> Iterator[tuple[int, StillPicture]]:
        """Those pictures; one that cannot be read shows the one before it."""
        for index in wanted:
            for number in range(index, -1, -1):
                try:
                    with self._opened(self.files[number]) as image:
                        upright = ImageOps.exif_transpose(image)
                        upright.load()
                    break
                except ValueError:
                    self._note(number)
                    if number == 0:
                        raise
                except (OSError, SyntaxError, EOFError):
                    self._note(number)
            else:
                raise ValueError(f"{self.path}: {self.files[0].name} cannot be read as a picture")
            self._compare(number, image.size)
            yield index, StillPicture(upright)

    def _compare(self, number: int, size: tuple[int, int]) -> None:
        """Each picture is fitted into the square by itself, so other sizes look like motion."""
        if size != self.size and "sizes" not in self.facts:
            self.facts["sizes"] = [list(self.size), list(size)]
            self.warnings.append(
                f"{self.files[number].name} has {size[0]}x{size[1]} pixels, "
                f"{self.files[0].name} {self.size[0]}x{self.size[1]}: each is fitted by itself"
            )

    def _note(self, number: int) -> None:
        if number not in self.doubtful:
            self.doubtful.add(number)
            self.warnings.append(f"{self.files[number].name} cannot be read; shows the one before")
            self.facts["lost_frames"] = len(self.doubtful)

    def resurvey(self) -> None:
        """A list of files needs no second look."""

    def close(self) -> None:
        """Nothing stays open."""

    def _opened(self, file: Path) -> Image.Image:
        return open_image(file, self.limits)


class Animation:
    """Animated WebP; see `source.Source`."""

    def __init__(self, path: Path, limits: Limits) -> None:
        """Read how long each frame stands from the file's chunks, without decoding."""
        self.path = path
        self.image = open_image(path, limits)
        count = int(getattr(self.image, "n_frames", 1))
        durations = webp_durations(path, limits.frames)[:count] or [0]
        if len(durations) < count:
            durations += [durations[-1]] * (count - len(durations))
        if count > limits.frames:
            raise ValueError(f"{path} has more than {limits.frames} frames (limit `frames`)")
        seconds = np.array([d if d > 10 else 100 for d in durations]) / 1000  # as browsers do
        ends = np.cumsum(seconds)
        if ends[-1] > limits.seconds:
            raise ValueError(f"{path} is longer than {limits.seconds:g} s (limit `seconds`)")
        self.warnings: list[str] = []
        self.doubtful: set[int] = set()
        self.times = np.concatenate([[0.0], ends[:-1]])
        self.end = float(ends[-1])
        self.rate = count / self.end
        self.facts: dict[str, Any] = {
            "kind": "video",
            "container": "webp",
            "codec": "webp",
            "width": self.image.width,
            "height": self.image.height,
            "frames": count,
            "seconds": self.end,
            "variable_rate": len(set(durations)) > 1,
            "alpha": _transparent(self.image),
        }

    def pictures(self, wanted: Sequence[int]) -> Iterator[tuple[int, StillPicture]]:
        """Those frames; what a broken one leaves is the picture before it."""
        last: Image.Image | None = None
        for index in wanted:
            try:
                self.image.seek(index)
                self.image.load()
                last = self.image.copy()
            except (OSError, EOFError, SyntaxError, ValueError):
                self.doubtful.add(index)
                self.facts["lost_frames"] = len(self.doubtful)
                if last is None:
                    raise ValueError(f"{self.path}: frame {index} cannot be decoded") from None
            yield index, StillPicture(last)

    def resurvey(self) -> None:
        """The chunks told all there is."""

    def close(self) -> None:
        """Close the file."""
        self.image.close()


def in_order(folder: Path) -> list[Path]:
    """Its pictures; numbers in names count as numbers, so frame_10 follows frame_9."""
    files = [
        file
        for file in folder.iterdir()
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(".") and file.is_file()
    ]
    return sorted(files, key=lambda file: natural(file.name))


def moves(file: Path) -> bool:
    """Whether a .webp holds more than one frame (chunk VP8X, bit 1), by its first bytes."""
    if file.suffix.lower() != ".webp":
        return False
    try:
        with file.open("rb") as opened:
            head = opened.read(21)
    except OSError:
        return False
    return head[12:16] == b"VP8X" and len(head) == 21 and bool(head[20] & 2)


def natural(name: str) -> list[tuple[int, str]]:
    """A name cut into text and numbers, for sorting."""
    parts = re.split(r"([0-9]{1,18})", name.casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def open_image(file: Path, limits: Limits) -> Image.Image:
    """The file's picture, not yet decoded, refused when it claims too many pixels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(file, formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise ValueError(f"{file}: {error}") from None
    except (UnidentifiedImageError, OSError, SyntaxError, EOFError, ValueError) as error:
        raise ValueError(f"{file} is no picture that can be read ({one_line(error)})") from None
    if image.width * image.height > limits.pixels:
        image.close()
        raise ValueError(
            f"{file} has {image.width}x{image.height}; at most {limits.pixels} pixels are decoded "
            "(limit `pixels`)"
        )
    return image


def webp_durations(path: Path, most: int) -> list[int]:
    """Milliseconds of each frame of an animated WebP (chunk ANMF, bytes 12 to 14)."""
    found: list[int] = []
    with path.open("rb") as file:
        file.seek(12)
        while len(head := file.read(8)) == 8 and len(found) <= most:
            size = int.from_bytes(head[4:], "little")
            start = file.tell()
            if head[:4] == b"ANMF":
                found.append(int.from_bytes(file.read(16)[12:15], "little"))
            file.seek(start + size + size % 2)
    return found


def _transparent(image: Image.Image) -> bool:
    return image.has_transparency_data


def _colours(image: Image.Image, fill: int) -> np.ndarray:
    if image.mode.startswith("I") or image.mode == "F":  # more than eight bits: scale, not clip
        values = np.asarray(image).astype(np.float64)
        grey = np.clip(values / (257 if values.max(initial=0) > 255 else 1), 0, 255)
        return np.repeat(np.round(grey).astype(np.uint8)[..., None], 3, -1)
    if image.has_transparency_data:
        return over(np.asarray(image.convert("RGBA")), fill)
    return np.asarray(image.convert("RGB"))
