import os
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.nets.feature_store import FeatureStore, clip_hash

SAMPLING = {"fps": 16.0, "frames": 48}


def features(number, times=3, width=4):
    return np.random.default_rng(number).normal(size=(times, width)).astype(np.float32)


def filled(folder, numbers=range(5), pack=False):
    store = FeatureStore(folder, "eye", SAMPLING)
    for number in numbers:
        store.put(f"v{number}", features(number))
    if pack:
        store.pack()
    return store


@pytest.mark.parametrize("pack", [False, True])
def test_what_is_put_comes_back_to_the_bit_in_another_process_too(tmp_path, pack):
    mine = filled(tmp_path, pack=pack)
    for store in (mine, FeatureStore(tmp_path, "eye", SAMPLING)):
        assert store.videos() == [f"v{number}" for number in range(5)]
        for number in range(5):
            np.testing.assert_array_equal(store.get(f"v{number}"), features(number))
        assert store.get("v9") is None
        assert not store.damaged


def test_packing_leaves_one_shard_and_no_loose_file(tmp_path):
    store = filled(tmp_path, pack=True)
    assert len(list(store.folder.glob("shard-*"))) == 1
    assert not list(store.folder.glob("loose/*"))


def test_another_eye_and_another_sampling_share_nothing(tmp_path):
    filled(tmp_path)
    assert FeatureStore(tmp_path, "eye2", SAMPLING).get("v1") is None
    assert FeatureStore(tmp_path, "eye", {**SAMPLING, "fps": 8.0}).get("v1") is None


def test_what_is_kept_is_never_computed_again(tmp_path):
    store = filled(tmp_path)

    def refuse():
        raise AssertionError("computed again")

    np.testing.assert_array_equal(store.get_or_make("v1", refuse), features(1))
    np.testing.assert_array_equal(store.get_or_make("v7", lambda: features(7)), features(7))
    np.testing.assert_array_equal(store.get_or_make("v7", refuse), features(7))


def test_a_shard_cut_short_is_named_and_its_videos_are_made_again(tmp_path):
    store = filled(tmp_path, pack=True)
    (shard,) = store.folder.glob("shard-*")
    shard.write_bytes(shard.read_bytes()[:200])
    again = FeatureStore(tmp_path, "eye", SAMPLING)
    assert again.get("v2") is None
    assert list(again.damaged) == [str(shard)]
    np.testing.assert_array_equal(again.get_or_make("v2", lambda: features(2)), features(2))
    assert FeatureStore(tmp_path, "eye", SAMPLING).get("v2") is not None


def test_one_flipped_bit_costs_one_video_and_is_named(tmp_path):
    store = filled(tmp_path, pack=True)
    (shard,) = store.folder.glob("shard-*")
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1  # of the last tensor
    shard.write_bytes(content)
    again = FeatureStore(tmp_path, "eye", SAMPLING)
    lost = [number for number in range(5) if again.get(f"v{number}") is None]
    assert len(lost) == 1
    assert f"v{lost[0]}" in again.damaged[str(shard)]
    again.put(f"v{lost[0]}", features(lost[0]))
    again.pack()
    whole = FeatureStore(tmp_path, "eye", SAMPLING)
    for number in range(5):
        np.testing.assert_array_equal(whole.get(f"v{number}"), features(number))


def test_a_damaged_loose_file_is_named_and_made_again(tmp_path):
    store = filled(tmp_path)
    path = store.folder / "loose" / "v3.safetensors"
    path.write_bytes(b"")
    again = FeatureStore(tmp_path, "eye", SAMPLING)
    assert again.get("v3") is None
    assert str(path) in again.damaged
    again.put("v3", features(3))
    np.testing.assert_array_equal(again.get("v3"), features(3))


def test_a_reader_finds_what_was_packed_away_under_it(tmp_path):
    reader = filled(tmp_path)
    FeatureStore(tmp_path, "eye", SAMPLING).pack()
    np.testing.assert_array_equal(reader.get("v4"), features(4))
    FeatureStore(tmp_path, "eye", SAMPLING).put("late", features(9))
    np.testing.assert_array_equal(reader.get("late"), features(9))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_no_numbers_are_refused(tmp_path, bad):
    with pytest.raises(ValueError, match="must be finite and"):
        FeatureStore(tmp_path, "eye", SAMPLING).put("v", np.full((2, 3), bad))


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", "x" * 200, "-x", "a.b"])
def test_a_hash_that_could_name_another_file_is_refused(tmp_path, name):
    store = FeatureStore(tmp_path, "eye", SAMPLING)
    with pytest.raises(ValueError, match="a video's hash is letters"):
        store.put(name, features(0))
    with pytest.raises(ValueError, match="a video's hash is letters"):
        store.get(name)


