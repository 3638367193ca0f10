"""Videos in containers, by PyAV: mp4, mov, webm, mkv, avi, gif, apng and what else FFmpeg reads.

The packets are listed first (no decoding): when each frame is shown and where decoding may begin.
Then only what the wanted frames need is decoded: a group of pictures without one is passed over,
and of the others those frames that no frame refers to are dropped before they are decoded. A file
whose packets do not keep their promise is decoded from end to end twice instead: once to see which
frames there are, once to draw them. One thread, so that a damaged file always gives the same
frames.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import numpy as np

from cosmolabe.data.video.letterbox import fitted, inside, letterbox
from cosmolabe.data.video.protocols import Canvas, Limits
from cosmolabe.data.video.source import Unsure, over
from cosmolabe.data.video.writing import pyav

FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,gif,apng,mpegts,mpeg,flv,asf,ogg,ivf,h264,hevc,"
    "obu,av1,m4v,mpegvideo,yuv4mpegpipe,nut,mxf,dv,rm,wtv"
)
"""What may be opened; no playlists (hls, concat, dash, image2), which open other files."""
MOST_MOVED = 32  # places between decoding and showing; H.264 and HEVC allow 16
MOST_SWAPPED = 8  # frames that a clock may step back before it counts as set anew
MOST_SIZES = 8  # of frames that are listed
SHORT = 0.02  # of the promised length that may lack without a word
CACHED = 1 << 26  # bytes of packets kept between listing and decoding
MATRICES = {
    0: "rgb", 1: "bt709", 4: "fcc", 5: "bt601", 6: "bt601", 7: "smpte240m", 8: "ycgco",
    9: "bt2020", 10: "bt2020c",
}  # fmt: skip
HDR = {16: "PQ (HDR10)", 18: "HLG"}
"""Transfer functions of pictures brighter than a screen's white (ITU-T H.273, table 3)."""


class AvPicture:
    """One decoded frame with what the stream says of how to show it."""

    def __init__(self, frame: Any, video: "Video") -> None:  # noqa: ANN401 - av.VideoFrame
        self.frame, self.video = frame, video

    def draw(self, canvas: Canvas, square: np.ndarray) -> None:
        """Turned upright, in the stream's colours, transparency laid over the fill."""
        frame, video = self.frame, self.video
        turns, mirrored = video.turn(frame)
        if canvas.resize == "released":
            picture = frame.to_ndarray(format="rgb24")
            letterbox(_turned(picture, turns, mirrored), canvas, square)
            return
        if _alpha(frame.format):
            frame = video.opaque(frame, canvas.fill)
        width, height = frame.width * video.sar, float(frame.height)
        if turns % 2:
            size = fitted(height, width, canvas.size)[::-1]
        else:
            size = fitted(width, height, canvas.size)
        # FFmpeg's short cuts (to packed RGB; of an unchanged size) are a level or two too dark.
        if size == (frame.width, frame.height) and not frame.format.is_rgb:
            frame = frame.reformat(format="yuv444p", interpolation="BILINEAR", threads=1)
        small = video.scaler.reformat(frame, *size, "gbrp", interpolation="BILINEAR", threads=1)
        plane = video.packer.reformat(small, *size, "rgb24", threads=1).planes[0]
        rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
        picture = rows[: size[1], : size[0] * 3].reshape(size[1], size[0], 3)
        picture = _turned(picture, turns, mirrored)
        inside(square, *picture.shape[:2], canvas.fill)[...] = picture


