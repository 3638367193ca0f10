"""Bad input is refused in words that name file, place and what would do; nothing is lost."""

import inspect
import io
import json
import pickle
import shutil
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.record import read_json, write_json
from cosmolabe.data import packed, shards
from cosmolabe.data.arrays import read_arrays, write_arrays
from cosmolabe.data.collect import collect
from cosmolabe.data.envelopes import export_envelopes, import_envelopes
from cosmolabe.data.folder import check_numbers
from cosmolabe.data.pack import pack_store
from cosmolabe.data.store import open_store


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A replay store, a packed store and a folder of envelopes, all sound."""
    folder = tmp_path_factory.mktemp("sound")
    store = collect("pong", folder / "replay", 6, max_ticks=80, shard_size=2)
    pack_store(store, folder / "packed")
    export_envelopes(store, folder / "envelopes", limit=3)
    return folder


# Envelopes: each case changes the 11th line (episode 1, t = 10) or the whole list of frames.


def at(place, value):
    """Put a value at a place of the 11th frame."""

    def change(frames):
        target = frames[10]
        for step in place[:-1]:
            target = target[step]
        target[place[-1]] = value

    return change


def without(*place):
    def change(frames):
        target = frames[10]
        for step in place[:-1]:
            target = target[step]
        del target[place[-1]]

    return change


def crowd(frames):
    frames[10]["entities"] |= {f"extra_{n}": frames[10]["entities"]["ball"] for n in range(60)}


def lose(frames):
    del frames[10]


def double(frames):
    frames.insert(10, frames[10])


def swap(frames):
    frames[10], frames[11] = frames[11], frames[10]


def last_of(frames):
    return max(i for i, frame in enumerate(frames) if frame["episode"] == frames[0]["episode"])


def act_to_the_end(frames):
    frames[last_of(frames)]["action"] = {"move_y": 1.0}


def die_early(frames):
    frames[10]["terminated"] = True


def come_back(frames):
    frames.append(frames[0])


def lone(frames):
    frames.append({**frames[last_of(frames)], "episode": "lone", "t": 0})


ENVELOPES = {
    "unknown slot": (at(("entities", "bell"), {"x": 0, "y": 0, "vx": 0, "vy": 0}), "no slot"),
    "slot overflow": (crowd, "line 11, entities: slot overflow"),
    "unknown field": (at(("entities", "ball", "zest"), 1.0), "line 11, entities.ball.zest"),
    "field of another game": (at(("entities", "ball", "hp"), 1.0), "entities.ball.hp"),
    "missing position": (without("entities", "ball", "x"), r"entities.ball: \['x'\] missing"),
    "position in words": (at(("entities", "ball", "x"), "left"), "line 11, entities.ball.x"),
    "position as text": (at(("entities", "ball", "x"), "0.5"), "line 11, entities.ball.x"),
    "position is a boolean": (at(("entities", "ball", "x"), True), "x: a number, not True"),
    "alive is a whole number": (at(("entities", "ball", "alive"), 1), "alive: true or false"),
    "position is null": (at(("entities", "ball", "x"), None), "line 11, entities.ball.x"),
    "position too large": (at(("entities", "ball", "x"), 1e39), "too large for a 32-bit number"),
    "alive is a number": (at(("entities", "ball", "alive"), 0.5), "entities.ball.alive"),
    "entities as a list": (at(("entities",), []), "line 11, entities"),
    "unknown global": (at(("global", "charm"), 1.0), "line 11, global.charm"),
    "missing global": (without("global", "score"), r"global: \['score'\] missing"),
    "unknown action": (at(("action", "teleport"), 1.0), "line 11, action.teleport"),
    "action of another game": (at(("action", "jump"), 1.0), "line 11, action.jump"),
    "missing action": (at(("action",), None), "line 12, action: the frame before has none"),
    "T actions": (act_to_the_end, "81 states and 81 actions; 81 states have 80 actions"),
    "unknown top field": (at(("reward",), 1.0), "line 11, reward"),
    "wrong schema": (at(("schema",), 2), "line 11, schema: got 2, expected 1"),
    "no schema": (without("schema"), "line 11, schema: got None"),
    "wrong version": (at(("version",), 9), "pong version 9"),
    "another game": (at(("game",), "chess"), "chess version 1"),
    "missing frame": (lose, "line 11, t: missing frame: got 11, expected 10"),
    "duplicate frame": (double, "line 12, t: duplicate frame"),
    "time goes backwards": (at(("t",), 3), "line 11, t: time goes backwards: got 3, expected 10"),
    "frames in the wrong order": (swap, "line 11, t: missing frame"),
    "negative time": (at(("t",), -1), "line 11, t"),
    "time between frames": (at(("t",), 10.5), "line 11, t"),
    "life after the end": (die_early, "line 12, t: the episode ended in the frame before"),
    "episode comes back": (come_back, "came before"),
    "a single frame": (lone, "has one frame"),
    "terminated is a word": (at(("terminated",), "no"), "line 11, terminated"),
    "private is an object": (at(("private",), {"a": 1}), "line 11, private"),
}


def frames_of(made):
    lines = (made / "envelopes" / "envelopes.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def write_source(made, folder, lines):
    folder.mkdir()
    shutil.copy(made / "envelopes" / "manifest.json", folder)
    (folder / "bad.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("case", ENVELOPES)
def test_a_bad_frame_is_named_by_file_line_and_field(made, tmp_path, case):
    change, told = ENVELOPES[case]
    frames = frames_of(made)
    change(frames)
    source = write_source(made, tmp_path / "in", [json.dumps(frame) for frame in frames])
    with pytest.raises(ValueError, match=told) as caught:
        import_envelopes(source, tmp_path / "out")
    assert "bad.jsonl" in str(caught.value)
    assert not (tmp_path / "out").exists(), "nothing was written"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"schema": 1, "t": NaN}', "NaN is not a number here"),
        ('{"schema": 1, "t": -Infinity}', "Infinity is not a number here"),
        ('{"schema": 1, "t": 1, "t": 2}', "same name twice"),
        ('{"schema": 1,', "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('"' + "x" * (1 << 22) + '"', "longer than"),
        ("[]", "whole"),
        ("null", "whole"),
        ("caf\udce9", "not UTF-8"),
        (json.dumps({"schema": 1, "t": 10**400}), "not valid JSON|line 11"),
    ],
)
def test_a_line_that_is_no_frame_is_named(made, tmp_path, line, told):
    lines = [json.dumps(frame) for frame in frames_of(made)]
    source = write_source(made, tmp_path / "in", lines)
    raw = [*lines[:10], line, *lines[11:]]
    (source / "bad.jsonl").write_bytes("\n".join(raw).encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=told) as caught:
        import_envelopes(source, tmp_path / "out")
    assert "bad.jsonl, line 11" in str(caught.value)


def test_bad_rows_are_counted_and_the_other_episodes_kept(made, tmp_path):
    frames = frames_of(made)
    names = list(dict.fromkeys(frame["episode"] for frame in frames))
    for frame in frames:
        if frame["episode"] == names[1] and frame["t"] % 2:
            frame["entities"]["ball"]["x"] = "?"
    source = write_source(made, tmp_path / "in", [json.dumps(frame) for frame in frames])
    store = import_envelopes(source, tmp_path / "out", skip_bad=True)
    assert sorted(store.name(n) for n in range(len(store))) == sorted([names[0], names[2]])
    assert store.record["bad_rows"] >= 40
    assert store.record["skipped_episodes"] == [names[1]]
    assert len(store.record["complaints"]) == 20
    assert store.verify() == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda m: m["slots"][0].update(kind="dragon"), "unknown kind of slot 'player'"),
        (lambda m: m["slots"][0].update(shape="star"), "unknown shape"),
        (lambda m: m["slots"][1].update(name="player"), "slot names must differ"),
        (lambda m: m["slots"][0].update(weight=1.0), "slots.0.weight"),
        (lambda m: m.update(slots=[]), "at least one slot"),
        (lambda m: m.update(fields=["charm"]), "unknown field"),
        (lambda m: m.update(schema=7), "schema: got 7, expected 1"),
        (lambda m: m.update(fps=0), "must be positive"),
        (lambda m: m.update(game="../../evil"), "becomes part of file names"),
        (lambda m: m["profile"].update(game_fields=["x"]), "core column"),
        (lambda m: m.pop("game"), "game"),
        (lambda m: m.update(version="one"), "version"),
    ],
)
def test_a_bad_manifest_is_named_by_its_field(made, tmp_path, change, told):
    source = shutil.copytree(made / "envelopes", tmp_path / "in")
    manifest = read_json(source / "manifest.json")
    change(manifest)
    write_json(source / "manifest.json", manifest)
    with pytest.raises(ValueError, match=told) as caught:
        import_envelopes(source, tmp_path / "out")
    assert "manifest.json" in str(caught.value)


# Stores: each case damages a file of a sound store.


def shard_of(folder):
    return sorted(folder.glob("*.shard"))[1]


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(bytes(data))


def shorten(path):
    path.write_bytes(path.read_bytes()[:-7])


def lengthen(path):
    path.write_bytes(path.read_bytes() + b"payload")


def as_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", b"x")


class Payload:
    """Would create a file if anybody unpickled it."""

    def __reduce__(self):
        return (open, ("unpickled", "w"))


def as_pickle(path):
    path.write_bytes(pickle.dumps(Payload()))


def as_npy(path):
    buffer = io.BytesIO()
    np.save(buffer, np.array([Payload()], object), allow_pickle=True)
    path.write_bytes(buffer.getvalue())


def as_link(path):
    moved = path.with_name("elsewhere")
    path.rename(moved)
    path.symlink_to(moved)


def as_folder(path):
    path.unlink()
    path.mkdir()


def other_shard(path):
    shutil.copy(sorted(path.parent.glob("*.shard"))[0], path)


def drop_row(path):
    index = read_json(path.parent / "index.json")
    del index["shards"][0]
    write_json(path.parent / "index.json", index)


def edit_record(**changes):
    def change(path):
        record = read_json(path.parent / "record.json")
        write_json(path.parent / "record.json", record | changes)

    return change


def bare_index(path):
    write_json(path.parent / "index.json", {"schema": 1})


def odd_row(path):
    index = read_json(path.parent / "index.json")
    index["shards"][0]["lengths"] = ["many"]
    write_json(path.parent / "index.json", index)


def point_outside(path):
    index = read_json(path.parent / "index.json")
    index["shards"][1]["file"] = "../replay/" + index["shards"][1]["file"]
    write_json(path.parent / "index.json", index)


def cut_json(name):
    def change(path):
        text = (path.parent / name).read_text()
        (path.parent / name).write_text(text[: len(text) // 2])

    return change


def deep_record(path):
    (path.parent / "record.json").write_text("[" * 100_000)


def empty(path):
    path.write_bytes(b"")


STORES = {
    "flipped byte in the header": (lambda path: flip(path, 60), "damaged|checksum|header"),
    "flipped byte in the data": (lambda path: flip(path, -5), "checksum"),
    "flipped first byte": (lambda path: flip(path, 0), "checksum|damaged at its start"),
    "truncated shard": (shorten, "bytes, the index says"),
    "bytes after the end": (lengthen, "bytes, the index says"),
    "empty shard": (empty, "bytes, the index says"),
    "missing shard": (lambda path: path.unlink(), "no file"),
    "symlinked shard": (as_link, "symbolic link"),
    "folder for a shard": (as_folder, "not a plain file"),
    "zip payload": (as_zip, "bytes, the index says"),
    "pickle payload": (as_pickle, "bytes, the index says"),
    "another shard in its place": (other_shard, "checksum|bytes, the index says"),
    "missing index row": (drop_row, "rows for"),
    "no index": (lambda path: (path.parent / "index.json").unlink(), "cut short"),
    "index cut in half": (cut_json("index.json"), "not valid JSON"),
    "record cut in half": (cut_json("record.json"), "not valid JSON"),
    "manifest cut in half": (cut_json("manifest.json"), "not valid JSON"),
    "no manifest": (lambda path: (path.parent / "manifest.json").unlink(), "no file"),
    "no record": (lambda path: (path.parent / "record.json").unlink(), "no file"),
    "wrong game version": (edit_record(version=99), "version 99"),
    "unknown game": (edit_record(game="pang"), "no game named 'pang'|manifest.json is of"),
    "wrong schema": (edit_record(schema=2), "schema 2"),
    "unknown kind of store": (edit_record(kind="crate"), "unknown kind of store"),
    "kind of store is a list": (edit_record(kind=[]), "unknown kind of store"),
    "record nested too deeply": (deep_record, "not valid JSON"),
    "record without its game": (edit_record(game=None), "game is None"),
    "record of another shape": (edit_record(version="1"), "version is '1'"),
    "index of another shape": (bare_index, "shards"),
    "index row of another shape": (odd_row, "row 0"),
    "index points outside": (point_outside, "outside the folder|no file"),
}


@pytest.mark.parametrize("kind", ["replay", "packed"])
@pytest.mark.parametrize("case", STORES)
def test_a_damaged_store_is_named_and_refused(made, tmp_path, kind, case):
    change, told = STORES[case]
    folder = shutil.copytree(made / kind, tmp_path / kind)
    change(shard_of(folder))
    with pytest.raises(ValueError, match=told) as caught:
        open_store(folder).verify()
    assert str(folder) in str(caught.value) or "pang" in str(caught.value)
    assert not (tmp_path / "unpickled").exists()


@pytest.mark.parametrize("damage", [as_zip, as_pickle, as_npy])
def test_a_payload_is_recognised_and_never_opened(made, tmp_path, damage, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = shutil.copytree(made / "replay", tmp_path / "replay")
    damage(shard_of(folder))
    with pytest.raises(ValueError, match="not opened"):
        read_arrays(shard_of(folder))
    assert not (tmp_path / "unpickled").exists()


def test_a_changed_action_is_found_by_playing_it_again(made, tmp_path):
    """Even with every checksum put right, the states do not follow from the actions."""
    folder = shutil.copytree(made / "replay", tmp_path / "replay")
    path = shard_of(folder)
    meta, arrays = read_arrays(path)
    arrays["actions"][30] = (arrays["actions"][30] + 1) % 3
    digest = write_arrays(path, meta, arrays, {"keyframes": "columns"})
    index = read_json(folder / "index.json")
    index["shards"][0] |= {"xxh3": digest, "bytes": path.stat().st_size}
    write_json(folder / "index.json", index)
    with pytest.raises(ValueError, match=r"episodes \[0\] do not play again"):
        open_store(folder).verify()


def test_a_shard_that_would_unpack_to_more_than_it_says_is_refused(tmp_path):
    path = tmp_path / "bomb.shard"
    write_arrays(path, {}, {"a": np.zeros(1 << 20, np.uint8)})
    data = path.read_bytes().replace(b"[1048576]", b"[1048575]")
    path.write_bytes(data)
    with pytest.raises(ValueError, match="header is damaged"):
        read_arrays(path)


@given(place=st.integers(0, 10**9), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unseen(made, tmp_path_factory, place, bit):
    original = shard_of(made / "replay").read_bytes()
    data = bytearray(original)
    data[place % len(data)] ^= 1 << bit
    path = tmp_path_factory.mktemp("flip") / "x.shard"
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"x\.shard"):
        read_arrays(path)


def test_nothing_is_lost_when_the_target_is_taken(made, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep")
    with pytest.raises(ValueError, match="not empty"):
        import_envelopes(made / "envelopes", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


# Shards whose checksums are right and whose content is not: nobody's accident, somebody's intent.


def forge(folder, change):
    """Rewrite a store's first shard, header and index in order, content changed."""
    path = shard_of(folder)
    meta, arrays = read_arrays(path)
    meta = change(meta, arrays) or meta
    digest = write_arrays(path, meta, arrays)
    index = read_json(folder / "index.json")
    row = next(row for row in index["shards"] if row["file"] == path.name)
    row |= {"xxh3": digest, "bytes": path.stat().st_size}
    write_json(folder / "index.json", index)


