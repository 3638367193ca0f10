"""Pictures in folders, arrays in files, and that the same rollout is the same in every form."""

import io
import zipfile

import numpy as np
import pytest
from barcodes import barcode, film, numbers_on
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cosmolabe.data.video import Canvas, Limits, Sampling, each_clip, open_clips, write_video

TEN = Sampling("ten", fps=10.0, frames=400)
SMALL = Canvas(160)
CODES = np.stack([barcode(n) for n in range(12)])


def clip_of(path, sampling=TEN, canvas=SMALL, **keywords):
    (clip,) = open_clips(path, sampling, canvas, **keywords)
    return clip


@pytest.mark.parametrize(
    "array",
    [
        CODES,
        CODES[..., 0],
        CODES[..., :1],
        CODES.transpose(0, 3, 1, 2),
        np.concatenate([CODES, np.full((*CODES.shape[:3], 1), 255, np.uint8)], -1),
        CODES.astype(np.uint16) * 257,
        CODES.astype(np.float32) / 255,
        CODES.astype(np.float64) / 255,
    ],
    ids=["rgb", "grey", "one channel", "channels first", "rgba", "16 bit", "float32", "float64"],
)
def test_arrays_of_every_form_show_their_pictures(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", frames=array, fps=10)
    np.savez(tmp_path / "b.npz", whatever=array)
    plain = clip_of(tmp_path / "a.npy", fps=10.0)
    assert numbers_on(plain) == list(range(12))
    assert (plain.frames[:, 32:128] == CODES).all()
    for name, rate in (("a.npz", None), ("b.npz", 10.0)):
        assert (clip_of(tmp_path / name, fps=rate).frames == plain.frames).all()


def test_a_rate_that_nobody_states_is_assumed_aloud(tmp_path):
    np.save(tmp_path / "a.npy", CODES)
    clip = clip_of(tmp_path / "a.npy")
    assert clip.source_fps == pytest.approx(10)
    assert any("no rate given" in text for text in clip.facts["warnings"])
    assert not clip_of(tmp_path / "a.npy", fps=5.0).facts["warnings"]


@pytest.mark.parametrize("rate", [10 + 2j, "10", True])
def test_a_rate_that_is_no_number_is_refused(tmp_path, rate):
    np.savez(tmp_path / "a.npz", frames=CODES, fps=rate)
    with pytest.raises(ValueError, match="fps is a number"):
        clip_of(tmp_path / "a.npz")


def test_pictures_of_different_sizes_are_told_of_once(tmp_path):
    for number, picture in enumerate(CODES):
        small = picture[::2, ::2] if number % 3 == 2 else picture
        Image.fromarray(small).save(tmp_path / f"{number}.png")
    clip = clip_of(tmp_path)
    (told,) = (text for text in clip.facts["warnings"] if "fitted by itself" in text)
    assert told.startswith("2.png has 80x48 pixels, 0.png 160x96")
    assert clip.facts["sizes"] == [[160, 96], [80, 48]]


def test_objects_in_an_array_are_never_unpickled(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("it was unpickled",))

    np.save(tmp_path / "a.npy", np.array([Bomb()], object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", frames=np.array([Bomb()], object))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(ValueError, match="not colours"):
            clip_of(tmp_path / name)


def header(shape, dtype="|u1", fortran=False):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": dtype, "fortran_order": fortran, "shape": shape}
    )
    return file.getvalue()


def test_arrays_that_claim_more_than_they_hold_or_may_are_refused(tmp_path):
    cases = {
        (10_000_000, 1000, 1000, 3): "limit `bytes`",
        (2, 100_000, 100_000, 3): "limit `pixels`",
        (20, 96, 160, 3): "cut short",
        (0, 96, 160, 3): "not empty",
        (96, 160): "a video is",
        (5, 96, 160, 7): "a video is",
    }
    for shape, why in cases.items():
        (tmp_path / "a.npy").write_bytes(header(shape) + bytes(1000))
        with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("frames.npy", header(shape) + bytes(1000))
        for name in ("a.npy", "a.npz"):
            with pytest.raises(ValueError, match=why):
                clip_of(tmp_path / name)


def test_arrays_that_are_no_pictures_are_refused_in_words(tmp_path):
    wrong = {
        "complex": np.zeros((3, 4, 4, 3), complex),
        "int": np.zeros((3, 4, 4, 3), np.int64),
        "text": np.full((3, 4, 4, 3), "x"),
        "large": np.full((3, 4, 4, 3), 200.0),
        "nan": np.full((3, 4, 4, 3), np.nan, np.float32),
        "columns": np.asfortranarray(CODES),
    }
    for name, array in wrong.items():
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(ValueError, match=rf"{name}\.npy"):
            clip_of(tmp_path / f"{name}.npy")
    np.savez(tmp_path / "two.npz", one=CODES, two=CODES)
    with pytest.raises(ValueError, match="it has"):
        clip_of(tmp_path / "two.npz")


@given(data=st.binary(max_size=200), kind=st.sampled_from([b"\x93NUMPY\x01\x00", b"PK\x03\x04"]))
def test_a_damaged_array_file_is_refused_and_nothing_else(tmp_path_factory, data, kind):
    path = tmp_path_factory.mktemp("x") / "a.npz"
    path.write_bytes(kind + data)
    with pytest.raises(ValueError, match=r"a\.npz"):
        clip_of(path)


def test_a_long_array_is_read_from_where_it_lies(tmp_path):
    array = np.lib.format.open_memmap(
        tmp_path / "a.npy", "w+", dtype=np.uint8, shape=(3000, 96, 160, 3)
    )
    array[2990:] = CODES[:10]
    array.flush()
    *_, last = each_clip(
        tmp_path / "a.npy", Sampling("m", fps=10.0, frames=10, window="multi"), SMALL, fps=10.0
    )
    assert numbers_on(last) == list(range(10))


def test_a_folder_of_pictures_is_a_video_in_the_order_of_its_numbers(tmp_path):
    for number in range(12):
        Image.fromarray(CODES[number]).save(tmp_path / f"frame_{number}.png")
    (tmp_path / "notes.txt").write_text("not a picture")
    (tmp_path / ".hidden.png").write_bytes(b"")
    clip = clip_of(tmp_path, fps=10.0)
    assert numbers_on(clip) == list(range(12))
    assert (clip.frames[:, 32:128] == CODES).all()
    assert any("10 fps assumed" in text for text in clip_of(tmp_path).facts["warnings"])


def test_a_broken_picture_shows_the_one_before_it_and_is_named(tmp_path):
    for number in range(6):
        Image.fromarray(CODES[number]).save(tmp_path / f"{number:03d}.png")
    whole = (tmp_path / "003.png").read_bytes()
    (tmp_path / "003.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "004.png").write_bytes(b"")
    clip = clip_of(tmp_path, fps=10.0)
    assert numbers_on(clip) == [0, 1, 2, 2, 2, 5]
    assert clip.facts["doubtful"] == 2
    assert any("003.png" in text for text in clip.facts["warnings"])
    (tmp_path / "000.png").write_bytes(b"")
    with pytest.raises(ValueError, match=r"000\.png"):
        clip_of(tmp_path, fps=10.0)


def test_one_picture_is_a_clip_of_one_frame_with_a_warning(tmp_path):
    for name in ("a.png", "a.jpg", "a.webp", "a.bmp"):
        Image.fromarray(CODES[5]).save(tmp_path / name)
        clip = clip_of(tmp_path / name)
        assert numbers_on(clip) == [5]
        assert any("nothing moves" in text for text in clip.facts["warnings"])


def test_a_photograph_that_was_turned_is_upright(tmp_path):
    image = Image.fromarray(np.rot90(CODES[5]))
    exif = image.getexif()
    exif[0x0112] = 6  # the camera stood on its right side
    image.save(tmp_path / "a.jpg", exif=exif, quality=95)
    assert numbers_on(clip_of(tmp_path / "a.jpg")) == [5]


def test_a_transparent_picture_shows_the_fill(tmp_path):
    colours = np.concatenate([CODES[5], np.full((96, 160, 1), 255, np.uint8)], -1)
    colours[:20, :, 3] = 0
    Image.fromarray(colours).save(tmp_path / "a.png")
    clip = clip_of(tmp_path / "a.png", canvas=Canvas(160, fill=90))
    assert (clip.frames[0, 32:52] == 90).all()
    assert (clip.frames[0, 52:128] == CODES[5, 20:]).all()


def test_a_16_bit_grey_picture_is_scaled_and_not_cut(tmp_path):
    Image.fromarray(CODES[5, ..., 0].astype(np.uint16) * 257).save(tmp_path / "a.png")
    assert (clip_of(tmp_path / "a.png").frames[0, 32:128] == CODES[5]).all()


# One rollout in several forms --------------------------------------------------------------------

BOUND = 2.0
"""Mean difference in 255ths between one rollout as mp4 (ours, crf 10) and as array."""
GIF_BOUND = 6.0
"""The same for a GIF with its 256 colours."""


@pytest.fixture(scope="module")
def rollout(store):
    from cosmolabe.engine.render import draw_frames

    episode = store.episode(0)
    rows = slice(0, 40)
    return draw_frames(
        store.part, episode.states[rows], episode.globals[rows], store.appearance(0), 128
    )


def test_one_rollout_as_mp4_npz_gif_and_pictures_is_one_clip_within_a_bound(tmp_path, rollout):
    write_video(tmp_path / "a.mp4", iter([rollout]), 20.0)
    np.savez_compressed(tmp_path / "a.npz", frames=rollout, fps=20.0)
    images = [Image.fromarray(picture) for picture in rollout]
    images[0].save(tmp_path / "a.gif", save_all=True, append_images=images[1:], duration=50)
    (tmp_path / "png").mkdir()
    for number, image in enumerate(images):
        image.save(tmp_path / "png" / f"{number}.png")
    sampling, canvas = Sampling("s"), Canvas(160)
    array = clip_of(tmp_path / "a.npz", sampling, canvas)
    for name, bound in {"a.mp4": BOUND, "a.gif": GIF_BOUND, "png": 0.0}.items():
        clip = clip_of(tmp_path / name, sampling, canvas, fps=20.0)
        assert clip.times.tolist() == array.times.tolist()
        if name != "a.gif":  # Pillow writes equal frames once and lets them stand longer
            assert clip.source_fps == pytest.approx(array.source_fps)
        difference = np.abs(clip.played.astype(float) - array.played)
        assert difference.mean() <= bound, name


def test_resizing_in_the_decoder_and_after_it_agree(tmp_path):
    """The same colours through FFmpeg's scaler (from a lossless video) and through Pillow's."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (4, 12, 20, 3), dtype=np.uint8)
    pictures = np.stack([np.asarray(Image.fromarray(c).resize((320, 192))) for c in coarse])
    film(tmp_path / "a.mkv", pictures=pictures, codec="ffv1", pix="bgr0")
    np.save(tmp_path / "a.npy", pictures)
    for side in (96, 160, 448):
        video = clip_of(tmp_path / "a.mkv", canvas=Canvas(side)).played.astype(int)
        array = clip_of(tmp_path / "a.npy", canvas=Canvas(side), fps=10.0).played
        assert np.abs(video - array).max() <= 6
        assert np.abs(video - array).mean() <= 0.8


def test_limits_hold_for_folders_and_arrays_too(tmp_path):
    np.save(tmp_path / "a.npy", CODES)
    (tmp_path / "png").mkdir()
    for number in range(12):
        Image.fromarray(CODES[number]).save(tmp_path / "png" / f"{number}.png")
    for name in ("a.npy", "png"):
        for limits in (Limits(frames=11), Limits(pixels=160 * 96 - 1), Limits(bytes=1000)):
            with pytest.raises(ValueError, match="limit"):
                clip_of(tmp_path / name, limits=limits, fps=10.0)
