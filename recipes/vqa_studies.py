"""Study adaptation on a small vision-language model; one command a study, on one core.

    python recipes/vqa_studies.py sampling --weights runs/tiny-vlm/model

writes docs/tables/recipes/vqa_sampling.json before anything runs, docs/tables/vqa_sampling.json and
the page docs/judges/vqa-studies.md at the end. Stopped, the same command goes on. `all` runs every
study. Work needs about 2 GB of disk.
"""

# ruff: noqa: E501 - lines of the page it writes

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch
import tyro
from rich.console import Console

from cosmolabe.bench.vqa.domain import Domain
from cosmolabe.bench.vqa.studies import STUDIES, TINY, TINY_DOMAIN, Budget
from cosmolabe.bench.vqa.study_cell import Bench
from cosmolabe.bench.vqa.vocabulary import vocabulary
from cosmolabe.core import parts
from cosmolabe.core.figures import with_span
from cosmolabe.core.markdown import markdown_table
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain, read_json, versions, write_json
from cosmolabe.vlms.tiny import build_tiny

HERE = Path(__file__).resolve().parents[1]
PAGE = HERE / "docs" / "judges" / "vqa-studies.md"
CELLS = tuple(f"{task} {form}" for task in ("AR", "CR") for form in ("yes/no", "choice", "open"))
NOT_SHOWN = (
    "scores", "tried", "samples", "steps", "trains", "cpu_seconds", "num_seeds", "tasks", "formats",
)  # fmt: skip
"""Of a row: what has columns of its own, or stands in the table alone."""
HEADING = """# What was learnt by adapting the bundled model

Written by `python recipes/vqa_studies.py` from the tables; [what the studies are](vqa-adaptation.md#the-studies). Each recipe was stored before its
run. Exact match on 210 test clips of held-out themes, with exchanged names of characters, at every frame of the game; AR: which action, CR: which
character; yes/no, multiple choice, open. With three seeds 95 % intervals stand behind (clips and seeds drawn again); a cell of one seed is for orientation.
Always giving the commonest answer brings {majority}.
"""
Study = Literal[
    "all", "sampling", "strategies", "mixture", "curves", "unified", "epochs", "zeroshot",
    "resolution",
]  # fmt: skip
SMALL = {"hidden": 32, "mlp": 48, "layers": 1, "heads": 2}


def main(
    study: tyro.conf.Positional[Study],
    weights: Path | None = None,
    vlm: str = "tiny",
    work: Path = HERE / "runs" / "vqa-studies",
    tables: Path = HERE / "docs" / "tables",
    strategy: str = "P",
    rate: float = 3e-3,
    also: tuple[str, ...] = (),
    tiny: bool = False,
    store_only: bool = False,
    page_only: bool = False,
) -> None:
    """Run a study on the base in `weights` (what came with the package where none are given).

    `also`: further models for `zeroshot`, NAME or NAME=FOLDER. `tiny`: an untrained small model and
    a few clips, to see that everything runs; its tables go to WORK, never to the docs. `store_only`
    writes the recipe and runs nothing, `page_only` the page from the tables there are.
    """
    torch.set_num_threads(1)
    if page_only:
        PAGE.write_text(page(tables))
        return
    say = Console(stderr=True)
    budget, domain = Budget(strategy=strategy, rate=rate), Domain()
    if tiny:
        budget, domain, tables = TINY, TINY_DOMAIN, work / "tables"
    names = list(STUDIES) if study == "all" else [study]
    for name in names:
        _store(tables, name, budget, domain)
    if store_only:
        return

    def load() -> Any:
        if tiny:
            return build_tiny(vocabulary(), image=32, vision=SMALL, language=SMALL)
        return parts.load("vlms", vlm).load(weights)

    bench = Bench(load, domain, work, tell=lambda line: say.print(line, highlight=False))
    for name in names:
        start = time.process_time()
        more = {"others": _others(load, also, domain, work, say)} if name == "zeroshot" else {}
        found = STUDIES[name](bench, budget, **more)
        write_json(
            tables / f"vqa_{name}.json",
            {
                "schema": 1, "study": name, "recipe": _hash(name, budget, domain), **bench.told,
                "vlm": vlm, "cpu_seconds": round(time.process_time() - start, 1),
                "versions": versions(), **plain(found),
            },
        )  # fmt: skip
        say.print(f"{name}: {tables / f'vqa_{name}.json'}", highlight=False)
        if not tiny and tables == PAGE.parents[1] / "tables":
            PAGE.write_text(page(tables))


