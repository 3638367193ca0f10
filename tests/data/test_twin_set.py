"""A set of twins is the same for any number of workers and after any death, and keeps its word."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from cosmolabe.bench.scenario_episodes import ScenarioEpisodes
from cosmolabe.core import parts
from cosmolabe.data.held_out import held_out
from cosmolabe.data.quality import QUALITY
from cosmolabe.data.twin_clips import read_clip
from cosmolabe.data.twin_games import BLIND, Continued
from cosmolabe.data.twin_rows import FAMILIES, SPLITS, THRESHOLD, Drawn, TwinRecipe, orders
from cosmolabe.data.twin_set import (
    PLAIN_SHARE,
    difference_of,
    read_frames,
    read_twin_set,
    under_threshold,
    write_group,
    write_twin_set,
)

GAMES = ("pong", "breakout")
SMALL = TwinRecipe(
    groups={"train": 14, "val": 3, "test": 9},
    shares={"games": 1},
    size=48,
    frames=24,
    games=GAMES,
    episodes=8,
    coding="npz",
    rungs=2,
    ladder=(0.25, 0.5, 1.0),
    below=0.4,
    quality=0.7,
    lawful=0.2,
)


def real_clip(path, seed=0, fps=20.0, num=120):
    """A clip of "real" footage: blobs that wander over a textured ground."""
    draw = np.random.default_rng(seed)
    frames = np.repeat(draw.integers(60, 160, (1, 40, 60, 3)), num, 0).astype(np.uint8)
    for t in range(num):
        for k in range(3):
            y, x = int(14 + 12 * np.sin(t / 9 + k)), int(24 + 22 * np.cos(t / 13 + 2 * k))
            frames[t, y : y + 9, x : x + 9] = (30 + 80 * k, 250 - 90 * k, 200)
    np.savez(path, frames=frames, fps=fps)
    return str(path)


@pytest.fixture(scope="module")
def starts():
    return {game: ScenarioEpisodes(game) for game in GAMES}


@pytest.fixture(scope="module")
def written(tmp_path_factory, starts):
    folder = tmp_path_factory.mktemp("set") / "twins"
    real = tuple(
        real_clip(folder.parent / f"{name}.npz", n) for n, name in enumerate(("park", "vtest"))
    )
    recipe = replace(SMALL, shares={"games": 3, "real": 1}, real=real)
    return folder, recipe, write_twin_set(folder, recipe, 1, starts=starts)


@pytest.fixture
def folder(written):
    return written[0]


@pytest.fixture
def rows(written):
    return written[2]


def damages(rows):
    return [row for row in rows if row.role == "damage"]


def bytes_of(folder):
    names = [p for p in folder.rglob("*") if p.is_file() and p.name != "twins.json"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in names if "sources" not in p.parts}


def test_what_is_written_is_what_is_read(folder, rows):
    assert read_twin_set(folder) == rows
    assert {row.split for row in rows} == set(SPLITS)
    assert {row.role for row in rows} == {"damage", "quality", "lawful"}
    assert {row.family for row in rows} == {"games", "real"}
    assert len({row.id for row in rows}) == len(rows)
    for row in rows:
        assert len(read_frames(folder / row.true)) == row.frames


def test_twins_are_equal_in_every_pixel_before_the_onset(folder, rows):
    for row in damages(rows):
        true, other = read_frames(folder / row.true), read_frames(folder / row.damaged)
        assert true.shape == other.shape
        assert np.array_equal(true[: row.onset], other[: row.onset])
        largest = np.abs(true.astype(int) - other).max()
        assert largest == row.largest
        assert row.sub_threshold == (largest <= THRESHOLD)


def test_some_damage_is_under_the_threshold_and_yet_there(rows):
    below = [row for row in damages(rows) if row.id.endswith("below")]
    assert below
    for row in below:
        assert 0 < row.largest <= THRESHOLD
        assert row.sub_threshold
        assert row.size < 0.25


def test_the_largest_damage_of_a_group_shows(rows):
    for group in {row.group for row in damages(rows)}:
        mine = [row for row in damages(rows) if row.group == group]
        assert max(mine, key=lambda row: row.size).changed >= PLAIN_SHARE
        assert len({(row.kind, row.entity, row.onset, row.true) for row in mine}) == 1


def test_a_larger_damage_is_on_average_farther_from_the_truth(rows):
    least, most = [], []
    for group in {row.group for row in damages(rows)}:
        mine = sorted((r for r in damages(rows) if r.group == group), key=lambda row: row.size)
        least.append(mine[0].difference)
        most.append(mine[-1].difference)
    assert np.mean(most) > 1.3 * np.mean(least)


def test_nothing_held_out_is_in_train_or_val(rows):
    kept = held_out()
    for row in rows:
        if row.split != "test":
            assert row.held_out == ()
        game = row.scene.split("/")[0]
        assert ("theme" in row.held_out) == (f"{game}/{row.theme}" in kept.themes)
        assert ("characters" in row.held_out) == bool(set(row.characters) & set(kept.characters))
        assert ("scene" in row.held_out) == (row.scene in kept.scenes)
        if row.role == "damage":
            assert ("kind" in row.held_out) == (row.kind in kept.damages)
            assert row.kind not in BLIND
    seen = {what for row in rows if row.split == "test" for what in row.held_out}
    assert seen == {"kind", "scene", "theme", "characters"}


def test_a_change_of_quality_belongs_to_a_true_clip(folder, rows):
    changes = [row for row in rows if row.role == "quality"]
    assert changes
    for row in changes:
        assert row.kind in QUALITY
        assert not row.sub_threshold
        assert read_frames(folder / row.damaged).shape == read_frames(folder / row.true).shape


def test_lawful_motion_stands_alone_and_says_what_it_is(rows):
    lawful = [row for row in rows if row.role == "lawful"]
    assert lawful
    assert all(row.damaged == "" and row.size == 0 and row.tags for row in lawful)


def test_real_clips_keep_a_rate_they_have(tmp_path):
    slow = real_clip(tmp_path / "slow.npz", fps=10.0)
    recipe = replace(SMALL, shares={"real": 1}, real=(slow,), groups={"train": 2}, lawful=0.0)
    assert {row.fps for row in write_twin_set(tmp_path / "set", recipe)} == {10.0}


@pytest.mark.parametrize("coding", ["npz", "mp4"])
def test_any_number_of_workers_writes_the_same_bytes(tmp_path, coding):
    recipe = replace(SMALL, groups={"train": 12}, coding=coding, games=("pong",))
    one = write_twin_set(tmp_path / "one", recipe, 5)
    two = write_twin_set(tmp_path / "two", recipe, 5, workers=2)
    assert one == two
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    other = write_twin_set(tmp_path / "other", recipe, 6)
    assert other != one


def test_a_group_follows_from_its_place_alone(written, tmp_path):
    folder, recipe, rows = written
    order = orders(recipe, 1)[5]
    (tmp_path / "sources").symlink_to(folder / "sources")
    again = write_group(tmp_path, recipe, order)
    assert again == [row for row in rows if row.group == order.name]


KILLED = """
import sys
from cosmolabe.data.twin_rows import TwinRecipe
from cosmolabe.data.twin_set import write_twin_set
recipe = TwinRecipe(groups={"train": 24}, shares={"games": 1}, size=48, frames=24,
                    games=("pong",), episodes=8, coding="npz", rungs=2, lawful=0.2, below=0.4)
