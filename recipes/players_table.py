"""Measure what each player reaches in each game, and publish it.

    python recipes/players_table.py

Writes docs/tables/players.json and docs/data/players.md.
"""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tyro

from cosmolabe.core import bootstrap, parts
from cosmolabe.core.record import read_json, versions, write_json
from cosmolabe.data.collect import collect
from cosmolabe.data.coverage import coverage
from cosmolabe.data.policy import FOLDER, policy_of
from cosmolabe.data.replay import ReplayStore
from cosmolabe.engine.game import LEVEL, SCORE
from cosmolabe.nets.shaping import SHAPING

HERE = Path(__file__).resolve().parents[1]
PLAYERS = ("random", "heuristic", "rl")
HEAD = """# Players

Written by `python recipes/players_table.py` from [players.json](../tables/players.json).

| name | plays |
|---|---|
| `heuristic` | the game's own rules of thumb (`decide` in its file), a slip in 50 decisions |
| `random` | whims of eight ticks |
| `mixed` | the heuristic with three whims of four ticks in ten decisions |
| `rl` | a network trained by reinforcement; a decision stands for four ticks, one in 50 is a whim |

```bash
cosmolabe collect pong -o stores/pong --players heuristic random rl -n 64
```

## What they reach

{episodes} episodes of each player in each game from level 1, in worlds that no training saw.
*Score* and *level*: mean at the end; in brackets the 95 % interval over episodes (bootstrap).
*Late*: share of states that the game's own file calls late.

| game | player | score | level | late states | mean length |
|---|---|---|---|---|---|
"""
TRAINING = """
## How the trained players were made

| game | algorithm | decisions | process time of training | seed | file |
|---|---|---|---|---|---|
"""
TAIL = """
Training is short on purpose: a player that is neither the heuristic nor chance visits other states,
and that is what a store needs it for. It need not win.

**What it sees.** Features of the compact public columns, made by one rule for all games
(`cosmolabe.data.sight`): others from the agent's place, the short way where an axis wraps, in the
frame of its heading where it has one; zeros for the dead; a long body as the cells it fills around
the head; level, phase and row one by one. They are scaled to mean 0 and spread 1 over heuristic and
random play, and cut at 5. Two rectified layers of 64 units follow.

**What it is paid.** The gain of a few quantities over a decision, times a weight; a larger change
than the bracket says is a new scene and counts for nothing:

| game | terms |
|---|---|
{terms}

**Train one.** `pip install 'cosmolabe[rl]'` (Stable-Baselines3), then

```bash
python recipes/players.py pong --algorithm ppo --steps 250000 --seed 0 --out runs/players
```

Kong's was made with longer rollouts (`--rollout 128 --batch 1024 --passes 4`); its record says so.
DQN with as many decisions came as far in pong ([its record](../tables/pong_dqn.json)): score
{dqn_score:.1f}, shaped return {dqn_return:.1f}; PPO {ppo_score:.1f} and {ppo_return:.1f}.

Without `--out` the files in the package are written over; then run
`tests/data/trace_policies.py`. `nets/practice.py` holds the batch of worlds (all in one compiled
call, three in ten start in level 2 or 3), `nets/shaping.py` the table above, `nets/reinforce.py`
the adapter and the export. A policy is `policies/<game>.npz` (plain arrays, no pickle, every shape
and column number checked) and a JSON record: algorithm, decisions, seed, features, settings,
versions, what it reached.

**Play without torch.** `engine/policy.py` runs features and network compiled, in float32, with
IEEE-exact operations only and an own exponential for the softmax, so a policy plays the same game
on any CPU, with any number of workers. A store's record names the policy's fingerprint; another
policy in the same folder is refused.
"""


@dataclass(frozen=True)
class Reached:
    """One player in one game."""

    game: str
    player: str
    episodes: int
    score: float
    score_low: float
    score_high: float
    level: float
    late_frames: float
    late_episodes: float
    mean_length: float
    policy: str
    schema: int = 1


def reached(store: ReplayStore) -> list[Reached]:
    """One row a player of the store."""
    everyone = np.arange(len(store))
    ends = store.worlds(everyone, store.lengths - 1)
    names = np.array([store.player(number) for number in everyone])
    shares = {row.player: row for row in coverage(store)}
    rows = []
    for name in PLAYERS:
        mine = names == name
        scores = ends[mine, SCORE]
        draws = np.random.default_rng(0).integers(0, len(scores), (2000, len(scores)))
        low, high = bootstrap.interval(scores[draws].mean(1) if len(scores) > 1 else np.empty(0))
        rows.append(
            Reached(
                game=store.game,
                player=name,
                episodes=int(mine.sum()),
                score=float(scores.mean()),
                score_low=float(low),
                score_high=float(high),
                level=float(ends[mine, LEVEL].mean()),
                late_frames=shares[name].late_frames,
                late_episodes=shares[name].late_episodes,
                mean_length=float(store.lengths[mine].mean()),
                policy=policy_of(store.game).fingerprint if name == "rl" else "",
            )
        )
    return rows


def main(episodes: int = 64, docs: Path = HERE / "docs") -> None:
    """Play `episodes` episodes of each player in each game."""
    rows: list[Reached] = []
    for game in parts.names("games"):
        with tempfile.TemporaryDirectory() as room:
            number = episodes * len(PLAYERS)
            store = collect(
                game, Path(room) / game, number, split="train", players=PLAYERS, salt="players"
            )
            rows += reached(store)
    told = {"episodes": episodes, "versions": versions(), "rows": [asdict(row) for row in rows]}
    write_json(docs / "tables" / "players.json", {"schema": 1, **told})
    (docs / "data" / "players.md").write_text(page(rows, episodes), encoding="utf-8")


def page(rows: list[Reached], episodes: int) -> str:
    """The page for people."""
    lines = [HEAD.format(episodes=episodes)]
    lines += [
        f"| {r.game} | {r.player} | {r.score:.1f} ({r.score_low:.1f}–{r.score_high:.1f}) "
        f"| {r.level:.2f} | {r.late_frames:.1%} | {r.mean_length:.0f} |\n"
        for r in rows
    ]
    lines.append(TRAINING)
    for game in dict.fromkeys(r.game for r in rows):
        record = policy_of(game).record
        size = (FOLDER / f"{game}.npz").stat().st_size
        lines.append(
            f"| {game} | {record.algorithm.upper()} | {record.steps:,} "
            f"| {record.training_seconds:.0f} s | {record.seed} | {size / 1000:.0f} kB |\n"
        )
    terms = "\n".join(f"| {game} | {_terms(game)} |" for game in SHAPING)
    dqn = read_json(HERE / "docs" / "tables" / "pong_dqn.json")["measured"]
    ppo = policy_of("pong").record.measured
    return "".join(lines) + TAIL.format(
        terms=terms,
        dqn_score=dqn["score"],
        dqn_return=dqn["shaped_return"],
        ppo_score=ppo["score"],
        ppo_return=ppo["shaped_return"],
    )


def _terms(game: str) -> str:
    def told(term) -> str:
        limit = f" [{term.most:g}]" if term.most < float("inf") else ""
        return f"{term.name} × {term.weight:g}{limit}{' (gains only)' if term.gains_only else ''}"

    return ", ".join(told(term) for term in SHAPING[game])


if __name__ == "__main__":
    tyro.cli(main)
