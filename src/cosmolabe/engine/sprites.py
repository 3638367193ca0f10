"""Pixel art for characters and fixtures, as text: one letter a pixel, '.' is see-through.

Each sprite looks to the right (creatures) or points up (ships, cars, bats stand upright).
"""

from functools import lru_cache

import numpy as np

from cosmolabe.engine.sprite_art import ART

SIDE = 12  # pixels of a sprite's side

INK = {
    "k": (24, 24, 32),
    "w": (245, 245, 240),
    "r": (222, 60, 60),
    "g": (70, 180, 80),
    "b": (66, 110, 230),
    "y": (250, 206, 60),
    "o": (240, 140, 50),
    "p": (160, 90, 210),
    "c": (80, 210, 225),
    "m": (230, 100, 180),
    "n": (140, 90, 50),
    "s": (150, 158, 170),
    "d": (80, 86, 100),
    "l": (170, 225, 110),
    "t": (240, 200, 160),
}
"""Letters and their colours, red green blue."""


@lru_cache(maxsize=256)
def sprite_sheet(names: tuple[str, ...]) -> np.ndarray:
    """The named sprites, uint8 (sprite, SIDE, SIDE, RGBA); never without a row."""
    sheet = np.zeros((max(len(names), 1), SIDE, SIDE, 4), np.uint8)
    for art, name in zip(sheet, names, strict=False):
        if name not in ART:
            raise ValueError(f"no sprite '{name}'; have {sorted(ART)}")
        for row, letters in zip(art, ART[name].split("/"), strict=True):
            for pixel, letter in zip(row, letters, strict=True):
                if letter != ".":
                    pixel[:] = (*INK[letter], 255)
    return sheet
