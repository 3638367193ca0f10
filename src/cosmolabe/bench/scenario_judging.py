"""Judges a world model on a game's scenarios: closeness, rules kept, and whether it reacts.

    trial = lay_out_scenarios("pong", seeds=8)
    judged = judge_scenarios(model, trial)      readings, and one row per rule

Floors and ceilings are measured on the same starts: the trivial models, and the true simulator
with other luck.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.bench.bed import Bed
from cosmolabe.bench.dense import dense_states, draw_window
from cosmolabe.bench.driving import imagine, is_finite
from cosmolabe.bench.pictures import SHOWN_SIZE
from cosmolabe.bench.scenario_check import MOST_SEEDS, gap_of, verdicts
from cosmolabe.bench.staging import WINDOW, Staged, prediction_of, stage, trace_of
from cosmolabe.core import bootstrap, parts
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import Context, Prediction, WorldModel
from cosmolabe.core.scenario import Scenario, Trace
from cosmolabe.engine.game import Appearance, Game
from cosmolabe.judges.state import FLOORS, StateProtocol, digest_of, score
from cosmolabe.metrics.reaction import reaction
from cosmolabe.metrics.rule_consistency import rule_consistency

SEEDS = 8
"""Starts of each scenario."""
STICKY = 0.25  # chance that the sticky world repeats its action (Arcade Learning Environment)
NUM_STREAMS = 4  # ours: futures of other luck averaged into the ceiling
ROWS = 3  # scenario, twin and sticky world: imagined side by side, so that they share luck
RESAMPLES = 1000


@dataclass(frozen=True)
class Scene:
    """One scenario on the stage, thrice: as told, its twin, and in a sticky world."""

    scenario: Scenario
    protocol: StateProtocol
    """The state protocol with the long term at the scenario's own horizon."""
    as_told: Staged
    twin: Staged
    sticky: Staged


@dataclass(frozen=True)
class SceneScores:
    """What one model, floor or ceiling got on one scene."""

    score: Float[np.ndarray, " seed"]
    sticky: Float[np.ndarray, " seed"]
    reaction: Float[np.ndarray, " seed"]
    kept: Float[np.ndarray, "seed rule"]
    """Whether each rule was kept; a share where futures were averaged."""
    why: tuple[str, ...]
    """Why a rollout could not be used; empty where it could."""


@dataclass(frozen=True)
class Trial:
    """All scenarios of a game from the same starts, with what floors and ceiling get."""

    game: str
    seeds: int
    scenes: tuple[Scene, ...]
    floors: dict[str, list[SceneScores]]
    ceiling: list[SceneScores]
    protocol: str
    """Fingerprint of the scenarios, their rules, horizons, seeds and weights."""
    data: str
    """Fingerprint of the true windows."""


@dataclass(frozen=True)
class ScenarioJudgement:
    """Readings of a model, one row per rule, and all it imagined."""

    readings: list[Reading]
    rows: list[dict[str, Any]]
    """{game, model, scenario, summary, horizon, needs_memory, seeds, score, floor, ceiling,
    sticky, reaction, predicate, says, kept, kept_floor, example}."""
    scores: list[SceneScores]
    predictions: list[Prediction]
    """Of each scene as told."""


def has_scenarios(game: str) -> bool:
    """Whether there are scenarios of this game."""
    return game in parts.names("scenarios") and game in parts.names("games")


def knows_scenarios(bed: Bed) -> bool:
    """Whether there are scenarios of the very game that the store holds."""
    if not has_scenarios(bed.game):
        return False
    return bed.store.manifest == parts.load("games", bed.game).manifest


@lru_cache(maxsize=4)
def lay_out_scenarios(
    game: str, seeds: int = SEEDS, protocol: StateProtocol | None = None, sticky: float = STICKY
) -> Trial:
    """Stage every scenario of a game and measure floors and ceiling on it."""
    if not has_scenarios(game):
        raise ValueError(f"{game} has no scenarios; have {list(parts.names('scenarios'))}")
    if not 1 <= seeds <= MOST_SEEDS:
        raise ValueError(f"seeds of scenarios are 1 to {MOST_SEEDS}; got {seeds}")
    part: Game = parts.load("games", game)
    scenarios: tuple[Scenario, ...] = parts.load("scenarios", game)
    chosen = StateProtocol() if protocol is None else protocol
    scenes = tuple(_scene(part, scenario, seeds, chosen, sticky) for scenario in scenarios)
    floors = {model.name: [_imagined(model, scene)[0] for scene in scenes] for model in FLOORS}
    return Trial(
        game=game,
        seeds=seeds,
        scenes=scenes,
        floors=floors,
        ceiling=[_with_other_luck(scene, sticky) for scene in scenes],
        protocol=_protocol_of(scenes, seeds, sticky),
        data=fingerprint([digest_of(s.windows) for one in scenes for s in _stagings(one)]),
    )


