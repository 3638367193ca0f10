"""From rows to readings: raw shares and shares corrected for the judge's own errors."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cosmolabe.core import bootstrap
from cosmolabe.core.proportion import wilson
from cosmolabe.core.reading import Reading
from cosmolabe.judges.vqa.corrected import Corrected, chance, corrected, rate
from cosmolabe.judges.vqa.films import DRAWN
from cosmolabe.judges.vqa.judging import ASKED, FROZEN, SKIPPED
from cosmolabe.judges.vqa.measured import Measured
from cosmolabe.judges.vqa.protocol import VqaProtocol
from cosmolabe.judges.vqa.views import CONTROLS

Row = Mapping[str, Any]
NAN = math.nan
BLIND = "what the same questions bring when the pictures are {}"
SHOWN = {"blind": "grey", "shuffled": "in another order", "single_frame": "one picture held"}


def readings_of(
    rows: Sequence[Row], protocol: VqaProtocol, measured: Measured, data: str = ""
) -> list[Reading]:
    """Readings of each game and model; rows of the roles `true` and `floor` stand beside them."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["role"] == "imagined":
            groups.setdefault((row["game"], row["model"]), []).append(row)
    found = []
    for (game, model), mine in groups.items():
        others = [row for row in rows if row["game"] == game and row["role"] != "imagined"]
        told: dict[str, Any] = {
            "protocol": protocol.fingerprint, "data": data, "game": game, "model": model,
        }  # fmt: skip
        found += _obedience(mine, others, protocol, measured, told)
        found += _identity(mine, measured, told)
        found += _beside(mine, protocol, told)
    return found


def _obedience(
    rows: Sequence[Row],
    others: Sequence[Row],
    protocol: VqaProtocol,
    measured: Measured,
    told: Mapping[str, Any],
) -> list[Reading]:
    floors = [
        _share(row for row in others if row["role"] == "floor" and row["model"] == name)
        for name in {row["model"] for row in others if row["role"] == "floor"}
    ]
    floor = max((value for value in floors if math.isfinite(value)), default=NAN)
    ceiling = _share(row for row in others if row["role"] == "true")
    pieces = _pieces(rows)
    none = "" if pieces else _none(rows)
    why = none or _at_chance(measured, told["game"], "obedience")
    raw = _mean_reading(
        "obedience", [float(np.mean(p["hits"])) for _, p in pieces], [r for r, _ in pieces],
        rows, why, told, _direction(none, why), floor, ceiling,
    )  # fmt: skip
    told_right = _corrected(pieces, measured, told["game"])
    more: dict[str, Any] = {**told, "n": raw.n, "skipped": raw.skipped}
    found = [
        raw,
        Reading(
            "vqa", "obedience_corrected", told_right.value, "share of clips", "higher",
            told_right.low, told_right.high,
            why=told_right.why or told_right.note, **more,
        ),
    ]  # fmt: skip
    for place, form in enumerate(protocol.formats):
        hits = [float(p["hits"][place]) for _, p in pieces]
        why = none or _at_chance(measured, told["game"], "obedience", form)
        found.append(
            _mean_reading(
                f"obedience.{form}", hits, [r for r, _ in pieces], rows, why, told,
                _direction(none, why),
            )
        )  # fmt: skip
    return found


def _at_chance(measured: Measured, game: str, what: str, form: str = "") -> str:
    """What is to be said beside a raw share where the judge cannot tell yes from no."""
    found = chance(*measured.of(game, what, form))
    return f"{found}; what it says here is said of the judge, not of the model" if found else ""


def _direction(none: str, why: str) -> Literal["higher", "none"]:
    """More is better, but where the judge is at chance more is nothing."""
    return "none" if why and not none else "higher"


def _corrected(pieces: Sequence[tuple[str, Row]], measured: Measured, game: str) -> Corrected:
    """Of the clips that move; those that stand still are disobedient whatever the judge errs."""
    moving = [piece for _, piece in pieces if piece["status"] == ASKED]
    said = np.array([hit for piece in moving for hit in piece["hits"]], bool)
    clips = np.array([piece["clip"] for piece in moving for _ in piece["hits"]])
    found = corrected(rate(said, clips), *measured.of(game, "obedience"))
    moves = np.array([piece["status"] == ASKED for _, piece in pieces], bool)
    among = rate(moves, np.array([film for film, _ in pieces]))
    reach = wilson(among.share * among.n, among.n) if not moves.all() else (1.0, 1.0)
    if len(moves) and not moves.any():
        return Corrected(0.0, 0.0, 0.0, reach[1], NAN, NAN, among.n, note="every clip stands still")
    if not measured.rates:
        found = Corrected(
            found.raw, NAN, NAN, NAN, NAN, NAN, found.n,
            why="the model has no certificate: run `cosmolabe vqa certificate --recompute`",
        )  # fmt: skip
    value = found.value * among.share
    low, high = _of_both((found.value, found.low, found.high), (among.share, *reach))
    return Corrected(
        found.raw, value, low, high, found.sensitivity, found.specificity, found.n, found.note,
        found.why,
    )  # fmt: skip


