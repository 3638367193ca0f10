"""Frames of true and imagined states: picture measures, and clips to look at."""

from typing import Any

import numpy as np

from cosmolabe.bench.bed import Bed
from cosmolabe.bench.dense import dense_states, draw_window
from cosmolabe.bench.readings import mean_reading
from cosmolabe.core import bootstrap, parts
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import Prediction
from cosmolabe.engine.game import Game
from cosmolabe.judges.state import WindowScores, every_of
from cosmolabe.metrics.motion_amount import motion_amount
from cosmolabe.metrics.psnr import psnr
from cosmolabe.metrics.ssim import ssim

MEASURED_SIZE = 112  # pixels in height
SHOWN_SIZE = 160  # pixels in height


def can_draw(bed: Bed) -> bool:
    """Whether the store's game has a drawing (a studio's packed store may not)."""
    return bed.game in parts.names("games")


def picture_readings(
    prediction: Prediction, bed: Bed, num_windows: int, shared: dict[str, Any]
) -> list[Reading]:
    """PSNR, SSIM and motion amount of the first windows, drawn with their episodes' looks."""
    game: Game = parts.load("games", bed.game)
    rows = range(min(num_windows, len(bed.windows)))
    steps = [horizon for horizon, _ in bed.protocol.weights]
    dense = dense_states(bed.windows, prediction, bed.protocol.window)
    signal, structure, motion = [], [], []
    for row in rows:
        look = bed.store.appearance(int(bed.windows.episodes[row]))
        true, imagined = draw_window(
            game, bed.windows, dense[row], prediction.globals[row], row, look, MEASURED_SIZE
        )
        at = [bed.protocol.window + horizon - 1 for horizon in steps]
        signal.append(psnr(true[at], imagined[at]))
        structure.append(ssim(true[at], imagined[at]))
        pair = np.stack([true, imagined])[:, bed.protocol.window - 1 :]
        motion.append(motion_amount(pair))
    shared = {**shared, "n": len(rows)}
    weights = bootstrap.resamples(bed.windows.episodes[: len(rows)])
    readings = []
    for metric, values, unit in (("psnr", signal, "dB"), ("ssim", structure, "similarity")):
        table = np.array(values)
        readings += [
            mean_reading(metric, table[:, i], unit, "higher", weights, shared, steps[i])
            for i in range(len(steps))
        ]
    moves, unit = np.array(motion), "share of full brightness"
    return [
        *readings,
        mean_reading("motion_amount", moves[:, 1], unit, "none", weights, shared),
        mean_reading("motion_amount_true", moves[:, 0], unit, "none", weights, shared),
    ]


def clips_to_show(
    prediction: Prediction, bed: Bed, scores: WindowScores, num_clips: int
) -> dict[str, dict[str, Any]]:
    """True and imagined frames of a few windows, from the worst to the best."""
    game: Game = parts.load("games", bed.game)
    ranked = np.argsort(np.nan_to_num(scores.final, nan=-1.0), kind="stable")
    places = np.linspace(0, len(ranked) - 1, min(num_clips, len(ranked))).round().astype(int)
    rows = ranked[np.unique(places)]
    dense = dense_states(bed.windows, prediction, bed.protocol.window)
    media = {}
    for row in rows:
        episode, start = int(bed.windows.episodes[row]), int(bed.windows.starts[row])
        true, imagined = draw_window(
            game,
            bed.windows,
            dense[row],
            prediction.globals[row],
            int(row),
            bed.store.appearance(episode),
            SHOWN_SIZE,
        )
        caption = f"{bed.game}, episode {episode} from tick {start}: final {scores.final[row]:.3f}"
        media[f"{bed.game}-{episode:06d}-{start:05d}"] = {
            "true": true,
            "imagined": imagined,
            "fps": bed.store.manifest.fps / every_of(bed.protocol),
            "caption": caption,
        }
    return media
