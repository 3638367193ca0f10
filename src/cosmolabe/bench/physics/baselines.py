"""Simple scorers beside the judge, on the very same clips: what does the trained part bring?

None of them saw a label, but for the surprise's predictor, which saw lawful training clips, and the
other eye's `stats head`, which saw what the judge's own heads did: what is our eye worth beside one
that learnt from photographs, under heads fitted on the same twins?
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8

from cosmolabe.bench.physics.certificate import leakage, pairwise, rho
from cosmolabe.bench.physics.making import JudgeRecipe, labelled
from cosmolabe.bench.physics.twin_scores import Frames, Scored, score_rows
from cosmolabe.core import parts
from cosmolabe.core.encoder import Encoder
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.vlm import Vlm
from cosmolabe.data.damage import KINDS
from cosmolabe.data.questions.protocol import uniform
from cosmolabe.data.twin_rows import TwinRow
from cosmolabe.data.twin_set import read_frames
from cosmolabe.judges.physics.frames import clips_of
from cosmolabe.judges.physics.physics import Physics
from cosmolabe.judges.physics.protocol import PROTOCOLS
from cosmolabe.judges.physics.watching import watch
from cosmolabe.nets.eyes import untrained
from cosmolabe.nets.feature_store import FeatureStore, clip_hash
from cosmolabe.nets.fitted_head import FittedHead
from cosmolabe.nets.head import build_head
from cosmolabe.nets.head_recipe import HeadRecipe
from cosmolabe.nets.head_training import fit_head
from cosmolabe.nets.motion_maps import NAMES
from cosmolabe.nets.tiny_net import TinyNet
from cosmolabe.nets.twin_maps import SeenClip, maps_of, on_grid, refuse_held_out

PAST = 3  # rows of features that the predictor sees
RIDGE = 1.0
WORST = 3  # times whose mean stands for a clip
WRONG, NOTHING = "What goes wrong in this clip?", "nothing"
"""Asked of a vision-language model, in words that the bundled one knows (it refuses others)."""
SHOWN = 8  # frames of a clip that it sees
OTHER_EYE, OTHER_SIZE = "efficientnet_lite", "128"
"""The eye with real ImageNet weights that works offline, at the size nearest to the twins'."""


@dataclass(frozen=True)
class Seen:
    """One clip as all scorers see it."""

    grid: UInt8[np.ndarray, "grid_time side side 3"]
    maps: Float[np.ndarray, "kept map row column"]
    features: Float[np.ndarray, "kept feature"]
    frames: Frames
    """As they lie in the file, at `fps`: the other eye has a square of its own."""
    fps: float


@dataclass(frozen=True)
class Predictor:
    """Tells the next row of features from the last few, linearly; fitted on lawful clips."""

    weights: Float[np.ndarray, "input width"]
    mean: Float[np.ndarray, " width"]
    scale: Float[np.ndarray, " width"]
    error: Float[np.ndarray, " width"]
    """Mean square error of each feature over the clips it was fitted on."""

    def surprise(self, features: Float[np.ndarray, "time width"]) -> float:
        """Mean of the worst times' squared error, in units of the usual one."""
        if len(features) <= PAST:
            return float("nan")
        inputs, targets = _history((features - self.mean) / self.scale)
        each = ((targets - inputs @ self.weights) ** 2 / self.error).mean(1)
        return _worst(each)


def fit_predictor(clips: Sequence[Float[np.ndarray, "time width"]]) -> Predictor:
    """Ridge regression over all lawful clips."""
    flat = np.concatenate(clips)
    mean, scale = flat.mean(0), flat.std(0) + 1e-6
    both = [_history((clip - mean) / scale) for clip in clips if len(clip) > PAST]
    if not both:
        raise ValueError(f"a predictor needs clips of more than {PAST} times")
    inputs, targets = (np.concatenate(part) for part in zip(*both, strict=True))
    square = inputs.T @ inputs + RIDGE * np.eye(inputs.shape[1])
    weights = np.linalg.solve(square, inputs.T @ targets)
    error = ((targets - inputs @ weights) ** 2).mean(0) + 1e-6
    return Predictor(weights, mean, scale, error)


def frame_difference(seen: Seen) -> float:
    """The largest changes of the picture from one time to the next."""
    frames = seen.grid.astype(np.float32)
    return _worst(np.abs(np.diff(frames, axis=0)).mean((1, 2, 3))) if len(frames) > 1 else 0.0


