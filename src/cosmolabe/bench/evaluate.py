"""Judges a world model on a store: `judge_model(model, store)`, then `write_run`."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cosmolabe.bench.bed import NUM_EPISODES, Bed, lay_out, play
from cosmolabe.bench.driving import CHUNK
from cosmolabe.bench.judgement import Judgement
from cosmolabe.bench.pictures import can_draw, clips_to_show, picture_readings
from cosmolabe.bench.planning.judging import USUAL, can_plan, judge_planning, lay_out_planning
from cosmolabe.bench.planning.playing import MOST_EPISODES
from cosmolabe.bench.readings import (
    curves_of,
    finals_of,
    kinds_of,
    main_readings,
    reading_of,
    relative_readings,
    shared_by,
    side_readings,
)
from cosmolabe.bench.robust import judge_robustness
from cosmolabe.bench.scenario_check import MOST_SEEDS
from cosmolabe.bench.scenario_judging import (
    judge_scenarios,
    knows_scenarios,
    lay_out_scenarios,
    worst_scene,
)
from cosmolabe.core import bootstrap
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.core.record import Record, write_json, write_jsonl, write_readings
from cosmolabe.core.rollout import WorldModel
from cosmolabe.data.store import Store
from cosmolabe.judges.state import ROBUST, WindowScores

LONG = "_long"
"""Suffix of the measures of a look beyond the protocol's horizon, on windows of their own."""


def judge_model(
    model: WorldModel,
    store: Store,
    split: str = "test",
    protocol: str = "state/1",
    *,
    num_episodes: int = NUM_EPISODES,
    per_episode: int = 1,
    seed: int = 0,
    chunk: int = CHUNK,
    curve_horizon: int = 0,
    gap_split: str = "",
    num_pictures: int = 32,
    num_clips: int = 6,
    scenarios: int = 0,
    plan: int = 0,
    bed: Bed | None = None,
    robust: Sequence[Bed] = (),
    command: str = "judge",
) -> Judgement:
    """The model's report card.

    `curve_horizon` (to 100, say) adds a longer curve; `gap_split` ("val") adds how much better
    the model is there; `scenarios` adds the game's scenarios from so many starts each, where it has
    any; `plan` adds what plans made inside the model bring in so many true games; `robust`, the
    beds of `variant_beds`, adds what the model loses on them; `bed` re-uses windows, floors and
    ceiling for several models. A model that fails on a window scores 0 there and is named in the
    clips; nothing it does is raised.
    """
    if num_pictures < 0 or num_clips < 0:
        raise ValueError(
            f"pictures and clips are counts, 0 or more; got {num_pictures} and {num_clips}"
        )
    if not 0 <= scenarios <= MOST_SEEDS or not 0 <= plan <= MOST_EPISODES:  # before hours of work
        raise ValueError(
            f"starts of each scenario are 0 to {MOST_SEEDS} and games played by plans 0 to "
            f"{MOST_EPISODES}; got {scenarios} and {plan}"
        )
    if bed is None:
        bed = lay_out(
            store, split, protocol, num_episodes=num_episodes, per_episode=per_episode, seed=seed
        )
    began = perf_counter()
    scores, prediction = play(model, bed.windows, bed.protocol, seed, chunk)
    seconds = perf_counter() - began
    shared = shared_by(scores, bed, model.name)
    readings = [
        *main_readings(scores, bed, shared),
        *relative_readings(scores, bed, shared),
        *side_readings(prediction, bed, shared),
    ]
    curves = curves_of(scores, bed, model.name)
    if curve_horizon > bed.protocol.horizon:
        curves += _longer_curve(model, bed, curve_horizon, num_episodes, seed, chunk)
    if gap_split:
        readings.append(_gap(model, bed, scores, gap_split, num_episodes, seed, chunk, shared))
    media = {}
    if can_draw(bed):
        if num_pictures:
            readings += picture_readings(prediction, bed, num_pictures, shared)
        media = clips_to_show(prediction, bed, scores, num_clips) if num_clips else {}
    rows: list[dict[str, Any]] = []
    clean = bed.protocol.name not in ROBUST  # scenarios are told as they are
    scenarios = scenarios if clean and knows_scenarios(bed) else 0
    if scenarios:
        trial = lay_out_scenarios(bed.game, scenarios, bed.protocol)
        judged = judge_scenarios(model, trial, seed)
        readings += judged.readings
        rows = judged.rows
        media |= worst_scene(judged, trial) if num_clips else {}
    planning = []
    if plan and can_plan(bed.store.manifest):
        planned = judge_planning(
            model, lay_out_planning(bed.game, replace(USUAL, episodes=plan, seed=seed))
        )
        readings += planned.readings
        planning = [planned.row]
    unplanned = (
        (f"no plans were made: there is no return for '{bed.game}'",)
        if plan and not planning
        else ()
    )
    shaken = judge_robustness(model, bed, scores, robust, seed, chunk) if robust else None
    if shaken:
        readings += shaken.readings
    config = {
        "model": model.name,
        "chunk": chunk,
        "model_seconds": seconds,
        "scenario_seeds": scenarios,
        "planning_episodes": plan if planning else 0,
    }
    return Judgement(
        game=bed.game,
        model=model.name,
        readings=readings,
        curves=curves,
        kinds=kinds_of(prediction, bed, model.name),
        clips=_clip_rows(scores, bed, model.name),
        record=_record(command, seed, config, bed, scores, unplanned),
        bed=bed,
        scores=scores,
        prediction=prediction,
        media=media,
        scenarios=rows,
        robust=shaken.rows if shaken else [],
        planning=planning,
    )


