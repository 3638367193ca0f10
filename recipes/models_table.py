"""Train and judge every game x model x seed, and publish the table.

    python recipes/models_table.py --recipe.name screening --recipe.seconds 120

Appends to docs/tables/models.json and skips what is there already; the recipe is stored in
docs/tables/recipes before the first cell.
"""

from pathlib import Path

import tyro
from rich.console import Console

from cosmolabe.bench.tables import GridRecipe, fill

HERE = Path(__file__).resolve().parents[1]


def main(
    recipe: GridRecipe = GridRecipe(),  # noqa: B008 - frozen
    work: Path = HERE / "runs" / "models",
    out: Path = HERE / "docs" / "tables" / "models.json",
    threads: int = 0,
    only: tuple[str, ...] = (),
) -> None:
    """Fill the grid.

    `threads` sets torch's threads (0 leaves them); `only` names the games to do now.
    """
    if threads:
        import torch

        torch.set_num_threads(threads)
    say = Console().print

    def tell(row: dict) -> None:
        say(
            f"{row['game']} {row['model']} seed {row['seed']}: final {row['final']:.3f} "
            f"(floor {max(row['still'], row['constant_velocity']):.3f}, ceiling "
            f"{row['ceiling']:.3f}), skill {row['skill']:.2f}, {row['steps']} steps in "
            f"{row['seconds']:.0f} s"
        )

    rows = fill(recipe, work, out, tell, only)
    say(f"{len(rows)} rows of recipe '{recipe.name}' in {out}")


if __name__ == "__main__":
    tyro.cli(main)