def judge_scenarios(
    model: WorldModel,
    trial: Trial,
    seed: int = 0,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> ScenarioJudgement:
    """Let a model imagine every scenario; nothing it does is raised."""
    scores, predictions = [], []
    for number, scene in enumerate(trial.scenes):
        tell(number, len(trial.scenes))
        one, prediction = _imagined(model, scene, seed)
        scores.append(one)
        predictions.append(prediction)
    return ScenarioJudgement(
        readings=_readings(scores, trial, model.name),
        rows=_rows(scores, trial, model.name),
        scores=scores,
        predictions=predictions,
    )


def _scene(
    game: Game, scenario: Scenario, seeds: int, protocol: StateProtocol, sticky: float
) -> Scene:
    horizon = scenario.horizon
    *near, (_, weight) = sorted(protocol.weights)
    return Scene(
        scenario=scenario,
        protocol=replace(
            protocol,
            window=WINDOW,
            horizon=horizon,
            weights=(*near, (horizon, weight)),
            teacher_forced_first=False,
            pooled=False,
        ),
        as_told=stage(game, scenario, range(seeds)),
        twin=stage(game, scenario, range(seeds), script=scenario.twin),
        sticky=stage(game, scenario, range(seeds), sticky),
    )


def _stagings(scene: Scene) -> tuple[Staged, Staged, Staged]:
    return scene.as_told, scene.twin, scene.sticky


def _protocol_of(scenes: Sequence[Scene], seeds: int, sticky: float) -> str:
    told = [
        (
            s.scenario.name,
            s.scenario.script,
            s.scenario.twin,
            s.scenario.reacts,
            s.scenario.parameters,
            [(p.name, p.says) for p in s.scenario.predicates],
            s.protocol,
        )
        for s in scenes
    ]
    return fingerprint(told, seeds, sticky)


def _imagined(model: WorldModel, scene: Scene, seed: int = 0) -> tuple[SceneScores, Prediction]:
    """The three stagings side by side in chunks of whole seeds: same chunk, same luck."""
    stagings = _stagings(scene)
    contexts = [staged.windows.context(WINDOW) for staged in stagings]
    together = Context(
        *(
            np.stack([getattr(c, name) for c in contexts], 1).reshape(
                -1, *getattr(contexts[0], name).shape[1:]
            )
            for name in ("registry", "states", "globals", "actions")
        ),
        masks=contexts[0].masks,
    )
    chunk = ROWS * min(len(scene.as_told), SEEDS)
    prediction, why = imagine(model, together, seed, chunk)
    split = [
        Prediction(
            prediction.states[row::ROWS], prediction.globals[row::ROWS],
            prediction.terminal[row::ROWS],
        )
        for row in range(ROWS)
    ]  # fmt: skip
    return _scored(scene, split, [why[row::ROWS] for row in range(ROWS)]), split[0]


def _scored(
    scene: Scene, predictions: Sequence[Prediction], why: Sequence[Sequence[str]]
) -> SceneScores:
    as_told, twin, sticky = _stagings(scene)
    told = score(as_told.windows, predictions[0], scene.protocol, why[0])
    stuck = score(sticky.windows, predictions[2], scene.protocol, why[2])
    mine, other = trace_of(predictions[0], as_told), trace_of(predictions[1], twin)
    usable = is_finite(predictions[0]) & ~np.array([bool(w) for w in why[0]])
    both = usable & is_finite(predictions[1]) & ~np.array([bool(w) for w in why[1]])
    what = scene.scenario.reacts
    reacts = reaction(gap_of(as_told.trace, twin.trace, what), _sound(gap_of(mine, other, what)))
    return SceneScores(
        score=told.final,
        sticky=stuck.final,
        reaction=np.where(both | np.isnan(reacts), reacts, 0.0),
        kept=_kept(scene.scenario, mine, usable).astype(np.float64),
        why=tuple(
            reason or ("" if sound else "a field, a global or the end is not finite")
            for reason, sound in zip(told.why, usable, strict=True)
        ),
    )


def _kept(
    scenario: Scenario, trace: Trace, usable: Bool[np.ndarray, " seed"]
) -> Bool[np.ndarray, "seed rule"]:
    """Which rules hold; a rollout that cannot be used keeps none."""
    held = [verdicts(predicate, trace) for predicate in scenario.predicates]
    return np.stack(held, -1) & usable[:, None]


def _sound(gaps: np.ndarray) -> np.ndarray:
    """Wild differences stay comparable: what is not finite is 0, and no square overflows."""
    return np.clip(np.nan_to_num(gaps, nan=0.0, posinf=1e6, neginf=-1e6), -1e6, 1e6)


def _with_other_luck(scene: Scene, sticky: float) -> SceneScores:
    scores = []
    game, seeds = scene.as_told.game, scene.as_told.seeds
    for stream in range(NUM_STREAMS):
        stagings = (
            stage(game, scene.scenario, seeds, stream=stream),
            stage(game, scene.scenario, seeds, script=scene.scenario.twin, stream=stream),
            stage(game, scene.scenario, seeds, sticky, stream=stream),
        )
        futures = [prediction_of(staged) for staged in stagings]
        scores.append(_scored(scene, futures, [("",) * len(seeds)] * ROWS))
    names = ("score", "sticky", "reaction", "kept")
    means = {name: np.mean([getattr(one, name) for one in scores], axis=0) for name in names}
    return SceneScores(**means, why=scores[0].why)


MEASURES: tuple[tuple[str, str, str], ...] = (
    ("scenario_score", "score", "score"),
    ("scenario_score_sticky", "sticky", "score"),
    ("rule_consistency", "kept", "share of rules"),
    ("reaction", "reaction", "likeness"),
)
"""Metric, where its values stand, unit; higher is better for all."""


def _readings(scores: Sequence[SceneScores], trial: Trial, model: str) -> list[Reading]:
    readings = []
    broken = sum(bool(why) for one in scores for why in one.why)
    note = f"{broken} rollout(s) invalid: no rule is kept, no place scores" if broken else ""
    direction: Literal["higher"] = "higher"
    for metric, place, unit in MEASURES:
        low, high = bootstrap.interval(_mean(scores, place, resample=True))
        below = [float(_mean(floor, place)[0]) for floor in trial.floors.values()]
        readings.append(
            Reading(
                judge="state",
                metric=metric,
                value=float(_mean(scores, place)[0]),
                unit=unit,
                direction=direction,
                low=float(low),
                high=float(high),
                floor=float(np.nanmax(below)) if np.isfinite(below).any() else np.nan,
                ceiling=float(_mean(trial.ceiling, place)[0]),
                n=len(trial.scenes) * trial.seeds,
                skipped=sum(int(np.isnan(getattr(one, place)).sum()) for one in scores),
                protocol=trial.protocol,
                data=trial.data,
                game=trial.game,
                model=model,
                why=note,
            )
        )
    return readings


def _mean(
    scores: Sequence[SceneScores], place: str, resample: bool = False
) -> Float[np.ndarray, " draw"]:
    """Mean over seeds, then over scenarios (over all rules, for rules); once per resample.

    Resamples draw seeds again within each scenario: which scenarios there are is no chance.
    """
    total, count = np.zeros(1), np.zeros(1)
    for number, one in enumerate(scores):
        values = getattr(one, place)
        weight = 1.0
        if place == "kept":
            weight, values = float(values.shape[-1]), rule_consistency(values)
        seeds = np.arange(len(values))
        weights = np.ones((1, len(values)))
        if resample:
            weights = bootstrap.resamples(seeds, RESAMPLES, seed=number)
        mean = bootstrap.weighted_mean(values, weights)
        known = np.isfinite(mean)
        total = total + weight * np.where(known, mean, 0.0)
        count = count + weight * known
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _rows(scores: Sequence[SceneScores], trial: Trial, model: str) -> list[dict[str, Any]]:
    rows = []
    for number, (scene, one) in enumerate(zip(trial.scenes, scores, strict=True)):
        floors = [floor[number] for floor in trial.floors.values()]
        scenario, ceiling = scene.scenario, trial.ceiling[number]
        shared = {
            "game": trial.game,
            "model": model,
            "scenario": scenario.name,
            "summary": scenario.summary,
            "horizon": scenario.horizon,
            "needs_memory": scenario.needs_memory,
            "seeds": trial.seeds,
            "score": bootstrap.mean_of_known(one.score),
            "floor": max(bootstrap.mean_of_known(floor.score) for floor in floors),
            "ceiling": bootstrap.mean_of_known(ceiling.score),
            "sticky": bootstrap.mean_of_known(one.sticky),
            "reaction": bootstrap.mean_of_known(one.reaction),
        }
        for rule, predicate in enumerate(scenario.predicates):
            broken = np.flatnonzero(one.kept[:, rule] < 1)
            rows.append(
                {
                    **shared,
                    "predicate": predicate.name,
                    "says": predicate.says,
                    "kept": float(one.kept[:, rule].mean()),
                    "kept_floor": max(float(floor.kept[:, rule].mean()) for floor in floors),
                    "example": int(broken[0]) if len(broken) else None,
                }
            )
    return rows


def worst_scene(judged: ScenarioJudgement, trial: Trial) -> dict[str, dict[str, Any]]:
    """True and imagined frames of the rollout that keeps the fewest rules, then scores least."""

    def rank(number: int) -> tuple[float, float]:
        one = judged.scores[number]
        return float(one.kept.mean()), bootstrap.mean_of_known(one.score)

    number = min(range(len(trial.scenes)), key=rank)
    scene, one, prediction = trial.scenes[number], judged.scores[number], judged.predictions[number]
    row = int(one.kept.mean(1).argmin())
    windows, game = scene.as_told.windows, scene.as_told.game
    dense = dense_states(windows, prediction, WINDOW)
    true, imagined = draw_window(
        game, windows, dense[row], prediction.globals[row], row, Appearance(), SHOWN_SIZE
    )
    rules = zip(scene.scenario.predicates, one.kept[row], strict=True)
    broken = ", ".join(f"‘{rule.name}’" for rule, kept in rules if kept < 1)
    caption = f"{trial.game}, scenario {scene.scenario.name}: breaks {broken or 'no rule'}"
    return {
        f"{trial.game}-scenario-{scene.scenario.name}-{row}": {
            "true": true,
            "imagined": imagined,
            "fps": game.manifest.fps,
            "caption": caption,
        }
    }
