"""Looks to train on that no list knows: a game's themes with their colours turned.

Four themes a game are too few to learn what a theme may be; on the fifth, kept for testing, a model
that saw only those is lost. Colours of a theme are turned all alike, so what stood out still does.
Characters keep their own colours, since those say who they are.
"""

import colorsys
from dataclasses import dataclass, replace

import numpy as np

from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions.playing import worn_by_roles
from cosmolabe.engine.canvas import PATTERNS
from cosmolabe.engine.game import Appearance, Game, Theme

TURNED = "turned"
INVERTED = 0.4  # share of themes whose light and dark change places


@dataclass(frozen=True)
class Look:
    """A game that can draw it, and the appearance."""

    game: Game
    appearance: Appearance


def trainable_look(game: Game, dice: np.random.Generator, turned: float) -> Look:
    """Characters and a theme no list keeps out of training; turned in that share of draws."""
    kept = held_out()
    order = [str(name) for name in dice.permutation(kept.trainable_characters(game))]
    return dressed(game, worn_by_roles(game, order), dice, turned)


def dressed(
    game: Game, characters: tuple[str, ...], dice: np.random.Generator, turned: float
) -> Look:
    """The same for these characters."""
    theme = str(dice.choice(held_out().trainable_themes(game)))
    look = Appearance(characters, theme, int(dice.integers(1 << 32)))
    if dice.random() >= turned:
        return Look(game, look)
    plain = next(one for one in game.themes if one.name == theme)
    other = replace(game, themes=(turned_theme(plain, dice),))
    return Look(other, replace(look, theme=TURNED))


def turned_theme(theme: Theme, dice: np.random.Generator) -> Theme:
    """The theme in other colours, its pattern drawn anew."""
    hue, wide, bright = dice.random(), dice.uniform(0.2, 1.3), dice.uniform(0.7, 1.3)
    inverted = dice.random() < INVERTED
    palette = tuple(_turned(colour, hue, wide, bright, inverted) for colour in theme.palette)
    pattern = str(dice.choice(PATTERNS))
    return Theme(TURNED, palette, pattern, float(dice.choice([0.0, theme.jitter])))


def _turned(
    colour: tuple[int, int, int], hue: float, wide: float, bright: float, inverted: bool
) -> tuple[int, int, int]:
    h, light, s = colorsys.rgb_to_hls(*(value / 255 for value in colour))
    light = 1 - light if inverted else light
    light = min(1.0, 0.5 + (light - 0.5) * bright)
    red, green, blue = colorsys.hls_to_rgb((h + hue) % 1, max(light, 0.0), min(s * wide, 1.0))
    return round(red * 255), round(green * 255), round(blue * 255)
