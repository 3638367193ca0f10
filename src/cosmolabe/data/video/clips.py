"""From a file to the clips a judge sees: which frames a sampling shows, drawn once each."""

import contextlib
import math
import os
import stat
import sys
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from cosmolabe.core.clip import Clip
from cosmolabe.data.video.container import Video
from cosmolabe.data.video.protocols import (
    CANVASES,
    EPSILON,
    LIMITS,
    SAMPLINGS,
    Canvas,
    Limits,
    Sampling,
)
from cosmolabe.data.video.source import Source, Unsure, one_line
from cosmolabe.data.video.stills import Animation, Folder
from cosmolabe.data.video.stored import Stored

STDIN = "-"


@dataclass(frozen=True)
class Window:
    """Which frames one clip shows, and when."""

    times: np.ndarray
    """Grid times in seconds."""
    numbers: np.ndarray
    """Frame that each of them shows."""
    fps: float


def open_clips(
    path: Path | str,
    sampling: Sampling = SAMPLINGS["physics-1"],
    canvas: Canvas = CANVASES["physics-1"],
    limits: Limits = LIMITS,
    *,
    fps: float | None = None,
) -> list[Clip]:
    """The windows of a video, one clip each (`multi` gives several).

    `path` is a video, a picture, a folder of numbered pictures, .npy, .npz, or "-" for what comes
    in on stdin. `fps` is the rate of pictures and arrays that state none.

    Raises:
        ValueError: Nothing can be judged of it; says why, in one line.
    """
    clips, held = [], 0
    for clip in each_clip(path, sampling, canvas, limits, fps=fps):
        held += clip.frames.nbytes
        if held > limits.bytes:
            raise ValueError(
                f"{path}: its windows take more than {limits.bytes} bytes; use each_clip"
            )
        clips.append(clip)
    return clips


def each_clip(
    path: Path | str,
    sampling: Sampling = SAMPLINGS["physics-1"],
    canvas: Canvas = CANVASES["physics-1"],
    limits: Limits = LIMITS,
    *,
    fps: float | None = None,
) -> Iterator[Clip]:
    """The same one after another, holding no more pictures than the windows overlap."""
    try:
        with spooled(path, limits) as real, source(real, sampling, limits, fps) as video:
            given = 0
            for _ in range(2):
                windows = windows_of(video, sampling)[given:]
                try:
                    for clip in _cut(video, windows, sampling, canvas, given):
                        yield clip
                        given += 1
                    return
                except Unsure:
                    video.resurvey()
            raise ValueError(f"{path}: its frames change from one decoding to the next")
    except OSError as error:  # FFmpeg's errors are among them
        raise ValueError(f"{path} cannot be read ({one_line(error)})") from None
    except MemoryError:
        raise ValueError(f"{path} needs more memory to decode than there is") from None


@contextlib.contextmanager
def source(
    path: Path, sampling: Sampling, limits: Limits, fps: float | None = None
) -> Generator[Source]:
    """The opened video; what it is is told from its first bytes, not from its name."""
    until = None
    if sampling.window == "start" and sampling.grid == "time":
        until = sampling.seconds + 0.5
    video = _opened(path, limits, fps, sampling.fps, until)
    try:
        yield video
    finally:
        video.close()


@contextlib.contextmanager
def spooled(path: Path | str, limits: Limits) -> Generator[Path]:
    """The path itself, or stdin's bytes in a file that is gone afterwards."""
    if str(path) != STDIN:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as room:
        whole, left = Path(room) / "stdin", limits.bytes
        with whole.open("wb") as file:
            while piece := sys.stdin.buffer.read(1 << 20):
                left -= len(piece)
                if left < 0:
                    raise ValueError(f"stdin brings more than {limits.bytes} bytes (limit `bytes`)")
                file.write(piece)
        yield whole


