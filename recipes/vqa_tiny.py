"""Make the bundled vision-language model: offline, on one core, in about two and a half hours.

    python recipes/vqa_tiny.py --work runs/vqa-tiny --install

Goes on where it was stopped. The recipe is stored in docs/tables/recipes before the first step;
`--install` puts weights, record and certificate into the package, `--page-only` writes
docs/judges/vqa-bundled.md from what is there. Needs the extra `vlm`.
"""

# ruff: noqa: E501 - lines of the page it writes

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import tyro
from rich.console import Console

from cosmolabe.bench.vqa.making import CERTIFICATE, RECORD, STAGES, make_tiny
from cosmolabe.bench.vqa.making import install as put
from cosmolabe.bench.vqa.recipe import SightRecipe, TinyRecipe, WordsRecipe
from cosmolabe.core.figures import figure, with_span
from cosmolabe.core.markdown import markdown_table
from cosmolabe.core.record import plain, read_json, write_json
from cosmolabe.data.held_out import held_out
from cosmolabe.judges.vqa.measured import Measured, told_by_game
from cosmolabe.vlms.tiny import BUNDLED

HERE = Path(__file__).resolve().parents[1]
PAGE = HERE / "docs" / "judges" / "vqa-bundled.md"
RECIPE = HERE / "docs" / "tables" / "recipes" / "vqa-tiny.json"


def main(
    work: Path = HERE / "runs" / "vqa-tiny",
    install: bool = False,
    store_only: bool = False,
    page_only: bool = False,
) -> None:
    """Make it in `work`; `store_only` writes the recipe, `page_only` the page, and nothing else."""
    torch.set_num_threads(1)
    if page_only:
        PAGE.write_text(page(read_json(BUNDLED / CERTIFICATE), read_json(BUNDLED / RECORD)))
        return
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
        PAGE.write_text(page(read_json(BUNDLED / CERTIFICATE), read_json(BUNDLED / RECORD)))


def page(found: dict[str, Any], record: dict[str, Any]) -> str:
    """What the certificate says, for people."""
    recipe = record["recipe"]
    text = [HEADING, _targets(found)]
    text += ["\n## Every task and format\n", _rows(found["rows"]), READING]
    text += [
        "\n## By game\n",
        _by_game(found),
        TOLD,
        _told(found),
        "\n## Damage of known kind\n",
        _damage(found),
        DAMAGE,
    ]
    text += ["\n## How it was made\n", MADE.format(
        sight=_steps(recipe, SightRecipe), words=_steps(recipe, WordsRecipe),
        rows=recipe["words"]["rows"], side=recipe["image"], frames=recipe["frames"],
        recipe=record["recipe_hash"], held=record["held_out"], fingerprint=found["fingerprint"],
        clips=found["sizes"]["clips"], unseen=found["sizes"]["unseen"], cpu=found["cpu_seconds"],
    )]  # fmt: skip
    return "\n".join(text) + "\n"


def _steps(recipe: dict[str, Any], kind: type) -> int:
    """Of all stages of one kind."""
    stages = [stage for stage, _ in STAGES if isinstance(getattr(TinyRecipe(), stage), kind)]
    return sum(recipe[stage]["steps"] for stage in stages)


def _told(found: dict[str, Any]) -> str:
    rows = told_by_game(Measured(found["rates"], found["vlm_key"], None))
    return markdown_table(
        ("game", "of", "sensitivity", "specificity", "told", ""),
        [
            (
                row["game"], row["of"], figure(row["sensitivity"]), figure(row["specificity"]),
                with_span(row["told"], row["low"], row["high"]),
                "**at chance**" if row["at_chance"] else "",
            )
            for row in rows
        ],
    )  # fmt: skip


