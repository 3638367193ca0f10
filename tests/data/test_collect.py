"""A collection is the same however it was made, and never loses what it has."""

import os
import signal
import subprocess
import sys
import time

import pytest

from cosmolabe.core.record import read_json
from cosmolabe.data.collect import collect, split_sizes
from cosmolabe.data.coverage import coverage
from cosmolabe.data.players import turns

SCRIPT = """
import sys
from cosmolabe.data import collect as c
seen = []
def tell(done, total):
    print(done, flush=True)
c.collect("pong", sys.argv[1], 60, max_ticks=150, shard_size=2, progress=tell)
"""


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "store"
    collect("pong", folder, 60, max_ticks=150, shard_size=2)
    return folder


def test_two_workers_write_the_bytes_of_one(whole, tmp_path):
    collect("pong", tmp_path / "store", 60, max_ticks=150, shard_size=2, workers=2)
    assert contents(tmp_path / "store") == contents(whole)


@pytest.mark.parametrize("lines", [1, 3, 12])
def test_a_killed_collection_goes_on_where_it_stopped(whole, tmp_path, lines):
    folder = tmp_path / "store"
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(lines):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert not (folder / "index.json").exists(), "it was killed before its end"
    kept = {p.name: p.stat().st_mtime_ns for p in folder.glob("*.shard")}
    seen = []
    time.sleep(0.01)
    collect(
        "pong", folder, 60, max_ticks=150, shard_size=2, progress=lambda done, _: seen.append(done)
    )
    assert contents(folder) == contents(whole)
    assert seen[0] == 2 * len(kept), "finished episodes are counted, not played again"
    assert seen[-1] == 60
    for name, made in kept.items():
        assert (folder / name).stat().st_mtime_ns == made


def test_half_a_shard_left_aside_is_no_shard(whole, tmp_path):
    folder = tmp_path / "store"
    collect("pong", folder, 60, max_ticks=150, shard_size=2)
    shard = sorted(folder.glob("*.shard"))[3]
    (folder / "index.json").unlink()
    shard.with_name(shard.name + ".999.part").write_bytes(shard.read_bytes()[:100])
    shard.write_bytes(shard.read_bytes()[:100])
    collect("pong", folder, 60, max_ticks=150, shard_size=2)
    assert contents(folder) == contents(whole)


def test_another_collection_in_the_same_folder_is_refused(whole):
    with pytest.raises(ValueError, match=r"another collection \(salt is 'public'"):
        collect("pong", whole, 60, max_ticks=150, shard_size=2, salt="other")


def test_a_folder_with_other_things_in_it_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("do not touch")
    with pytest.raises(ValueError, match="not empty"):
        collect("pong", tmp_path, 4)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_salt_changes_every_episode(whole, tmp_path):
    other = collect("pong", tmp_path / "store", 60, max_ticks=150, shard_size=2, salt="secret")
    mine = {row["xxh3"] for row in other.rows}
    assert not mine & {row["xxh3"] for row in read_json(whole / "index.json")["shards"]}


def test_a_longer_collection_begins_like_a_shorter_one(tmp_path):
    short = collect("pong", tmp_path / "a", 4, split="train", max_ticks=60)
    long = collect("pong", tmp_path / "b", 9, split="train", max_ticks=60)
    for number in range(4):
        assert (short.actions(number) == long.actions(number)).all()
        assert short.seed(number) == long.seed(number)
        assert short.player(number) == long.player(number)
        assert short.appearance(number) == long.appearance(number)


def test_players_get_their_shares(tmp_path):
    store = collect(
        "pong", tmp_path / "a", 8, split="val", max_ticks=40, players={"random": 3, "heuristic": 1}
    )
    players = [store.player(number) for number in range(8)]
    assert players.count("random") == 6
    assert turns({"a": 0.75, "b": 0.25}, 8)[:4] == turns({"a": 0.75, "b": 0.25}, 4)


def test_another_gravity_makes_another_world(tmp_path):
    plain = collect("pong", tmp_path / "a", 3, max_ticks=90)
    heavy = collect("pong", tmp_path / "b", 3, max_ticks=90, parameters={"gravity": 0.001})
    assert (plain.episode(0).states != heavy.episode(0).states).any()
    assert heavy.verify() == 3


def test_coverage_counts_every_player_and_the_late_game(tmp_path):
    store = collect("pong", tmp_path / "a", 8)
    rows = coverage(store)
    assert [row.player for row in rows] == ["heuristic", "random", "all"]
    assert sum(row.frames for row in rows[:-1]) == rows[-1].frames == store.lengths.sum()
    assert max(row.late_episodes for row in rows) > 0.5, "somebody reaches six points"
    assert 0 < rows[-1].late_frames < 1


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"game": "pang"}, "no game named 'pang'"),
        ({"num_episodes": 0}, "at least 1"),
        ({"players": ("cheat",)}, "no player named 'cheat'"),
        ({"players": {"random": -1.0}}, "must be positive"),
        ({"players": ()}, "at least one player"),
        ({"split": "holdout"}, "no split"),
        ({"num_episodes": 2}, "cannot fill 3 splits"),
        ({"max_ticks": 0}, "at least 1"),
        ({"parameters": {"charm": 1.0}}, "no parameter"),
        ({"parameters": {"gravity": float("nan")}}, "finite numbers"),
        ({"split": ""}, "no split"),
        ({"max_ticks": 10**12}, "a store holds at most"),
        ({"num_episodes": 10**15}, "a store holds at most"),
        *(({"level": level}, "level is a whole number") for level in (-1, 0, 10**6, 10**30)),
    ],
)
def test_wrong_requests_are_refused_before_a_file_is_written(tmp_path, changes, told):
    wanted = {"game": "pong", "num_episodes": 4} | changes
    with pytest.raises(ValueError, match=told):
        collect(folder=tmp_path / "store", **wanted)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("total", [3, 4, 16, 17, 160])
def test_splits_share_out_all_episodes(total):
    sizes = split_sizes(total, {"train": 10, "val": 3, "test": 3})
    assert sum(sizes.values()) == total
    assert min(sizes.values()) >= 1


def test_a_file_of_somebody_else_is_never_removed(tmp_path):
    download = tmp_path / "store" / "film.mp4.part"
    download.parent.mkdir()
    download.write_text("half of it")
    with pytest.raises(ValueError, match="not empty"):
        collect("pong", download.parent, 3, max_ticks=20)
    assert [path.name for path in download.parent.iterdir()] == [download.name]
    collect("pong", tmp_path / "other", 3, max_ticks=20)
    for name in ("film.mp4.part", f"test-0000000.shard.{os.getppid()}.part"):
        (tmp_path / "other" / name).write_text("still being written")
    (tmp_path / "other" / "train-0000000.shard.4194305.part").write_text("of a killed process")
    collect("pong", tmp_path / "other", 3, max_ticks=20)
    left = {path.name for path in (tmp_path / "other").glob("*.part")}
    assert left == {"film.mp4.part", f"test-0000000.shard.{os.getppid()}.part"}
