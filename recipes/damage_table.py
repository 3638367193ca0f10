"""Hurt episodes of every game by every kind of damage, and publish what shows and what it scores.

    python recipes/damage_table.py

Writes docs/tables/damage.json and prints the rows of docs/data/damage.md. Run it again after a
game's version or a kind of damage changes.
"""

from pathlib import Path

import tyro
from rich.console import Console

from cosmolabe.bench.damage_table import damage_table, page_rows

HERE = Path(__file__).resolve().parents[1]


def main(
    games: tuple[str, ...] = (),
    episodes: int = 16,
    work: Path = HERE / "runs" / "damage",
    out: Path = HERE / "docs" / "tables" / "damage.json",
) -> None:
    """Hurt `episodes` public test episodes of each game (all by default)."""
    tell = Console(stderr=True).print
    found = damage_table(work, out, games, episodes, lambda game: tell(f"{game} done"))
    print("\n".join(page_rows(found)))


if __name__ == "__main__":
    tyro.cli(main)
