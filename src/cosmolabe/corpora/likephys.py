"""LikePhys: twelve rendered scenes, each lawful and broken in named ways, quality fixed.

Schema (github.com/YuanJianhao508/LikePhys, whose files name it):
data/SCENE_videos/subgroup_000/valid_00.mp4 and, beside it, VARIATION_00.mp4. The videos were not at
hand. Some variations are left out by the authors' own analysis: they are kept here without a
violation and in no pair.
"""

import re
from pathlib import Path, PurePosixPath

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import VIDEOS, Gathering
from cosmolabe.data.pairing import pairs_of_lawful

NAME = "likephys"
SCHEMA = "SCENE_videos/subgroup_NNN/valid_NN.mp4 and VARIATION_NN.mp4"
VALID = "valid"
LEFT_OUT = {
    "shadowm": ("shadow_disconnection",),
    "pendulum": ("reverse_gravity", "break_conservation_energy"),
    "river": ("color_change", "teleporting_fluid", "negative_viscosity"),
}
"""Variations that the authors' analysis leaves out (read_exp_final.py)."""


def read(folder: Path) -> Corpus:
    """Every video of every subgroup."""
    found = Gathering(NAME, folder)
    for path in found.files(*VIDEOS):
        file = PurePosixPath(path)
        named = re.fullmatch(r"(.+)_(\d+)", file.stem)
        if len(file.parts) < 3 or not file.parent.name.startswith("subgroup") or named is None:
            continue
        scene = file.parts[-3].removesuffix("_videos")
        variation = named[1]
        left_out = variation in LEFT_OUT.get(scene, ())
        lawful = variation == VALID
        group = f"{scene}/{file.parent.name}"
        clip = ClipRow(
            f"{group}/{file.stem}",
            NAME,
            split="test",
            group=group,
            kind="simulated",
            violation=None if left_out else float(not lawful),
            anchor=None if left_out else 0 if lawful else 1,
            label={"scene": scene, "variation": variation, "left_out": left_out},
        )
        found.add(path, clip, path)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """A lawful film of a subgroup beats every broken one of it."""
    return pairs_of_lawful(corpus, most, seed, group=lambda row: row.group)


CORPUS = CorpusPart(
    NAME,
    "Rendered scenes, each lawful and broken in named ways.",
    read,
    pairs,
    licence="Apache-2.0 (data); code unstated",
    source="hf.co/datasets/JianhaoDYDY/LikePhys-Benchmark",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
