"""The picture of docs/data/twins.md: true clips above their doubles, a frame in so many.

python recipes/twins_picture.py SET docs/images/twins.png
"""

from pathlib import Path

import numpy as np
import tyro
from PIL import Image, ImageDraw
from tyro.conf import Positional

from cosmolabe.data.twin_set import read_frames, read_twin_set

FRAMES = 9
LABEL = 12  # pixels
WANTED = (
    ("games", "teleport"), ("games", "gravity"), ("mujoco", "kick"), ("mujoco", "levitate"),
    ("mujoco", "gravity"),
)  # fmt: skip


def main(folder: Positional[Path], out: Positional[Path]) -> None:
    """One strip for each of `WANTED`: of its doubles the one of which most is seen."""
    rows = [row for row in read_twin_set(folder) if row.role == "damage"]
    strips = []
    for wanted in WANTED:
        mine = [row for row in rows if (row.family, row.kind) == wanted]
        if not mine:
            continue
        row = max(mine, key=lambda row: row.changed)
        chosen = np.linspace(row.onset - 1, min(row.onset + 20, row.frames - 1), FRAMES).astype(int)
        pair = [read_frames(folder / file)[chosen] for file in (row.true, row.damaged)]
        strip = np.concatenate([np.concatenate(list(frames), 1) for frames in pair], 0)
        picture = Image.new("RGB", (strip.shape[1], strip.shape[0] + LABEL), "white")
        picture.paste(Image.fromarray(strip), (0, LABEL))
        words = f"{row.scene}: {row.kind} of size {row.size:g}, true above"
        ImageDraw.Draw(picture).text((2, 0), words, fill="black")
        strips.append(np.asarray(picture))
    Image.fromarray(np.concatenate(strips, 0)).save(out, optimize=True)


if __name__ == "__main__":
    tyro.cli(main)
