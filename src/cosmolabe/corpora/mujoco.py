"""Twins of MuJoCo scenes: rigid bodies hurt by a known kind and size, and their controls.

Schema: a folder written by `write_twin_set` or `cosmolabe damage twins` (docs/data/twins.md).
Its groups of games and real clips are the corpus `damage`.
"""

from pathlib import Path

from cosmolabe.core.corpus import Corpus, CorpusPart
from cosmolabe.data.twin_corpus import SCHEMA, pairs_of_twins, read_twins

NAME = "mujoco"
FAMILIES = ("mujoco",)


def read(folder: Path) -> Corpus:
    """The clips of MuJoCo scenes of every set of twins in the folder."""
    return read_twins(folder, NAME, FAMILIES)


CORPUS = CorpusPart(
    NAME,
    "Scenes of rigid bodies hurt by a known size, with true twins and changes of quality.",
    read,
    pairs_of_twins,
    licence="Apache-2.0",
    source="cosmolabe damage twins",
    schema=SCHEMA,
)