RUN = """
import sys, time
import numpy as np
from cosmolabe.nets.feature_store import FeatureStore
import cosmolabe.nets.feature_store as file
file.SHARD = 7  # so that it is often killed while packing
store = FeatureStore(sys.argv[1], "eye", {"fps": 16.0, "frames": 48})
for number in range(2000):
    def make():
        print(number, flush=True)
        return np.random.default_rng(number).normal(size=(3, 4)).astype(np.float32)
    store.get_or_make(f"v{number}", make)
    print("kept", number, flush=True)
"""


def test_a_run_killed_again_and_again_goes_on_without_rework(tmp_path):
    kept: set[int] = set()
    for turn in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", RUN, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as run:
            made = []
            limit = len(kept) + 20 + 13 * turn
            for line in run.stdout:
                word = line.split()
                if word[0] == "kept":
                    kept.add(int(word[1]))
                else:
                    made.append(int(word[0]))
                if len(kept) >= limit:
                    break
            os.kill(run.pid, signal.SIGKILL)
            rest = run.stdout.read().split("\n")
        before = set(range(min(made)))
        assert before <= kept, "something before the first that was made had not been kept"
        assert len(set(made)) == len(made)
        assert not set(made) & set(range(limit - 20 - 13 * turn)), "made again"
        whole = rest[:-1]  # the last line may be cut
        kept |= {int(line.split()[1]) for line in whole if line.startswith("kept")}
    store = FeatureStore(tmp_path, "eye", SAMPLING)
    assert not store.damaged
    assert len(kept) > 100
    for number in kept:
        np.testing.assert_array_equal(store.get(f"v{number}"), features(number))


def fill_and_read(folder, first):
    import cosmolabe.nets.feature_store as file

    file.SHARD = 5
    store = FeatureStore(folder, "eye", SAMPLING)
    for number in range(first, first + 40):
        store.put(f"v{number}", features(number))
        other = number - 20
        found = store.get(f"v{other}") if other >= first else None
        assert other < first or np.array_equal(found, features(other))
    return dict(store.damaged)


def test_several_processes_fill_one_folder_at_once(tmp_path):
    # Each works on what the next one works on too, so that files are put and packed twice.
    with get_context("spawn").Pool(3) as pool:
        said = pool.starmap(fill_and_read, [(tmp_path, 0), (tmp_path, 20), (tmp_path, 20)])
    assert said == [{}, {}, {}]
    store = FeatureStore(tmp_path, "eye", SAMPLING)
    assert len(store.videos()) == 60
    for number in range(60):
        np.testing.assert_array_equal(store.get(f"v{number}"), features(number))


def test_the_half_written_file_of_a_killed_run_is_swept_away_after_a_day(tmp_path):
    store = filled(tmp_path)
    old, young = (store.folder / "loose" / f"{n}.safetensors.1.part" for n in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * 86_400,) * 2)
    store.pack()
    assert (old.exists(), young.exists()) == (False, True)


happenings = st.lists(
    st.tuples(st.sampled_from(["put", "pack", "open", "damage", "lose"]), st.integers(0, 5)),
    max_size=14,
)


@given(happenings)
def test_whatever_happens_a_store_gives_what_was_put_or_nothing(happenings):
    with tempfile.TemporaryDirectory() as folder:
        store, put, hurt = FeatureStore(folder, "eye", SAMPLING), set(), False
        for step, number in happenings:
            files = sorted(store.folder.rglob("*.safetensors"))
            if step == "put":
                store.put(f"v{number}", features(number))
                put.add(number)
            elif step == "pack":
                store.pack()
            elif step == "open":
                store = FeatureStore(folder, "eye", SAMPLING)
            elif files:
                path, hurt = files[number % len(files)], True
                content = bytearray(path.read_bytes())
                content[len(content) // 2] ^= 255
                path.unlink() if step == "lose" else path.write_bytes(content)
            for one in range(6):
                found = store.get(f"v{one}")
                assert found is None or np.array_equal(found, features(one))
                assert found is not None or hurt or one not in put
                assert found is None or one in put


@given(st.lists(st.integers(0, 255), min_size=1, max_size=8), st.integers(0, 7))
def test_a_clips_hash_tells_its_pixels_and_its_shape(values, place):
    array = np.array(values, np.uint8)
    other = array.copy()
    other[place % len(other)] ^= 1
    assert clip_hash(array) == clip_hash(array.copy())
    assert clip_hash(array) != clip_hash(other)
    assert clip_hash(array) != clip_hash(array[None])