class Video:
    """A video in a container; see `source.Source`."""

    def __init__(self, path: Path, limits: Limits, until: float | None = None) -> None:
        """List its packets, up to those shown at `until` seconds if that is given."""
        self.av, self.path, self.limits = pyav(), path, limits
        self.warnings: list[str] = []
        self.facts: dict[str, Any] = {"kind": "video"}
        self.scaler = self.av.video.reformatter.VideoReformatter()
        self.packer = self.av.video.reformatter.VideoReformatter()
        self.turned: tuple[int, bool] | None = None
        self.sizes: list[tuple[int, int, str]] = []
        self.container: Any = None
        self.file: IO[bytes] | None = None
        try:
            self.container = self._opened()
            self.stream = self._chosen()
            self.codec = self._decoder()
            self._describe()
            self.surveyed, self.problems = False, 0
            self.doubtful: set[int] = set()
            self._list(until)
        except BaseException:
            self._shut()
            raise

    def close(self) -> None:
        """Close the file."""
        self.packets = []
        self._shut()

    def pictures(self, wanted: Sequence[int]) -> Iterator[tuple[int, AvPicture]]:
        """Those frames, decoding as little as they need."""
        return self._whole(wanted) if self.surveyed else self._needed(wanted)

    def turn(self, frame: Any) -> tuple[int, bool]:  # noqa: ANN401 - av.VideoFrame
        """How all frames are turned, as the first says."""
        if self.turned is None:
            self.turned = _turn(frame)
        return self.turned

    def opaque(self, frame: Any, fill: int) -> Any:  # noqa: ANN401 - av.VideoFrame
        """The frame itself, or its colours laid over a grey where it is transparent."""
        if frame.format.name == "bgra":  # GIF: look before converting
            plane = frame.planes[0]
            pixels = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
            if pixels[: frame.height, 3 : 4 * frame.width : 4].min() == 255:
                return frame
        picture = over(frame.to_ndarray(format="rgba"), fill)
        return self.av.VideoFrame.from_ndarray(picture, format="rgb24")

    # Opening ------------------------------------------------------------------------------------

    def _opened(self) -> Any:  # noqa: ANN401 - av.container.InputContainer
        self._shut()
        options = {"protocol_whitelist": "file", "format_whitelist": FORMATS}
        try:
            name = f"file:{self.path}"
            name.encode()
        except UnicodeEncodeError:  # a name that is no text: let Python open it
            name = self.file = self.path.open("rb")
        try:
            return self.av.open(name, options=options, metadata_errors="replace")
        except self.av.FFmpegError as error:
            raise ValueError(_why_not(self.path, error)) from None

    def _shut(self) -> None:
        if self.container is not None:
            self.container.close()
        if self.file is not None:
            self.file.close()
        self.container = self.file = None

    def _chosen(self, quiet: bool = False) -> Any:  # noqa: ANN401 - av.VideoStream
        streams = [s for s in self.container.streams.video if not _is_cover(s)]
        if not streams:
            others = sorted({s.type for s in self.container.streams})
            what = f"only {' and '.join(others)}" if others else "no stream at all"
            raise ValueError(f"{self.path} holds {what}, no video")
        stream = streams[0]
        if stream.codec_context is None:
            raise ValueError(f"{self.path}: no decoder here for its video codec")
        if len(streams) > 1 and not quiet:
            self.warnings.append(f"{len(streams)} video streams; the first is read")
        size = (stream.codec_context.width, stream.codec_context.height)
        self._check_size(*size)
        return stream

    def _check_size(self, width: int, height: int) -> None:
        if width * height > self.limits.pixels:
            raise ValueError(
                f"{self.path} has frames of {width}x{height}; at most {self.limits.pixels} pixels "
                "are decoded (limit `pixels`)"
            )

    def _decoder(self) -> Any:  # noqa: ANN401 - av.VideoCodecContext
        """The stream's own, or the one that keeps the transparency of VP8 and VP9."""
        codec = self.stream.codec_context
        alpha = {key.lower(): value for key, value in self.stream.metadata.items()}
        name = {"vp9": "libvpx-vp9", "vp8": "libvpx"}.get(codec.name)
        if alpha.get("alpha_mode") == "1" and name:
            try:
                other = self.av.CodecContext.create(name, "r")
                other.extradata = codec.extradata
                codec = other
            except (self.av.FFmpegError, ValueError):
                self.warnings.append("its transparency was dropped: no libvpx here")
        codec.thread_count = 1
        return codec

    def _describe(self) -> None:
        stream, codec = self.stream, self.stream.codec_context
        self.stated = float(stream.average_rate or 0)
        self.sar = float(stream.sample_aspect_ratio or 1) or 1.0
        matrix = int(codec.colorspace)
        transfer = int(codec.color_trc)
        self.facts |= {
            "container": self.container.format.name,
            "codec": codec.name,
            "pixel_format": codec.pix_fmt or "",
            "width": codec.width,
            "height": codec.height,
            "pixel_aspect": self.sar,
            "matrix": MATRICES.get(matrix, "bt601"),
            "matrix_tagged": matrix in MATRICES,
            "full_range": int(codec.color_range) == 2,
            "claimed_frames": int(stream.frames),
            "claimed_seconds": _claimed_seconds(stream, self.container),
        }
        if transfer in HDR:
            self.facts["hdr"] = HDR[transfer]
            self.warnings.append(f"{HDR[transfer]} shown without tone mapping: dull colours")

    # The list of packets ------------------------------------------------------------------------

    def _list(self, until: float | None) -> None:
        """Fill pts, key and place of every packet; bytes are kept while they are few."""
        size = self.path.stat().st_size if self.path.exists() else 0
        keep = size <= CACHED
        tick = self.stream.time_base or Fraction(1, 1000)
        self.tick, self.packets, self.sound = float(tick), [], True
        pts: list[int] = []
        keys: list[bool] = []
        hidden: list[bool] = []
        durations: list[int] = []
        first: int | None = None
        for packet in self._packets():
            if packet.pts is None or packet.is_corrupt:
                self.sound = False
            stamp = packet.pts if packet.pts is not None else packet.dts
            pts.append(len(pts) if stamp is None else stamp)
            keys.append(packet.is_keyframe)
            hidden.append(packet.is_discard)
            durations.append(packet.duration or 0)
            if keep:
                self.packets.append(packet)
            if len(pts) > self.limits.frames:
                raise ValueError(
                    f"{self.path} has more than {self.limits.frames} frames (limit `frames`)"
                )
            first = pts[0] if first is None else min(first, pts[-1])
            if until is not None and packet.dts is not None:
                reached = (packet.dts - first) * self.tick
                if reached > until + 2.0:  # no frame is shown that long before it is decoded
                    self.facts["listed_to"] = until
                    break
            if (pts[-1] - first) * self.tick > self.limits.seconds:
                raise ValueError(
                    f"{self.path} is longer than {self.limits.seconds:g} s (limit `seconds`)"
                )
        self.cached = keep
        self.pts, self.keys = np.array(pts, np.int64), np.array(keys, bool)
        shown = np.flatnonzero(~np.array(hidden, bool)) if pts else np.zeros(0, np.int64)
        self.place = shown[np.argsort(self.pts[shown], kind="stable")]
        """Place among the packets of each frame, in the order of showing."""
        stamps = self.pts[self.place]
        self.sound &= bool((np.diff(stamps) > 0).all()) and bool(len(self.keys) and self.keys[0])
        moved = np.abs(np.argsort(self.place) - np.arange(len(self.place)))
        self.sound &= int(moved.max(initial=0)) <= MOST_MOVED
        if not self.sound or "broken_off" in self.facts:
            self.resurvey()
            return
        last = durations[int(self.place[-1])] if len(self.place) else 0
        self._index(stamps, last)
        self._check_promise()

    def _check_promise(self) -> None:
        """A Matroska file that was cut between two packets is sound; only its header knows."""
        facts = self.facts
        lone = len(self.container.streams) == 1  # else another stream may last longer
        if "listed_to" in facts or not lone or "matroska" not in facts["container"]:
            return
        promised = (facts["claimed_seconds"] or 0.0) - facts["first_frame_at"]
        if promised - self.end > max(0.5, SHORT * promised):
            self.warnings.append(
                f"cut short: its header tells of {promised:.2f} s, its frames end at "
                f"{self.end:.2f} s"
            )

    def _index(self, stamps: np.ndarray, last_ticks: int) -> None:
        """Times from stamps in ticks, which rise."""
        if not len(stamps):
            raise ValueError(f"{self.path}: no frame of its video can be decoded")
        self.stamps = stamps
        self.times = (stamps - stamps[0]) * self.tick
        gaps = np.diff(self.times)
        stated = self.stated
        usual = float(np.median(gaps)) if len(gaps) else 1 / stated if stated else 0.0
        last = last_ticks * self.tick
        if not 0 < last <= 10 * max(usual, 1e-3):
            last = usual or 1 / 25
        self.end = float(self.times[-1]) + last
        self.rate = stated if 0 < stated < 1000 else len(stamps) / self.end
        uneven = bool(len(gaps)) and float(np.abs(gaps - gaps.mean()).max()) > 2e-3 + self.tick
        self.facts.setdefault("missing_by_clock", _missing_by_clock(gaps, usual))
        self.facts |= {
            "frames": len(stamps),
            "seconds": self.end,
            "first_frame_at": float(stamps[0] * self.tick),
            "variable_rate": uneven,
        }
        if "listed_to" in self.facts:  # what lies behind the window was not looked at
            self.facts["frames"] = self.facts["claimed_frames"] or None
            self.facts["seconds"] = self.facts["claimed_seconds"]

    def _packets(self) -> Iterator[Any]:
        """Packets with bytes in them; a file that breaks off ends the list and is noted."""
        packets = self.container.demux(self.stream)
        while True:
            try:
                packet = next(packets, None)
            except self.av.FFmpegError as error:
                self.facts["broken_off"] = str(error)
                return
            if packet is None or (packet.size == 0 and packet.pts is None):
                return
            if packet.size:
                yield packet

    # Decoding what is needed --------------------------------------------------------------------

    def _needed(self, wanted: Sequence[int]) -> Iterator[tuple[int, AvPicture]]:
        numbers = {int(self.stamps[index]): index for index in wanted}
        missing, newest = dict(numbers), -(1 << 62)
        places = {int(self.place[index]) for index in wanted}
        try:
            for start, stop in self._spans(wanted):
                for frame in self._span(start, stop, places):
                    if frame.is_corrupt or frame.pts is None or frame.pts <= newest:
                        raise Unsure  # garbled, or not in the order that the times promise
                    newest = frame.pts
                    index = missing.pop(frame.pts, None)
                    if index is not None:
                        yield index, self._picture(frame)
        except self.av.FFmpegError:
            raise Unsure from None
        finally:
            self.codec.skip_frame = "DEFAULT"
        if missing:
            raise Unsure

    def _spans(self, wanted: Sequence[int]) -> list[tuple[int, int]]:
        """Runs of packets, first and last, that hold the wanted frames and all they refer to."""
        keys = np.flatnonzero(self.keys)
        spans: list[tuple[int, int]] = []
        for index in wanted:
            place = int(self.place[index])
            number = int(np.searchsorted(keys, place, "right")) - 1
            # A frame shown before the key that precedes it refers to what stands before the key.
            while number > 0 and self.pts[keys[number]] > self.pts[place]:
                number -= 1
            start = int(keys[max(number, 0)])
            if spans and start <= spans[-1][1] + 1:
                spans[-1] = (spans[-1][0], max(spans[-1][1], place))
            else:
                spans.append((start, place))
        return spans

    def _span(self, start: int, stop: int, places: set[int]) -> Iterator[Any]:
        for place, packet in zip(range(start, stop + 1), self._from(start), strict=False):
            # Frames that none refers to and nobody wants are passed over by the decoder itself.
            self.codec.skip_frame = "DEFAULT" if place in places else "NONREF"
            yield from self.codec.decode(packet)
        yield from self.codec.decode(None)
        self.codec.flush_buffers()

    def _from(self, start: int) -> Iterator[Any]:
        """Packets from a place on, kept or read again."""
        if self.cached:
            yield from self.packets[start:]
            return
        self._seek(int(self.pts[start]))
        seen = False
        for packet in self._packets():
            seen = seen or (packet.pts == self.pts[start] and packet.is_keyframe)
            if seen:
                yield packet
            elif packet.dts is not None and packet.dts > self.pts[start]:
                raise Unsure  # landed behind it
        if not seen:
            raise Unsure

    def _seek(self, stamp: int) -> None:
        try:
            self.container.seek(stamp, stream=self.stream, backward=True, any_frame=False)
        except self.av.FFmpegError:
            raise Unsure from None

    def _picture(self, frame: Any) -> AvPicture:  # noqa: ANN401 - av.VideoFrame
        self._check_size(frame.width, frame.height)
        turns, mirrored = self.turn(frame)
        facts, shape = self.facts, frame.format
        if frame.interlaced_frame or "interlaced" not in facts:
            facts["interlaced"] = bool(frame.interlaced_frame)
        size = (frame.width, frame.height, shape.name)
        if size not in self.sizes and len(self.sizes) < MOST_SIZES:
            self.sizes.append(size)
            facts |= {"rotation": turns * 90, "mirrored": mirrored}
            facts["alpha"] = _alpha(shape) or facts.get("alpha", False)
            facts["sizes"] = [list(size) for size in self.sizes]
        return AvPicture(frame, self)

    # Decoding all of it -------------------------------------------------------------------------

    def resurvey(self) -> None:
        """Decode from end to end and keep what can be trusted."""
        stamps: list[int | None] = []
        kept: list[int] = []
        keys: list[bool] = []
        corrupt: list[int] = []
        for number, frame in enumerate(self._every()):
            if number >= self.limits.frames:
                raise ValueError(
                    f"{self.path} has more than {self.limits.frames} frames (limit `frames`)"
                )
            if frame.is_corrupt:
                corrupt.append(frame.pts or 0)
                continue
            stamps.append(frame.pts)
            kept.append(number)
            keys.append(bool(frame.key_frame))
        if all(stamp is None for stamp in stamps):  # a raw stream: its own header knows best
            self.stated = float(self.stream.guessed_rate or self.stated)
        risen = rising(stamps, max(1, round(1 / ((self.stated or 25.0) * self.tick))))
        if len(risen) and (risen[-1] - risen[0]) * self.tick > self.limits.seconds:
            raise ValueError(
                f"{self.path} is longer than {self.limits.seconds:g} s (limit `seconds`)"
            )
        self.surveyed, self.kept = True, np.array(kept, np.int64)
        self._index(risen, 0)
        listed = max(len(self.place), int(self.stream.frames))
        bad = sorted(
            {*corrupt, *(set(self.pts[self.place].tolist()) - {s for s in stamps if s is not None})}
        )
        self.doubtful = _doubtful(stamps, keys, bad)
        self.facts |= {
            "decoded_whole": True,
            "bad_packets": self.problems,
            "corrupt_frames": len(corrupt),
            "doubtful_frames": len(self.doubtful),
            "repaired_times": sum(a != b for a, b in zip(stamps, risen.tolist(), strict=True)),
            "lost_frames": max(0, listed - len(kept)),
        }
        self._say()

    def _say(self) -> None:
        facts = self.facts
        lost = facts["lost_frames"]
        if "broken_off" in facts or (facts["claimed_frames"] > len(self.place) and lost):
            self.warnings.append(f"cut short: {facts['frames']} frames could be decoded")
        elif facts["bad_packets"] or facts["corrupt_frames"] or lost:
            self.warnings.append(
                f"damaged: {facts['bad_packets']} packets could not be decoded, {lost} frames are "
                "lost and show the picture before them"
            )
        if self.doubtful:
            self.warnings.append(f"{len(self.doubtful)} frames are built on damaged ones")
        if facts["repaired_times"]:
            self.warnings.append(f"{facts['repaired_times']} frames had no time or a wrong one")

    def _whole(self, wanted: Sequence[int]) -> Iterator[tuple[int, AvPicture]]:
        numbers = {int(self.kept[index]): index for index in wanted}
        last = int(self.kept[wanted[-1]])
        for number, frame in enumerate(self._every()):
            if number in numbers:
                yield numbers[number], self._picture(frame)
            if number >= last:
                break

    def _every(self) -> Iterator[Any]:
        """Every frame that comes out, in order; a packet that does not decode is passed over."""
        self.container = self._opened()  # what a decoder remembers of damage must not reach here
        self.stream = self._chosen(quiet=True)
        self.codec = self._decoder()
        self.problems = 0
        for packet in self._packets():
            try:
                yield from self.codec.decode(packet)
            except self.av.FFmpegError:
                self.problems += 1
        try:
            yield from self.codec.decode(None)
        except self.av.FFmpegError:
            self.problems += 1


