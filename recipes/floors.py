"""Measure floors, ceilings and headroom of every game and publish them.

    python recipes/floors.py

Writes docs/tables/floors.json. Run it again after a game's version changes, and before any model
is tuned on it.
"""

from pathlib import Path

import tyro
from rich.console import Console
from rich.table import Table

from cosmolabe.bench.headroom import headroom_table

HERE = Path(__file__).resolve().parents[1]


def main(
    games: tuple[str, ...] = (),
    episodes: int = 256,
    work: Path = HERE / "runs" / "floors",
    out: Path = HERE / "docs" / "tables" / "floors.json",
) -> None:
    """Play `episodes` public test episodes of each game (all by default) and measure them."""
    table = Table("game", "still", "constant velocity", "ceiling", "headroom", "95 %", "n")
    tell = Console(stderr=True).print
    rows = headroom_table(work, out, games, episodes, lambda row: tell(f"{row['game']} done"))
    for row in rows:
        table.add_row(
            row["game"],
            *(f"{row[k]:.3f}" for k in ("still", "constant_velocity", "stochastic_ceiling")),
            f"{row['headroom']:.3f}",
            f"{row['headroom_low']:.3f} – {row['headroom_high']:.3f}",
            str(row["n"]),
        )
    Console().print(table)


if __name__ == "__main__":
    tyro.cli(main)
