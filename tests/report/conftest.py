"""A run folder made by hand: pong frames, made-up readings."""

from pathlib import Path

import numpy as np
import pytest

from cosmolabe.core.parts import load
from cosmolabe.core.reading import Reading
from cosmolabe.core.record import Record, write_json, write_jsonl, write_readings
from cosmolabe.engine.game import layout_of
from cosmolabe.engine.kernels import expand, simulate
from cosmolabe.engine.render import draw_frames


def pong_frames(ticks=29, size=96):
    """True frames of pong, and frames in which the world stands still after the eighth."""
    game = load("games", "pong")
    worlds = game.new_worlds(np.array([7]))
    actions = np.full((1, ticks + 40), 2, np.uint8)
    public = np.zeros((1, ticks + 41, game.num_public), np.float32)
    simulate(game.step, worlds, actions, game.default_parameters()[None], public, np.zeros(1, int))
    layout = layout_of(game)
    states = np.zeros((ticks + 41, *layout.template.shape), np.float32)
    numbers = np.zeros((ticks + 41, 17), np.float32)
    expand(
        public[0], layout.target, layout.scale, layout.template, layout.wrap, 0,
        states, numbers, np.zeros(ticks + 41, bool),
    )  # fmt: skip
    states, numbers = states[40:], numbers[40:]
    imagined = states.copy()
    imagined[8:] = imagined[7]
    return (
        draw_frames(game, states, numbers, size=size),
        draw_frames(game, imagined, numbers, size=size),
    )


def write_example_run(folder: Path, games=("pong",), note="vqa and physics come later"):
    """All the files a judged run leaves behind."""
    readings, curves, kinds = [], [], []
    for shift, name in enumerate(games):

        def reading(metric, value, floor, ceiling, unit="share of 1", horizon=None, name=name):
            return Reading(
                "state", metric, value, unit, "higher", value - 0.008, value + 0.007, floor,
                ceiling, 240, 16, "0123456789abcdef", "fedcba9876543210", name, "transformer",
                horizon,
            )  # fmt: skip

        value = 0.953 - 0.01 * shift
        readings += [
            reading("final", value, 0.914, 0.981),
            reading("skill", (value - 0.914) / 0.067, 0.0, 1.0, "share of the headroom"),
            *(reading("composite", 0.99 - h / 500, 0.9, 0.99, horizon=h) for h in (1, 10, 20)),
            Reading(
                "state", "psnr", float("nan"), "dB", "higher", game=name, model="transformer",
                why="no frames were drawn",
            ),
        ]  # fmt: skip
        for h in range(1, 21):
            for metric, sign in (("composite", 1), ("position_l1", -1), ("alive_f1", 1)):
                top = 1.0 if sign == 1 else 0.0
                curves.append({
                    "game": name, "model": "transformer", "metric": metric, "horizon": h,
                    "value": top - sign * 0.0025 * h, "low": top - sign * 0.0025 * h - 0.0004 * h,
                    "high": top - sign * 0.0025 * h + 0.0004 * h, "still": top - sign * 0.008 * h,
                    "constant_velocity": top - sign * 0.00018 * h * h,
                    "ceiling": top - sign * 0.0008 * h,
                })  # fmt: skip
        for kind, scale in (("player", 1), ("opponent", 2), ("ball", 3)):
            kinds += [
                {"game": name, "model": "transformer", "kind": kind, "horizon": h,
                 "position_l1": 0.003 * h * scale, "alive_f1": 1.0, "n": 240}
                for h in (1, 10, 20)
            ]  # fmt: skip
    write_readings(folder / "readings.json", readings)
    write_json(
        folder / "record.json",
        Record("cosmolabe judge", 42, {"window": 8, "horizon": 20}, notes=(note,) if note else ()),
    )
    write_jsonl(folder / "clips.jsonl", [
        {"id": f"pong-{e}-0", "game": "pong", "episode": e, "start": 3 * e, "player": "heuristic",
         "status": "ok", "why": "", "final": 0.9 + 0.0003 * (e * 37 % 241),
         "composite": {"1": 0.99}}
        for e in range(240)
    ] + [
        {"id": f"pong-{e}-0", "game": "pong", "episode": e, "start": 0, "player": "random",
         "status": "skipped" if e > 242 else "invalid",
         "why": "episode under 28 frames" if e > 242 else "prediction is not finite",
         "final": None, "composite": {}}
        for e in range(240, 256)
    ])  # fmt: skip
    write_json(folder / "curves.json", curves)
    write_json(folder / "kinds.json", kinds)
    (folder / "media").mkdir(parents=True)
    true, imagined = pong_frames()
    for index in range(3):
        np.savez(
            folder / "media" / f"clip-{index}.npz", true=true, imagined=imagined, fps=60.0,
            caption=f"pong · episode {12 + index} from tick 40",
        )  # fmt: skip
    return folder


@pytest.fixture
def run_folder(tmp_path):
    return write_example_run(tmp_path / "run")


@pytest.fixture
def example_run():
    """The writer itself, for runs with other games or notes."""
    return write_example_run