def rising(stamps: Sequence[int | None], step: int) -> np.ndarray:
    """Times in ticks that rise from frame to frame, whatever the file says.

    Frames come out of a decoder in the order of showing, so that order is kept: a clock that was
    set anew goes on where it was, swapped times are swapped back, equal ones are spread.
    """
    known: list[int] = []
    offset = 0
    for stamp in stamps:
        last = known[-1] if known else -step
        value = last + step if stamp is None else stamp + offset
        if stamp is not None and known and value < last - MOST_SWAPPED * step:
            offset += last + step - value
            value = last + step
        known.append(value)
    rising = np.sort(np.array(known, np.int64))
    same = np.flatnonzero(np.diff(rising) <= 0)
    if len(same):
        places = np.arange(len(rising))
        first = np.concatenate([[True], np.diff(rising) > 0])
        spread = np.interp(places, places[first], rising[first])
        after = places - places[first][-1]
        rising = np.round(spread + np.maximum(after, 0) * step).astype(np.int64)
        rising = np.maximum.accumulate(rising - places) + places
    return rising


def _missing_by_clock(gaps: np.ndarray, usual: float) -> int:
    """Frames that an otherwise even video lacks: gaps of two, three ... times the usual one."""
    if len(gaps) < 8 or not usual > 0:
        return 0
    steps = np.round(gaps / usual)
    even = np.abs(gaps - steps * usual) <= 2e-3 + 0.01 * usual
    if not even.all() or (steps > 1).mean() > 0.1:
        return 0
    return int((steps - 1).clip(0).sum())


