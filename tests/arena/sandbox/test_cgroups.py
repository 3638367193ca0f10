"""Control groups of both versions, on made-up hierarchies: no test machine has both."""

import os

import pytest

from cosmolabe.arena.sandbox import Limits
from cosmolabe.arena.sandbox.cgroups import Group, Hierarchy, find_hierarchy, sweep

LIMITS = Limits(memory=1 << 30, processes=64, cores=1.5)


def folders(tmp_path, names):
    for name in names:
        (tmp_path / name).mkdir()
    return {name: tmp_path / name for name in names}


def test_version_1_has_a_folder_a_controller(tmp_path):
    made = folders(tmp_path, ("memory", "pids", "cpu", "cpuacct"))
    group = Hierarchy(1, made).new_group(LIMITS)
    assert (group.folders["memory"] / "memory.limit_in_bytes").read_text() == str(1 << 30)
    assert (group.folders["pids"] / "pids.max").read_text() == "64"
    assert (group.folders["cpu"] / "cpu.cfs_quota_us").read_text() == "150000"
    group.add(4321)
    assert {(f / "cgroup.procs").read_text() for f in group.folders.values()} == {"4321"}
    assert group.pids() == [4321]
    (group.folders["cpuacct"] / "cpuacct.usage").write_text("1500000000\n")
    (group.folders["memory"] / "memory.oom_control").write_text("under_oom 0\noom_kill 2\n")
    assert (group.cpu_seconds(), group.memory_kills()) == (1.5, 2)


def test_version_2_has_one_folder_for_all(tmp_path):
    group = Hierarchy(2, dict.fromkeys(("memory", "pids", "cpu"), tmp_path)).new_group(LIMITS)
    (folder,) = set(group.folders.values())
    assert (folder / "memory.max").read_text() == str(1 << 30)
    assert (folder / "pids.max").read_text() == "64"
    assert (folder / "cpu.max").read_text() == "150000 100000"
    (folder / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert (group.cpu_seconds(), group.memory_kills()) == (2.5, 1)


@pytest.mark.parametrize("given", ["cpu memory pids", "cpu"])
def test_version_2_is_found_above_a_group_that_hands_nothing_on(tmp_path, given):
    """systemd gives a user a slice; the scope within it holds processes and may hand nothing on."""
    own = tmp_path / "user.slice" / "run.scope"
    own.mkdir(parents=True)
    (tmp_path / "user.slice" / "cgroup.subtree_control").write_text(given)
    mounts, place = tmp_path / "mountinfo", tmp_path / "cgroup"
    mounts.write_text(f"30 24 0:26 / {tmp_path} rw,nosuid shared:9 - cgroup2 cgroup2 rw\n")
    place.write_text("0::/user.slice/run.scope\n")
    if given == "cpu":  # asked for the rest, this plain file forgets what it gave before
        with pytest.raises(ValueError, match="no control groups may be made here"):
            find_hierarchy(mounts, place)
        return
    found = find_hierarchy(mounts, place)
    assert (found.version, set(found.folders.values())) == (2, {tmp_path / "user.slice"})


def test_where_there_are_none_it_says_so(tmp_path):
    (tmp_path / "empty").write_text("")
    with pytest.raises(ValueError, match="none is mounted with memory, pids and cpu"):
        find_hierarchy(tmp_path / "empty", tmp_path / "empty")
    with pytest.raises(ValueError, match="no control groups on this machine"):
        find_hierarchy(tmp_path / "nothing", tmp_path / "nothing")


def test_a_group_that_was_taken_away_can_be_taken_away_again(tmp_path):
    group = Group(2, {"pids": tmp_path / "gone"})
    group.remove()
    (tmp_path / "gone").mkdir()
    group.remove()
    assert not (tmp_path / "gone").exists()


def test_groups_of_harnesses_that_are_no_more_are_swept_and_others_left(tmp_path):
    (tmp_path / "cosmolabe-99999999-0").mkdir()
    (tmp_path / f"cosmolabe-{os.getpid()}-0").mkdir()
    (tmp_path / "somebody-99999999-0").mkdir()
    sweep(Hierarchy(1, {"memory": tmp_path, "pids": tmp_path}))
    assert sorted(os.listdir(tmp_path)) == [f"cosmolabe-{os.getpid()}-0", "somebody-99999999-0"]