def _opened(
    path: Path, limits: Limits, fps: float | None, assumed: float, until: float | None
) -> Source:
    if path.is_dir():
        video = Folder(path, limits, fps or assumed)
        if fps is None:
            video.warnings.append(f"a folder of pictures states no rate; {assumed:g} fps assumed")
        return video
    head = _head(path, limits)
    if head[:6] == b"\x93NUMPY" or head[:4] == b"PK\x03\x04":
        return Stored(path, limits, fps, assumed)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Animation(path, limits)
    if head[:8] == b"\x89PNG\r\n\x1a\n" and b"acTL" not in head:
        return Folder(path, limits, fps or assumed)
    if head[:3] == b"\xff\xd8\xff" or head[:2] == b"BM":
        return Folder(path, limits, fps or assumed)
    _refuse_claims(path, head, limits)
    return Video(path, limits, until)


def _head(path: Path, limits: Limits) -> bytes:
    """The first bytes of a plain file that may be read and is not far too large."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise ValueError(f"no file {path}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror})") from None
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is not a plain file; put the file itself there")
    if status.st_size == 0:
        raise ValueError(f"{path} is empty (0 bytes)")
    if status.st_size > limits.bytes:
        raise ValueError(f"{path} has {status.st_size} bytes; limit `bytes` is {limits.bytes}")
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror})") from None
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise ValueError(f"{path} is a pickle, not a video; it was not opened")
    if _is_text(head):
        raise ValueError(f"{path} is text, not a video")
    return head


def _is_text(head: bytes) -> bool:
    if b"\0" in head or head.startswith(b"YUV4MPEG2"):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4 and error.start > 16
    return True


def _refuse_claims(path: Path, head: bytes, limits: Limits) -> None:
    """Sizes that a header states, before any library makes room for them."""
    width = height = 0
    if head[:4] == b"GIF8":
        width, height = (int.from_bytes(head[at : at + 2], "little") for at in (6, 8))
    elif head[:8] == b"\x89PNG\r\n\x1a\n":
        width, height = (int.from_bytes(head[at : at + 4], "big") for at in (16, 20))
    if width * height > limits.pixels:
        raise ValueError(
            f"{path} has frames of {width}x{height}; at most {limits.pixels} pixels are decoded "
            "(limit `pixels`)"
        )


def windows_of(video: Source, sampling: Sampling) -> list[Window]:
    """The windows of a sampling over a video, in the order of their starts."""
    if sampling.grid == "released":
        return [_released(video, sampling)]
    # Grid times before the last frame ends; the small share forgives a clock's rounding.
    total = max(1, math.ceil(video.end * sampling.fps - 0.02))
    length = min(total, sampling.frames)
    if sampling.window == "span" and total > sampling.frames:
        times = np.linspace(0, (total - 1) / sampling.fps, sampling.frames)
        rate = (sampling.frames - 1) / times[-1] if sampling.frames > 1 else sampling.fps
        return [_shown(video, times, rate, sampling)]
    if sampling.window == "multi":
        starts = list(range(0, total - length + 1, sampling.steps))
        if starts[-1] + length < total:  # the end is seen too, by a full window
            starts.append(total - length)
    else:
        starts = [(total - length) // 2 if sampling.window == "centre" else 0]
    return [
        _shown(video, (start + np.arange(length)) / sampling.fps, sampling.fps, sampling)
        for start in starts
    ]


def _shown(video: Source, times: np.ndarray, rate: float, sampling: Sampling) -> Window:
    numbers = np.searchsorted(video.times, times + EPSILON, side="right") - 1
    return _held(times, np.maximum(numbers, 0), rate, sampling)


def _held(times: np.ndarray, numbers: np.ndarray, rate: float, sampling: Sampling) -> Window:
    missing = sampling.frames - len(times)
    if sampling.hold_last and missing > 0:
        times = np.concatenate([times, times[-1] + np.arange(1, missing + 1) / rate])
        numbers = np.concatenate([numbers, np.full(missing, numbers[-1])])
    return Window(times, numbers, rate)


def _released(video: Source, sampling: Sampling) -> Window:
    """Frame numbers as phyprobe 0.1.0 chooses them: by the mean rate, whatever the true times."""
    total, native = len(video.times), video.rate or 30.0
    resampled = max(1, round(total / native * sampling.fps))
    numbers = [min(total - 1, round(i / sampling.fps * native)) for i in range(resampled)]
    if sampling.window == "start":
        numbers = numbers[: sampling.frames]
    if len(numbers) < sampling.frames:
        places = np.arange(len(numbers))
        times = places / sampling.fps
        return _held(times, np.array(numbers), sampling.fps, sampling)
    places = np.linspace(0, len(numbers) - 1, sampling.frames)
    places = np.array([round(float(place)) for place in places])
    times = places / sampling.fps
    rate = (sampling.frames - 1) / times[-1] if sampling.frames > 1 and times[-1] else sampling.fps
    return Window(times, np.array(numbers)[places], float(rate))


def _cut(
    video: Source, windows: list[Window], sampling: Sampling, canvas: Canvas, first: int
) -> Iterator[Clip]:
    """One pass over the frames that any window shows; each is drawn once and let go in time."""
    wanted = sorted({int(number) for window in windows for number in window.numbers})
    frames = video.pictures(wanted)
    held: dict[int, np.ndarray] = {}
    # The squares of the only window lie side by side from the start and need no copy.
    side = canvas.size
    room = np.empty((len(wanted) if len(windows) == 1 else 0, side, side, 3), np.uint8)
    for place, window in enumerate(windows):
        last = int(window.numbers.max())
        while last not in held:
            number, picture = next(frames, (None, None))
            if number is None or picture is None:
                raise Unsure
            square = room[len(held)] if len(room) else np.empty((side, side, 3), np.uint8)
            picture.draw(canvas, square)
            held[number] = square
        yield _clip(video, window, held, room, sampling, first + place)
        if place + 1 < len(windows):
            begins = int(windows[place + 1].numbers.min())
            held = {number: drawn for number, drawn in held.items() if number >= begins}


def _clip(
    video: Source,
    window: Window,
    held: dict[int, np.ndarray],
    room: np.ndarray,
    sampling: Sampling,
    number: int,
) -> Clip:
    """Pictures that are equal to the byte are held once."""
    used = sorted({int(n) for n in window.numbers})
    if not held.keys() >= set(used):
        raise Unsure
    places: dict[bytes, int] = {}
    pictures: list[np.ndarray] = []
    place_of: dict[int, int] = {}
    for frame in used:
        name = xxhash.xxh3_128_digest(held[frame].data)
        if name not in places:
            places[name] = len(pictures)
            pictures.append(held[frame])
        place_of[frame] = places[name]
    shown = np.array([place_of[int(n)] for n in window.numbers], np.int64)
    facts: dict[str, Any] = dict(video.facts)
    facts |= {
        "sampling": sampling.name,
        "window": number,
        "window_start": float(window.times[0]),
        "window_end": float(window.times[-1]),
        "frames_shown": len(used),
        "doubtful": sum(frame in video.doubtful for frame in used),
        "frozen": len(used) - len(pictures),
        "warnings": [*video.warnings, *_remarks(facts)],
    }
    whole = room if len(room) == len(pictures) else np.stack(pictures)
    return Clip(
        whole, shown, window.times.astype(np.float64), float(window.fps),
        _source_fps(video, window), facts,
    )  # fmt: skip


def _remarks(facts: dict[str, Any]) -> list[str]:
    """What single facts mean for a judge."""
    remarks = []
    if facts.get("interlaced"):
        remarks.append("interlaced: fields of two moments are woven into one picture")
    if missing := facts.get("missing_by_clock"):
        remarks.append(f"{missing} frames are missing by the clock: left out, or lost")
    if facts.get("frames") == 1:
        remarks.append("one frame only: nothing moves")
    return remarks


def _source_fps(video: Source, window: Window) -> float:
    """Frames a second that the source has between the first and last of this window."""
    first, last = int(window.numbers.min()), int(window.numbers.max())
    if last > first:
        return float((last - first) / (video.times[last] - video.times[first]))
    return float(video.rate)