def _store(tables: Path, name: str, budget: Budget, domain: Domain) -> None:
    """The recipe, before the run."""
    write_json(
        tables / "recipes" / f"vqa_{name}.json",
        {
            "schema": 1, "study": name, "hash": _hash(name, budget, domain),
            "what": STUDIES[name].__doc__, "domain": asdict(domain), "domain_hash": domain.hash,
            "budget": asdict(budget), "adaptation": asdict(budget.recipe),
            "command": _command(name, budget),
        },
    )  # fmt: skip


def page(tables: Path) -> str:
    """All studies that have been run, one table each."""
    found = {
        name: read_json(tables / f"vqa_{name}.json")
        for name in STUDIES
        if (tables / f"vqa_{name}.json").exists()
    }
    if not found:
        return HEADING.format(majority="–")
    first = next(iter(found.values()))["rows"][0]["scores"]
    text = [HEADING.format(majority=", ".join(f"{s['majority']:.2f}" for s in first))]
    for name, told in found.items():
        text += [f"## {name}\n", f"{(STUDIES[name].__doc__ or '').strip()}\n"]
        text += [_rows(told["rows"]), "\n" + _about(name, told)]
        if told.get("differences"):
            text += [
                "\nUniform less first, paired by clip (95 %):\n",
                _gaps(told["differences"]) + "\n",
            ]
    return "\n".join(text) + "\n"


def _about(name: str, told: dict[str, Any]) -> str:
    return (
        f"[recipe](../tables/recipes/vqa_{name}.json) {told['recipe']}, [table](../tables/vqa_{name}.json), base {told['base']}, "
        f"{told['cpu_seconds']:.0f} processor seconds\n"
    )


def _rows(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(key for row in rows for key in row if key not in NOT_SHOWN))
    return markdown_table(
        (*names, "samples", *CELLS),
        [
            (
                *(row.get(name, "") for name in names), row["samples"],
                *(_share(score, several=row["num_seeds"] > 1) for score in row["scores"]),
            )
            for row in rows
        ],
    )  # fmt: skip


def _share(score: dict[str, Any], *, several: bool) -> str:
    """With its interval where seeds were drawn too."""
    ends = (score["low"], score["high"]) if several else (None, None)
    return with_span(score["em"], *ends, ".2f")


def _gaps(gaps: list[dict[str, Any]]) -> str:
    def told(gap: dict[str, Any]) -> str:
        return with_span(gap["difference"], gap["low"], gap["high"], "+.2f")

    rows = [(row["frames"], *map(told, row["uniform_less_first"])) for row in gaps]
    return markdown_table(("frames", *CELLS), rows)


def _command(name: str, budget: Budget) -> str:
    """Which anyone can give, with what was not left as it is."""
    usual = Budget()
    said = f"python recipes/vqa_studies.py {name}"
    said += f" --strategy '{budget.strategy}'" if budget.strategy != usual.strategy else ""
    return said + (f" --rate {budget.rate:g}" if budget.rate != usual.rate else "")


def _hash(name: str, budget: Budget, domain: Domain) -> str:
    return fingerprint(name, budget, domain.hash, budget.recipe)


def _others(load, also, domain, work, say) -> dict[str, Bench]:
    """The base before it learnt anything, where it can be built anew, and whom the user names."""
    base, found = load(), {}

    def bench(name, loader):
        return Bench(loader, domain, work / name, lambda line: say.print(line, highlight=False))

    made = getattr(base, "made", None)
    if made:
        untrained = {**made, "seed": made["seed"] + 1}
        found["untrained"] = bench("untrained", lambda: build_tiny(vocabulary(), **untrained))
    for one in also:
        name, _, folder = one.partition("=")
        part = parts.load("vlms", name)
        found[name] = bench(name, lambda part=part, folder=folder: part.load(folder or None))
    return found


if __name__ == "__main__":
    tyro.cli(main)
