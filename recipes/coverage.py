"""Measure how much of the late game each player reaches, and publish it.

    python recipes/coverage.py

Writes docs/tables/coverage.json and docs/data/coverage.md.
"""

import tempfile
from pathlib import Path

import tyro

from cosmolabe.core import parts
from cosmolabe.core.record import write_json
from cosmolabe.data.collect import collect
from cosmolabe.data.coverage import Coverage, coverage
from cosmolabe.data.players import PLAYERS

HERE = Path(__file__).resolve().parents[1]


def main(games: tuple[str, ...] = (), episodes: int = 64, docs: Path = HERE / "docs") -> None:
    """Play `episodes` episodes of each player in each game (all by default)."""
    rows: list[Coverage] = []
    for game in games or parts.names("games"):
        with tempfile.TemporaryDirectory() as room:
            number = episodes * len(PLAYERS)
            store = collect(game, Path(room) / game, number, split="train", players=tuple(PLAYERS))
            rows += coverage(store)
    write_json(docs / "tables" / "coverage.json", rows)
    lines = [
        "# Late-state coverage",
        "",
        f"{episodes} episodes of each player in each game, made by `python recipes/coverage.py`.",
        "*Late* is what the game's own file calls late (its `late` function). *Ended by the rules*",
        "counts a game's own clock among its rules; any other episode was cut by the collection.",
        "",
        "| game | player | median length | ended by the rules | late frames | late episodes |",
        "|---|---|---|---|---|---|",
        *(
            f"| {row.game} | {row.player} | {row.median_length:.0f} | {row.terminated:.0%} "
            f"| {row.late_frames:.1%} | {row.late_episodes:.0%} |"
            for row in rows
        ),
    ]
    (docs / "data" / "coverage.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    tyro.cli(main)