def _doubtful(stamps: Sequence[int | None], keys: Sequence[bool], bad: Sequence[int]) -> set[int]:
    """Frames between one that was lost or garbled and the next that refers to no other."""
    doubtful: set[int] = set()
    place, damaged = 0, False
    for number, (stamp, key) in enumerate(zip(stamps, keys, strict=True)):
        while stamp is not None and place < len(bad) and bad[place] < stamp:
            damaged = damaged or number > 0  # what precedes the first frame harms none
            place += 1
        damaged = damaged and not key
        if damaged:
            doubtful.add(number)
    return doubtful


def _why_not(path: Path, error: Exception) -> str:
    if not os.access(path, os.R_OK):
        return f"{path} may not be read; change its permissions"
    with path.open("rb") as file:
        head = file.read(4096)
    if b"ftyp" in head[:16]:
        return f"{path} is an mp4 without its index (moov): cut short, copy it again"
    return f"{path} is no video that can be read ({type(error).__name__})"


def _is_cover(stream: Any) -> bool:  # noqa: ANN401 - av.VideoStream
    """A picture of the cover that music files carry as a video of one frame."""
    return "attached_pic" in str(stream.disposition).lower()


def _claimed_seconds(stream: Any, container: Any) -> float | None:  # noqa: ANN401 - PyAV's objects
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return container.duration / 1e6 if container.duration else None


def _alpha(shape: Any) -> bool:  # noqa: ANN401 - av.VideoFormat
    return shape.has_palette or any(part.is_alpha for part in shape.components)


def _turn(frame: Any) -> tuple[int, bool]:  # noqa: ANN401 - av.VideoFrame
    """Quarter turns against the clock, and whether it is mirrored left to right first."""
    for data in frame.side_data or ():
        if "DISPLAYMATRIX" in str(data.type):
            a, b, _, c, d, *_ = struct.unpack("<9i", bytes(data)[:36])
            if a * d - b * c < 0:
                a, b = -a, -b
                return round(np.degrees(np.arctan2(b, a)) / -90) % 4, True
            break
    return round(frame.rotation / 90) % 4, False


def _turned(picture: np.ndarray, turns: int, mirrored: bool) -> np.ndarray:
    picture = picture[:, ::-1] if mirrored else picture
    return np.rot90(picture, turns)


__all__ = ["AvPicture", "Video"]
