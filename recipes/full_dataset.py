"""Make the full-size dataset, 19,000 episodes of every game, and publish what it weighs.

    python recipes/full_dataset.py stores/full --workers 2

Stopped at any moment, the same command goes on where it was. Writes one store a game into the
folder, docs/tables/dataset.json and docs/data/dataset.md.
"""

import resource
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro

from cosmolabe.bench.scenario_episodes import ScenarioEpisodes
from cosmolabe.cli._verb import progress
from cosmolabe.core import parts
from cosmolabe.core.record import read_json, versions, write_json
from cosmolabe.data.collect import collect
from cosmolabe.data.replay import ReplayStore

HERE = Path(__file__).resolve().parents[1]
SHARES = {"train": 10, "val": 3, "test": 3, "scenario": 3}
PLAYERS = {"heuristic": 2, "random": 1, "rl": 1}


@dataclass(frozen=True)
class Made:
    """One game's store."""

    game: str
    version: int
    episodes: dict[str, int]
    """Of each split."""
    players: dict[str, int]
    """Episodes of each player; `script` stands for scenarios."""
    scenarios: int
    """How many scenarios the split takes turns over."""
    frames: int
    bytes: int
    bytes_per_frame: float
    process_seconds: float
    """Of all processes, to play and to hash; NaN where an interrupted run was finished."""
    wall_seconds: float
    workers: int
    fingerprint: str
    policy: str
    schema: int = 1


def main(
    folder: tyro.conf.Positional[Path],
    games: tuple[str, ...] = (),
    episodes: int = 19_000,
    workers: int = 1,
    salt: str = "public",
    docs: Path = HERE / "docs",
) -> None:
    """Collect all games (or those named) and publish the table of all that are whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for game in games or parts.names("games"):
        make(folder, game, episodes, workers, salt)
    rows = [read_json(path) for path in sorted(folder.glob("*.made.json"))]
    wanted = {"episodes_a_game": episodes, "splits": SHARES, "players": PLAYERS, "salt": salt}
    write_json(
        docs / "tables" / "dataset.json",
        {"schema": 1, **wanted, "versions": versions(), "rows": rows},
    )
    (docs / "data" / "dataset.md").write_text(page(rows), encoding="utf-8")


def make(folder: Path, game: str, episodes: int, workers: int, salt: str) -> None:
    """Collect one game, or finish it; a store that is whole keeps the figures of its making."""
    told = folder / f"{game}.made.json"
    resumed = (folder / game).exists()
    wall, used = time.perf_counter(), _process_seconds()
    with progress(f"playing {game}") as tell:
        store = collect(
            game,
            folder / game,
            episodes,
            shares=SHARES,
            players=PLAYERS,
            salt=salt,
            workers=workers,
            starts=ScenarioEpisodes(game),
            progress=tell,
        )
    if told.exists() and read_json(told)["fingerprint"] == store.fingerprint:
        return
    wall, used = time.perf_counter() - wall, _process_seconds() - used
    if resumed:
        wall = used = float("nan")
    write_json(told, asdict(_made(store, used, wall, workers)))


def _process_seconds() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def _made(store: ReplayStore, used: float, wall: float, workers: int) -> Made:
    frames = int(store.lengths.sum())
    size = sum(path.stat().st_size for path in store.folder.iterdir())
    return Made(
        game=store.game,
        version=store.record["version"],
        episodes={name: len(store.split(name)) for name in SHARES},
        players=dict(Counter(store.player(number) for number in range(len(store)))),
        scenarios=len(store.record["scenarios"]),
        frames=frames,
        bytes=size,
        bytes_per_frame=round(size / frames, 3),
        process_seconds=round(used, 1),
        wall_seconds=round(wall, 1),
        workers=workers,
        fingerprint=store.fingerprint,
        policy=store.record["policy"],
    )


def page(rows: list[dict]) -> str:
    """The page for people."""
    lines = [
        "# The full-size dataset",
        "",
        "Written by `python recipes/full_dataset.py` from [dataset.json](../tables/dataset.json).",
        "Nothing of it needs to be shipped: the same command makes the same shards again, and",
        "`store.verify()` plays every episode again.",
        "",
        "```bash",
        "python recipes/full_dataset.py stores/full --workers 2",
        "```",
        "",
        "Splits train / val / test / scenario as 10 : 3 : 3 : 3. In the first three the heuristic",
        "plays half of the episodes, chance a quarter, the trained player a quarter",
        "([players](players.md)). The scenario split is not played: its episodes start where the",
        "game's scenarios start, take turns over them, and follow the script or its twin to the",
        "scenario's horizon, 27 ticks or more; scenarios with physics of their own are left out,",
        "for a store has one physics. Such an episode begins at its first keyframe",
        "(`store.scenario(number)` names it).",
        "",
        "| game | episodes | scenarios | frames | MB | bytes a frame | process | fingerprint |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        seconds = row["process_seconds"]
        lines.append(
            f"| {row['game']} | {sum(row['episodes'].values()):,} | {row['scenarios']} "
            f"| {row['frames']:,} | {row['bytes'] / 1e6:.1f} | {row['bytes_per_frame']:.2f} "
            f"| {'–' if seconds is None else f'{seconds:.0f} s'} | `{row['fingerprint']}` |"
        )
    episodes = sum(sum(row["episodes"].values()) for row in rows)
    frames, size = (sum(row[name] for row in rows) for name in ("frames", "bytes"))
    seconds = [row["process_seconds"] for row in rows if row["process_seconds"] is not None]
    lines.append(
        f"| all | {episodes:,} | {sum(row['scenarios'] for row in rows)} | {frames:,} "
        f"| {size / 1e6:.1f} | {size / frames:.2f} | {sum(seconds):.0f} s | |"
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    tyro.cli(main)
