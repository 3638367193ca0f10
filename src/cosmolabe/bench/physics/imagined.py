"""The physics judge held against the truth of our own games.

What a world model imagines is drawn by the same lines as what truly happened, so the judge sees
pictures while we know how wrong they are. Its readings on imagined rollouts are set against their
true state error: if the two do not rise together, the judge does not see what goes wrong here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.bench.dense import dense_states, draw_window
from cosmolabe.bench.driving import imagine
from cosmolabe.bench.rolling import draw_and_imagine
from cosmolabe.core import bootstrap, parts
from cosmolabe.core.episode import Windows
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import Prediction, WorldModel
from cosmolabe.data.rollouts import Rollout, name_of, stack
from cosmolabe.data.store import Store
from cosmolabe.data.video import Limits
from cosmolabe.engine.game import Appearance
from cosmolabe.judges.physics import Physics, Verdict, row_of
from cosmolabe.judges.physics import judge as judge_finished
from cosmolabe.judges.physics.readings import column_of
from cosmolabe.judges.state import FLOORS, PROTOCOLS, digest_of, score
from cosmolabe.metrics.spearman import spearman

FRAMES = 180  # 3 s at 60 a second, the least a game rollout of a picture judge has
WINDOW = PROTOCOLS["state/1"].window
SIDE = 224  # pixels in height
MOST_SHOWN = 3  # rollouts of a model whose worst window is kept as pictures
AROUND, SHOWN_RATE = 0.5, 20.0  # seconds around it; pictures a second
TRUE = "true"
"""Who is judged, where it is the game itself."""
Look = Callable[[int], Appearance]
"""Appearance of the episode of a row."""


@dataclass(frozen=True)
class Shown:
    """Pictures around the worst window of a rollout."""

    input: str
    raw: float
    frames: UInt8[np.ndarray, "time height width 3"]
    fps: float
    first: float
    """Seconds at which they begin."""
    window: tuple[float, float]


@dataclass(frozen=True)
class Imagined:
    """What the judge said of drawn rollouts."""

    readings: list[Reading]
    rows: list[dict[str, Any]]
    """One row a rollout: of the model, of the trivial models, of the game itself."""
    links: list[dict[str, Any]]
    """One row a model: its readings beside floors and ceiling, and each rollout's (error, raw)."""
    shown: list[Shown] = field(default_factory=list)
    """The worst windows of the most violating imagined rollouts."""

    def __add__(self, other: "Imagined") -> "Imagined":
        return Imagined(
            self.readings + other.readings,
            self.rows + other.rows,
            self.links + other.links,
            self.shown + other.shown,
        )


