"""Games nobody here wrote, played by a small fake one that misbehaves as the real ones do."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.bench.evaluate import judge_model, write_run
from cosmolabe.cli import main
from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, VX
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data import outside
from cosmolabe.data.alignment import align, verdict
from cosmolabe.data.frame_alignment import align_frames, videos_of
from cosmolabe.data.outside import atari, box2d, mujoco, outside_game
from cosmolabe.data.outside.collecting import collect_outside
from cosmolabe.data.outside.game import Family, Moment, OutsideGame, Thing
from cosmolabe.data.outside.players import PLAYERS
from cosmolabe.data.outside.playing import play_episode
from cosmolabe.data.outside.slots import SlotKeeper
from cosmolabe.data.store import open_store
from cosmolabe.report.page import write_report

SIZE = 64
ACTIONS = ({}, {"move_y": -1.0}, {"move_y": 1.0})


class FakeSession:
    """A bat under control and three bugs that drift, listed in another order every tick."""

    opened = 0

    def __init__(self, ends=0, fails_at=0):
        FakeSession.opened += 1
        self.ends, self.fails_at, self.steps = ends, fails_at, 0

    def reset(self, seed):
        self.luck = np.random.default_rng(seed)
        self.bat, self.tick, self.reward = 0.5, 0, 0.0
        self.bugs = self.luck.uniform(0.2, 0.8, (3, 2))
        return self.moment()

    def step(self, action):
        self.steps += 1
        if self.fails_at and self.steps == self.fails_at:
            raise KeyboardInterrupt
        self.tick += 1
        self.bat = float(np.clip(self.bat + 0.03 * (0, -1, 1)[action], 0.1, 0.9))
        self.bugs[:, 0] = (self.bugs[:, 0] + 0.011) % 1.0
        return self.moment()

    def moment(self):
        bugs = [Thing(float(x), float(y)) for x, y in self.luck.permutation(self.bugs)]
        return Moment(
            {"bat": [Thing(0.1, self.bat)], "bug": bugs},
            {"score": float(self.tick), "reward": 1.0},
            terminated=bool(self.ends) and self.tick >= self.ends,
        )

    def frame(self):
        picture = np.zeros((SIZE, SIZE, 3), np.uint8)
        for x, y in [(0.1, self.bat), *self.bugs.tolist()]:
            row, column = round(y * SIZE), round(x * SIZE)
            picture[max(row - 4, 0) : row + 4, max(column - 4, 0) : column + 4] = 255
        return picture

    def close(self):
        pass


def fake(ticks=60, wraps=False, **session):
    families = (
        Family(Slot("bat", "player", half_width=4 / SIZE, half_height=4 / SIZE, controllable=True)),
        Family(Slot("bug", "enemy", half_width=4 / SIZE, half_height=4 / SIZE), count=4),
    )
    manifest = Manifest(
        "fake-bats", 1, tuple(s for f in families for s in f.slots()),
        globals=("score", "reward", "tick_share"), actions=("move_y",), wrap_x=wraps,
        max_ticks=ticks, fps=30.0,
    )  # fmt: skip
    return OutsideGame(
        "fake/Bats", manifest, families, ACTIONS, ("wait", "up", "down"),
        lambda: FakeSession(**session),
    )  # fmt: skip


def test_an_episode_has_one_action_less_than_states_and_each_leads_to_the_next():
    game = fake()
    actions = PLAYERS["random"].actions(3, 60, "a name")
    episode, frames = play_episode(game, game.open(), 1, actions.tolist(), True)
    assert len(episode) == len(frames) == 61
    assert not episode.actions[-1].any()
    moved = np.diff(episode.states[:, 0, 1])
    inside = (episode.states[1:, 0, 1] > 0.11) & (episode.states[1:, 0, 1] < 0.89)
    np.testing.assert_allclose(moved[inside], 0.03 * episode.actions[:-1, 1][inside], atol=1e-6)


def test_entities_keep_their_slots_whatever_order_they_are_listed_in():
    game = fake(wraps=True)
    episode, _ = play_episode(game, game.open(), 3, [0] * 60, False)
    alive = episode.states[:, 1:, ALIVE] > 0.5
    assert alive.sum(1).tolist() == [3] * 61
    assert (alive == alive[0]).all()
    np.testing.assert_allclose(episode.states[1:, 1:4, VX], 0.011, atol=1e-5)


def test_a_teleport_is_a_birth_and_no_speed():
    game = fake()  # the bugs do not wrap here: from right to left they jump
    episode, _ = play_episode(game, game.open(), 3, [0] * 60, False)
    assert np.abs(episode.states[:, :, VX : VX + 2]).max() < game.reach
    assert np.abs(episode.states[:, :, -4:]).max() < game.reach
    used = (episode.states[:, 1:, ALIVE] > 0.5).any(0)
    assert used.sum() == 4  # who jumped took the slot that was free


def test_where_no_slot_is_free_who_jumps_is_away_for_one_tick():
    keeper = SlotKeeper(fake())
    rows = [
        keeper.row_of(Moment({"bat": [Thing(0.1, y)], "bug": []}, {})) for y in (0.2, 0.8, 0.82)
    ]
    assert [row[0, ALIVE] for row in rows] == [1, 0, 1]
    assert not rows[2][0, VX : VX + 2].any()


@given(seed=st.integers(0, 1000), count=st.integers(0, 4))
def test_every_thing_shown_has_exactly_one_slot(seed, count):
    luck, keeper = np.random.default_rng(seed), SlotKeeper(fake())
    for _ in range(5):
        places = luck.uniform(0, 1, (count, 2))
        row = keeper.row_of(Moment({"bat": [], "bug": [Thing(*p) for p in places]}, {}))
        known = row[1:][keeper.known[1:], :2]
        assert sorted(map(tuple, known.tolist())) == sorted(
            map(tuple, places.astype(np.float32).tolist())
        )


def test_more_things_than_slots_are_refused_by_name():
    keeper = SlotKeeper(fake())
    crowd = [Thing(0.1 * k, 0.5) for k in range(5)]
    with pytest.raises(ValueError, match="5 things of family 'bug', which has 4 slots"):
        keeper.row_of(Moment({"bat": [], "bug": crowd}, {}))


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    one, other = (collect_outside(fake(), tmp_path / name, 6) for name in ("a", "b"))
    assert one.fingerprint == other.fingerprint
    assert collect_outside(fake(), tmp_path / "c", 6, salt="x").fingerprint != one.fingerprint
    files = sorted(path.name for path in one.folder.glob("*.shard"))
    assert files == ["test-0000000.shard", "train-0000000.shard", "val-0000000.shard"]
    for name in files:
        assert (one.folder / name).read_bytes() == (other.folder / name).read_bytes()


def test_a_collection_that_was_stopped_goes_on_where_it_was(tmp_path):
    whole = collect_outside(fake(), tmp_path / "whole", 6)
    with pytest.raises(KeyboardInterrupt):
        collect_outside(fake(fails_at=200), tmp_path / "stopped", 6)
    aside = tmp_path / ".stopped-collecting"
    assert len(list(aside.glob("*.episode"))) == 3
    done = collect_outside(fake(), tmp_path / "stopped", 6)
    assert done.fingerprint == whole.fingerprint
    assert not aside.exists()
    opened = FakeSession.opened
    assert collect_outside(fake(), tmp_path / "stopped", 6).fingerprint == whole.fingerprint
    assert FakeSession.opened == opened  # nothing was played again


def test_another_collection_in_the_same_folder_is_refused(tmp_path):
    collect_outside(fake(), tmp_path / "s", 6)
    with pytest.raises(ValueError, match="another collection"):
        collect_outside(fake(), tmp_path / "s", 7)


def test_an_end_by_the_rules_is_told_from_an_end_by_the_clock(tmp_path):
    ended = collect_outside(fake(ends=40), tmp_path / "rules", 4).episode(0)
    assert (len(ended), ended.terminal[-1], ended.truncated) == (41, True, False)
    clock = collect_outside(fake(), tmp_path / "clock", 4).episode(0)
    assert (len(clock), clock.terminal[-1], clock.truncated) == (61, False, True)


def test_frames_lie_beside_the_store_and_belong_to_its_states(tmp_path):
    pytest.importorskip("av")
    store = collect_outside(fake(), tmp_path / "s", 6, frames=True)
    videos = videos_of(store)
    assert len(videos) == 6
    sidecar = json.loads(videos[0].with_suffix(".json").read_text())
    assert (sidecar["frames"], len(sidecar["actions"])) == (61, 60)
    assert align_frames(store, videos).best == 0
    assert open_store(store.folder).verify() == 6


def test_train_judge_and_report_take_it_like_any_store(tmp_path):
    store = collect_outside(fake(), tmp_path / "s", 30)
    assert verdict(align(store)).best == 0
    judged = judge_model(parts.load("models", "still").create(store.manifest, "laptop", 0), store)
    final = judged.reading("final")
    assert 0 <= final.value <= 1
    assert final.floor > 0
    assert np.isnan(final.ceiling)
    assert "cannot replay" in judged.reading("skill").why
    assert write_report(write_run(judged, tmp_path / "run")).is_file()
    words = ["train", str(tmp_path / "s"), "--model", "linear", "--out", str(tmp_path / "model")]
    assert main.run(words) == 0


def test_the_command_line_takes_a_name_with_a_slash(tmp_path, monkeypatch, capsys):
    asked = []

    def game(*which):
        asked.append(which)
        return fake(which[2])

    monkeypatch.setattr(outside, "outside_game", game)
    words = ["collect", "fake/Bats", "-n", "4", "--out", str(tmp_path / "s"), "--max-ticks", "20"]
    assert main.run([*words, "--frameskip", "2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["episodes"], answer["states"]) == (4, 84)
    assert asked == [("fake/Bats", 2, 20)]
    assert main.run([*words, "--workers", "2"]) == 2
    assert main.run([*words, "--split", "scenario"]) == 2
    assert main.run(["collect", "pong", "--frames", "--out", str(tmp_path / "t")]) == 2


def test_check_alignment_fails_where_the_log_is_off(tmp_path, monkeypatch, capsys):
    store = collect_outside(fake(120), tmp_path / "s", 24)
    assert main.run(["check", "alignment", str(store.folder)]) == 0
    assert "aligned" in capsys.readouterr().out
    late = FakeSession.step

    def step(self, action):
        asked, self.asked = getattr(self, "asked", 0), action
        return late(self, asked)

    monkeypatch.setattr(FakeSession, "step", step)
    collect_outside(fake(120), tmp_path / "late", 24)
    assert main.run(["check", "alignment", str(tmp_path / "late"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["best"] == {"actions": -1}


@pytest.mark.parametrize("name", ["atari", "atari/", "nowhere/Pong"])
def test_an_unknown_family_is_refused_with_those_there_are(name):
    with pytest.raises(ValueError, match=r"family of .'atari', 'box2d', 'mujoco'."):
        outside_game(name)


def missing(library):
    def imported(name, *more):
        if name.split(".")[0] == library:
            raise ModuleNotFoundError(f"No module named '{library}'", name=library)
        return SimpleNamespace()

    return imported


@pytest.mark.parametrize(
    ("module", "name", "library", "advice"),
    [
        (atari, "atari/Pong", "ocatari", "pip install --no-deps ocatari==2.2.1"),
        (box2d, "box2d/LunarLander", "Box2D", "cosmolabe\\[box2d\\]"),
        (mujoco, "mujoco/Hopper", "mujoco", "cosmolabe\\[mujoco\\]"),
    ],
)
def test_a_missing_library_is_told_with_what_brings_it(module, name, library, advice, monkeypatch):
    monkeypatch.setattr(module.importlib, "import_module", _only(module, missing(library)))
    with pytest.raises(ValueError, match=advice):
        outside_game(name)


def _only(module, imported):
    real = outside.importlib.import_module

    def choose(name, *more):
        return real(name, *more) if name.startswith("cosmolabe") else imported(name, *more)

    return choose


def test_ataris_words_become_fields_one_by_one():
    moves = atari.READINGS["Asteroids"].moves
    assert atari._action("NOOP", moves) == {}
    assert atari._action("UPRIGHTFIRE", moves) == {"thrust": 1.0, "turn": 1.0, "fire": 1.0}
    assert atari._action("DOWNLEFT", atari.MOVES) == {"move_y": 1.0, "move_x": -1.0}


def test_a_wall_given_in_runs_is_taken_apart_into_bricks():
    reading = atari.READINGS["Breakout"]
    row = [(8.0, 57.0, 144.0, 6.0)]
    assert sum(brick is not None for brick in atari._bricks(row, reading)) == 18
    broken = [(8.0, 57.0, 16.0, 6.0), (32.0, 57.0, 120.0, 6.0)]
    wall = atari._bricks(broken, reading)
    assert [place for place in range(18) if wall[place] is None] == [2]
    assert atari._bricks([], reading) == [None] * 108


def test_what_has_no_size_or_no_place_is_not_there():
    def thing(*xywh, category="Car"):
        return SimpleNamespace(category=category, xywh=xywh, hud=False)

    assert atari._is_there(thing(5, 9, 4, 4))
    assert not atari._is_there(thing(0, 0, 4, 4))
    assert not atari._is_there(thing(5, 9, 0, 4))
    assert not atari._is_there(thing(5, 9, 4, 4, category="NoObject"))
    assert not atari._is_there(None)


def test_sticky_whims_last_longer_and_both_reach_every_action():
    for name, player in PLAYERS.items():
        actions = player.actions(3, 4000, "here")
        assert set(actions.tolist()) == {0, 1, 2}
        assert np.array_equal(actions, player.actions(3, 4000, "here"))
        mean = 4000 / (1 + np.count_nonzero(np.diff(actions)))
        assert {"random": 8, "sticky": 16}[name] * 1.2 < mean < 3 * player.hold
