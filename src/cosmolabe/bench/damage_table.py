"""What each kind of damage does in each game: how often it shows, how far, and what it scores.

The damaged truth is judged as if a model had imagined it, so that the state judge is held against
what was truly done: a larger damage should score lower.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from cosmolabe.core import parts
from cosmolabe.core.fields import PREDICTED
from cosmolabe.core.record import write_json
from cosmolabe.core.rollout import SURE, Prediction
from cosmolabe.data.collect import collect
from cosmolabe.data.damage import KINDS, PICTURES, Damage, applicable
from cosmolabe.data.replay import ReplayStore
from cosmolabe.data.twins import Twins, twins
from cosmolabe.judges.state import PROTOCOLS, score

SIZES = (0.25, 0.5, 0.75, 1.0)
ONSET = 130  # so that there is a past to play backwards, lag behind or bring back
FRAMES = 120
"""States from the onset on in which a damage is looked for."""
TICKS = ONSET + FRAMES
MOST_SURE = 0.999  # a rank correlation of 1 has no Fisher transform
Row = dict[str, Any]


def damage_table(
    work: Path,
    out: Path,
    games: Sequence[str] = (),
    episodes: int = 16,
    tell: Callable[[str], None] = lambda game: None,
) -> dict[str, Any]:
    """Measure every kind in every game, write the table, give it."""
    rows, ranks = [], []
    for game in games or parts.names("games"):
        store = collect(
            game, work / game, 3 * episodes, split="test", players=("heuristic",), max_ticks=TICKS
        )
        assert isinstance(store, ReplayStore)
        numbers = [int(n) for n in store.split("test") if store.lengths[n] > TICKS][:episodes]
        if not numbers:
            raise ValueError(f"no episode of {game} lasts {TICKS} ticks; ask for more episodes")
        for kind in (kind for kind in KINDS if applicable(store.part)[kind]):
            measured = [measure(store, numbers, kind, size) for size in SIZES]
            rows += [row for row, _ in measured]
            ranks.append(_rank(game, kind, [finals for _, finals in measured]))
        tell(game)
    table = {"schema": 1, "onset": ONSET, "frames": FRAMES, "rows": rows, "ranks": ranks,
             "kinds": summary(ranks)}  # fmt: skip
    write_json(out, table)
    return table


def measure(
    store: ReplayStore, numbers: Sequence[int], kind: str, size: float
) -> tuple[Row, np.ndarray]:
    """One row of the table, and the score of each episode (NaN for kinds of pictures alone)."""
    pairs = [twins(store, n, Damage(kind, size, ONSET, seed=n)) for n in numbers]
    far = [_distance(pair) for pair in pairs]
    finals = np.full(len(pairs), np.nan)
    if kind not in PICTURES:
        finals = finals_of(store, numbers, pairs)
    row = {
        "kind": kind,
        "family": pairs[0].damage.family,
        "game": store.game,
        "size": size,
        "shown": float(np.mean([_shows(pair) for pair in pairs])),
        "l1": float(np.mean(far)),
        "final": float(finals.mean()),
        "episodes": len(pairs),
    }
    return row, finals


def finals_of(store: ReplayStore, numbers: Sequence[int], pairs: Sequence[Twins]) -> np.ndarray:
    """`state/1` of the damaged double, given 8 true states and imagined from the onset on."""
    protocol = PROTOCOLS["state/1"]
    starts = np.array([pair.damage.onset - protocol.window for pair in pairs])
    length = protocol.window + protocol.horizon
    windows = store.windows(np.array(numbers), starts, length)
    return score(windows, _imagined(pairs, protocol.horizon), protocol).final


def _imagined(pairs: Sequence[Twins], horizon: int) -> Prediction:
    states, numbers, terminal = [], [], []
    for pair in pairs:
        last = len(pair.damaged) - 1  # a double that ended keeps its last state
        steps = np.minimum(np.arange(pair.damage.onset, pair.damage.onset + horizon), last)
        states.append(pair.damaged.states[steps][..., list(PREDICTED)])
        numbers.append(pair.damaged.globals[steps])
        terminal.append(np.where(pair.damaged.terminal[steps], SURE, -SURE))
    return Prediction(np.stack(states), np.stack(numbers), np.stack(terminal).astype(np.float32))


def _shows(pair: Twins) -> bool:
    first = pair.first_difference
    return first is not None and first < pair.damage.onset + FRAMES


def _distance(pair: Twins) -> float:
    part = slice(pair.damage.onset, min(len(pair), pair.damage.onset + FRAMES))
    gap = pair.true.states[part, :, :3] - pair.damaged.states[part, :, :3]
    return float(np.abs(gap).mean())


def _rank(game: str, kind: str, finals: list[np.ndarray]) -> Row:
    """Rank correlation of size and score over all episodes and sizes, 0 (which scores 1) too."""
    scores = np.concatenate([np.ones_like(finals[0]), *finals])
    sizes = np.repeat((0.0, *SIZES), len(finals[0]))
    known = np.isfinite(scores)
    varies = known.any() and np.ptp(scores[known]) > 0
    rho = float(spearmanr(sizes[known], scores[known]).statistic) if varies else np.nan
    means = [1.0, *(float(one.mean()) for one in finals)]
    falls = bool(varies and all(later <= before for before, later in pairwise(means)))
    return {"game": game, "kind": kind, "rank": rho, "falls": falls if varies else None}


def summary(ranks: Sequence[Row]) -> list[Row]:
    """Per kind: Fisher mean of the games' rank correlations, and in how many the mean falls."""
    rows = []
    for kind in dict.fromkeys(row["kind"] for row in ranks):
        mine = [r for r in ranks if r["kind"] == kind and np.isfinite(r["rank"])]
        turned = [np.arctanh(np.clip(r["rank"], -MOST_SURE, MOST_SURE)) for r in mine]
        rows.append(
            {
                "kind": kind,
                "rank": float(np.tanh(np.mean(turned))) if mine else np.nan,
                "games": len(mine),
                "falls": sum(r["falls"] for r in mine),
            }
        )
    return rows


def page_rows(table: dict[str, Any]) -> list[str]:
    """The table as it stands in docs/data/damage.md, one line a kind."""
    lines = []
    for found in sorted(table["kinds"], key=lambda row: KINDS.index(row["kind"])):
        mine = [row for row in table["rows"] if row["kind"] == found["kind"]]
        small, large = ([r for r in mine if r["size"] == size] for size in (SIZES[0], SIZES[-1]))
        falls = f"{found['falls']} of {found['games']}" if found["games"] else "–"
        cells = (
            f"`{found['kind']}`", str(len(large)), _mean(large, "shown", 2), _mean(small, "l1", 4),
            _mean(large, "l1", 4), _mean(small, "final", 3), _mean(large, "final", 3),
            _figure(found["rank"], 2), falls,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _mean(rows: Sequence[Row], name: str, digits: int) -> str:
    values = [row[name] for row in rows]
    return _figure(None if None in values else float(np.mean(values)), digits)


def _figure(value: float | None, digits: int) -> str:
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")
