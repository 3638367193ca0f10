"""Videos whose every frame says its own number, and the readers of it."""

from fractions import Fraction

import av
import numpy as np

BITS = 8
DARK, LIGHT = 40, 215


def barcode(number, width=160, height=96):
    """A picture of eight upright bars, the number's bits; the left one is the highest."""
    bits = [(number >> bit) & 1 for bit in reversed(range(BITS))]
    row = np.array([LIGHT if bits[x * BITS // width] else DARK for x in range(width)], np.uint8)
    return np.repeat(np.repeat(row[None, :, None], height, 0), 3, 2)


def number_on(picture, shape=(96, 160)):
    """The number on a square canvas whose inner picture has the shape (height, width)."""
    side = len(picture)
    scale = side / max(shape)
    height, width = (round(n * scale) for n in shape)
    top, left = (side - height) // 2, (side - width) // 2
    inner = picture[top + height // 4 : top + 3 * height // 4, left : left + width].astype(float)
    number = 0
    for bit in range(BITS):
        bar = inner[:, int((bit + 0.3) * width / BITS) : int((bit + 0.7) * width / BITS)]
        number = number * 2 + int(bar.mean() > 128)
    return number


def numbers_on(clip, shape=(96, 160)):
    """The number of every grid time of a clip."""
    return [number_on(picture, shape) for picture in clip.played]


def film(
    path,
    count=20,
    *,
    fps=10,
    pictures=None,
    codec="libx264",
    pix="yuv420p",
    options=None,
    times=None,
    rotation=None,
    aspect=None,
    format=None,
    container_options=None,
    metadata=None,
    prepare=None,
    source="rgb24",
    size=(160, 96),
    sound=False,
):
    """Write `count` barcodes, or `pictures`; `times` are seconds of each frame."""
    pictures = [barcode(n, *size) for n in range(count)] if pictures is None else list(pictures)
    with av.open(str(path), "w", format=format, options=container_options or {}) as container:
        if sound:  # sound first: the video is not stream 0
            track = container.add_stream("aac", rate=48000)
        stream = container.add_stream(codec, rate=Fraction(fps).limit_denominator(1001))
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = pix
        stream.options = {"g": "12", **(options or {})} if codec != "gif" else (options or {})
        if times is not None:
            stream.time_base = stream.codec_context.time_base = Fraction(1, 90_000)
        if rotation is not None:
            stream.set_display_rotation(rotation)
        if aspect is not None:
            stream.codec_context.sample_aspect_ratio = Fraction(aspect)
        stream.metadata.update(metadata or {})
        if prepare:
            prepare(stream)
        if sound:
            _hum(container, track)
        for number, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format=source)
            if times is not None:
                frame.pts, frame.time_base = round(times[number] * 90_000), Fraction(1, 90_000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def _hum(container, track):
    for start in range(0, 48_000, 1024):
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        frame.sample_rate, frame.pts, frame.time_base = 48_000, start, Fraction(1, 48_000)
        container.mux(track.encode(frame))
    container.mux(track.encode())


def remuxed(path, target, *, keep=None, change=None, options=None, format=None):
    """The same packets in another file; `keep(i, packet)` drops, `change(i, packet)` edits."""
    with (
        av.open(str(path)) as old,
        av.open(str(target), "w", format=format, options=options or {}) as new,
    ):
        stream = new.add_stream_from_template(old.streams.video[0])
        for index, packet in enumerate(old.demux(old.streams.video[0])):
            if packet.size == 0 or (keep and not keep(index, packet)):
                continue
            packet.stream = stream
            if change:
                change(index, packet)
            new.mux(packet)
    return target


def spoiled(path, target, *which):
    """The same file with two thirds of some packets overwritten by zeros."""

    def change(index, packet):
        if index in which:
            data = bytes(packet)
            packet.update(data[: len(data) // 3] + bytes(len(data) - len(data) // 3))

    return remuxed(path, target, change=change)