def jerk(seen: Seen) -> float:
    """How much matched patches change their speed: the second difference of their places."""
    pushed = seen.maps[:, NAMES.index("pushed")].astype(np.float32)
    return _worst(np.sort(pushed.reshape(len(pushed), -1), 1)[:, -WORST:].mean(1))


def unexplained(seen: Seen) -> float:
    """How much of the picture no motion from either neighbour explains."""
    maps = seen.maps[:, NAMES.index("unexplained both")].astype(np.float32)
    return _worst(np.sort(maps.reshape(len(maps), -1), 1)[:, -WORST:].mean(1))


def odds(seen: Seen) -> float:
    """The eye's own log odds at its worst times, no head at all."""
    return _worst(seen.features[:, 1])


def untrained_head(judge: Physics) -> FittedHead:
    """Heads as the judge's, never trained."""
    fitted = judge.bundle.fitted
    heads = [untrained(lambda: build_head(fitted.width, fitted.recipe), seed) for seed in range(4)]
    for head, like in zip(heads, fitted.heads, strict=False):
        head.shift.copy_(like.shift)
        head.scale.copy_(like.scale)
    return FittedHead(heads[: len(fitted.heads)], fitted.recipe, fitted.width)


def stats_head() -> HeadRecipe:
    """The judge's own dials, on mean, spread and peak of a whole clip in place of its events."""
    return replace(JudgeRecipe().head, kind="stats")


@dataclass(frozen=True)
class OtherEye:
    """An eye that knows nothing of twins, with heads that saw the labels the judge's own saw."""

    encoder: Encoder
    heads: FittedHead

    @property
    def name(self) -> str:
        """Of its row."""
        return f"{self.encoder.name} and a {self.heads.recipe.kind} head"

    def score(self, frames: Frames, fps: float) -> float:
        """Raw, of a whole clip."""
        return float(self.heads.score([encoded(frames, fps, self.encoder)])[0])


def encoded(frames: Frames, fps: float, encoder: Encoder) -> Float[np.ndarray, "row feature"]:
    """What an eye sees of a clip at the times that the judge looks at."""
    protocol = PROTOCOLS["physics/1"].bound(encoder.key, encoder.canvas, "")
    return watch(clips_of(frames, fps, protocol), encoder, protocol).features


def fit_other_eye(
    folder: Path,
    clips: Sequence[SeenClip],
    kept: Path,
    encoder: Encoder | None = None,
    recipe: HeadRecipe | None = None,
    seed: int = 42,
    tell: Callable[[int, int], None] | None = None,
) -> OtherEye:
    """EfficientNet-Lite, or another frozen eye, with heads fitted on training twins.

    `clips` as the judge's heads learn from them, but for doubles in another quality, which have no
    file. What the eye saw is kept in `kept`, so an interrupted run goes on.
    """
    refuse_held_out([clip.row for clip in clips])
    eye: Encoder = encoder or parts.load("encoders", OTHER_EYE).load(size=OTHER_SIZE)
    store = FeatureStore(kept, eye.key, PROTOCOLS["physics/1"].seen)
    mine = [clip for clip in clips if clip.role != "worse"]
    features: dict[str, np.ndarray] = {}
    for number, clip in enumerate(mine):
        calm = clip.role in ("true", "lawful")
        frames = read_frames(folder / (clip.row.true if calm else clip.row.damaged))
        key = clip_hash(frames, np.array(clip.row.fps))
        found = store.get(key)
        if found is None:
            found = encoded(frames, clip.row.fps, eye)
            store.put(key, found)
        features[clip.id] = found
        if tell:
            tell(number + 1, len(mine))
    rows, pairs = labelled(mine)
    heads = fit_head(features, rows, pairs, recipe or stats_head(), seed, encoder=eye.key)
    return OtherEye(eye, heads)


def asked(vlm: Vlm) -> Callable[[Seen], float]:
    """A vision-language model asked what goes wrong: log odds of anything against nothing.

    Of two clips the one with higher odds is taken to be the worse; no model here was taught this.
    """
    labels = [NOTHING, *(kind.replace("_", " ") for kind in KINDS)]

    def score(seen: Seen) -> float:
        frames = seen.frames[list(uniform(SHOWN, len(seen.frames)))]
        (told,) = vlm.likelihood(vlm.see([frames]), [WRONG], [labels])
        return float(np.logaddexp.reduce(told[1:]) - told[0])

    return score


