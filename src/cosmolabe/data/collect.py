"""Plays episodes into a replay store; killed at any moment, it goes on where it stopped.

The unit of work is a shard: written aside and renamed, so it is there whole or not at all, and
made again from the plan alone if it is not. Hence the bytes are the same for any number of
workers, and after any number of interruptions.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from cosmolabe.core import parts
from cosmolabe.core.record import read_json, versions, write_json
from cosmolabe.core.spread import check_engine, spread
from cosmolabe.data.arrays import file_digest, read_arrays
from cosmolabe.data.folder import INDEX, MANIFEST, RECORD, SCHEMA, SHARES, SPLITS
from cosmolabe.data.players import policy_behind, shares_of
from cosmolabe.data.shards import Plan, ShardPlan, collect_shard, is_whole, shard_plans
from cosmolabe.data.starts import Starts
from cosmolabe.data.store import Store, open_store
from cosmolabe.engine.game import Game

MOST_EPISODES, MOST_TICKS = 10_000_000, 1_000_000
"""More is a slip of the hand: a store is planned whole before the first episode is played."""
LEFTOVER = re.compile(r"(.+\.shard|record\.json|manifest\.json|index\.json)\.(\d+)\.part")
"""What a killed collection may leave, with the number of its process."""


def collect(
    game: str,
    folder: Path | str,
    num_episodes: int = 256,
    *,
    split: str | None = None,
    shares: Mapping[str, float | int] = SHARES,
    players: Sequence[str] | Mapping[str, float | int] = ("heuristic", "random"),
    salt: str = "public",
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    max_ticks: int | None = None,
    level: int = 1,
    parameters: Mapping[str, float | int] | None = None,
    shard_size: int = 256,
    starts: Starts | None = None,
    engine: str = "local",
) -> Store:
    """A store of `num_episodes` episodes, all in `split` or shared out by `shares`.

    `players` names who plays, with equal shares or each with its own; `progress(done, total)` is
    called with episodes; `engine` is `local` (processes here) or `ray` (`core.spread`). The
    scenario split is made of `starts` (`bench.scenario_episodes.ScenarioEpisodes`), not played. A
    folder that holds part of the same collection is finished; one that holds anything else is
    refused.
    """
    part: Game = parts.load("games", game)
    ticks = part.manifest.max_ticks if max_ticks is None else max_ticks
    check_engine(engine, workers)
    if num_episodes < 1 or ticks < 1 or shard_size < 1 or workers < 1:
        raise ValueError(
            f"num_episodes, max_ticks, shard_size and workers must be at least 1; got "
            f"{num_episodes}, {ticks}, {shard_size}, {workers}"
        )
    if num_episodes > MOST_EPISODES or ticks > MOST_TICKS:
        raise ValueError(
            f"a store holds at most {MOST_EPISODES:,} episodes of {MOST_TICKS:,} ticks; got "
            f"{num_episodes:,} and {ticks:,}"
        )
    episodes = split_sizes(num_episodes, shares if split is None else {split: 1})
    who = shares_of(players)
    if "scenario" in episodes and starts is None:
        raise ValueError(
            "the scenario split holds scenarios alone; hand in their starts "
            "(cosmolabe.bench.scenario_episodes), or choose another split"
        )
    # What the game would refuse, before anything is written.
    part.new_world(0, level, part.default_parameters(**(parameters or {})))
    scenarios = starts if "scenario" in episodes else None
    plan = Plan(
        game=game,
        version=part.manifest.version,
        episodes=episodes,
        players=who,
        salt=salt,
        max_ticks=ticks,
        level=level,
        parameters=dict(parameters or {}),
        shard_size=shard_size,
        policy=policy_behind(who, game),
        scenarios=scenarios.names if scenarios else (),
        starts=scenarios.fingerprint if scenarios else "",
    )
    folder = Path(folder)
    _begin(folder, plan, part)
    _fill(folder, plan, workers, progress, scenarios, engine)
    _finish(folder, plan)
    return open_store(folder)


def split_sizes(num_episodes: int, shares: Mapping[str, float | int]) -> dict[str, int]:
    """Whole episodes of each split, as near to the shares as they go, at least one each."""
    unknown = [name for name in shares if name not in SPLITS]
    if unknown:
        raise ValueError(f"no split {unknown}; have {list(SPLITS)}")
    if not shares or min(shares.values()) <= 0:
        raise ValueError(f"shares of splits must be positive; got {dict(shares)}")
    if num_episodes < len(shares):
        raise ValueError(f"{num_episodes} episode(s) cannot fill {len(shares)} splits")
    total, sizes, taken, due = sum(shares.values()), {}, 0, 0.0
    left = len(shares)
    for name, share in shares.items():
        due += num_episodes * share / total
        left -= 1
        sizes[name] = min(max(round(due) - taken, 1), num_episodes - taken - left)
        taken += sizes[name]
    return sizes


def _begin(folder: Path, plan: Plan, game: Game) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / RECORD
    wanted = plan.told
    if not record.exists():
        others = sorted(path.name for path in folder.iterdir() if not LEFTOVER.fullmatch(path.name))
        if others and others != [MANIFEST]:
            raise ValueError(f"{folder} is not empty (it holds {others[:3]}); choose a new folder")
        write_json(folder / MANIFEST, game.manifest)
        write_json(record, {**wanted, "versions": versions()})
        return
    found = read_json(record)
    differs = {
        name: (found.get(name) if isinstance(found, dict) else None, value)
        for name, value in wanted.items()
        if not isinstance(found, dict) or found.get(name) != value
    }
    if differs:
        told = "; ".join(f"{name} is {a!r}, asked for {b!r}" for name, (a, b) in differs.items())
        raise ValueError(f"{folder} holds another collection ({told}); choose a new folder")


def _fill(
    folder: Path,
    plan: Plan,
    workers: int,
    progress: Callable[[int, int], None] | None,
    starts: Starts | None,
    engine: str,
) -> None:
    wanted = shard_plans(plan)
    total = sum(shard.count for shard in wanted)
    open_shards = [shard for shard in wanted if not is_whole(folder, plan, shard)]
    done = total - sum(shard.count for shard in open_shards)

    def tell(shard: ShardPlan | None = None) -> None:
        nonlocal done
        done += shard.count if shard else 0
        if progress:
            progress(done, total)

    tell()
    jobs = [(folder.resolve(), plan, shard, starts) for shard in open_shards]
    with closing(spread(collect_shard, jobs, workers, engine)) as finished:
        for place, _ in finished:
            tell(open_shards[place])


def _finish(folder: Path, plan: Plan) -> None:
    for path in folder.iterdir():
        leftover = LEFTOVER.fullmatch(path.name)
        if leftover and not _is_running(int(leftover[2])):
            path.unlink(missing_ok=True)
    rows: list[dict[str, Any]] = []
    for shard in shard_plans(plan):
        path = folder / shard.file
        _, arrays = read_arrays(path, ("lengths",))
        rows.append(
            {
                "file": shard.file,
                "split": shard.split,
                "first": shard.first,
                "bytes": path.stat().st_size,
                "xxh3": file_digest(path),
                "lengths": arrays["lengths"].tolist(),
            }
        )
    write_json(folder / INDEX, {"schema": SCHEMA, "shards": rows})


def _is_running(process: int) -> bool:
    """Whether a process goes on, perhaps collecting into the same folder."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return process != os.getpid()
