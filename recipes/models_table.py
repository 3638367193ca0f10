"""Train and judge every game x model x seed, and publish the table.

    python recipes/models_table.py --recipe.name screening --recipe.seconds 120

Appends to docs/tables/models.json and skips what is there already; the recipe is stored in
docs/tables/recipes before the first cell. docs/models/table.md shows the rows to people.
"""

import statistics
from pathlib import Path
from typing import Literal

import tyro
from rich.console import Console

from cosmolabe.bench.tables import GridRecipe, fill
from cosmolabe.core.record import read_json

HERE = Path(__file__).resolve().parents[1]


PAGE = HERE / "docs" / "models" / "table.md"
HEAD = """# Measured models

Written by `python recipes/models_table.py` from [models.json](../tables/models.json); each recipe
(steps, seeds, sizes, data) stands in [recipes](../tables/recipes), stored before its first run.
Scores are `state/1` finals on 256 test episodes that no training saw. Floor: the better of `still`
and `constant_velocity`; ceiling: the true simulator with other luck. Skill: share of the way from
floor to ceiling, shown where the way is at least 0.03 long. With several seeds: mean, and the range
over seeds; with one: the 95 % interval over episodes.
"""


def page(rows: list[dict]) -> str:
    """The rows as a page: one table a recipe, one line a game and model."""
    parts = [HEAD]
    for name in dict.fromkeys(row["recipe_name"] for row in rows):
        mine = [row for row in rows if row["recipe_name"] == name]
        parts.append(f"\n## {name}\n")
        parts.append("| game | model | seeds | steps | final | floor | ceiling | skill | |")
        parts.append("|---|---|---|---|---|---|---|---|---|")
        for game, model in sorted({(row["game"], row["model"]) for row in mine}):
            cells = [row for row in mine if (row["game"], row["model"]) == (game, model)]
            parts.append(_line(game, model, cells))
    return "\n".join(parts) + "\n"


def _line(game: str, model: str, cells: list[dict]) -> str:
    finals = [cell["final"] for cell in cells]
    first = cells[0]
    low, high = (first["low"], first["high"]) if len(cells) == 1 else (min(finals), max(finals))
    floor = max(first["still"], first["constant_velocity"])
    skills = [cell["skill"] for cell in cells if cell["skill"] is not None]
    skill = f"{statistics.mean(skills):.2f}" if skills else "–"
    mean = statistics.mean(finals)
    verdict = "above" if low > floor else ("below" if high < floor else "about")
    return (
        f"| {game} | {model} | {len(cells)} | {first['steps']} | {mean:.4f} ({low:.4f}–{high:.4f}) "
        f"| {floor:.4f} | {first['ceiling']:.4f} | {skill} | {verdict} the floor |"
    )


def main(
    recipe: GridRecipe = GridRecipe(),  # noqa: B008 - frozen
    work: Path = HERE / "runs" / "models",
    out: Path = HERE / "docs" / "tables" / "models.json",
    threads: int = 0,
    only: tuple[str, ...] = (),
    engine: Literal["local", "ray"] = "local",
    workers: int = 1,
) -> None:
    """Fill the grid.

    `threads` sets torch's threads (0 leaves them); `only` names the games to do now; `engine` and
    `workers` spread the cells over processes or a Ray cluster (docs/scale.md).
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

    rows = fill(recipe, work, out, tell, only, engine, workers)
    PAGE.write_text(page(read_json(out)), encoding="utf-8")
    say(f"{len(rows)} rows of recipe '{recipe.name}' in {out}")


if __name__ == "__main__":
    tyro.cli(main)
