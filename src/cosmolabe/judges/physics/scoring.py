"""From what was seen to a verdict: raw score, interval, curve over time, worst window, or why not.

Every video is scored by itself, so what stands beside it, and in which order, changes nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float

from cosmolabe.judges.physics.bundle import Bundle
from cosmolabe.judges.physics.protocol import PhysicsProtocol
from cosmolabe.judges.physics.watching import Watched

if TYPE_CHECKING:
    from torch import Tensor

NAN = math.nan
Status = Literal["scored", "abstained", "failed"]


@dataclass(frozen=True)
class Verdict:
    """What the judge says of one video."""

    status: Status
    why: str = ""
    """Why it was not scored."""
    value: float = NAN
    """0 nothing violated .. 1 blatant: `raw`, clipped."""
    raw: float = NAN
    """The heads' mean, as it ranks."""
    low: float = NAN
    """Where one more head trained alike would put the value, 95 of 100 times."""
    high: float = NAN
    motion: float = NAN
    """Change of the picture a second, shares of full brightness."""
    seconds: float = NAN
    distance: float = NAN
    """From the training clips, over the distance that nearly all of them lie within."""
    worst_start: float = NAN
    """Seconds; the short window with the highest score."""
    worst_end: float = NAN
    worst_raw: float = NAN
    curve: tuple[tuple[float, float, float], ...] = ()
    """(start, end, raw) of every short window."""
    members: tuple[float, ...] = ()
    """Raw score by each head."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What decoding met."""


def row_of(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a row of clips.jsonl."""
    row = asdict(verdict)
    row["curve"] = [list(window) for window in verdict.curve]
    row["members"] = list(verdict.members)
    row["facts"] = dict(verdict.facts)
    return row


def judge_watched(seen: Watched, bundle: Bundle, protocol: PhysicsProtocol) -> Verdict:
    """The verdict on one video."""
    distance = _distance(seen, bundle, protocol)
    told: dict[str, Any] = {
        "motion": seen.motion,
        "seconds": seen.seconds,
        "distance": distance,
        "facts": seen.facts,
    }
    why = _unscored(seen, distance, protocol)
    if why:
        return Verdict("abstained", why, **told)
    width = bundle.fitted.width
    if seen.features.shape[1] != width:
        raise ValueError(f"the head reads {width} features, the eye gave {seen.features.shape[1]}")
    whole = _windows(seen, protocol.long_seconds, protocol.long_stride)
    members = _quantile(_scores(seen, bundle, whole), protocol.quantile)
    curve: tuple[tuple[float, float, float], ...] = ()
    if protocol.short_seconds:
        parts = _windows(seen, protocol.short_seconds, protocol.short_stride)
        scores = _scores(seen, bundle, parts)
        share = protocol.short_weight
        members = (1 - share) * members + share * _quantile(scores, protocol.quantile)
        curve = tuple(
            (*_ends(seen, part), float(raw))
            for part, raw in zip(parts, scores.mean(1), strict=True)
        )
    low, high = (float(end) for end in bundle.fitted.interval(members[None])[:, 0])
    raw = float(members.mean())
    if not math.isfinite(raw):
        whose = "the eye's features" if not np.isfinite(seen.features).all() else "the heads"
        raise ValueError(f"{whose} gave something that is no finite number; no score")
    worst = max(curve, key=lambda window: window[2], default=(NAN, NAN, NAN))
    return Verdict(
        "scored",
        value=_clipped(raw),
        raw=raw,
        low=_clipped(low),
        high=_clipped(high),
        worst_start=worst[0],
        worst_end=worst[1],
        worst_raw=worst[2],
        curve=curve,
        members=tuple(float(member) for member in members),
        **told,
    )


def violation(
    features: "Float[Tensor, 'batch row width']",
    bundle: Bundle,
    protocol: PhysicsProtocol,
    row_seconds: float,
) -> "Float[Tensor, ' batch']":
    """Raw scores of clips of one length, with a gradient to the features."""
    import torch

    def scored(one: "Tensor", length: float, stride: float) -> "Tensor":
        cuts = window_cuts(len(one), length, stride, row_seconds)
        scores = torch.cat([bundle.fitted.forward(one[None, a:b]) for a, b in cuts])
        return torch.quantile(scores, protocol.quantile, dim=0).mean()

    raws = []
    for one in features:
        raw = scored(one, protocol.long_seconds, protocol.long_stride)
        if protocol.short_seconds:
            short = scored(one, protocol.short_seconds, protocol.short_stride)
            raw = (1 - protocol.short_weight) * raw + protocol.short_weight * short
        raws.append(raw)
    return torch.stack(raws)


def window_cuts(
    rows: int, length: float, stride: float, row_seconds: float
) -> list[tuple[int, int]]:
    """(first, after last) row of each window of `length` seconds; the last ends with the video."""
    size = max(1, min(rows, round(min(length / row_seconds, rows))))
    step = max(1, round(min(stride / row_seconds, rows)))
    last = rows - size
    return [(start, start + size) for start in (*range(0, last, step), last)]


def pooled(features: Float[np.ndarray, "row width"]) -> Float[np.ndarray, " column"]:
    """Mean and spread of a whole video, side by side: what its likeness to others is told by."""
    return np.concatenate([features.mean(0), features.std(0)]).astype(np.float64)


def _unscored(seen: Watched, distance: float, protocol: PhysicsProtocol) -> str:
    """Why there is no score; empty where there is one."""
    if seen.seconds < protocol.shortest:
        return f"too short: {seen.seconds:.2f} s, below {protocol.shortest} s"
    if protocol.motion_floor and not seen.motion >= protocol.motion_floor:
        moves = (
            "a single picture" if math.isnan(seen.motion) else f"motion {seen.motion:.4f} a second"
        )
        return f"hardly moves: {moves}, below {protocol.motion_floor}; frozen or slowed"
    if protocol.unlike and distance > 1:
        return (
            f"unlike the training clips: {distance:.2f} times as far from them as nearly all of "
            "them were"
        )
    return ""


def _distance(seen: Watched, bundle: Bundle, protocol: PhysicsProtocol) -> float:
    if bundle.familiar is None or not protocol.unlike:
        return NAN
    row = pooled(seen.features)
    if len(row) != len(bundle.familiar.mean):
        raise ValueError(
            f"the head knows clips of {len(bundle.familiar.mean)} columns, this one has {len(row)}"
        )
    return float(bundle.familiar.distance(row[None])[0]) / bundle.familiar.edge


def _windows(seen: Watched, length: float, stride: float) -> list[tuple[int, int]]:
    return window_cuts(len(seen.features), length, stride, seen.row_seconds)


def _scores(
    seen: Watched, bundle: Bundle, windows: list[tuple[int, int]]
) -> Float[np.ndarray, "window member"]:
    return bundle.fitted.member_scores([seen.features[start:end] for start, end in windows])


def _quantile(
    scores: Float[np.ndarray, "window member"], share: float
) -> Float[np.ndarray, " member"]:
    return np.quantile(scores, share, axis=0)


def _ends(seen: Watched, window: tuple[int, int]) -> tuple[float, float]:
    start, end = window
    return float(seen.starts[start]), float(seen.starts[end - 1] + seen.row_seconds)


def _clipped(raw: float) -> float:
    return float(np.clip(raw, 0.0, 1.0))