write_twin_set(sys.argv[1], recipe, 2, progress=lambda done, total: print(done, flush=True))
"""


def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    recipe = replace(
        SMALL, groups={"train": 24}, games=("pong",), ladder=TwinRecipe().ladder, quality=0.5
    )
    whole = write_twin_set(tmp_path / "whole", recipe, 2)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "killed")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            if int(line) >= 8:
                break
        time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "killed" / "twins.jsonl").exists()
    with pytest.raises(ValueError, match="no finished set"):
        read_twin_set(tmp_path / "killed")
    told = []
    rows = write_twin_set(tmp_path / "killed", recipe, 2, progress=lambda d, t: told.append((d, t)))
    assert told[0][0] >= 8, "what was done is not done again"
    assert told[-1] == (24, 24)
    assert rows == whole
    assert bytes_of(tmp_path / "killed") == bytes_of(tmp_path / "whole")


def test_another_set_or_a_full_folder_is_refused(written, tmp_path):
    folder, recipe, _ = written
    with pytest.raises(ValueError, match="another set of twins"):
        write_twin_set(folder, recipe, 2)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="not empty"):
        write_twin_set(tmp_path, SMALL)


def test_a_lost_clip_is_named(tmp_path):
    recipe = replace(SMALL, groups={"train": 2}, games=("pong",))
    rows = write_twin_set(tmp_path / "set", recipe)
    (tmp_path / "set" / rows[0].true).unlink()
    with pytest.raises(ValueError, match=rows[0].true):
        read_twin_set(tmp_path / "set")


def test_a_row_of_another_shape_is_named(tmp_path):
    recipe = replace(SMALL, groups={"train": 2}, games=("pong",))
    write_twin_set(tmp_path / "set", recipe)
    table = tmp_path / "set" / "twins.jsonl"
    table.write_text(json.dumps({"id": "x"}) + "\n")
    with pytest.raises(ValueError, match="line 1"):
        read_twin_set(tmp_path / "set")


def test_families_come_as_often_as_their_shares_say():
    recipe = TwinRecipe(groups={"train": 500}, shares=dict(zip(FAMILIES, (5, 3, 2), strict=True)),
                        real=("a.mp4",))  # fmt: skip
    counts = [sum(o.family == f for o in orders(recipe, 0)) for f in FAMILIES]
    assert counts == [250, 150, 100]


def test_sizes_fill_the_range_in_training_and_are_a_ladder_in_test():
    recipe = TwinRecipe(groups={"train": 200, "test": 5})
    trained = [o.sizes for o in orders(recipe, 0) if o.split == "train"]
    assert all(0.1 <= a <= 0.4 <= b <= 0.7 <= c <= 1 for a, b, c in trained)
    assert {o.sizes for o in orders(recipe, 0) if o.split == "test"} == {recipe.ladder}


def test_a_size_under_the_threshold_is_found_where_there_is_one():
    true = np.full((4, 8, 8, 3), 100, np.uint8)

    def brighter(size):
        return (true + np.round(155 * size)).astype(np.uint8)

    found = under_threshold(Drawn(true, "none", brighter), 0.1)
    assert found is not None
    assert np.array_equal(found[1], brighter(found[0]))
    assert 1 <= difference_of(true, found[1], 0)[0] <= THRESHOLD

    def sudden(size):
        return true + np.uint8(90 if size > 0.01 else 0)

    assert under_threshold(Drawn(true, "none", sudden), 0.1) is None


def test_where_pictures_are_dear_few_are_looked_at():
    true, looked = np.full((4, 8, 8, 3), 100, np.uint8), []

    def glance(size):
        out = true.copy()
        out[2] += np.uint8(round(155 * size))
        return out

    def hurt(size):
        looked.append(size)
        out = glance(size)
        out[3] = out[2]
        return out

    found = under_threshold(Drawn(true, "none", hurt, glance=glance), 0.1)
    assert found is not None
    assert looked == [found[0]]
    assert np.array_equal(found[1][3], found[1][2]), "what is kept is drawn whole"


def test_scenarios_are_played_on_by_the_same_actions(starts):
    game = parts.load("games", "pong")
    on = Continued("pong", starts["pong"])
    begun, script = starts["pong"].episode("x", 3)
    world, actions = on.episode("x", 3)
    assert np.array_equal(world, begun)
    assert np.array_equal(actions[: len(script)], script)
    assert len(actions) > 180
    assert np.array_equal(actions, on.episode("x", 3)[1])
    assert actions.max() < len(game.actions)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"groups": {"dev": 3}}, "groups are counted"),
        ({"shares": {"films": 1}}, "shares are given"),
        ({"shares": {"games": 0}}, "shares are given"),
        ({"size": 33}, "even number of pixels"),
        ({"frames": 4}, "12 frames"),
        ({"fps": ()}, "12 frames"),
        ({"onset": (0.5, 0.2)}, "onset is a range"),
        ({"ladder": (0.0, 1.0)}, "sizes of the ladder"),
        ({"rungs": 0}, "at least one rung"),
        ({"shares": {"real": 1}}, "share of real clips"),
    ],
)
def test_a_recipe_that_makes_no_sense_is_refused(change, told):
    with pytest.raises(ValueError, match=told):
        TwinRecipe(**change)


def test_a_clip_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ValueError, match="no clip at"):
        read_clip(tmp_path / "none.mp4", 48)
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(ValueError, match="no video that can be read"):
        read_clip(tmp_path / "text.mp4", 48)
    np.savez(tmp_path / "other.npz", pictures=np.zeros(3))
    with pytest.raises(ValueError, match="expected frames"):
        read_clip(tmp_path / "other.npz", 48)


def test_a_real_clip_may_not_train_where_all_are_held_out(tmp_path):
    recipe = replace(
        SMALL, shares={"real": 1}, real=(real_clip(tmp_path / "vtest.npz"),), groups={"train": 1}
    )
    with pytest.raises(ValueError, match="held out of training"):
        write_twin_set(tmp_path / "set", recipe)
