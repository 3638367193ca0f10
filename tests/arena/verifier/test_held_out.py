"""Episodes nobody else can play, and what they have in common with a session's."""

import json
import stat

import numpy as np
import pytest

from cosmolabe.arena.verifier.held_out import (
    hash_of,
    held_out_bed,
    held_out_store,
    overlap,
    secret_salt,
    seeds_shared,
)
from cosmolabe.arena.verifier.scoring import without
from cosmolabe.core.record import plain


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def test_store(home):
    return held_out_store("pong", "test", 12, folder=home, max_ticks=120)


def test_the_salt_is_made_once_and_its_user_alone_can_read_it(tmp_path):
    salt = secret_salt(tmp_path / "a")
    assert secret_salt(tmp_path / "a") == salt
    assert secret_salt(tmp_path / "b") != salt
    assert len(salt) == 64
    assert stat.S_IMODE((tmp_path / "a" / "salt").stat().st_mode) == 0o600


def test_a_salt_that_others_can_read_is_refused(tmp_path):
    secret_salt(tmp_path)
    (tmp_path / "salt").chmod(0o644)
    with pytest.raises(ValueError, match="can be read by others"):
        secret_salt(tmp_path)


def test_no_name_and_no_hash_gives_the_salt_away(home, test_store):
    salt = secret_salt(home)
    assert salt not in str(test_store.folder)
    assert salt not in hash_of(salt)
    assert len(hash_of(salt)) == 16


def test_the_same_salt_plays_the_same_episodes_and_another_one_none_of_them(
    home, test_store, tmp_path
):
    again = held_out_store("pong", "test", 12, folder=home, max_ticks=120)
    assert again.fingerprint == test_store.fingerprint
    other = held_out_store("pong", "test", 12, folder=tmp_path, max_ticks=120)
    assert seeds_shared(test_store, other) == 0
    assert seeds_shared(test_store, again) == 12


def test_held_out_seeds_are_none_of_the_public_ones(store, test_store):
    assert seeds_shared(store, test_store) == 0


def test_one_window_is_cut_from_each_episode(home, test_store):
    bed = held_out_bed(test_store, "test", folder=home)
    assert len(bed.windows) + len(bed.skipped) == 12
    assert len(set(bed.windows.episodes.tolist())) == len(bed.windows)


def test_a_store_overlaps_with_itself_in_every_window(home, test_store):
    bed = held_out_bed(test_store, "test", folder=home)
    found = overlap(bed, [(test_store, "test")])
    assert found.windows == len(bed.windows)
    assert found.states == 1.0
    assert found.rows.all()


def test_windows_that_lay_in_the_session_are_left_out_and_none_of_the_rest_did(
    home, test_store, store
):
    bed = held_out_bed(test_store, "test", folder=home)
    found = overlap(bed, [(store, "train"), (store, "val")])
    rest = without(bed, found.rows)
    assert len(rest.windows) == len(bed.windows) - found.windows
    assert overlap(rest, [(store, "train"), (store, "val")]).windows == 0
    assert found.seen == sum(int(store.lengths[store.split(s)].sum()) for s in ("train", "val"))
    assert json.dumps(plain(found.told))


def test_a_window_of_which_one_future_state_differs_does_not_overlap(home, test_store):
    from dataclasses import replace

    bed = held_out_bed(test_store, "test", folder=home)
    states = bed.windows.states.copy()
    states[3, -1, 0, 0] += np.float32(1e-3)
    other = replace(bed, windows=replace(bed.windows, states=states))
    found = overlap(other, [(test_store, "test")])
    assert found.windows == len(bed.windows) - 1
    assert not found.rows[3]
