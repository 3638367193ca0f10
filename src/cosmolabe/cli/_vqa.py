"""What `judge` and `demo` share of the vqa judge: which model answers, and what is kept."""

from pathlib import Path
from typing import Any

from cosmolabe.cli._physics import protocol_of
from cosmolabe.cli._verb import progress

VQA_OURS = ("vqa.jsonl", "vqa.json")
"""What the vqa judge leaves in a run folder besides what all judges do."""


def vqa_of(asked: Any) -> Any:  # noqa: ANN401 - a verb with the flags; gives a Vqa
    """The judge that a verb's flags ask for."""
    from cosmolabe.judges.vqa import Vqa

    name, _, size = asked.vlm.partition(":")
    more = {"device": asked.device} if asked.device else {}
    return Vqa.load(
        name or "tiny",
        asked.vlm_weights or None,
        protocol=protocol_of(asked.protocol, "vqa", ""),
        certificate=asked.certificate,
        **({"size": size} if size else {}),
        **more,
    )


def obeyed_of_stores(asked: Any, physics: Any = None) -> tuple[Any, Any, list[Any]]:  # noqa: ANN401
    """(what vqa said, what physics said of the same rollouts or None, how they agree)."""
    from cosmolabe.bench.vqa.imagined import Obeyed, judge_obedience
    from cosmolabe.bench.vqa.together import judge_together
    from cosmolabe.cli._models import open_model
    from cosmolabe.data.store import open_store

    vqa, told, looked, agree = vqa_of(asked), Obeyed(), None, []
    for path in asked.paths:
        store = open_store(path)
        models = [open_model(name, store, asked.seed, asked.trust) for name in asked.model]
        with progress(f"asking about {store.game}") as tell:
            if physics is None:
                told += judge_obedience(models, store.game, vqa, asked.imagined, asked.seed, tell)
                continue
            obeyed, seen, rows = judge_together(
                models, store, vqa, physics, asked.imagined, asked.seed, tell
            )
        told += obeyed
        looked = seen if looked is None else looked + seen
        agree += rows
    return (vqa, told), looked, agree


def obeyed_of_rollouts(asked: Any, rollouts: list[Any]) -> tuple[Any, Any]:  # noqa: ANN401
    """What vqa says of finished rollouts, of videos where they have any, else of states."""
    from dataclasses import replace

    from cosmolabe.bench.vqa.imagined import judge_finished, judge_states
    from cosmolabe.data.video import Limits

    vqa = vqa_of(asked)
    if not any(item.video for item in rollouts):
        return vqa, judge_states(rollouts, vqa)
    limits = replace(Limits(), timeout=float(asked.timeout))
    return vqa, judge_finished(rollouts, vqa, limits)


def remarks(readings: list[Any]) -> list[str]:
    """What the vqa judge cannot say, and of which games: a line each."""
    games: dict[tuple[str, str], list[str]] = {}
    for one in readings:
        told = one.metric in ("obedience", "identity") and one.direction == "none"
        missing = one.metric in ("obedience", "obedience_corrected") and one.value != one.value
        known = any(one.game in named and one.why in why for (_, why), named in games.items())
        if one.judge == "vqa" and (told or missing) and not known:
            games.setdefault((one.metric, one.why), []).append(one.game)
    return [
        f"{metric} ({', '.join(dict.fromkeys(named))}): {why}"
        for (metric, why), named in games.items()
    ]


def with_agreement(told: Any, agree: list[Any]) -> Any:  # noqa: ANN401 - an Obeyed
    """The readings with how vqa ranks beside the true state error."""
    from cosmolabe.bench.vqa.imagined import Obeyed
    from cosmolabe.bench.vqa.together import readings_of_agreement

    if not agree or not told.readings:
        return told
    more = readings_of_agreement(agree, told.readings[0])
    return Obeyed([*told.readings, *more], told.rows, told.failures)


def keep(out: Path, others: list[Any], told: Any, vqa: Any, agree: list[Any]) -> list[Any]:  # noqa: ANN401
    """Into a run folder, readings after those of the others; gives all readings."""
    from cosmolabe.bench.vqa.keeping import keep_obeyed
    from cosmolabe.core.record import write_readings

    told = with_agreement(told, agree)
    readings = [*others, *told.readings]
    keep_obeyed(out, told, vqa, agree, alone=not others)
    write_readings(out / "readings.json", readings)
    return readings