def write_run(judgement: Judgement, folder: Path | str) -> Path:
    """Write the run folder that `report` and `compare` read; gives the folder."""
    return write_runs([judgement], folder)


def write_runs(judgements: list[Judgement], folder: Path | str) -> Path:
    """Several judgements (games, models) as one run folder."""
    if not judgements:
        raise ValueError("nothing to write: no judgements")
    folder = Path(folder)
    write_readings(folder / "readings.json", [r for j in judgements for r in j.readings])
    write_json(folder / "curves.json", [row for j in judgements for row in j.curves])
    write_json(folder / "kinds.json", [row for j in judgements for row in j.kinds])
    if any(j.scenarios for j in judgements):
        write_json(folder / "scenarios.json", [row for j in judgements for row in j.scenarios])
    if any(j.planning for j in judgements):
        write_json(folder / "planning.json", [row for j in judgements for row in j.planning])
    if any(j.robust for j in judgements):
        write_json(folder / "robust.json", [row for j in judgements for row in j.robust])
    write_jsonl(folder / "clips.jsonl", [row for j in judgements for row in j.clips])
    (folder / "media").mkdir(parents=True, exist_ok=True)
    for judgement in judgements:
        for name, clip in judgement.media.items():
            path = folder / "media" / f"{name}-{_file_name(judgement.model)}.npz"
            np.savez_compressed(
                path,
                true=clip["true"],
                imagined=clip["imagined"],
                fps=np.float64(clip["fps"]),
                caption=np.array(clip["caption"]),
            )
    record = judgements[0].record
    if len(judgements) > 1:
        config = {f"{j.game} {j.model}": j.record.config for j in judgements}
        record = replace(
            record,
            config=config,
            data=" ".join(sorted({j.record.data for j in judgements})),
            notes=tuple(note for j in judgements for note in j.record.notes),
        )
    write_json(folder / "record.json", record)
    return folder


def _record(
    command: str,
    seed: int,
    config: dict[str, Any],
    bed: Bed,
    scores: WindowScores,
    notes: tuple[str, ...] = (),
) -> Record:
    where = {
        "game": bed.game,
        "split": bed.split,
        "protocol": bed.protocol,
        "windows": len(bed.windows),
        "store": bed.store.fingerprint,
    }
    return Record(
        command,
        seed,
        {**where, **config},
        protocol=bed.protocol.fingerprint,
        data=bed.data,
        notes=_notes(scores) + notes,
    )


def _file_name(model: str) -> str:
    """A model's name as part of a file's name; one that has to be changed carries its hash."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", model)[:80]
    return safe if safe == model else f"{safe}-{fingerprint(ascii(model))[:6]}"


def _notes(scores: WindowScores) -> tuple[str, ...]:
    reasons = sorted({reason for reason in scores.why if reason})
    return tuple(f"{scores.why.count(reason)} window(s) scored 0: {reason}" for reason in reasons)


def _clip_rows(scores: WindowScores, bed: Bed, model: str) -> list[dict[str, Any]]:
    rows = []
    for row, why in enumerate(scores.why):
        episode, start = int(bed.windows.episodes[row]), int(bed.windows.starts[row])
        status = "invalid" if why else "ok"
        if np.isnan(scores.final[row]):
            status, why = "skipped", "nobody alive in truth at a scored step"
        rows.append(
            {
                "id": f"{bed.game}-{episode:06d}-{start:05d}",
                "game": bed.game,
                "model": model,
                "episode": episode,
                "start": start,
                "player": bed.store.player(episode),
                "status": status,
                "why": why,
                "final": scores.final[row],
                "composite": {
                    str(horizon): scores.composite[row, horizon - 1]
                    for horizon, _ in bed.protocol.weights
                },
            }
        )
    for episode in bed.skipped:
        length = int(bed.store.lengths[episode])
        rows.append(
            {
                "id": f"{bed.game}-{episode:06d}-short",
                "game": bed.game,
                "model": model,
                "episode": int(episode),
                "start": None,
                "player": bed.store.player(int(episode)),
                "status": "skipped",
                "why": f"too short: {length} states",
                "final": None,
                "composite": {},
            }
        )
    return rows


def _longer_curve(
    model: WorldModel, bed: Bed, horizon: int, num_episodes: int, seed: int, chunk: int
) -> list[dict[str, Any]]:
    protocol = replace(bed.protocol, teacher_forced_first=False)
    far = lay_out(
        bed.store, bed.split, protocol, num_episodes=num_episodes, seed=seed, horizon=horizon
    )
    scores, _ = play(model, far.windows, protocol, seed, chunk)
    return curves_of(scores, far, model.name, LONG)


def _gap(
    model: WorldModel,
    bed: Bed,
    scores: WindowScores,
    split: str,
    num_episodes: int,
    seed: int,
    chunk: int,
    shared: dict[str, Any],
) -> Reading:
    """Final score on the other split minus the one here; both are resampled, independently."""
    other = lay_out(bed.store, split, bed.protocol, num_episodes=num_episodes, seed=seed)
    there, _ = play(model, other.windows, bed.protocol, seed, chunk)

    def finals(one: WindowScores, clusters: np.ndarray, stream: int) -> np.ndarray:
        return finals_of(one, bootstrap.resamples(clusters, seed=stream), bed.protocol)

    one, two = finals(there, other.windows.episodes, 1), finals(scores, bed.windows.episodes, 2)
    told = min(len(one), len(two))  # of a split of one episode its own value alone
    gaps = one[:told] - two[:told]
    return reading_of(f"{split}_{bed.split}_gap", gaps, "score", "none", shared)
