"""Floors, ceilings and headroom of every game: published before any model is tuned."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.bed import FLOORS, NUM_EPISODES, lay_out
from cosmolabe.bench.readings import relative_readings
from cosmolabe.core import parts
from cosmolabe.core.record import write_json
from cosmolabe.data.collect import collect

SCHEMA = 1


def headroom_of(game: str, folder: Path, num_episodes: int = NUM_EPISODES) -> dict[str, Any]:
    """One row: what the trivial models and the simulator with other luck score on a game.

    Plays `num_episodes` public test episodes into `folder` (kept there; a second run reads them).
    """
    store = collect(game, folder / f"{game}-test", num_episodes, split="test", workers=1)
    bed = lay_out(store, "test", num_episodes=num_episodes)
    shared = {"judge": "state", "game": game}
    # The better floor stands in as the judged model: its row of readings is what is wanted.
    readings = {
        reading.metric: reading for reading in relative_readings(bed.floors[FLOORS[0]], bed, shared)
    }
    row: dict[str, Any] = {"schema": SCHEMA, "game": game, "version": store.manifest.version}
    for name in (*FLOORS, "stochastic_ceiling"):
        reading = readings[f"final_{name}"]
        row[name] = reading.value
        row[f"{name}_low"], row[f"{name}_high"] = reading.low, reading.high
    room = readings["headroom"]
    return row | {
        "headroom": room.value,
        "headroom_low": room.low,
        "headroom_high": room.high,
        "n": len(bed.windows),
        "skipped": len(bed.skipped),
        "mean_ticks": float(np.mean(store.lengths)),
        "protocol": bed.protocol.fingerprint,
        "protocol_name": bed.protocol.name,
        "data": bed.data,
    }


def headroom_table(
    folder: Path,
    out: Path,
    games: Sequence[str] = (),
    num_episodes: int = NUM_EPISODES,
    tell: Callable[[dict[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    """The rows of all games (or of those named), written to `out`."""
    rows = []
    for game in games or parts.names("games"):
        rows.append(headroom_of(game, folder, num_episodes))
        if tell is not None:
            tell(rows[-1])
    write_json(out, rows)
    return rows
