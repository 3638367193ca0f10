"""Contact sheets for the docs: `python recipes/pictures.py` writes docs/images/*.png.

One sheet a game: the heuristic player from early to late, a theme and a character a row; and one
sheet with all eight games.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from cosmolabe.core import parts
from cosmolabe.data.playing import play_script
from cosmolabe.engine.game import Appearance, Game
from cosmolabe.engine.render import draw_frames

FOLDER = Path(__file__).parent.parent / "docs" / "images"
SIDE, COLUMNS, ROWS, GAP = 224, 6, 3, 4


def episode(game: Game, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Dense states and globals of one heuristic episode."""
    ticks = game.manifest.max_ticks
    played = play_script(game, "heuristic", seed, ticks, every=ticks, size=32)
    return played.states, played.globals


def sheet(game: Game) -> np.ndarray:
    """ROWS x COLUMNS pictures; time runs to the right."""
    rows = []
    for row in range(ROWS):
        states, numbers = episode(game, row + 1)
        moments = np.linspace(20, len(states) - 2, COLUMNS).astype(int)
        roles = range(len(game.roles))
        look = Appearance(
            tuple(game.characters[(2 * row + role) % len(game.characters)] for role in roles),
            game.themes[row * 2 % len(game.themes)].name,
            row,
        )
        rows.append(tile(draw_frames(game, states[moments], numbers[moments], look, SIDE)[None]))
    return tile(np.stack(rows)[:, None])


def tile(pictures: np.ndarray) -> np.ndarray:
    """Pictures (row, column, height, width, 3) side by side on grey."""
    padded = np.pad(pictures, ((0, 0), (0, 0), (GAP, GAP), (GAP, GAP), (0, 0)), constant_values=90)
    return np.concatenate([np.concatenate(list(row), axis=1) for row in padded], axis=0)


def main() -> None:
    """Write every sheet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    overview = []
    for name in parts.names("games"):
        game = parts.load("games", name)
        Image.fromarray(sheet(game)).convert("P", palette=Image.Palette.ADAPTIVE).save(
            FOLDER / f"{name}.png", optimize=True
        )
        states, numbers = episode(game, 3)
        moment = slice(len(states) * 2 // 5, len(states) * 2 // 5 + 1)
        overview.append(draw_frames(game, states[moment], numbers[moment], None, SIDE)[0])
    grid = np.stack(overview).reshape(2, 4, SIDE, SIDE, 3)
    Image.fromarray(tile(grid)).save(FOLDER / "games.png", optimize=True)


if __name__ == "__main__":
    main()
