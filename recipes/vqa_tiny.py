"""Make the bundled vision-language model: offline, on one core, in about an hour.

    python recipes/vqa_tiny.py --work runs/vqa-tiny --install

Goes on where it was stopped. The recipe is stored in docs/tables/recipes before the first step;
`--install` puts weights, record and certificate into the package. Needs the extra `vlm`.
"""

from dataclasses import asdict
from pathlib import Path

import torch
import tyro
from rich.console import Console

from cosmolabe.bench.vqa.making import install as put
from cosmolabe.bench.vqa.making import make_tiny
from cosmolabe.bench.vqa.recipe import TinyRecipe
from cosmolabe.core.record import plain, write_json
from cosmolabe.data.held_out import held_out

HERE = Path(__file__).resolve().parents[1]
RECIPE = HERE / "docs" / "tables" / "recipes" / "vqa-tiny.json"


def main(
    work: Path = HERE / "runs" / "vqa-tiny", install: bool = False, store_only: bool = False
) -> None:
    """Make it in `work`; `store_only` writes the recipe and nothing else."""
    torch.set_num_threads(1)
    recipe = TinyRecipe()
    kept = {"hash": recipe.hash, "held_out": held_out().fingerprint, **plain(asdict(recipe))}
    write_json(RECIPE, kept)
    if store_only:
        return
    tell = Console(stderr=True).print
    found = make_tiny(work, recipe, tell=lambda line: tell(line, highlight=False))
    for row in found["rows"]:
        tell(f"{row['task']} {row['format']}: {row['em']:.3f} of {row['n']}", highlight=False)
    if install:
        put(work)


if __name__ == "__main__":
    tyro.cli(main)
