"""A LeRobot folder brings the same store back; a stranger's is read, or refused by name."""

import json
import shutil

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.collect import collect
from cosmolabe.data.exporting import action_names, flat_of, global_names, state_names
from cosmolabe.data.lerobot import layout, writing
from cosmolabe.data.lerobot.reading import import_lerobot
from cosmolabe.data.lerobot.stats import Stats, of_pictures
from cosmolabe.data.lerobot.writing import export_lerobot
from cosmolabe.data.pack import PackedWriter, pack_store
from cosmolabe.data.video import read_video
from cosmolabe.engine.render import draw_frames

ARRAYS = ("registry", "states", "actions", "globals", "terminal")
DATA = "data/chunk-000/file-000.parquet"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"
SCREEN = "videos/observation.images.screen"
VIDEO = f"{SCREEN}/chunk-000/file-000.mp4"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Stores of two games and, of pong, a LeRobot folder with pictures."""
    folder = tmp_path_factory.mktemp("lerobot")
    pong = collect("pong", folder / "pong", 8, max_ticks=60)
    breakout = collect("breakout", folder / "breakout", 5, max_ticks=400)
    export_lerobot(pong, folder / "sound", pictures=True, size=32)
    return {"folder": folder, "pong": pong, "breakout": breakout, "sound": folder / "sound"}


@pytest.fixture
def sound(made, tmp_path):
    """A copy to damage."""
    return shutil.copytree(made["sound"], tmp_path / "lerobot")


def assert_same(one, other):
    assert len(one) == len(other)
    for split in ("train", "val", "test"):
        for mine, theirs in zip(one.split(split), other.split(split), strict=True):
            first, second = one.episode(mine), other.episode(theirs)
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
            assert first.truncated == second.truncated
            assert one.player(mine) == other.player(theirs)


@pytest.mark.parametrize("game", ["pong", "breakout"])
@pytest.mark.parametrize("kind", ["replay", "packed"])
def test_what_went_out_comes_back(made, tmp_path, game, kind):
    store = made[game]
    if kind == "packed":
        store = pack_store(store, tmp_path / "packed")
    assert export_lerobot(store, tmp_path / "lerobot") == store.lengths.sum()
    again = import_lerobot(tmp_path / "lerobot", tmp_path / "again")
    assert_same(store, again)
    assert again.verify() == len(store)
    assert again.record["actions"] == "follow"


def test_many_files_are_one_dataset(made, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "VIDEO_FRAMES", 130)  # two episodes a file
    monkeypatch.setattr(writing, "EPISODE_ROWS", 3)
    monkeypatch.setattr(layout, "FILES_A_CHUNK", 2)
    export_lerobot(made["pong"], tmp_path / "lerobot", pictures=True, size=16)
    for kind, count in (("data", 4), ("videos", 4), ("meta/episodes", 3)):
        files = list((tmp_path / "lerobot" / kind).rglob("*-*.*"))
        assert len(files) == count
    assert (tmp_path / "lerobot/data/chunk-001/file-001.parquet").is_file()
    assert_same(made["pong"], import_lerobot(tmp_path / "lerobot", tmp_path / "again"))
    table = pq.read_table(tmp_path / "lerobot/meta/episodes/chunk-000/file-001.parquet")
    assert table["meta/episodes/file_index"].to_pylist() == [1, 1, 1]
    starts = table[f"{SCREEN}/from_timestamp"].to_pylist()
    assert starts == pytest.approx([61 / 60, 0.0, 61 / 60])


def test_the_folder_is_laid_out_as_lerobot_reads_it(made):
    sound, store = made["sound"], made["pong"]
    info = read_json(sound / "meta/info.json")
    assert info["codebase_version"] == "v3.0"
    assert (info["fps"], info["total_episodes"]) == (60, 8)
    assert info["total_frames"] == store.lengths.sum()
    ends = np.cumsum([0, *(len(store.split(name)) for name in ("train", "val", "test"))])
    assert info["splits"] == {
        name: f"{first}:{end}"
        for name, first, end in zip(("train", "val", "test"), ends[:-1], ends[1:], strict=True)
    }
    features = info["features"]
    for name in ("timestamp", "frame_index", "episode_index", "index", "task_index"):
        assert features[name]["shape"] == [1]
    assert features["observation.state"]["names"] == list(state_names(store.manifest))
    assert features["action"]["names"] == ["move_y"]
    rows = pq.read_table(sound / DATA)
    assert set(rows.schema.names) == {n for n, f in features.items() if f["dtype"] != "video"}
    assert rows.schema.field("observation.state").type == pa.list_(
        pa.float32(), features["observation.state"]["shape"][0]
    )
    assert rows.schema.field("action").type == pa.float32()  # one number: no list, as `datasets`
    assert rows["index"].to_pylist() == list(range(len(rows)))
    episodes = pq.read_table(sound / EPISODES).to_pylist()
    for row in episodes:
        span = slice(row["dataset_from_index"], row["dataset_to_index"])
        mine = rows.slice(span.start, row["length"])
        assert set(mine["episode_index"].to_pylist()) == {row["episode_index"]}
        assert mine["frame_index"].to_pylist() == list(range(row["length"]))
        np.testing.assert_allclose(mine["timestamp"], np.arange(row["length"]) / 60, rtol=1e-6)
        assert row["tasks"] == ["play pong"]
    tasks = pq.read_table(sound / "meta/tasks.parquet")
    assert tasks.to_pylist() == [{"task_index": 0, "task": "play pong"}]
    assert json.loads(tasks.schema.metadata[b"pandas"])["index_columns"] == ["task"]


def test_the_reward_of_a_row_is_that_of_the_state_it_led_to(made):
    store = made["breakout"]
    export_lerobot(store, made["folder"] / "rewards")
    rows = pq.read_table(made["folder"] / "rewards" / DATA)
    place = store.manifest.profile.global_fields.index("reward")
    true = [np.append(store.episode(n).globals[1:, place], 0) for n in range(len(store))]
    assert np.concatenate(true).any()
    np.testing.assert_array_equal(rows["next.reward"].to_numpy(), np.concatenate(true))


def test_every_frame_of_the_video_is_the_picture_of_its_row(made):
    store = made["pong"]
    frames = read_video(made["sound"] / VIDEO)
    true = []
    for number in range(len(store)):
        episode = store.episode(number)
        look = store.appearance(number)
        true.append(draw_frames(store.part, episode.states, episode.globals, look, 32))
    true = np.concatenate(true)[:, :, : frames.shape[2]]
    assert frames.shape == true.shape
    luma = np.array([0.299, 0.587, 0.114])
    assert np.abs(frames @ luma - true @ luma).mean() < 3
    with av.open(str(made["sound"] / VIDEO)) as container:
        times = [frame.time for frame in container.decode(video=0)]
    np.testing.assert_allclose(times, np.arange(len(frames)) / 60, atol=1e-4)
    seen = read_json(made["sound"] / "meta/stats.json")["observation.images.screen"]
    np.testing.assert_allclose(np.ravel(seen["mean"]), true.mean((0, 1, 2)) / 255)
    np.testing.assert_allclose(np.ravel(seen["std"]), true.std((0, 1, 2)) / 255, rtol=1e-6)


def test_stats_are_those_of_all_rows(made):
    rows = pq.read_table(made["sound"] / DATA)
    told = read_json(made["sound"] / "meta/stats.json")
    for name in ("observation.state", "action", "timestamp", "next.reward"):
        values = np.stack(rows[name].to_numpy().tolist()).reshape(len(rows), -1)
        values = values.astype(np.float64)
        np.testing.assert_allclose(told[name]["mean"], values.mean(0), atol=1e-12)
        np.testing.assert_allclose(told[name]["std"], values.std(0), atol=1e-12)
        np.testing.assert_allclose(told[name]["min"], values.min(0))
        np.testing.assert_allclose(told[name]["max"], values.max(0))
        assert told[name]["count"] == [len(rows)]


def test_stats_of_two_halves_are_the_stats_of_the_whole():
    frames = np.random.default_rng(0).integers(0, 255, (9, 4, 6, 3)).astype(np.uint8)
    both, whole = of_pictures(frames[:2]) + of_pictures(frames[2:]), of_pictures(frames)
    for name, value in whole.told().items():
        np.testing.assert_allclose(both.told()[name], value)
    large = np.array([1e9, 1e9 + 1, 1e9 + 2])
    assert (Stats.of(large[:1]) + Stats.of(large[1:])).told()["std"][0] == pytest.approx(0.8164966)


# A stranger's folder: what only we write is gone.


def foreign(sound, change=None):
    """Take away what says whose actions these are; `change(table)` rewrites the rows."""
    (sound / "meta/cosmolabe.json").unlink()
    if change:
        rewrite(sound / DATA, change)
    return sound


def rewrite(path, change):
    table = pq.read_table(path)
    pq.write_table(change(table), path)


def put(name, values):
    """Replace a column by `values(list of its rows)`."""

    def change(table):
        place, field = table.schema.get_field_index(name), table.schema.field(name)
        column = pa.array(values(table[name].to_pylist()), field.type)
        return table.set_column(place, field, column)

    return change


def busy(rows):
    return [0.5 + row % 2 for row in range(len(rows))]


def test_t_states_with_t_actions_are_refused_with_both_counts(sound, tmp_path):
    foreign(sound, put("action", busy))
    with pytest.raises(ValueError, match="61 states and 61 actions in episode 0") as caught:
        import_lerobot(sound, tmp_path / "out")
    assert "--actions follow" in str(caught.value)
    assert "--actions lead" in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("kind", "shift"), [("follow", 0), ("lead", 1)])
def test_the_user_says_which_action_belongs_to_which_state(sound, tmp_path, kind, shift):
    foreign(sound, put("action", busy))
    store = import_lerobot(sound, tmp_path / "out", actions=kind)
    true = np.array(busy(range(61)))
    taken = store.episode(0).actions[:, store.manifest.profile.action_fields.index("move_y")]
    np.testing.assert_array_equal(taken[:-1], true[shift : 60 + shift])
    assert taken[-1] == 0
    assert store.record["actions"] == kind


def test_actions_that_end_in_nothing_need_no_word(sound, tmp_path):
    def ends_in_zero(rows):
        return [0.0 if place % 61 == 60 else 1.0 for place in range(len(rows))]

    foreign(sound, put("action", ends_in_zero))
    store = import_lerobot(sound, tmp_path / "out")
    assert store.record["actions"] == "follow"


def test_a_folder_that_says_how_its_actions_lie_is_not_overruled(sound, tmp_path):
    with pytest.raises(ValueError, match="says that actions follow, not lead"):
        import_lerobot(sound, tmp_path / "out", actions="lead")
    rewrite(sound / DATA, put("action", busy))
    with pytest.raises(ValueError, match="the last row's must be zero"):
        import_lerobot(sound, tmp_path / "out")


def strangers(folder):
    """A dataset that LeRobot itself might have written: two episodes, names in another order."""
    folder.mkdir()
    names = {"motors": ["hand.vy", "hand.vx", "hand.y", "hand.x"]}
    rng = np.random.default_rng(1)
    state, action = rng.random((9, 4)), rng.random((9, 2))
    episode = np.repeat([0, 1], [5, 4])
    frame = np.concatenate([np.arange(5), np.arange(4)])
    table = pa.table(
        {
            "observation.state": [row.tolist() for row in state],  # float64 lists of any length
            "action": [row.tolist() for row in action],
            "timestamp": (frame / 10).astype(np.float32),
            "frame_index": frame,
            "episode_index": episode,
            "index": np.arange(9),
            "task_index": np.zeros(9, np.int64),
        }
    )
    (folder / "data/chunk-000").mkdir(parents=True)
    pq.write_table(table, folder / DATA)
    rows = {
        "episode_index": [0, 1], "tasks": [["push"], ["push"]], "length": [5, 4],
        "dataset_from_index": [0, 5], "dataset_to_index": [5, 9],
        "data/chunk_index": [0, 0], "data/file_index": [0, 0],
    }  # fmt: skip
    (folder / "meta/episodes/chunk-000").mkdir(parents=True)
    pq.write_table(pa.table(rows), folder / EPISODES)
    features = {
        "observation.state": {"dtype": "float64", "shape": [4], "names": names},
        "action": {"dtype": "float64", "shape": [2], "names": ["move_y", "move_x"]},
        **{name: layout.feature(dtype) for name, dtype in layout.CLOCK.items()},
    }
    info = {
        "codebase_version": "v3.0", "robot_type": "arm", "fps": 10, "total_episodes": 2,
        "total_frames": 9, "total_tasks": 1, "chunks_size": 1000, "splits": {"train": "0:2"},
        "data_path": layout.DATA_PATH, "video_path": None, "features": features,
    }  # fmt: skip
    write_json(folder / "meta/info.json", info)
    return state, action


def test_a_strangers_columns_are_found_by_name(tmp_path):
    state, action = strangers(tmp_path / "in")
    with pytest.raises(ValueError, match="give it with --manifest"):
        import_lerobot(tmp_path / "in", tmp_path / "out")
    manifest = Manifest(
        "push", 1, (Slot("hand", "player"),), globals=(), actions=("move_x", "move_y"), fps=10.0
    )
    write_json(tmp_path / "manifest.json", manifest)
    store = import_lerobot(
        tmp_path / "in", tmp_path / "out", manifest=tmp_path / "manifest.json", actions="follow"
    )
    assert store.split("train").tolist() == [0, 1]
    first = store.episode(0)
    expected = state[:5][:, [3, 2]].astype(np.float32)
    np.testing.assert_array_equal(first.states[:, 0, :2], expected)
    assert (first.states[:, 0, 2] == 1).all()  # nobody said that the hand is dead
    np.testing.assert_array_equal(first.actions[:4, :2], action[:4, [1, 0]].astype(np.float32))


def edit(place, value):
    """Change an entry of meta/info.json."""

    def change(folder):
        info = read_json(folder / "meta/info.json")
        target = info
        for step in place[:-1]:
            target = target[step]
        target[place[-1]] = value
        write_json(folder / "meta/info.json", info)

    return change


def rows(name, values):
    return lambda folder: rewrite(folder / DATA, put(name, values))


def told(name, values):
    return lambda folder: rewrite(folder / EPISODES, put(name, values))


def at(place, value):
    """Put a value into one row."""
    return lambda values: [*values[:place], value, *values[place + 1 :]]


def nan_at(place):
    def change(values):
        values[place][2] = float("nan")
        return values

    return change


def link(name):
    def change(folder):
        (folder / name).rename(folder / "elsewhere")
        (folder / name).symlink_to(folder / "elsewhere")

    return change


def without_column(path, name):
    return lambda folder: rewrite(folder / path, lambda table: table.drop_columns([name]))


def ragged(folder):
    def change(table):
        values = table["observation.state"].to_pylist()
        values[4] = values[4][:-1]
        place = table.schema.get_field_index("observation.state")
        return table.set_column(
            place, "observation.state", pa.array(values, pa.list_(pa.float32()))
        )

    rewrite(folder / DATA, change)


def words(folder):
    def change(table):
        place = table.schema.get_field_index("next.reward") + 1
        column = pa.array(["yes"] * len(table))
        return table.set_column(place, "terminated", column)

    rewrite(folder / DATA, change)


HOSTILE = {
    "an older version": (edit(["codebase_version"], "v2.1"), "info.json, codebase_version: 'v2.1'"),
    "no rate": (edit(["fps"], 0), "info.json, fps: 0"),
    "another rate": (edit(["fps"], 30), "fps: 30, but the manifest says 60"),
    "a rate in words": (edit(["fps"], "60"), "info.json, fps: '60'"),
    "episodes beyond counting": (edit(["total_episodes"], 10**30), "total_episodes: 10"),
    "rows that are not there": (edit(["total_frames"], 489), "tells of 8 episodes and 489 rows"),
    "fewer rows than there are": (edit(["total_frames"], 400), "more than the 8 episodes of 400"),
    "a shape beyond memory": (
        edit(["features", "action", "shape"], [1 << 40]), "each needs a dtype and a shape"
    ),
    "no feature at all": (edit(["features"], []), "info.json, features"),
    "a path upwards": (edit(["data_path"], "../{chunk_index:03d}.parquet"), "data_path: .*inside"),
    "a path from the root": (edit(["data_path"], "/etc/passwd"), "data_path: '/etc/passwd'"),
    "a template that would be obeyed": (
        edit(["data_path"], "{chunk_index.__class__}"), "data_path: .*no path inside"
    ),
    "a template that would fill memory": (
        edit(["data_path"], "{chunk_index:099999999d}"), "data_path: .*no path inside"
    ),
    "videos upwards": (edit(["video_path"], "../../{video_key}.mp4"), "video_path: .*inside"),
    "a video's name upwards": (
        lambda folder: (
            edit(["features", "../../x"], {"dtype": "video", "shape": [1, 1, 3]})(folder)
        ),
        "no column 'videos/../../x/chunk_index'",
    ),
    "a video file that is not there": (told(f"{SCREEN}/file_index", at(2, 7)), "episode 2, videos"),
    "a video file beyond counting": (
        told(f"{SCREEN}/chunk_index", at(2, -1)), "episode 2, videos.* are no numbers"
    ),
    "a video of another length": (
        told(f"{SCREEN}/to_timestamp", at(1, 9.0)), "61 rows at 60 a second take 1.01667 s"
    ),
    "a link to a video": (link(VIDEO), "symbolic link"),
    "a link to the rows": (link(DATA), "symbolic link"),
    "a link to a folder": (link("data/chunk-000"), "symbolic link"),
    "a link to info.json": (link("meta/info.json"), "symbolic link"),
    "splits in words": (edit(["splits"], {"train": "all"}), "splits, train: 'all'"),
    "an episode too short": (told("length", at(3, 1)), "episode 3, length: 1"),
    "an episode beyond memory": (told("length", at(3, 1 << 50)), "episode 3, length"),
    "an episode of another length": (told("length", at(3, 60)), "episode 3, dataset_to_index"),
    "episodes out of order": (told("episode_index", at(3, 5)), "episode 3, episode_index: 5"),
    "an offset that is wrong": (told("dataset_from_index", at(3, 5)), "dataset_from_index: 5"),
    "a data file that is not there": (told("data/file_index", at(1, 3)), "episode 1: no file"),
    "no lengths": (without_column(EPISODES, "length"), "no column .'length'."),
    "no states": (without_column(DATA, "observation.state"), "file-000.parquet: no column"),
    "no clock": (without_column(DATA, "timestamp"), "no column .'timestamp'."),
    "a NaN": (rows("observation.state", nan_at(70)), "episode 1, row 9, observation.state"),
    "an infinite action": (rows("action", at(0, float("inf"))), "row 0, action, column 0: inf"),
    "an empty cell": (rows("action", at(5, None)), "action: an empty cell"),
    "a missing frame": (rows("frame_index", at(9, 10)), "episode 0, row 9, frame_index: 10"),
    "a frame of another episode": (rows("episode_index", at(9, 4)), "row 9, episode_index: 4"),
    "an index that jumps": (rows("index", at(9, 1 << 60)), "row 9, index"),
    "a clock that lags": (rows("timestamp", at(9, 0.1)), "row 9, timestamp"),
    "a clock that is no number": (rows("timestamp", at(9, float("nan"))), "row 9, timestamp: nan"),
    "an end in the middle": (rows("terminated", at(9, True)), "row 9, terminated: true before"),
    "a row too narrow": (ragged, "observation.state: 24 numbers in a row, info.json says 25"),
    "words for numbers": (words, "terminated: string"),
    "no such column name": (
        edit(["features", "observation.state", "names", 0], "bell.x"), "'player.x'.*'bell.x'"
    ),
    "a name twice": (
        edit(["features", "observation.state", "names", 0], "player.y"), "names: 25 for 25 columns"
    ),
    "no names": (edit(["features", "observation.state", "names"], None), "names: 0 for 25 columns"),
    "no Parquet": (lambda folder: (folder / DATA).write_bytes(b"PK\3\4"), "no sound Parquet file"),
    "no rows at all": (lambda folder: shutil.rmtree(folder / "data"), "no file"),
    "a convention of its own": (
        lambda folder: write_json(folder / "meta/cosmolabe.json", {"actions": "both"}),
        "cosmolabe.json, actions: 'both'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_folder_that_does_not_fit_is_refused_by_name(sound, tmp_path, case):
    change, said = HOSTILE[case]
    change(sound)
    with pytest.raises(ValueError, match=said) as caught:
        import_lerobot(sound, tmp_path / "out")
    assert str(sound) in str(caught.value)
    assert not (tmp_path / "out").exists(), "nothing was written"


def test_a_value_too_large_for_32_bits_is_refused(tmp_path):
    strangers(tmp_path / "in")
    manifest = Manifest(
        "push", 1, (Slot("hand", "player"),), globals=(), actions=("move_x", "move_y"), fps=10.0
    )
    write_json(tmp_path / "in/manifest.json", manifest)

    def huge(values):
        values[3][1] = 1e39
        return values

    rewrite(tmp_path / "in" / DATA, put("observation.state", huge))
    with pytest.raises(ValueError, match=r"row 3, observation\.state, column 1: 1e"):
        import_lerobot(tmp_path / "in", tmp_path / "out", actions="follow")


def test_an_interrupted_export_leaves_no_folder(made, tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_lerobot(made["pong"], tmp_path / "lerobot", progress=stop)
    assert not list(tmp_path.iterdir())


def test_what_lerobot_cannot_say_is_refused_before_anything_is_written(made, tmp_path):
    packed = pack_store(made["pong"], tmp_path / "packed")
    with pytest.raises(ValueError, match="cannot draw"):
        export_lerobot(packed, tmp_path / "out", pictures=True)
    with pytest.raises(ValueError, match="even"):
        export_lerobot(made["pong"], tmp_path / "out", pictures=True, size=33)
    manifest = Manifest("slow", 1, (Slot("a", "player"),), globals=(), fps=29.97)
    writer = PackedWriter(tmp_path / "slow", manifest)
    writer.add(replaced(made["pong"].episode(0), manifest))
    with pytest.raises(ValueError, match=r"whole frames a second; slow has 29.97"):
        export_lerobot(writer.finish(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def replaced(episode, manifest):
    """The first slot of an episode, as of another game."""
    return type(episode)(
        registry=manifest.registry(),
        states=episode.states[:, :1],
        actions=episode.actions * 0,
        globals=episode.globals * 0,
        terminal=episode.terminal,
        truncated=episode.truncated,
    )


def test_names_and_columns_belong_together(made):
    manifest = made["breakout"].manifest
    states, numbers, actions = flat_of(made["breakout"].episode(0), manifest)
    names = state_names(manifest)
    assert states.shape[1] == len(names) == len(set(names))
    ball = [slot.name for slot in manifest.slots].index("ball")
    column = states[:, names.index("ball.y")]
    np.testing.assert_array_equal(column, made["breakout"].episode(0).states[:, ball, 1])
    assert numbers.shape[1] == len(global_names(manifest))
    assert actions.shape[1] == len(action_names(manifest))
