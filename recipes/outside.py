"""Collect, train and judge on games nobody here wrote, and publish the table.

    python recipes/outside.py

Needs the extras `atari` and `torch` and OCAtari (docs/outside-games.md). Writes
docs/tables/outside.json, one row a game and model, skips what is there already, and puts the table
into docs/outside-games.md. Stores, checkpoints and reports stay in runs/outside.
"""

from pathlib import Path

import numpy as np
import tyro
from rich.console import Console

from cosmolabe.bench.bed import lay_out
from cosmolabe.bench.evaluate import judge_model, write_run
from cosmolabe.bench.tables import all_rows
from cosmolabe.core import bootstrap, parts
from cosmolabe.core.figures import with_span
from cosmolabe.core.record import write_json
from cosmolabe.data.alignment import align, verdict
from cosmolabe.data.outside import outside_game
from cosmolabe.data.outside.collecting import collect_outside
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.training import train
from cosmolabe.report.page import write_report

HERE = Path(__file__).resolve().parents[1]
GAMES = ("atari/Pong", "atari/Breakout", "atari/Asteroids", "atari/Frogger")
MODELS = ("linear", "transformer")
STEPS = {"atari/Pong": 600, "atari/Breakout": 40, "atari/Asteroids": 200, "atari/Frogger": 200}
"""Gradient steps of the transformer: about a minute of one core each."""
SCHEMA = 1
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def main(
    games: tuple[str, ...] = GAMES,
    models: tuple[str, ...] = MODELS,
    train_episodes: int = 96,
    test_episodes: int = 48,
    max_ticks: int = 240,
    frameskip: int = 2,
    work: Path = HERE / "runs" / "outside",
    out: Path = HERE / "docs" / "tables" / "outside.json",
    page: Path = HERE / "docs" / "outside-games.md",
) -> None:
    """Fill the table, game by game."""
    tell = Console(stderr=True).print
    for model in models:
        for name in games:
            if (name, model) in {(row["game"], row["model"]) for row in all_rows(out)}:
                continue
            game, stores = outside_game(name, frameskip, max_ticks), {}
            for split, count in (("train", train_episodes), ("test", test_episodes)):
                folder = work / "stores" / f"{game.manifest.game}-{split}-{count}"
                stores[split] = collect_outside(game, folder, count, split=split)
            found = verdict(align(stores["train"]))
            row = _cell(name, model, stores["train"], lay_out(stores["test"], "test"), work)
            row |= {"lag": found.best, "lag_why": found.why, "frameskip": frameskip}
            row |= {"train_episodes": train_episodes, "libraries": dict(game.libraries)}
            write_json(out, [*all_rows(out), row])
            tell(f"{name} {model}: {row['final']:.4f}, floor {row['floor']:.4f}")
    _show(all_rows(out), page)


def _cell(name, model, learn, bed, work) -> dict:
    part = parts.load("models", model)
    world = part.create(learn.manifest, "laptop", 0)
    config = TrainConfig(steps=STEPS.get(name, 200), seed=0)
    config = TrainConfig(**{**vars(config), **part.recipe, "steps": config.steps, "seed": 0})
    cell = f"{learn.manifest.game}-{model}"
    folder = work / "checkpoints" / cell
    begun = (folder / "training.json").exists()
    done = train(world, learn, config, folder, resume=begun)
    if done.interrupted:
        raise KeyboardInterrupt
    judged = judge_model(world, bed.store, bed=bed)
    write_report(write_run(judged, work / "runs" / cell))
    final = judged.reading("final")
    floors = {each: judged.reading(f"final_{each}").value for each in bed.floors}
    best = max(floors, key=lambda each: floors[each])
    gain = judged.scores.final - bed.floors[best].final
    weights = bootstrap.resamples(bed.windows.episodes)
    low, high = bootstrap.interval(bootstrap.weighted_mean(gain, weights))
    return {
        "schema": SCHEMA,
        "game": name,
        "version": bed.store.manifest.version,
        "slots": bed.store.manifest.num_slots,
        "model": model,
        "steps": done.step,
        "seconds": done.seconds,
        "final": final.value,
        "low": final.low,
        "high": final.high,
        "floor": floors[best],
        "floor_model": best,
        "ceiling": final.ceiling,
        "difference": float(np.nanmean(gain)),
        "difference_low": float(low),
        "difference_high": float(high),
        "n": final.n,
        "protocol": final.protocol,
        "data": final.data,
    }


def _show(rows: list[dict], page: Path) -> None:
    """The rows as a table, between the two marks of the page."""
    lines = [
        "| game | slots | action lag | model | steps | final | floor | difference (95 %) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in sorted(rows, key=lambda row: (GAMES.index(row["game"]), row["model"])):
        lag = "cannot tell" if row["lag"] is None else f"{row['lag']:+d}"
        lines.append(
            f"| {row['game']} | {row['slots']} | {lag} | {row['model']} | {row['steps']} | "
            f"{row['final']:.4f} | {row['floor']:.4f} ({row['floor_model']}) | "
            f"{with_span(*(row[f'difference{end}'] for end in ('', '_low', '_high')), '+.4f')} |"
        )
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    table = "\n".join(lines)
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    tyro.cli(main)