def scorers(
    judge: Physics,
    lawful: Sequence[np.ndarray],
    other: OtherEye | None = None,
    vlm: Vlm | None = None,
) -> dict[str, Callable[[Seen], float]]:
    """Every baseline by name; `lawful` are features of lawful training clips."""
    blank = untrained_head(judge)
    found: dict[str, Callable[[Seen], float]] = {
        "frame difference": frame_difference,
        "jerk of matched patches": jerk,
        "unexplained change": unexplained,
        "eye without a head": odds,
        "untrained head": lambda seen: float(blank.score([seen.features])[0]),
    }
    if lawful:
        predictor = fit_predictor(lawful)
        found["surprise of our predictor"] = lambda seen: predictor.surprise(seen.features)
    if other is not None:
        found[other.name] = lambda seen: other.score(seen.frames, seen.fps)
    if vlm is not None:
        found[f"{vlm.name}, asked what goes wrong"] = asked(vlm)
    return found


def look(frames: Frames, fps: float, net: TinyNet) -> Seen:
    """What all scorers share."""
    grid = on_grid(frames, fps)
    maps, _ = maps_of(grid)
    return Seen(grid, maps, features_from(maps, net), frames, fps)


def features_from(maps: np.ndarray, net: TinyNet) -> Float[np.ndarray, "kept feature"]:
    """The eye's features of maps, one row a picture that was kept."""
    with torch.inference_mode():
        given = torch.from_numpy(maps.astype(np.float32))[None]
        return net.pooled(*net.judged(given))[0].numpy()


def compare(
    folder: Path,
    rows: Sequence[TwinRow],
    judge: Physics,
    lawful: Sequence[np.ndarray],
    work: Path,
    tell: Callable[[int, int], None] | None = None,
    num: int = 500,
    other: OtherEye | None = None,
    vlm: Vlm | None = None,
) -> list[dict[str, Any]]:
    """One row a scorer: pairwise accuracy, ρ, leakage, and where its raw scores lie.

    Scores are kept in `work`, in a file for these very scorers, so an interrupted run goes on.
    """
    net = judge.encoder.net  # ty: ignore[missing-attribute]
    by_name = scorers(judge, lawful, other, vlm)
    out = work / f"beside-{_identity(by_name, judge, lawful, other, vlm)}.jsonl"

    def score(frames: Frames, fps: float) -> Scored:
        seen = look(frames, fps, net)
        return Scored(0.0, tuple(float(one(seen)) for one in by_name.values()))

    told = score_rows(folder, rows, score, out, attacks=False, progress=tell)
    if any(len(one.members) != len(by_name) for one in told.values()):
        raise ValueError(f"{out} is not what was written; remove it")
    found = []
    for place, name in enumerate(by_name):
        mine = {clip: Scored(one.members[place]) for clip, one in told.items()}
        found.append({"scorer": name, **measured(rows, mine, num)})
    return found


def _identity(
    names: Iterable[str],
    judge: Physics,
    lawful: Sequence[np.ndarray],
    other: OtherEye | None,
    vlm: Vlm | None,
) -> str:
    """Of all that scores, weights and training data included."""
    heads = other and (other.encoder.key, other.heads.recipe, other.heads.data)
    asks = vlm and (vlm.key, WRONG, NOTHING, SHOWN)
    return fingerprint(list(names), judge.protocol.fingerprint, clip_hash(*lawful), heads, asks)


def measured(rows: Sequence[TwinRow], scores: Mapping[str, Scored], num: int) -> dict[str, Any]:
    """The numbers of one scorer."""
    shown = [row for row in rows if row.role == "damage" and not row.sub_threshold]
    unseen = [row for row in shown if {"kind", "scene"} <= set(row.held_out)]
    raw = np.array([one.raw for one in scores.values()])
    return {
        "pairwise": pairwise(shown, scores, num, 0),
        "pairwise_unseen": pairwise(unseen, scores, num, 0),
        "rho": rho(shown, scores, num, 0),
        "leakage": leakage(rows, scores, num, 0)["value"],
        "lowest": float(np.nanmin(raw)),
        "highest": float(np.nanmax(raw)),
    }


def _history(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count = len(rows) - PAST
    inputs = np.concatenate([rows[at : at + count] for at in range(PAST)], 1)
    return np.concatenate([inputs, np.ones((count, 1))], 1), rows[PAST:]


def _worst(values: np.ndarray) -> float:
    return float(np.sort(values)[-WORST:].mean())
