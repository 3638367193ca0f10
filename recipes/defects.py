"""Measure what each planted defect costs, and publish the table.

    python recipes/defects.py --threads 1 --only transformer pong

Appends to docs/tables/defects.json and skips what is there already; the recipe is stored in
docs/tables/recipes before the first cell. docs/models/defects.md shows the rows to people.
Steps by cell: `--recipe.steps-of transformer/pong 900 racer 600`.
"""

import statistics
from pathlib import Path

import tyro
from rich.console import Console

from cosmolabe.bench.compare import MARGIN
from cosmolabe.bench.defect_table import DefectRecipe, all_defects, study
from cosmolabe.core.figures import with_span
from cosmolabe.core.record import read_json

HERE = Path(__file__).resolve().parents[1]
TABLES, DOCS = HERE / "docs" / "tables", HERE / "docs" / "models"
HEAD = """# What defects cost

Defects seen in public world-model code, each planted in a starter of ours, trained with the same
recipe, data and seed as the sound model, and judged on the same test windows (`state/1`).
Written by `python recipes/defects.py` from [defects.json](../tables/defects.json); the recipe is in
[recipes](../tables/recipes), stored before its first run.

Difference: final score with the defect minus without; mean over seeds, in brackets the lowest and
highest seed. *Worse* or *better*: for every seed the 95 % interval over episodes lies on that side
of 0; *same*: for every seed it lies within ± {margin}; else *unclear*. The interval does not know
that another training would have ended elsewhere; the range over seeds does. One defect at a time,
in one starter each: what a defect costs here need not be what it costs elsewhere.
"""


def page(rows: list[dict]) -> str:
    """The rows as a page: one line a model, defect and game, then what each defect is."""
    parts = [HEAD.format(margin=MARGIN)]
    for name in dict.fromkeys(row["recipe_name"] for row in rows):
        mine = [row for row in rows if row["recipe_name"] == name]
        parts.append(f"\n## {name}\n")
        parts.append(
            "| model | defect | game | seeds | steps | without | with | difference | skill | |"
        )
        parts.append("|---|---|---|---|---|---|---|---|---|---|")
        keys = dict.fromkeys((row["model"], row["defect"], row["game"]) for row in mine)
        for key in sorted(keys):
            cells = [row for row in mine if (row["model"], row["defect"], row["game"]) == key]
            parts.append(_line(*key, cells))
    parts += [
        "\n## The defects\n",
        "| model | defect | what it does | seen in |",
        "|---|---|---|---|",
    ]
    for defect in sorted(all_defects(), key=lambda d: (d.model, d.name)):
        where = "" if defect.in_training else " (rollouts only)"
        where = where if defect.measured else " (a test, no figure)"
        parts.append(
            f"| {defect.model} | {defect.name} | {defect.what}{where} | {defect.seen_in} |"
        )
    return "\n".join(parts) + "\n"


def _line(model: str, defect: str, game: str, cells: list[dict]) -> str:
    off = [cell["difference"] for cell in cells]
    verdict = "unclear"
    if all(-MARGIN <= cell["low"] and cell["high"] <= MARGIN for cell in cells):
        verdict = "same"
    elif all(cell["high"] < 0 for cell in cells):
        verdict = "worse"
    elif all(cell["low"] > 0 for cell in cells):
        verdict = "better"
    without, with_it = (statistics.mean(cell[key] for cell in cells) for key in ("without", "with"))
    return (
        f"| {model} | {defect} | {game} | {len(cells)} | {cells[0]['steps']} | {without:.4f} "
        f"| {with_it:.4f} | {statistics.mean(off):+.4f} ({min(off):+.4f} to {max(off):+.4f}) "
        f"| {_skill(cells, 'skill_without')} → {_skill(cells, 'skill_with')} | {verdict} |"
    )


def _skill(cells: list[dict], key: str) -> str:
    known = [cell[key] for cell in cells if cell[key] is not None]
    return f"{statistics.mean(known):.2f}" if known else "–"


def main(
    recipe: DefectRecipe = DefectRecipe(),  # noqa: B008 - frozen
    work: Path = HERE / "runs" / "models",
    out: Path = TABLES / "defects.json",
    to: Path = DOCS / "defects.md",
    threads: int = 0,
    only: tuple[str, ...] = (),
) -> None:
    """Run the study.

    `threads` sets torch's threads (0 leaves them); `only` names the defects, models and games to do
    now; `to` is the page.
    """
    if threads:
        import torch

        torch.set_num_threads(threads)
    say = Console().print

    def tell(row: dict) -> None:
        say(
            f"{row['game']} {row['model']} seed {row['seed']} {row['defect']}: "
            f"{row['without']:.4f} to {row['with']:.4f}, "
            f"{with_span(row['difference'], row['low'], row['high'], '+.4f')}"
        )

    rows = study(recipe, work, out, tell, only)
    to.write_text(page(read_json(out)), encoding="utf-8")
    say(f"{len(rows)} rows of recipe '{recipe.name}' in {out}")


if __name__ == "__main__":
    tyro.cli(main)
