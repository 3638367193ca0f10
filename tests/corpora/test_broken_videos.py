"""BrokenVideos: how broken a video is follows from its masks."""

import json

import numpy as np
import pytest
from corpus_folders import make, touch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from cosmolabe.core import parts
from cosmolabe.corpora.broken_videos import COMPOSITES, pairs, read_masks
from cosmolabe.data.labels import mask_composite, violation_of_composite
from cosmolabe.data.video import write_video

PART = parts.load("corpora", "broken_videos")
masks = arrays(bool, st.tuples(st.integers(1, 5), st.integers(1, 9), st.integers(1, 9)))


def test_a_video_without_a_masked_pixel_is_not_broken():
    assert set(mask_composite(np.zeros((3, 4, 4), bool)).values()) == {0.0}


def test_a_wholly_masked_video_is_as_broken_as_can_be():
    assert mask_composite(np.ones((3, 5, 7), bool)) == pytest.approx(
        {"area": 1, "centre": 1, "presence": 1, "composite": 1}
    )
    assert violation_of_composite(1.0) == pytest.approx(0.9)


def test_the_parts_of_a_composite_are_what_they_are_called():
    spot = np.zeros((4, 9, 9), bool)
    spot[:2, 4, 4] = True
    assert mask_composite(spot) == pytest.approx(
        {"area": 2 / 4 / 81, "centre": 1, "presence": 0.5, "composite": 0.6 * 2 / 324 + 0.3 + 0.05}
    )
    corner = np.zeros((1, 9, 9), bool)
    corner[0, 0, 0] = True
    assert mask_composite(corner)["centre"] == pytest.approx(
        1 - np.hypot(4, 4) / np.hypot(9, 9) * 2
    )


@given(masks)
def test_every_part_of_a_composite_is_a_share(mask):
    assert all(0 <= value <= 1 for value in mask_composite(mask).values())


@given(masks)
def test_a_mirrored_or_turned_mask_is_as_broken(mask):
    whole = mask_composite(mask)
    assert mask_composite(mask[:, ::-1]) == pytest.approx(whole)
    assert mask_composite(mask[:, :, ::-1]) == pytest.approx(whole)
    assert mask_composite(mask.swapaxes(1, 2)) == pytest.approx(whole)
    assert mask_composite(mask[::-1]) == pytest.approx(whole)


def test_masks_are_measured_once_and_kept(tmp_path):
    folder = make("broken_videos", tmp_path)
    (folder / COMPOSITES).unlink()
    before = PART.read(folder)
    assert all(clip.violation is None for clip in before.clips)
    assert not PART.pairs(before, 10, 0)
    assert PART.prepare(folder) == 6
    assert PART.prepare(folder) == 0
    clips = PART.read(folder).clips
    for clip in clips:
        array = np.load(folder / clip.mask) > 0
        assert clip.label["composite"] == pytest.approx(mask_composite(array)["composite"])
        assert clip.violation == pytest.approx(0.5 + 0.4 * clip.label["composite"])


def test_a_measurement_killed_in_the_middle_of_a_line_goes_on_there(tmp_path):
    folder = make("broken_videos", tmp_path)
    (folder / COMPOSITES).unlink()
    PART.prepare(folder)
    whole = (folder / COMPOSITES).read_text()
    (folder / COMPOSITES).write_text(whole[: len(whole) // 2])
    assert 0 < PART.prepare(folder) < 6
    again = PART.read(folder)
    assert not again.bad
    assert all(clip.violation is not None for clip in again.clips)


def test_a_mask_that_cannot_be_read_costs_its_video_alone(tmp_path):
    folder = make("broken_videos", tmp_path)
    (folder / COMPOSITES).unlink()
    (folder / "masks" / "tongyi_00000.npy").write_bytes(b"no array")
    np.save(folder / "masks" / "tongyi_00001.npy", np.zeros((3, 3)))
    assert PART.prepare(folder) == 6
    corpus = PART.read(folder)
    assert sum(clip.violation is None for clip in corpus.clips) == 2
    assert len(corpus.bad) == 2
    assert "masks are (time, height, width)" in corpus.bad[1]


def test_no_pickle_is_opened(tmp_path):
    folder = make("broken_videos", tmp_path)
    (folder / COMPOSITES).unlink()
    np.save(folder / "masks" / "tongyi_00000.npy", np.array([{"a": 1}], object))
    PART.prepare(folder)
    first = json.loads((folder / COMPOSITES).read_text().splitlines()[0])
    assert "Python objects" in first["why"]


def test_masks_are_read_alike_from_arrays_stills_and_videos(tmp_path):
    mask = np.zeros((6, 32, 48), np.uint8)
    mask[2:, 8:24, 16:40] = 255
    touch(tmp_path, "videos/a_0.mp4", "videos/b_0.mp4")
    (tmp_path / "masks" / "b_0").mkdir(parents=True)
    np.save(tmp_path / "masks" / "a_0.npy", mask)
    for number, picture in enumerate(mask):
        Image.fromarray(picture).save(tmp_path / "masks" / "b_0" / f"{number:03d}.png")
    colours = np.repeat(mask[..., None], 3, -1)
    write_video(tmp_path / "masks" / "c_0.mp4", iter([colours]), 8.0)
    grey = np.full_like(colours, 90)
    write_video(tmp_path / "videos" / "c_0.mp4", iter([grey]), 8.0)
    write_video(tmp_path / "videos" / "d_0.mp4", iter([grey]), 8.0)
    painted = np.where(colours > 0, np.array([255, 0, 0], np.uint8), grey)
    write_video(tmp_path / "shown" / "tracked_d_0.mp4", iter([painted]), 8.0)
    assert PART.prepare(tmp_path) == 4
    areas = {clip.id[7]: clip.label["area"] for clip in PART.read(tmp_path).clips}
    assert areas == pytest.approx(dict.fromkeys("abcd", (mask > 0).mean()), abs=0.02)


def test_a_large_mask_video_is_thinned_and_its_shares_stay(tmp_path):
    mask = np.zeros((2, 1200, 800, 3), np.uint8)
    mask[:, :600] = 255
    write_video(tmp_path / "mask.mp4", iter([mask]), 8.0)
    read = read_masks(tmp_path, "", "mask.mp4")
    assert max(read.shape[1:]) <= 512
    assert read.mean() == pytest.approx(0.5, abs=0.01)


def test_stretching_composites_gives_more_pairs_and_never_turns_one_round(tmp_path):
    folder = make("broken_videos", tmp_path)
    corpus = PART.read(folder)
    level = {clip.id: clip.label["composite"] for clip in corpus.clips}
    drawn = {way: pairs(corpus, 1000, 0, way) for way in ("none", "minmax", "rank")}
    assert len(drawn["none"]) < len(drawn["minmax"])
    assert all(
        (level[p.first] > level[p.second]) == (p.p_first_worse == 1)
        for found in drawn.values()
        for p in found
    )
    assert all(abs(level[p.first] - level[p.second]) >= 0.4 - 1e-9 for p in drawn["none"])
    with pytest.raises(ValueError, match="normalise"):
        pairs(corpus, 10, 0, "softly")
