"""Plan inside trained models, play in the true game, and publish the table.

    python recipes/planning.py --threads 1 --only pong relational

Appends to docs/tables/planning.json and skips what is there already; the recipe is stored in
docs/tables/recipes before the first cell. docs/planning.md shows the rows to people.
"""

from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

from cosmolabe.bench.planning_table import PlanRecipe, PlayerRecipe, fill, fill_players
from cosmolabe.bench.tables import all_rows
from cosmolabe.core.figures import figure, with_span

HERE = Path(__file__).resolve().parents[1]
HEAD = """# Planning inside a model

What is a world model good for? Here: a planner (model predictive control) imagines candidates
inside the model, plays the best in the **true** game, and plans again. Written by
`python recipes/planning.py` from [planning.json](tables/planning.json); the recipe stands in
[recipes](tables/recipes/{recipe}.json), stored before its first run.

- **Episodes**: {episodes} moments that the heuristic player reached, played on for {ticks} ticks;
  the same for everybody. A plan: {decisions} decisions of {hold} ticks ({horizon} ticks),
  {rounds} rounds of {candidates} candidates, made anew every {replan} ticks.
- **Return**: points, lives and progress as players practise with them (`nets/shaping.py`), read
  from the true states; inside a plan the same function reads the imagined ones. Score: points.
- **Floor and ceiling**: the random player; the same planner with the true rules under *other* luck
  (the mean of {streams}), so it is no clairvoyant. *Clairvoyant* knows the luck too.
- **Share**: (model − random) ÷ (true simulator − random), with its 95 % interval over episodes
  drawn again. A dash: the ceiling is not told apart from the floor.
- `cosmolabe judge STORE --model MODEL --plan 8` measures the same for any model.
"""
DIAGNOSIS = """
## Which mechanism fails

At some moments the first round's candidates were played in the true game too. *Ranks*: Spearman
correlation of imagined and true returns of the same candidates, and of its parts (a dash: that part
was never at stake). *Top*: how often the model's favourite is truly among the best quarter.
*Hope*: imagined less true return of the favourite. *States*: composite of `state/1` at the end
of the plan, from just these moments; beside it, of states that stay as they are. *Reacts*: how
far apart the candidates leave the player, imagined over true.

| game | model | by | ranks | score | lives | progress | top | hope | states | still | reacts | |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


PLAYERS = """
## Players trained inside a model

PPO practises in what the model imagines: episodes of {lasts} decisions from moments of its training
data, paid by the same return. Another learns with the same settings, starts, pay and number of
decisions in the true game. Both then play {episodes} true games of {ticks} ticks. From
[imagined_players.json](tables/imagined_players.json), its recipe stored before the run. Share:
(inside − random) ÷ (true − random); a dash: training in the true game brought nothing that could be
told from chance. CPU: seconds of learning.

