"""A projector learns on a made-up game nobody here wrote, end to end, between small parts."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from cosmolabe.bench.vqa import outside_games
from cosmolabe.bench.vqa.frame_probe import fitted, summed_up
from cosmolabe.bench.vqa.outside_games import FrameByFrame, OutsideStudy, run_game
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.outside.game import Family, Moment, OutsideGame, Thing
from cosmolabe.data.questions import outside
from cosmolabe.data.questions.outside import VERTICAL, Cutting, Words
from cosmolabe.nets.adaptation import Adaptation
from cosmolabe.vlms import efficientnet_smollm

NAME = "fake/Bats"
STUDY = {
    "train": 2, "test": 1, "cutting": Cutting(ticks=70, per_episode=3),
    "recipe": Adaptation(rate=1e-3, batch=2, steps=3, mix=None), "curve": (1, 2),
}  # fmt: skip


class Bat:
    """It obeys."""

    def reset(self, seed):
        self.y = 0.2 + 0.6 * np.random.default_rng(seed).random()
        return self.moment()

    def step(self, action):
        self.y = float(np.clip(self.y + 0.02 * (0, -1, 1)[action], 0.1, 0.9))
        return self.moment()

    def moment(self):
        return Moment({"bat": [Thing(0.5, self.y)]}, {"reward": 0.0})

    def frame(self):
        picture = np.zeros((64, 64, 3), np.uint8)
        picture[int(self.y * 64) - 4 : int(self.y * 64) + 4, 28:36] = 255
        picture[0, 0] = int(self.y * 255)
        return picture

    def close(self):
        pass


@pytest.fixture
def bats(monkeypatch):
    monkeypatch.setitem(outside.WORDS, NAME, Words("the bat", VERTICAL))
    family = Family(Slot("bat", "player", half_width=0.1, half_height=0.1, controllable=True))
    manifest = Manifest(
        "fake-bats", 1, family.slots(), globals=("reward",), actions=("move_y",), max_ticks=70,
        fps=30.0,
    )  # fmt: skip
    actions = ({}, {"move_y": -1.0}, {"move_y": 1.0})
    return OutsideGame(NAME, manifest, (family,), actions, ("wait", "up", "down"), Bat)


@pytest.fixture(scope="module")
def vlm():
    torch.set_num_threads(1)
    return efficientnet_smollm.load(random=True)


def test_a_game_is_learnt_once_and_found_again(bats, vlm, tmp_path, monkeypatch):
    study = OutsideStudy(games=(NAME,), **STUDY)
    before = vlm.key
    found = run_game(study, NAME, vlm, tmp_path, game=bats)
    assert vlm.key == before
    assert [point["step"] for point in found["curve"]] == [0, 1, 2, 3]
    assert found["train"]["clips"] == 6
    assert found["test"]["labels"] == dict.fromkeys(("staying still", *VERTICAL), 1)
    assert [row["format"] for row in found["after"]] == ["binary", "multiple_choice", "open_ended"]
    for row in found["before"] + found["after"]:
        assert row["n"] == 3
        assert {"blind", "shuffled", "single_frame", "majority"} <= set(row)
    assert found["after"][2]["majority"] == pytest.approx(1 / 3)
    assert 0.0 <= found["probe"]["accuracy"] <= 1.0
    monkeypatch.setattr(outside_games, "adapt", None)
    assert run_game(study, NAME, vlm, tmp_path, game=bats) == found


def test_what_was_stopped_goes_on_to_the_same_table(bats, vlm, tmp_path):
    study = OutsideStudy(games=(NAME,), **STUDY)
    whole = run_game(study, NAME, vlm, tmp_path / "whole", game=bats)

    def stop(line):
        if "training 3" in line:
            raise KeyboardInterrupt

    before = vlm.key
    with pytest.raises(KeyboardInterrupt):
        run_game(study, NAME, vlm, tmp_path / "parts", stop, game=bats)
    assert vlm.key == before
    again = run_game(study, NAME, vlm, tmp_path / "parts", game=bats)
    for name in ("before", "after", "curve", "probe", "train", "test"):
        assert again[name] == whole[name], name


def test_clips_of_another_study_are_refused(bats, vlm, tmp_path):
    study = OutsideStudy(games=(NAME,), **STUDY)
    run_game(study, NAME, vlm, tmp_path, game=bats)
    path = tmp_path / "fake-bats" / "test" / "record.json"
    write_json(path, {**read_json(path), "key": "another"})
    with pytest.raises(ValueError, match="holds clips of another study"):
        run_game(replace(study, seed=6), NAME, vlm, tmp_path, game=bats)


def test_frames_seen_one_by_one_are_what_the_tower_sees_and_another_order_costs_nothing(vlm):
    rng = np.random.default_rng(0)
    clip = rng.integers(0, 256, (4, 64, 64, 3), dtype=np.uint8)
    features = FrameByFrame(vlm)
    (seen,) = features.see([clip])
    with torch.no_grad():
        torch.testing.assert_close(seen, vlm.see([clip])[0], rtol=1e-5, atol=1e-5)
    assert features.looked == 4
    shuffled, held = features.see([clip[[2, 0, 3, 1]], np.repeat(clip[1:2], 4, 0)])
    assert features.looked == 4
    torch.testing.assert_close(shuffled, seen[[2, 0, 3, 1]])
    torch.testing.assert_close(held, seen[[1, 1, 1, 1]])


def test_equal_clips_are_the_very_same_tensor_so_that_their_questions_share_a_row(vlm):
    grey = np.full((2, 64, 64, 3), 128, np.uint8)
    one, other = FrameByFrame(vlm).see([grey, grey.copy()])
    assert one is other


def moving(labels, seed):
    """Features of clips: noise, and a drift in one direction that tells the label."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(len(labels), 4, 12))
    for row, label in zip(found, labels, strict=True):
        row[:, 3] += np.arange(4) * {"up": -1.0, "still": 0.0, "down": 1.0}[label]
    return torch.from_numpy(found).float()


