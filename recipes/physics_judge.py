"""Make the bundled physics judge: twins, eye, heads and certificate, offline, on one core.

    python recipes/physics_judge.py --work runs/physics-judge

Goes on where it was stopped. The recipe is stored in docs/tables/recipes before the first clip is
drawn; `--install` puts weights, head and certificate into the package. Needs the extras `torch`,
`video` and `mujoco`.
"""

import shutil
from dataclasses import asdict
from pathlib import Path

import tyro
from rich.console import Console

from cosmolabe.bench.physics.certificate import meets
from cosmolabe.bench.physics.making import (
    EYE,
    EYE_RECORD,
    HEAD,
    MOST_BYTES,
    PACKAGE,
    JudgeRecipe,
    bytes_of,
    make_judge,
)
from cosmolabe.core.record import plain, write_json
from cosmolabe.data.held_out import held_out

HERE = Path(__file__).resolve().parents[1]
RECIPE = HERE / "docs" / "tables" / "recipes" / "physics-judge.json"


def main(
    work: Path = HERE / "runs" / "physics-judge",
    install: bool = False,
    store_only: bool = False,
) -> None:
    """Make it in `work`; `store_only` writes the recipe and nothing else."""
    recipe = JudgeRecipe()
    kept = {"hash": recipe.hash, "held_out": held_out().fingerprint, **plain(asdict(recipe))}
    write_json(RECIPE, kept)
    if store_only:
        return
    tell = Console(stderr=True).print
    found = make_judge(work, recipe, tell=lambda line: tell(line, highlight=False))
    package = work / "package"
    size = bytes_of(package)
    if size > MOST_BYTES:
        raise ValueError(f"{package} holds {size} bytes; {MOST_BYTES} may ship")
    tell(f"{size / 1e6:.2f} MB; targets {meets(found)}")
    if install:
        for file in (EYE, EYE_RECORD):
            shutil.copy(package / file, PACKAGE / file)
        shutil.copytree(package / HEAD, PACKAGE / HEAD, dirs_exist_ok=True)


if __name__ == "__main__":
    tyro.cli(main)