| game | model | decisions | inside | in truth | random | heuristic | share | CPU inside | true |
|---|---|---|---|---|---|---|---|---|---|
"""


def players(rows: list[dict[str, Any]]) -> str:
    """The section about players; empty where none was trained."""
    if not rows:
        return ""
    lines = [PLAYERS.format(**rows[0]).rstrip("\n")]
    for row in rows:
        lines.append(
            f"| {row['game']} | {row['model']} | {row['decisions']} | {_n(row['return_inside'])} "
            f"| {_n(row['return_true'])} | {_n(row['return_random'])} "
            f"| {_n(row['return_heuristic'])} | {_with(row, 'share', 'share_low', 'share_high')} "
            f"| {row['seconds_inside']:.0f} | {row['seconds_true']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def page(rows: list[dict[str, Any]]) -> str:
    """The rows as a page."""
    text = []
    for name in dict.fromkeys(row["recipe_name"] for row in rows):
        mine = [row for row in rows if row["recipe_name"] == name]
        text.append(
            _section(name, sorted(mine, key=lambda r: (r["planner"], r["game"], r["model"])))
        )
    return "\n".join(text)


def _section(name: str, rows: list[dict[str, Any]]) -> str:
    told = rows[0]["dials"]
    lines = [
        HEAD.format(recipe=name, **told),
        "| game | model | planner | return | score | stay | random | heuristic | true simulator "
        "| clairvoyant | share | share of score | CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['game']} | {row['model']} | {row['planner']} | "
            f"{_with(row, 'return', 'low', 'high')} | {_n(row['score'])} "
            f"| {_n(row['return_stay'])} | {_n(row['return_random'])} "
            f"| {_n(row['return_heuristic'])} | {_n(row['return_true'])} "
            f"| {_n(row['return_clairvoyant'])} "
            f"| {_with(row, 'share', 'share_low', 'share_high')} | {_n(row['score_share'])} "
            f"| {row['seconds']:.0f} |"
        )
    for note in dict.fromkeys(row["note"] for row in rows if row.get("note")):
        lines.append(f"\n{note}")
    lines.append(DIAGNOSIS.rstrip("\n"))
    for row in rows:
        found = row.get("diagnosis")
        if found is None:
            continue
        of = {part["part"]: part["ranks"] for part in found["parts"]}
        lines.append(
            f"| {row['game']} | {row['model']} | {row['planner']} | {_n(found['ranks'])} "
            f"| {_n(of['score'])} | {_n(of['lives'])} | {_n(of['progress'])} "
            f"| {_n(found['top_quarter'])} | {_n(found['optimism'])} "
            f"| {_n(found['state_score'], 3)} | {_n(found['state_score_still'], 3)} "
            f"| {_n(found.get('reaction'))} "
            f"| {row['mechanism'] or 'nothing: at least 0.6 of the ceiling'} |"
        )
    return "\n".join(lines) + "\n"


def _n(value: float | None, digits: int = 2) -> str:
    return figure(value, f".{digits}f")


def _with(row: dict[str, Any], value: str, low: str, high: str) -> str:
    return with_span(row[value], row[low], row[high], ".2f")


def main(
    recipe: PlanRecipe = PlanRecipe(),  # noqa: B008 - frozen
    work: Path = HERE / "runs" / "planning",
    out: Path = HERE / "docs" / "tables" / "planning.json",
    to: Path = HERE / "docs" / "planning.md",
    threads: int = 0,
    players_out: Path = HERE / "docs" / "tables" / "imagined_players.json",
    only: tuple[str, ...] = (),
    train_players: bool = False,
    players_recipe: PlayerRecipe = PlayerRecipe(),  # noqa: B008 - frozen
) -> None:
    """Fill the table.

    `threads` sets torch's threads (0 leaves them); `only` names the games, models and planners to
    do now; `to` is the page. `train_players` trains players inside the models instead of planning,
    which needs the extra `rl`.
    """
    if threads:
        import torch

        torch.set_num_threads(threads)
    say = Console().print

    def tell(row: dict) -> None:
        share = "–" if row["share"] is None else f"{row['share']:.2f}"
        say(
            f"{row['game']} {row['model']} {row['planner']}: return {row['return']:.2f} (random "
            f"{row['return_random']:.2f}, true {row['return_true']:.2f}), share {share}, "
            f"{row['seconds']:.0f} s {row.get('mechanism', '')}"
        )

    if train_players:

        def tell_player(row: dict) -> None:
            say(
                f"{row['game']} {row['model']}: inside {row['return_inside']:.2f}, in the true "
                f"game {row['return_true']:.2f}, random {row['return_random']:.2f}"
            )

        fill_players(players_recipe, work, players_out, tell_player, only)
    else:
        fill(recipe, work, out, tell, only)
    to.write_text(page(all_rows(out)) + players(all_rows(players_out)), encoding="utf-8")
    say(f"{len(all_rows(out))} rows in {out}, {len(all_rows(players_out))} in {players_out}")


if __name__ == "__main__":
    tyro.cli(main)
