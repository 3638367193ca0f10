"""Pictures per second on one core: 224 x 224 RGB, fifty shapes, anti-aliased where the peer can."""

from collections.abc import Callable

import numpy as np
from numba import njit

from benchmarks.timing import Row, versus
from cosmolabe.core import parts
from cosmolabe.engine import canvas
from cosmolabe.engine.game import layout_of
from cosmolabe.engine.render import draw_frames

SIDE, FRAMES = 224, 64
BRICKS = [(4 + 27 * (k % 8), 30 + 11 * (k // 8), 25, 9) for k in range(48)]
COLOURS = [(200, 70 + 3 * k, 250 - 4 * k) for k in range(48)]
PADDLE = (90, 205, 40, 6)
BALLS = np.linspace(20.0, 200.0, FRAMES)


@njit
def _fifty_shapes(frame, still, bricks, colours, balls, which):
    flat, source = frame.reshape(frame.size), still.reshape(still.size)
    for byte in range(flat.shape[0]):
        flat[byte] = source[byte]
    for k in range(bricks.shape[0]):
        left, top, wide, tall = bricks[k]
        canvas.box(frame, left + wide / 2, top + tall / 2, wide / 2, tall / 2, colours[k])
    canvas.box(frame, 110.0, 208.0, 20.0, 3.0, colours[48])
    canvas.disc(frame, balls[which], 134.0, 3.5, colours[48])


def shapes() -> Callable[[], int]:
    """Our canvas, the very shapes that the peers draw, one call a frame."""
    frame = np.empty((SIDE, SIDE, 3), np.uint8)
    still = np.full_like(frame, 12)
    bricks = np.array(BRICKS, np.float64)
    colours = np.array([*COLOURS, (240, 240, 240)], np.uint8)

    def run() -> int:
        for which in range(FRAMES):
            _fifty_shapes(frame, still, bricks, colours, BALLS, which)
        return FRAMES

    return run


def breakout() -> Callable[[], int]:
    """A whole breakout frame: background, 48 bricks, paddle, ball, score, from dense states."""
    game = parts.load("games", "breakout")
    layout = layout_of(game)
    states = np.repeat(layout.template[None], FRAMES, 0).copy()
    states[:, 0, :2], states[:, 1, 1] = (0.5, 0.92), 0.6
    states[:, 1, 0] = BALLS / SIDE
    states[..., 2] = 1
    numbers, out = np.zeros((FRAMES, 17), np.float32), np.empty((4, SIDE, SIDE, 3), np.uint8)

    def run() -> int:
        for start in range(0, FRAMES, 4):  # few at a time: the peers' one surface is in cache too
            part = slice(start, start + 4)
            draw_frames(game, states[part], numbers[part], out=out)
        return FRAMES

    return run


def pygame_ce() -> Callable[[], int]:
    """pygame-ce onto an off-screen surface, bytes by get_buffer."""
    import pygame

    surface = pygame.Surface((SIDE, SIDE), depth=24)

    def run() -> int:
        for x in BALLS:
            surface.fill((10, 10, 20))
            for brick, colour in zip(BRICKS, COLOURS, strict=True):
                surface.fill(colour, brick)
            surface.fill((240, 240, 240), PADDLE)
            pygame.draw.aacircle(surface, (255, 255, 255), (x, 134.0), 3.5)
            surface.get_buffer().raw  # noqa: B018 - copies the bytes out
        return FRAMES

    return run


def opencv() -> Callable[[], int]:
    """OpenCV with an anti-aliased ball at sub-pixel places."""
    import cv2

    cv2.setNumThreads(1)
    frame = np.empty((SIDE, SIDE, 3), np.uint8)

    def run() -> int:
        for x in BALLS:
            frame[:] = (10, 10, 20)
            for (left, top, width, height), colour in zip(BRICKS, COLOURS, strict=True):
                cv2.rectangle(frame, (left, top), (left + width, top + height), colour, -1)
            cv2.rectangle(frame, (90, 205), (130, 211), (240, 240, 240), -1)
            cv2.circle(frame, (int(x * 16), 134 * 16), 56, (255, 255, 255), -1, cv2.LINE_AA, 4)
        return FRAMES

    return run


def pillow() -> Callable[[], int]:
    """Pillow, not anti-aliased."""
    from PIL import Image, ImageDraw

    def run() -> int:
        for x in BALLS:
            image = Image.new("RGB", (SIDE, SIDE), (10, 10, 20))
            pen = ImageDraw.Draw(image)
            for (left, top, width, height), colour in zip(BRICKS, COLOURS, strict=True):
                pen.rectangle((left, top, left + width, top + height), colour)
            pen.rectangle((90, 205, 130, 211), (240, 240, 240))
            pen.ellipse((x - 3.5, 130.5, x + 3.5, 137.5), (255, 255, 255))
            np.asarray(image)
        return FRAMES

    return run


def skia_raster() -> Callable[[], int]:
    """Skia's raster backend, anti-aliased."""
    import skia

    surface = skia.Surface(SIDE, SIDE)  # must outlive its canvas
    pen = surface.getCanvas()
    paints = [skia.Paint(Color=skia.Color(*c), AntiAlias=True) for c in COLOURS]
    white = skia.Paint(Color=skia.Color(255, 255, 255), AntiAlias=True)
    boxes = [skia.Rect.MakeXYWH(*brick) for brick in BRICKS]

    def run() -> int:
        for x in BALLS:
            pen.clear(skia.Color(10, 10, 20))
            for box, paint in zip(boxes, paints, strict=True):
                pen.drawRect(box, paint)
            pen.drawRect(skia.Rect.MakeXYWH(*PADDLE), white)
            pen.drawCircle(float(x), 134.0, 3.5, white)
            surface.makeImageSnapshot().tobytes()
        return FRAMES

    return run


def rows() -> list[Row]:
    """Ours against each of the peers; the target is twice the best of them.

    The peers draw fifty plain shapes. Our whole frame (bevels, walls, score, sprites) does more,
    and may keep what did not change since the frame before it.
    """
    peers = {
        "pygame-ce": pygame_ce(),
        "OpenCV": opencv(),
        "skia": skia_raster(),
        "Pillow": pillow(),
    }
    return [
        *versus("draw 50 shapes at 224x224", "frames/s", shapes(), peers, target=2.0),
        *versus("draw a whole breakout frame", "frames/s", breakout(), peers, target=2.0),
    ]