def other_form(name, made_of):
    def change(_, arrays):
        arrays[name] = made_of(arrays[name])

    return change


FORMS = {
    "float32": lambda array: array.astype(np.float32),
    "int16": lambda array: np.zeros(array.shape, np.int16),
    "one number": lambda array: np.array(array.reshape(-1)[0]),
    "an axis more": lambda array: array[..., None],
    "cut short": lambda array: array[:-1],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, forms in (("replay", shards.ARRAYS), ("packed", packed.ARRAYS))
     for name in forms],
)  # fmt: skip
def test_a_forged_array_is_refused_before_anything_is_played(made, tmp_path, kind, name, form):
    folder = shutil.copytree(made / kind, tmp_path / kind)
    forge(folder, other_form(name, FORMS[form]))
    with pytest.raises(ValueError, match=str(folder)):
        open_store(folder).verify()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_forged_world_that_is_no_number_is_refused_without_verifying(made, tmp_path, value):
    folder = shutil.copytree(made / "replay", tmp_path / "replay")
    forge(folder, other_form("keyframes", lambda array: np.full_like(array, value)))
    store = open_store(folder)
    with pytest.raises(ValueError, match="does not belong here"):
        [store.episode(number) for number in range(len(store))]


@pytest.mark.parametrize(
    "meta",
    [
        {"names": [1, 2]},
        {"players": None},
        {"appearances": ["a", "b"]},
        {"appearances": [{"characters": 5, "theme": "", "seed": 0}] * 2},
        {"width": None},
    ],
)
def test_a_forged_header_of_a_packed_shard_is_refused(made, tmp_path, meta):
    folder = shutil.copytree(made / "packed", tmp_path / "packed")
    forge(folder, lambda old, _: old | meta)
    with pytest.raises(ValueError, match="does not belong here"):
        open_store(folder).verify()


@pytest.mark.parametrize("kind", ["replay", "packed"])
def test_a_shard_of_a_twin_store_is_noticed_without_verifying(made, tmp_path, kind):
    """Same game, lengths and bytes, other content: the index knows it by its checksum."""
    folder = shutil.copytree(made / kind, tmp_path / kind)
    index = read_json(folder / "index.json")
    index["shards"][0]["xxh3"] = "0" * 16
    write_json(folder / "index.json", index)
    with pytest.raises(ValueError, match="not the file the index speaks of"):
        open_store(folder).episode(0)


def test_a_byte_order_mark_is_no_mistake(made, tmp_path):
    source = shutil.copytree(made / "envelopes", tmp_path / "in")
    for path in source.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(import_envelopes(source, tmp_path / "out")) == 3


@pytest.mark.parametrize("numbers", [[0], np.array([0.5]), np.array([]), np.array(0), None])
def test_windows_are_asked_for_by_arrays_of_whole_numbers(numbers):
    with pytest.raises(ValueError, match="must be an int64 array of one axis"):
        inspect.unwrap(check_numbers)(np.array([9]), numbers, np.zeros(1, np.int64), 3)
