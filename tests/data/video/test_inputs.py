"""Which inputs are meant by what a person gives."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from barcodes import film
from PIL import Image

from cosmolabe.data.video import find_inputs

ODD = ["A leaf, falling; \"slowly\" 'now'.mp4", "ünï 視頻 🎥.mp4", "[1] 100%.mp4"]


@pytest.fixture
def folder(tmp_path):
    top = tmp_path / "clips"
    (top / "b").mkdir(parents=True)
    for name in ["clip_2.mp4", "clip_10.mp4", "b/x.webm", *ODD]:
        (top / name).write_bytes(b"not read here")
    (top / "notes.txt").write_text("no video")
    (top / ".hidden.mp4").write_text("no video")
    (top / "clip_2.json").write_text("{}")
    return top


def names(*paths):
    return [item.name for item in find_inputs(paths)]


def test_a_folder_gives_its_videos_and_those_below_in_natural_order(folder):
    assert names(folder) == [
        "[1] 100%.mp4",
        ODD[0],
        "clip_2.mp4",
        "clip_10.mp4",
        ODD[1],
        "b/x.webm",
    ]
    assert all(item.path.is_file() and not item.why for item in find_inputs([folder]))


def test_a_path_is_itself_even_where_it_looks_like_a_pattern(folder):
    for name in ODD:
        (item,) = find_inputs([folder / name])
        assert item.path == folder / name
    assert names("-") == ["stdin"]


def test_a_pattern_gives_what_matches_and_one_reason_where_nothing_does(folder):
    assert names(f"{folder}/clip_*.mp4") == [f"{folder}/clip_{n}.mp4" for n in (2, 10)]
    assert len(names(f"{folder}/**/*.webm")) == 1
    (item,) = find_inputs([f"{folder}/*.mov"])
    assert "no file matches" in item.why


def test_what_is_not_there_has_one_reason_and_costs_nobody_else(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    found = find_inputs(
        [tmp_path / "gone.mp4", tmp_path / "empty", folder / "clip_2.mp4", "http://x/a.mp4"]
    )
    assert [bool(item.why) for item in found] == [True, True, False, True]
    assert "no file" in found[0].why
    assert "holds no videos" in found[1].why
    assert "address" in found[3].why


def test_no_paths_at_all_are_refused():
    with pytest.raises(ValueError, match="no inputs"):
        find_inputs([])


def test_a_folder_of_pictures_is_one_input_and_so_is_each_one_below(tmp_path):
    for name in ("a", "b/c"):
        (tmp_path / name).mkdir(parents=True)
        for number in range(3):
            Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / name / f"{number}.png")
    assert names(tmp_path) == ["a", "b/c"]
    assert names(tmp_path / "a") == ["a"]


def test_moving_webps_are_videos_and_still_ones_a_folder_of_pictures(tmp_path):
    images = [Image.fromarray(np.full((8, 8, 3), n, np.uint8)) for n in (0, 99)]
    for name in ("moving", "still"):
        (tmp_path / name).mkdir()
    for number in range(2):
        images[0].save(
            tmp_path / "moving" / f"{number}.webp", save_all=True, append_images=images[1:]
        )
        images[number].save(tmp_path / "still" / f"{number}.webp")
    assert names(tmp_path / "moving") == ["0.webp", "1.webp"]
    assert names(tmp_path / "still") == ["still"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_table_names_its_videos_from_its_own_folder(folder, suffix):
    rows = [
        {"id": "one", "video": "clip_2.mp4", "fps": 12.0},
        {"id": "two", "video": ODD[0], "fps": None},
        {"id": "three", "video": "gone.mp4", "fps": 8.0},
        {"id": "four", "video": str(folder / "b/x.webm"), "fps": 8.0},
    ]
    table = folder / f"table.{suffix}"
    if suffix == "csv":
        quoted = ODD[0].replace('"', '""')
        text = f'id,video,fps\none,clip_2.mp4,12\ntwo,"{quoted}",\nthree,gone.mp4,8\n'
        table.write_text(text + f"four,{folder / 'b/x.webm'},8\n")
    elif suffix == "jsonl":
        table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), table)
    found = find_inputs([table])
    assert [item.name for item in found] == ["one", "two", "three", "four"]
    assert [item.fps for item in found] == [12.0, None, 8.0, 8.0]
    assert [item.path.name for item in found] == ["clip_2.mp4", ODD[0], "gone.mp4", "x.webm"]
    assert [bool(item.why) for item in found] == [False, False, True, False]


def test_rows_that_say_nothing_are_named_by_their_line(tmp_path):
    table = tmp_path / "a.jsonl"
    table.write_text('{"id": "x"}\nno json\n{"video": "http://a/b.mp4"}\n{"video": "a\\u0000b"}\n')
    found = find_inputs([table])
    assert len(found) == 4
    assert all(item.why and f"line {n}" in item.why for n, item in enumerate(found, 1))
    (tmp_path / "b.csv").write_text("id,video\n")
    (item,) = find_inputs([tmp_path / "b.csv"])
    assert "names no videos" in item.why


def test_a_folder_of_rollouts_gives_each_video_and_none_outside(tmp_path):
    top = tmp_path / "rollouts"
    (top / "videos").mkdir(parents=True)
    film(top / "videos/a.mp4", 3)
    film(tmp_path / "outside.mp4", 3)
    os.symlink(tmp_path / "outside.mp4", top / "videos/link.mp4")
    rows = [
        {"id": "a", "video": "videos/a.mp4", "fps": 10},
        {"id": "b", "video": "../outside.mp4"},
        {"id": "c", "video": "videos/link.mp4"},
        {"id": "d", "states": "states/d.arrays"},
    ]
    (top / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = find_inputs([top])
    assert [item.name for item in found] == ["a", "b", "c", "d"]
    assert [bool(item.why) for item in found] == [False, True, True, True]
    assert found[0].row["fps"] == 10


def test_names_always_differ(folder):
    found = find_inputs([folder, folder, folder / "clip_2.mp4", folder / "clip_2.mp4"])
    assert len({item.name for item in found}) == len(found)


def test_links_in_circles_are_not_followed(folder):
    os.symlink(folder, folder / "b" / "again")
    assert len(find_inputs([folder])) == 6


def test_what_is_no_plain_file_in_a_folder_is_named_and_nothing_hangs(folder):
    (folder / "loop_a.mp4").symlink_to("loop_b.mp4")
    (folder / "loop_b.mp4").symlink_to("loop_a.mp4")
    (folder / "gone.mp4").symlink_to("nowhere.mp4")
    (folder / "gone.txt").symlink_to("nowhere.txt")
    (folder / "round").symlink_to(".")
    (folder / "dark.mp4").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.mp4")
    why = {item.name: item.why for item in find_inputs([folder]) if item.why}
    assert set(why) == {"loop_a.mp4", "loop_b.mp4", "gone.mp4", "dark.mp4", "pipe.mp4"}
    assert "symbolic links" in why["loop_a.mp4"]
    assert "leads nowhere" in why["gone.mp4"]
    assert "not a plain file" in why["pipe.mp4"]
    assert "not a plain file" in why["dark.mp4"]
    for name, words in (("loop_a.mp4", "symbolic links"), ("pipe.mp4", "not a plain file")):
        (item,) = find_inputs([folder / name])
        assert words in item.why


@pytest.mark.parametrize(
    "path", ["n" * 5000, "n/" * 3000, "loop.mp4", "loop.mp4/x", " ", "-", "a.mp4\0", "/dev/tty"]
)
def test_a_row_with_an_impossible_path_costs_itself_alone(tmp_path, path):
    (tmp_path / "loop.mp4").symlink_to("loop.mp4")
    (tmp_path / "a.mp4").write_bytes(b"not read here")
    for name in ("table.jsonl", "rollouts.jsonl"):
        rows = [{"video": path, "id": "bad"}, {"video": "a.mp4"}]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        bad, good = find_inputs([tmp_path / name] if name[0] == "t" else [tmp_path])
        assert bad.name == "bad"
        assert 0 < len(bad.why) < 1000
        assert (good.path, good.why) == (tmp_path / "a.mp4", "")
    if "\0" not in path and path.strip(" -"):
        (item,) = find_inputs([tmp_path / path])
        assert item.why


def test_pictures_that_a_run_folder_keeps_for_its_report_are_no_videos(folder):
    (folder / "out" / "media" / "physics").mkdir(parents=True)
    (folder / "out" / "media" / "physics" / "00.npz").write_bytes(b"not read here")
    (folder / "media").mkdir()
    (folder / "media" / "mine.mp4").write_bytes(b"not read here")
    assert "out/media/physics/00.npz" in names(folder)
    (folder / "out" / "readings.json").write_text("[]")
    assert "out/media/physics/00.npz" not in names(folder)
    assert "media/mine.mp4" in names(folder)
