"""Frame models: promises, rolling on from own frames, and what the small one learns."""

import json

import numpy as np
import pytest

from cosmolabe.bench.frame_models.conformance import check_frames
from cosmolabe.bench.frame_models.figures import psnr_by_step
from cosmolabe.bench.frame_models.rolling import Painted, paint, roll_frames
from cosmolabe.bench.frame_models.training import FrameRecipe, train_frames
from cosmolabe.cli import main
from cosmolabe.nets.frame_net import FrameNetConfig, PixelModel

TINY = FrameNetConfig(size=16, width=8)


class Brighter:
    """Each frame is one level above the last it saw."""

    name, context, every, size = "brighter", 2, 4, 16

    def step(self, frames, actions):
        assert frames.shape[1] == actions.shape[1] == self.context
        return frames[:, -1] + np.uint8(1)


class Peeking(Brighter):
    """Looks at the rows beside."""

    name = "peeking"

    def step(self, frames, actions):
        return np.broadcast_to(frames.mean(0, dtype=int).astype(np.uint8), frames.shape)[:, -1]


class Lucky(Brighter):
    """Never twice the same."""

    name, luck = "lucky", np.random.default_rng(0)

    def step(self, frames, actions):
        return self.luck.integers(0, 256, frames[:, -1].shape, dtype=np.uint8)


class Floats(Brighter):
    """Gives floats."""

    name = "floats"

    def step(self, frames, actions):
        return frames[:, -1] / 255.0


def test_rolling_on_sees_its_own_frames_and_nothing_of_the_future():
    given = np.zeros((3, 2, 16, 16, 3), np.uint8)
    films = roll_frames(Brighter(), given, np.zeros((3, 7, 7), np.float32))
    assert films[:, :, 0, 0, 0].tolist() == [[0, 0, 1, 2, 3, 4, 5]] * 3


def test_the_small_net_keeps_every_promise_of_a_frame_model():
    promises = check_frames(PixelModel(TINY))
    assert all(one.ok for one in promises)
    assert len(promises) >= 6


@pytest.mark.parametrize(
    ("model", "broken"),
    [
        (Peeking(), "a row alone gives what it gives in a batch"),
        (Lucky(), "the same rows give the same frames"),
        (Floats(), "step gives uint8 (3, 16, 16, 3)"),
    ],
)
def test_a_broken_promise_is_named(model, broken):
    assert broken in [one.name for one in check_frames(model) if not one.ok]


class OnlyThree(Brighter):
    """Fails on any batch but that of three."""

    def step(self, frames, actions):
        if len(frames) != 3:
            raise KeyError("three rows, please")
        return super().step(frames, actions)


class OnceOnly(Brighter):
    """Gives a frame once and then nothing."""

    def __init__(self):
        self.calls = 0

    def step(self, frames, actions):
        self.calls += 1
        return super().step(frames, actions) if self.calls == 1 else None


@pytest.mark.parametrize("model", [OnlyThree(), OnceOnly()], ids=["only three", "once only"])
def test_a_model_that_fails_halfway_breaks_a_promise_and_not_the_check(model):
    failed = [one.name for one in check_frames(model) if not one.ok]
    assert "a row alone gives what it gives in a batch" in failed


def test_a_model_that_gives_something_else_than_frames_is_refused_while_rolling():
    with pytest.raises(ValueError, match=r"floats.step gives uint8 .*; got float64"):
        roll_frames(
            Floats(), np.zeros((1, 2, 16, 16, 3), np.uint8), np.zeros((1, 4, 7), np.float32)
        )


def test_painted_and_true_films_begin_alike_and_have_as_many_actions_as_frames():
    told = paint(Brighter(), "pong", num=2)
    assert np.array_equal(told.painted[:, : told.given], told.true[:, : told.given])
    assert told.actions.shape[:2] == told.true.shape[:2]
    assert told.fps == 15.0
    assert told.true.shape[1] / told.fps >= 3.0


def test_holding_the_truth_is_endless_psnr_and_holding_still_is_not():
    told = paint(Brighter(), "pong", num=2)
    perfect = Painted(told.true, told.true, told.actions, told.given, told.fps, told.ids)
    steps = psnr_by_step(perfect)
    assert {one["psnr"] for one in steps} == {100.0}
    assert min(one["still"] for one in steps) < 40


def test_training_goes_on_to_the_same_weights_and_a_saved_model_paints_the_same(tmp_path):
    recipe = FrameRecipe(steps=3, batch=2, films=2, ahead=2)
    whole = train_frames("pong", recipe, TINY, tmp_path / "a")
    again = train_frames("pong", recipe, TINY)
    loaded = PixelModel.load(tmp_path / "a")
    frames = np.random.default_rng(0).integers(0, 256, (2, 4, 16, 16, 3), dtype=np.uint8)
    actions = np.zeros((2, 4, 7), np.float32)
    painted = whole.step(frames, actions)
    assert np.array_equal(painted, again.step(frames, actions))
    assert np.array_equal(painted, loaded.step(frames, actions))
    assert not np.array_equal(painted, PixelModel(TINY).step(frames, actions))


def test_a_checkpoint_of_other_sizes_is_refused(tmp_path):
    PixelModel(TINY).save(tmp_path)
    told = json.loads((tmp_path / "frame_model.json").read_text())
    told["config"]["width"] = 16
    (tmp_path / "frame_model.json").write_text(json.dumps(told))
    with pytest.raises(ValueError, match="should be"):
        PixelModel.load(tmp_path)


def test_frames_are_checked_and_rolled_out_from_the_command_line(tmp_path, capsys):
    own = tmp_path / "mine.py"
    own.write_text(
        "class Mine:\n"
        "    name, every, size, context = 'mine', 4, 32, 2\n"
        "    def step(self, frames, actions):\n"
        "        return frames[:, -1]\n"
        "def make(manifest):\n"
        "    return Mine()\n"
    )
    assert main.run(["check", "frames", f"{own}:make", "--json"]) == 2
    assert "--trust" in json.loads(capsys.readouterr().out)["error"]
    assert main.run(["check", "frames", f"{own}:make", "--trust", "--json"]) == 0
    store = tmp_path / "store"
    assert main.run(["collect", "pong", "--out", str(store), "-n", "2", "--split", "test"]) == 0
    capsys.readouterr()
    words = ["rollout", str(store), "-m", f"{own}:make", "--trust", "-n", "2", "--json"]
    assert main.run([*words, "--out", str(tmp_path / "rolled")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rollouts"] == 2
    assert all(one["psnr"] == one["still"] for one in told["psnr"])
    rows = [json.loads(x) for x in (tmp_path / "rolled/rollouts.jsonl").read_text().splitlines()]
    assert all((tmp_path / "rolled" / row["actions"]).is_file() for row in rows)