def _targets(found: dict[str, Any]) -> str:
    lines = []
    for row in found["rows"]:
        goal = found["targets"].get(row["task"], {}).get(row["format"])
        if goal is not None:
            met = "met" if row["em"] >= goal else f"**missed by {goal - row['em']:.3f}**"
            lines.append((f"`{row['task']}`", row["format"], f"{goal:.2f}", _shown(row), met))
    for row in found["auc"]:
        goal = found["targets"]["auc"].get(row["damage"])
        if goal is not None and row["format"] in ("all", "binary"):
            value = with_span(row["auc"], row["low"], row["high"])
            met = "met" if row["auc"] >= goal else f"**missed by {goal - row['auc']:.3f}**"
            lines.append((f"AUC, {row['damage']}", row["format"], f"{goal:.2f}", value, met))
    return markdown_table(("on held-out themes", "format", "target", "measured", ""), lines)


def _shown(row: dict[str, Any]) -> str:
    return with_span(row["em"], row["low"], row["high"])


def _rows(rows: list[dict[str, Any]]) -> str:
    names = ("majority", "blind", "shuffled", "single_frame", "rotated", "ece")
    return markdown_table(
        ("task", "format", "exact match", "n", *(name.replace("_", " ") for name in names)),
        [
            (f"`{r['task']}`", r["format"], _shown(r), r["n"], *(figure(r.get(n)) for n in names))
            for r in rows
        ],
    )


def _by_game(found: dict[str, Any]) -> str:
    cells = {(r["game"], r["task"], r["format"]): r["em"] for r in found["rows_by_game"]}
    kinds = sorted({key[1:] for key in cells})
    names = [
        f"{task.replace('_recognition', '')}, {form}".replace("_", " ") for task, form in kinds
    ]
    return markdown_table(
        ("game", *names),
        [(g, *(figure(cells.get((g, *k))) for k in kinds)) for g in found["games"]],
    )


def _damage(found: dict[str, Any]) -> str:
    return markdown_table(
        ("damage", "format", "AUC", "hurt", "true", "stands still"),
        [
            (
                f"`{r['damage']}`", r["format"], with_span(r["auc"], r["low"], r["high"]),
                r["n"], r["n_true"], figure(r["abstained"]),
            )
            for r in found["auc"]
        ],
    )  # fmt: skip


HEADING = """# The bundled vision-language model

`tiny` ships with the package: PaliGemma 2's classes at a millionth of their size, trained offline on clips of our games.
Written by `python recipes/vqa_tiny.py` from the certificate beside the weights; `cosmolabe vqa certificate` prints it,
`--recompute` asks everything again.
"""
READING = """
Exact match after canonicalisation, the likeliest of the closed label set taken; intervals are 95 %, clips drawn again.
*Majority* is what always giving each game's commonest answer scores. *Blind* sees grey pictures, *shuffled* the frames in
another order, *single frame* one picture held, *rotated* the options in another order. *same*: is the character of the last
frame that of the first, asked where somebody changes midway and where nobody does; *unseen*: the same of characters that no
training has met. ECE is the calibration error of the chosen label's share.
"""
TOLD = """
What is told of a world model's obedience and identity in a game is corrected by sensitivity and specificity, measured on true and
damaged clips of that game. *Told* is their sum less 1: 0 is guessing, 1 without fault. Where its interval holds 0 the judge gives no corrected
rate and says why.
"""
DAMAGE = """
A clip's score is how little the model believes what is asked: the commanded action (another was commanded, the clip is frozen,
or runs backwards), or that the character stays itself. A hurt clip should score above a true one; chance is 0.5. A judge
abstains on what hardly moves, whatever it scores.
"""
MADE = """The tower first learns to see from true states ({sight} steps of 64 pictures: what stands in each patch, who, where in it, its
heading; then the same read off the projector's tokens), in themes whose colours are turned so that a new theme is nothing new.
Then projector and language learn to answer ({words} steps of {rows} questions about fresh clips): where somebody is in each
frame, how it moves, which action, who, and whether they stay who they were. {frames} frames of {side} pixels, four tokens a frame and a learnt mark for each
frame's place. What did not work stands in [the log](../../dev/LOG.md).

Recipe {recipe}, held-out list {held}, protocol {fingerprint}; {clips} clips a game and {unseen} with unseen characters, asked
in {cpu} processor seconds."""


if __name__ == "__main__":
    tyro.cli(main)
