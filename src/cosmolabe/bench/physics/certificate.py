"""What a physics judge can and cannot see, measured on twins it has never met.

Everything here follows from the rows of a set of twins and one score a clip; no picture is needed.
Intervals draw groups (a true clip with all its doubles) again, for clips of a group look alike.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.physics.twin_scores import ATTACKS, Scored
from cosmolabe.core import bootstrap
from cosmolabe.core.record import read_json
from cosmolabe.data.held_out import held_out
from cosmolabe.data.twin_rows import TwinRow, row_from
from cosmolabe.judges.physics.bundle import CERTIFICATE, load_bundle
from cosmolabe.metrics.fisher_mean import fisher_mean
from cosmolabe.metrics.spearman import spearman

SCHEMA = 1
ALARM = 0.5  # raw score from which a clip is called violating
HALF = 0.5  # size that leakage is measured against
RESAMPLES = 1000
FEWEST = 4  # doubles of one kind in one scene, for a correlation
UNSEEABLE = {
    "action_delay": "nothing is wrong in the pictures alone; what was pressed is not shown",
    "wrong_action": "nothing is wrong in the pictures alone; what was pressed is not shown",
}
"""Kinds that are not measured, and why."""
TARGETS = {"pairwise": 0.9, "rho": 0.75, "leakage": 0.1}
"""Of issue C: at least, at least, at most; on what is held out in kind, scene and look."""
Rows = Sequence[TwinRow]
Scores = Mapping[str, Scored]


@dataclass(frozen=True)
class Measured:
    """One number with its interval."""

    value: float
    low: float
    high: float
    n: int
    """Clips or pairs."""
    groups: int

    @property
    def known(self) -> bool:
        """Whether there was anything to measure."""
        return self.n > 0


def certify(rows: Rows, scores: Scores, *, num: int = RESAMPLES, seed: int = 0) -> dict[str, Any]:
    """The certificate's numbers.

    `unseen` is what decides: kind, scene and look all held out of training. The other parts hold
    out less. Raises ValueError where a clip has no score.
    """
    lacking = sorted({row.true for row in rows} - set(scores))
    if lacking:
        raise ValueError(f"{len(lacking)} clips have no score, the first is {lacking[0]}")
    parts = {name: [row for row in rows if chosen(row)] for name, chosen in PARTS.items()}
    unseen = parts["unseen"] or rows
    kinds = sorted({row.kind for row in rows if row.role == "damage"})
    return {
        "schema": SCHEMA,
        "targets": TARGETS,
        "parts": {name: _part(mine, scores, num, seed) for name, mine in parts.items()},
        "kinds": {
            kind: {
                "held_out": kind in held_out().damages,
                **_part([row for row in rows if row.kind == kind], scores, num, seed),
            }
            for kind in kinds
        },
        "families": {
            family: _part([row for row in rows if row.family == family], scores, num, seed)
            for family in sorted({row.family for row in rows})
        },
        "leakage": leakage(rows, scores, num, seed),
        "false_alarm": false_alarms(rows, scores, num, seed),
        "attacks": attacks(rows, scores),
        "below_threshold": below(rows, scores),
        "onset": onset(unseen, scores),
        "abstained": abstained(rows, scores),
        "not_measurable": UNSEEABLE,
        "held_out": held_out().fingerprint,
    }


def _all_unseen(row: TwinRow) -> bool:
    look = "theme" in row.held_out or row.family != "games"
    return {"kind", "scene"} <= set(row.held_out) and look


PARTS: dict[str, Callable[[TwinRow], bool]] = {
    "unseen": _all_unseen,
    "kind": lambda row: "kind" in row.held_out,
    "scene": lambda row: "scene" in row.held_out,
    "theme": lambda row: "theme" in row.held_out,
    "known": lambda row: row.role == "damage" and not row.held_out,
    "all": lambda row: True,
}
"""Parts of the test split by what of them no training saw; MuJoCo and real clips have no themes."""


def _part(rows: Rows, scores: Scores, num: int, seed: int) -> dict[str, Any]:
    shown = [row for row in rows if row.role == "damage" and not row.sub_threshold]
    return {
        "pairwise": pairwise(shown, scores, num, seed),
        "rho": rho(shown, scores, num, seed),
        "motion": _mean([scores[row.true].motion for row in shown]),
    }


def pairwise(rows: Rows, scores: Scores, num: int, seed: int) -> Measured:
    """Share of pairs in which the hurt twin has the higher raw score; a tie is half a pair."""
    right = [0.5 * (1 + np.sign(scores[row.damaged].raw - scores[row.true].raw)) for row in rows]
    return _measured(np.array(right, float), [row.group for row in rows], num, seed)


def rho(rows: Rows, scores: Scores, num: int, seed: int) -> dict[str, Any]:
    """Spearman's ρ of raw score and size within kind and scene.

    `fisher` is Fisher's mean as the design has it, with each ρ no nearer to 1 than 1 - 1/n: the z
    of a perfect ladder of five is endless, and a few of them would carry the mean wherever the
    others lie. `mean` is the plain mean, which no such rule touches.
    """
    strata: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        strata.setdefault((row.kind, row.scene), []).append(place)
    size = np.array([row.size for row in rows])
    raw = np.array([scores[row.damaged].raw for row in rows])
    groups = [row.group for row in rows]
    kept = [np.array(places) for places in strata.values() if len(places) >= FEWEST]
    if not kept:
        return {"fisher": _nothing(), "mean": _nothing(), "strata": 0}
    weights = np.concatenate(
        [np.ones((1, len(rows))), bootstrap.resamples(np.array(groups), num, seed)]
    )
    each = np.stack([spearman(raw[at], size[at], weights[:, at]) for at in kept], -1)
    edge = np.array([1 - 1 / len(at) for at in kept])
    fisher, mean = fisher_mean(np.clip(each, -edge, edge)), _row_mean(each)
    count, counted = sum(len(at) for at in kept), {groups[k] for at in kept for k in at}
    return {
        name: _of_resamples(values, count, len(counted))
        for name, values in (("fisher", fisher), ("mean", mean))
    } | {"strata": len(kept)}


def leakage(rows: Rows, scores: Scores, num: int, seed: int, near: float = 1e-6) -> dict[str, Any]:
    """Mean |Δs| of each change of quality over mean |Δs| of damage of size 0.5, and the most.

    `net` takes the mean of Δs before its absolute value: what a change does to clips on the whole.
    `near` is how far from 0.5 a size may be, where sizes are drawn and not set.
    """
    damaged = [
        row for row in rows
        if row.role == "damage" and not row.sub_threshold and abs(row.size - HALF) <= near
    ]  # fmt: skip
    base = _moved(damaged, scores)
    scale = float(np.abs(base).mean()) if np.any(base) else float("nan")
    kinds: dict[str, dict[str, Any]] = {}
    for kind in sorted({row.kind for row in rows if row.role == "quality"}):
        mine = [row for row in rows if row.role == "quality" and row.kind == kind]
        moved = _moved(mine, scores)
        found = _measured(np.abs(moved) / scale, [row.group for row in mine], num, seed)
        kinds[kind] = {"ratio": found, "net": float(abs(moved.mean()) / scale)}
    worst = max(kinds, key=lambda kind: kinds[kind]["ratio"].value, default="")
    return {
        "damage": scale,
        "damage_n": len(damaged),
        "kinds": kinds,
        "worst": worst,
        "value": kinds[worst]["ratio"].value if worst else float("nan"),
    }


def false_alarms(rows: Rows, scores: Scores, num: int, seed: int) -> dict[str, Any]:
    """Share of lawful clips that are called violating: of rare motion, and of all true clips."""
    rare = [row for row in rows if row.role == "lawful"]
    true = list({row.true: row for row in rows if row.role != "lawful"}.values())
    hurt = [row for row in rows if row.role == "damage" and not row.sub_threshold]
    found: dict[str, Any] = {"alarm": ALARM}
    for name, mine, files in (
        ("rare", rare, [row.true for row in rare]),
        ("true", true, [row.true for row in true]),
        ("found", hurt, [row.damaged for row in hurt]),
    ):
        called = np.array([float(scores[file].raw >= ALARM) for file in files])
        found[name] = _measured(called, [row.group for row in mine], num, seed)
        found[f"{name}_mean"] = _mean([scores[file].raw for file in files])
    return found


def attacks(rows: Rows, scores: Scores) -> dict[str, Any]:
    """What frozen, slowed and reversed true clips get beside the clips themselves."""
    true = sorted({row.true for row in rows})
    found = {}
    for name in ATTACKS:
        known = [file for file in true if f"{file}:{name}" in scores]
        if not known:
            continue
        both = np.array([(scores[file].raw, scores[f"{file}:{name}"].raw) for file in known])
        found[name] = {
            "n": len(known),
            "true": float(both[:, 0].mean()),
            "attacked": float(both[:, 1].mean()),
            "differs": float((np.abs(both[:, 1] - both[:, 0]) > 1e-4).mean()),
            "lower": float((both[:, 1] < both[:, 0] - 1e-4).mean()),
            "abstained": float(np.mean([bool(scores[f"{file}:{name}"].why) for file in known])),
            "motion": _mean([scores[f"{file}:{name}"].motion for file in known]),
            "true_motion": _mean([scores[file].motion for file in known]),
        }
    return found


def below(rows: Rows, scores: Scores) -> dict[str, Any]:
    """Doubles under the threshold, where no pixel changed by more than 2 of 255: outside pairs."""
    mine = [row for row in rows if row.role == "damage" and row.sub_threshold]
    moved = _moved([row for row in mine if row.damaged], scores)
    return {"n": len(moved), "moved": float(np.abs(moved).mean()) if len(moved) else float("nan")}


def onset(rows: Rows, scores: Scores) -> dict[str, Any]:
    """Where the worst short window of a double lies: its middle after the onset, seconds off."""
    mine = [
        row for row in rows if row.role == "damage" and not row.sub_threshold and row.size >= HALF
    ]
    middle = np.array([sum(scores[row.damaged].worst) / 2 for row in mine])
    begin = np.array([row.onset / row.fps for row in mine])
    known = np.isfinite(middle)
    if not known.any():
        return {"n": 0}
    late = (middle - begin)[known]
    return {
        "n": int(known.sum()),
        "not_before": float((late > -HALF).mean()),
        "median_seconds": float(np.median(late)),
    }


def abstained(rows: Rows, scores: Scores) -> dict[str, Any]:
    """How often the judge, as it is used, gives no score."""
    files = {
        "true": sorted({row.true for row in rows}),
        "damaged": sorted({row.damaged for row in rows if row.role == "damage" and row.damaged}),
        "quality": sorted({row.damaged for row in rows if row.role == "quality"}),
    }
    return {
        name: {"n": len(mine), "share": _mean([float(bool(scores[file].why)) for file in mine])}
        for name, mine in files.items()
    }


def meets(certificate: Mapping[str, Any]) -> dict[str, bool]:
    """Which targets are met; ρ by the plain mean, which is the stricter of the two."""
    unseen = certificate["parts"]["unseen"]

    def value(found: Any) -> float:  # noqa: ANN401 - Measured, or the same out of JSON
        number = found["value"] if isinstance(found, Mapping) else found.value
        return float("nan") if number is None else float(number)

    told = certificate["leakage"]["value"]
    return {
        "pairwise": value(unseen["pairwise"]) >= TARGETS["pairwise"],
        "rho": value(unseen["rho"]["mean"]) >= TARGETS["rho"],
        "leakage": told is not None and told <= TARGETS["leakage"],
    }


def _moved(rows: Iterable[TwinRow], scores: Scores) -> np.ndarray:
    return np.array([scores[row.damaged].raw - scores[row.true].raw for row in rows])


def _measured(values: np.ndarray, groups: Sequence[str], num: int, seed: int) -> Measured:
    if not len(values):
        return _nothing()
    weights = bootstrap.resamples(np.array(groups), num, seed)
    drawn = bootstrap.weighted_mean(values, weights)
    return _of_resamples(np.concatenate([[values.mean()], drawn]), len(values), len(set(groups)))


def _of_resamples(values: np.ndarray, count: int, groups: int) -> Measured:
    low, high = bootstrap.interval(values[1:])
    return Measured(float(values[0]), float(low), float(high), count, groups)


def _nothing() -> Measured:
    return Measured(float("nan"), float("nan"), float("nan"), 0, 0)


def _row_mean(values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(-1)
    return np.divide(total, known.sum(-1), out=np.full(len(values), np.nan), where=known.any(-1))


def _mean(values: Sequence[float]) -> float:
    return bootstrap.mean_of_known(np.array(values, float))


def read_certificate(head: str | Path = "") -> dict[str, Any]:
    """The certificate that came with a head; a head without one is refused."""
    bundle = load_bundle(head)
    path = None if bundle.folder is None else bundle.folder / CERTIFICATE
    if path is None or not path.is_file():
        raise ValueError(
            f"the head '{bundle.name}' has no certificate; `cosmolabe physics fit` writes one for "
            "a judge that it trains on twins"
        )
    found = read_json(path)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ValueError(f"{path}: not a certificate of schema {SCHEMA}")
    if found.get("head") != bundle.sha256:
        raise ValueError(f"{path} was written for another head (sha256 differs); measure it again")
    return without_lone(found)


def without_lone(found: Any) -> Any:  # noqa: ANN401 - any JSON
    """The same, without the intervals of what one group alone gave.

    Certificates made before had one of width 0 there. Of a ρ they counted groups that were in none
    of its strata as well: what one stratum gave with such an interval was of one group.
    """
    if isinstance(found, list):
        return [without_lone(one) for one in found]
    if not isinstance(found, dict):
        return found
    told = {name: without_lone(one) for name, one in found.items()}
    for one in (told[name] for name in ("fisher", "mean") if told.get("strata") == 1):
        if isinstance(one, dict) and one["low"] == one["high"]:
            one |= {"groups": 1, "low": None, "high": None}
    if told.get("groups") == 1 and "low" in told:
        told |= {"low": None, "high": None}
    return told


def rows_of(certificate: Mapping[str, Any]) -> list[TwinRow]:
    """The rows it was measured on."""
    return [row_from(row) for row in certificate["rows"]]


def scores_of(certificate: Mapping[str, Any]) -> dict[str, Scored]:
    """The raw scores it follows from."""
    return {name: Scored(float(raw)) for name, raw in certificate["raw"].items()}