def test_the_probe_reads_what_moves_and_nothing_out_of_noise():
    labels = ["up", "still", "down"] * 60
    sessions = [str(k // 5) for k in range(180)]
    probe, told = fitted(moving(labels, 0), labels, sessions)
    assert told["held_back"] > 0.8
    asked = ["down", "up", "still"] * 30
    right = np.mean([a == b for a, b in zip(probe(moving(asked, 1)), asked, strict=True)])
    assert right > 0.8
    rng = np.random.default_rng(2)
    shuffled = [labels[k] for k in rng.permutation(180)]
    lost, _ = fitted(moving(labels, 0), shuffled, sessions)
    wrong = np.mean([a == b for a, b in zip(lost(moving(asked, 1)), asked, strict=True)])
    assert wrong < 0.6


def test_the_summary_of_frames_knows_their_order():
    clip = torch.arange(12.0).reshape(1, 4, 3)
    told = summed_up(clip)
    assert told.tolist() == [[4.5, 5.5, 6.5, 9.0, 9.0, 9.0]]
    assert summed_up(clip.flip(1))[0, 3:].tolist() == [-9.0, -9.0, -9.0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"games": ("atari/Tennis",)}, "games are some of"),
        ({"games": ()}, "got none"),
        ({"recipe": Adaptation(strategy="L", steps=3)}, "trains the projector"),
        ({"recipe": Adaptation(epochs=1.0)}, "a number of steps"),
    ],
)
def test_a_study_that_cannot_be_done_is_refused(change, said):
    with pytest.raises(ValueError, match=said):
        OutsideStudy(**change)


def test_the_games_that_are_run_do_not_change_what_each_is_run_by():
    one = OutsideStudy(games=("atari/Pong",))
    assert one.hash == OutsideStudy().hash
    assert one.hash != replace(one, train=301).hash