def judge_imagined(
    models: Sequence[WorldModel],
    store: Store,
    physics: Physics,
    split: str = "test",
    num_episodes: int = 32,
    frames: int = FRAMES,
    seed: int = 0,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Imagined:
    """Judge what models imagine from windows of a store, and what truly happened there."""
    _can_be_drawn(store.game)
    predictions: dict[str, tuple[Prediction, tuple[str, ...]]] = {}
    windows = None
    for model in models:
        windows, prediction, why, _ = draw_and_imagine(
            model, store, split, num_episodes, frames, seed
        )
        predictions[model.name] = prediction, why
    if windows is None:
        raise ValueError("which world model? name one")
    return judge_drawn(windows, predictions, store, physics, tell)


def judge_drawn(
    windows: Windows,
    predictions: Mapping[str, tuple[Prediction, tuple[str, ...]]],
    store: Store,
    physics: Physics,
    tell: Callable[[int, int], None] = lambda done, total: None,
    look: Look | None = None,
) -> Imagined:
    """The same of what was imagined already: by model, and per window why it cannot be used.

    `look` gives an episode's appearance where the windows are not of the store's own episodes.
    """
    _can_be_drawn(store.game)
    look = look or store.appearance
    return _judged(windows, predictions, physics, store.game, store.manifest.fps, look, tell)


def _can_be_drawn(game: str) -> None:
    if game not in parts.names("games"):
        raise ValueError(f"'{game}' has no drawing here; give videos of its rollouts instead")


def judge_states(rollouts: Sequence[Rollout], physics: Physics) -> Imagined:
    """The same of finished rollouts of states; the drawing is the game's plainest."""
    whole = Imagined([], [], [])
    groups: dict[tuple[str, float], list[Rollout]] = {}
    for rollout in rollouts:
        if rollout.window is None or rollout.prediction is None:
            raise ValueError(f"rollout '{rollout.id}' has no states to draw, nor a video")
        groups.setdefault((rollout.game, rollout.fps), []).append(rollout)
    for (game, fps), group in groups.items():
        _can_be_drawn(game)
        for model in dict.fromkeys(rollout.model for rollout in group):
            mine = [rollout for rollout in group if rollout.model == model]
            steps = min(r.prediction.states.shape[1] for r in mine if r.prediction is not None)
            windows, prediction = stack(mine, steps)
            told = _judged(
                windows,
                {model: (prediction, ("",) * len(mine))},
                physics,
                game,
                fps,
                lambda _: Appearance(),
            )
            whole += told
    return whole


def judge_videos(
    rollouts: Sequence[Rollout], physics: Physics, limits: Limits
) -> tuple[list[Reading], list[dict[str, Any]]]:
    """Readings of finished rollouts by their videos, and one row a video."""
    return judge_finished(rollouts, physics=physics, limits=limits)


def _judged(
    windows: Windows,
    predictions: Mapping[str, tuple[Prediction, tuple[str, ...]]],
    physics: Physics,
    game: str,
    fps: float,
    look: Look,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Imagined:
    context = windows.context(WINDOW)
    told = dict(predictions)
    for floor in FLOORS:
        told.setdefault(floor.name, imagine(floor, context))
    rows: dict[str, list[dict[str, Any]]] = {}
    total = len(windows) * (len(told) + 1)
    done = 0
    for name, (prediction, why) in told.items():
        errors = state_errors(windows, prediction, why)
        rows[name] = []
        for row in range(len(windows)):
            true, drawn = _drawn(windows, prediction, game, row, look)
            if TRUE not in rows or len(rows[TRUE]) <= row:
                verdict = physics.judge_frames(true, fps)
                rows.setdefault(TRUE, []).append(_row(verdict, windows, row, game, TRUE, 0.0))
                done += 1
            reason = why[row]
            verdict = Verdict("failed", reason) if reason else physics.judge_frames(drawn, fps)
            rows[name].append(_row(verdict, windows, row, game, name, float(errors[row])))
            done += 1
            tell(done, total)
    data = fingerprint(digest_of(windows), len(windows))
    links, readings = [], []
    for name in predictions:
        link = link_of(name, rows)
        links.append({"game": game, "model": name} | link)
        about = {"game": game, "model": name, "data": data}
        readings += _readings(link, rows[name], physics, about)
    everyone = [row for group in rows.values() for row in group]
    whole = {"game": game, "model": ALL, **_correlation(everyone), "points": _points(everyone)}
    links.append(whole)
    everywhere = {"game": game, "model": "", "data": data}
    readings.append(_rank_reading(whole, physics, everywhere, everyone))
    shown = []
    for name, (prediction, _) in predictions.items():
        ranked = np.argsort(-np.nan_to_num(column_of(rows[name], "raw"), nan=-np.inf))
        for row in ranked[:MOST_SHOWN].tolist():
            told_row = rows[name][row]
            if told_row["status"] == "scored" and np.isfinite(told_row["worst_start"]):
                drawn = _drawn(windows, prediction, game, row, look)[1]
                shown.append(_shown(told_row, drawn, fps))
    return Imagined(readings, everyone, links, shown)


def _shown(row: Mapping[str, Any], frames: np.ndarray, fps: float) -> Shown:
    window = row["worst_start"], row["worst_end"]
    times = np.arange(len(frames)) / fps
    near = (times >= window[0] - AROUND) & (times < window[1] + AROUND)
    near &= np.arange(len(frames)) % max(1, round(fps / SHOWN_RATE)) == 0
    every = fps / max(1, round(fps / SHOWN_RATE))
    return Shown(row["input"], row["raw"], frames[near], every, float(times[near][0]), window)


ALL = "all models and the truth"


def state_errors(
    windows: Windows, prediction: Prediction, why: Sequence[str]
) -> Float[np.ndarray, " window"]:
    """1 less the mean composite over all imagined steps: 0 where all is as it truly was."""
    protocol = replace(PROTOCOLS["state/1"], horizon=prediction.states.shape[1])
    composite = score(windows, prediction, protocol, why).composite
    known = np.isfinite(composite)
    total = np.where(known, composite, 0.0).sum(1)
    count = known.sum(1)
    return 1 - np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)


def _drawn(
    windows: Windows, prediction: Prediction, game: str, row: int, look: Look
) -> tuple[np.ndarray, np.ndarray]:
    one = slice(row, row + 1)
    mine, part = windows.take(one), prediction.take(one)
    dense = dense_states(mine, part, WINDOW)
    appearance = look(int(windows.episodes[row]))
    return draw_window(
        parts.load("games", game), mine, dense[0], part.globals[0], 0, appearance, SIDE
    )


def _row(
    verdict: Verdict, windows: Windows, row: int, game: str, model: str, error: float
) -> dict[str, Any]:
    name = name_of(game, windows, row)
    return {
        "input": f"{name} {model}",
        "id": name,
        "game": game,
        "model": model,
        "episode": int(windows.episodes[row]),
        "role": TRUE if model == TRUE else "imagined",
        "state_error": error,
    } | row_of(verdict)


def link_of(model: str, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """How the judge's readings on a model's rollouts go with their true state error."""
    mine = rows[model]
    floors = {name: _mean(rows[name]) for name in (floor.name for floor in FLOORS)}
    return {
        "n": sum(row["status"] == "scored" for row in mine),
        "abstained": sum(row["status"] == "abstained" for row in mine),
        "failed": sum(row["status"] == "failed" for row in mine),
        "violation": _mean(mine),
        "true": _mean(rows[TRUE]),
        "floors": floors,
        "still_abstained": sum(row["status"] == "abstained" for row in rows["still"]),
        "beaten": _beaten(mine, rows[TRUE]),
        "points": _points(mine),
    } | _correlation(mine)


def _correlation(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    raw, error = column_of(rows, "raw"), column_of(rows, "state_error")
    clusters = np.array([row["episode"] for row in rows])
    known = np.isfinite(raw) & np.isfinite(error)
    if known.sum() < 3:
        return dict.fromkeys(("rank", "rank_low", "rank_high"), float("nan"))
    rank = float(spearman(raw, error))
    low, high = bootstrap.interval(spearman(raw, error, bootstrap.resamples(clusters)))
    return {"rank": rank, "rank_low": float(low), "rank_high": float(high)}


def _beaten(rows: Sequence[Mapping[str, Any]], truth: Sequence[Mapping[str, Any]]) -> float:
    """Share of windows in which what was imagined is judged worse than what happened."""
    gap = column_of(rows, "raw") - column_of(truth, "raw")
    return bootstrap.mean_of_known(np.where(np.isnan(gap), np.nan, (gap > 0) + 0.5 * (gap == 0)))


def _points(rows: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    raw, error = column_of(rows, "raw"), column_of(rows, "state_error")
    return [[float(e), float(r)] for e, r in zip(error, raw, strict=True) if np.isfinite(e + r)]


def _mean(rows: Sequence[Mapping[str, Any]]) -> float:
    return bootstrap.mean_of_known(column_of(rows, "value"))


def _readings(
    link: Mapping[str, Any],
    mine: Sequence[Mapping[str, Any]],
    physics: Physics,
    more: dict[str, Any],
) -> list[Reading]:
    values = column_of(mine, "value")
    weights = bootstrap.resamples(np.array([row["episode"] for row in mine]))
    low, high = bootstrap.interval(bootstrap.weighted_mean(values, weights))
    known = [value for value in link["floors"].values() if np.isfinite(value)]
    counts = {"n": link["n"], "skipped": len(mine) - link["n"]}
    still = f"still was not scored in {link['still_abstained']} of {len(mine)}: it does not move"
    shared: dict[str, Any] = {"protocol": physics.protocol.fingerprint, **counts, **more}
    return [
        Reading(
            "physics", "violation", link["violation"], "violation, 0..1", "lower",
            float(low), float(high), min(known, default=float("nan")), link["true"],
            why=still if link["still_abstained"] else "", **shared,
        ),
        Reading(
            "physics", "worse_than_true", link["beaten"], "share of rollouts", "none",
            why="0.5: not told apart from what truly happened", **shared,
        ),
        _rank_reading(link, physics, more, mine),
    ]  # fmt: skip


def _rank_reading(
    link: Mapping[str, Any],
    physics: Physics,
    more: dict[str, Any],
    rows: Sequence[Mapping[str, Any]],
) -> Reading:
    scored = sum(row["status"] == "scored" for row in rows)
    return Reading(
        "physics",
        "rank_with_state_error",
        link["rank"],
        "rank correlation",
        "higher",
        link["rank_low"],
        link["rank_high"],
        n=scored,
        skipped=len(rows) - scored,
        protocol=physics.protocol.fingerprint,
        why="" if link["rank"] == link["rank"] else "too few rollouts were scored, or none differ",
        **more,
    )
