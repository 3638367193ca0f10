"""Twins of our games and of real clips: damage of known kind and size, and its controls.

Schema: a folder written by `write_twin_set` or `cosmolabe damage twins` (docs/data/twins.md).
Its groups of MuJoCo scenes are the corpus `mujoco`.
"""

from pathlib import Path

from cosmolabe.core.corpus import Corpus, CorpusPart
from cosmolabe.data.twin_corpus import SCHEMA, pairs_of_twins, read_twins

NAME = "damage"
FAMILIES = ("games", "real")


def read(folder: Path) -> Corpus:
    """The clips of games and real footage of every set of twins in the folder."""
    return read_twins(folder, NAME, FAMILIES)


CORPUS = CorpusPart(
    NAME,
    "Games and real clips hurt by a known size, with true twins and changes of quality.",
    read,
    pairs_of_twins,
    licence="Apache-2.0; real clips keep their own",
    source="cosmolabe damage twins",
    schema=SCHEMA,
)