def _of_both(
    one: tuple[float, float, float], other: tuple[float, float, float]
) -> tuple[float, float]:
    """The interval of a product of two shares, each (value, low, high), known apart.

    Each end lies as far off as the ends of both bring it, squares added (MOVER, first order).
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    down = math.hypot(b * (a - a_low), a * (b - b_low))
    up = math.hypot(b * (a_high - a), a * (b_high - b))
    return max(a * b - down, 0.0), min(a * b + up, 1.0)


def _identity(rows: Sequence[Row], measured: Measured, told: Mapping[str, Any]) -> list[Reading]:
    drawn = all(row["identity_why"] for row in rows)
    asked = [(r, p) for r, p in _pieces(rows) if math.isfinite(p["same"])]
    none = DRAWN if drawn else "" if asked else _none(rows)
    why = none or _at_chance(measured, told["game"], "identity")
    same = [p["same"] for _, p in asked]
    raw = _mean_reading(
        "identity", same, [r for r, _ in asked], rows, why, told, _direction(none, why)
    )
    names = np.array([p["clip"] for _, p in asked])
    right = corrected(rate(np.array(same, bool), names), *measured.of(told["game"], "identity"))
    more: dict[str, Any] = {**told, "n": raw.n, "skipped": raw.skipped}
    return [
        raw,
        Reading(
            "vqa", "identity_corrected", right.value, "share of clips", "higher", right.low,
            right.high, why=none or right.why or right.note, **more,
        ),
    ]  # fmt: skip


def _beside(rows: Sequence[Row], protocol: VqaProtocol, told: Mapping[str, Any]) -> list[Reading]:
    pieces = [(row["id"], piece) for row in rows for piece in row["pieces"]]
    films = [r for r, _ in pieces]
    found = [
        _mean_reading(
            "motion", [p["motion"] for _, p in pieces], films, rows, "", told, "none",
            unit="share of full brightness a second",
        ),
        _mean_reading(
            "frozen", [float(p["status"] == FROZEN) for _, p in pieces], films, rows, "", told,
            "lower",
        ),
    ]  # fmt: skip
    for control in CONTROLS:
        shown = [(r, p["controls"][control]) for r, p in pieces if control in p["controls"]]
        if shown:
            found.append(
                _mean_reading(
                    f"obedience.{control}", [float(np.mean(hits)) for _, hits in shown],
                    [r for r, _ in shown], rows, BLIND.format(SHOWN[control]), told, "none",
                )
            )  # fmt: skip
    turned = [(r, p["rotated"]) for r, p in pieces if p["rotated"]]
    if turned:
        found.append(
            _mean_reading(
                "same_when_options_turn", [float(np.mean(same)) for _, same in turned],
                [r for r, _ in turned], rows, "", told, "higher",
            )
        )  # fmt: skip
    return found


def _pieces(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """(film, piece) of every clip that counts."""
    return [(r["id"], p) for r in rows for p in r["pieces"] if p["status"] != SKIPPED]


def _share(rows: Iterable[Row]) -> float:
    hits = [float(np.mean(p["hits"])) for _, p in _pieces(list(rows))]
    return float(np.mean(hits)) if hits else NAN


def _none(rows: Sequence[Row]) -> str:
    reasons = sorted({row["why"] for row in rows if row["why"]})
    return f"no clip could be asked about: {'; '.join(reasons[:2]) or 'no rollouts'}"


def _mean_reading(
    metric: str,
    values: Sequence[float],
    films: Sequence[str],
    rows: Sequence[Row],
    why: str,
    told: Mapping[str, Any],
    direction: Any,  # noqa: ANN401 - a Reading's literal
    floor: float = NAN,
    ceiling: float = NAN,
    unit: str = "share of clips",
) -> Reading:
    """A mean over clips; its interval draws whole rollouts again."""
    array = np.array(values, np.float64)
    low = high = NAN
    if len(set(films)) > 1:
        weights = bootstrap.resamples(np.array(films))
        low, high = map(float, bootstrap.interval(bootstrap.weighted_mean(array, weights)))
    total = sum(len(row["pieces"]) or 1 for row in rows)
    return Reading(
        "vqa", metric, bootstrap.mean_of_known(array), unit, direction, low, high, floor, ceiling,
        n=len(values), skipped=total - len(values), why=why, **told,
    )  # fmt: skip
