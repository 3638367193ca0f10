"""Files that break readers of video. Every frame says its number, so a wrong one is seen.

Rows of the reference's table of hostile files (5.1) and public reports of other tools (7) that our
code could repeat; the numbers in brackets are those of the reports.
"""

import gc
import os
import threading
import zlib
from pathlib import Path

import av
import numpy as np
import pytest
from barcodes import barcode, film, number_on, numbers_on, remuxed, spoiled
from PIL import Image

from cosmolabe.data.video import Canvas, Limits, Sampling, open_clips, safe_clips
from cosmolabe.data.video import container as container_file

TEN = Sampling("ten", fps=10.0, frames=400)
SMALL = Canvas(160)
QUIET = {"x265-params": "log-level=none", "lag-in-frames": "0"}


def clip_of(path, sampling=TEN, canvas=SMALL, **keywords):
    (clip,) = open_clips(path, sampling, canvas, **keywords)
    return clip


def numbers(path, shape=(96, 160), **keywords):
    return numbers_on(clip_of(path, **keywords), shape)


CODECS = {
    "h264.mp4": {},
    "h264.mkv": {},
    "h264.ts": {},
    "h264.flv": {},
    "h264.mov": {"pix": "yuv444p"},
    "grey.mp4": {"pix": "gray"},
    "openGop.mp4": {"options": {"x264-params": "open-gop=1", "bf": "3"}},
    "hevc.mp4": {"codec": "libx265", "options": QUIET},
    "ten-bit.mp4": {"codec": "libx265", "pix": "yuv420p10le", "options": QUIET},
    "vp9.webm": {"codec": "libvpx-vp9", "options": QUIET},
    "vp8.webm": {"codec": "libvpx", "options": QUIET},
    "mpeg4.avi": {"codec": "mpeg4"},
    "mjpeg.avi": {"codec": "mjpeg", "pix": "yuvj420p"},
    "ffv1.mkv": {"codec": "ffv1", "pix": "bgr0"},
    "prores.mov": {"codec": "prores_ks", "pix": "yuv422p10le"},
    "anim.gif": {"codec": "gif", "pix": "rgb8"},
    "anim.apng": {"codec": "apng", "pix": "rgb24"},
}


@pytest.mark.parametrize("name", CODECS)
def test_every_frame_of_every_codec_comes_out_once_and_in_order(tmp_path, name):
    path = film(tmp_path / name, 30, **CODECS[name])
    clip = clip_of(path)
    assert numbers_on(clip) == list(range(30))
    assert clip.source_fps == pytest.approx(10, rel=1e-3)
    assert clip.facts["frames"] == 30
    assert not clip.facts["warnings"]


@pytest.mark.parametrize("name", CODECS)
def test_frames_from_the_middle_are_the_same_as_from_the_whole(tmp_path, name, monkeypatch):
    """Seeking and skipping lose nothing (10, 18, 20), packets kept or read anew."""
    path = film(tmp_path / name, 48, **CODECS[name])
    whole = clip_of(path).played
    sparse = Sampling("sparse", fps=10.0, frames=3, window="multi", stride=1.7)
    for cached in (1 << 26, 0):
        monkeypatch.setattr(container_file, "CACHED", cached)
        for clip in open_clips(path, sparse, SMALL):
            assert (clip.played == whole[np.round(clip.times * 10).astype(int)]).all()
        (span,) = open_clips(path, Sampling("span", frames=5, window="span"), SMALL)
        assert (span.played == whole[(span.times * 10 + 0.01).astype(int)]).all()


def test_av1_gives_its_frames(tmp_path):
    """Opened but empty elsewhere (12)."""
    path = tmp_path / "a.mp4"
    made = {"codec": "libsvtav1", "options": {"svtav1-params": "lp=1"}}
    # In a thread of its own: of root, this encoder puts the thread that calls it into real time.
    encoding = threading.Thread(target=film, args=(path, 30), kwargs=made)
    encoding.start()
    encoding.join()
    assert numbers(path) == list(range(30))


def test_the_same_file_gives_the_same_bytes_every_time(tmp_path):
    """An odd height, opened again and again (17, 39)."""
    path = film(tmp_path / "a.mp4", 12, pix="yuv444p", size=(159, 95))
    first = clip_of(path).frames
    for _ in range(5):
        assert (clip_of(path).frames == first).all()


@pytest.mark.parametrize("degrees", [90, 180, 270, -90])
@pytest.mark.parametrize("resize", ["smooth", "released"])
def test_a_turned_video_is_shown_upright(tmp_path, degrees, resize):
    """(5, 6, 7)"""
    pictures = [np.rot90(barcode(n), -degrees // 90) for n in range(6)]
    path = film(tmp_path / "a.mp4", pictures=pictures, rotation=degrees)
    clip = clip_of(path, canvas=Canvas(160, resize=resize))
    assert numbers_on(clip) == list(range(6))
    assert clip.facts["rotation"] == degrees % 360


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
@pytest.mark.parametrize(("across", "down"), [(True, False), (False, True), (True, True)])
def test_a_mirrored_video_is_mirrored_back(tmp_path, degrees, across, down):
    shown = np.full((96, 160, 3), 60, np.uint8)
    shown[:30, :50] = (220, 40, 40)  # one corner differs from the other three
    shown[66:, :50] = (40, 40, 220)
    stored = shown[:: -1 if down else 1, :: -1 if across else 1]
    stored = np.rot90(stored, -degrees // 90)

    def mirror(stream):
        stream.set_display_rotation(degrees, hflip=across, vflip=down)

    path = film(tmp_path / "a.mp4", pictures=[stored] * 2, pix="yuv444p", prepare=mirror)
    inner = clip_of(path).frames[0, 32:128].astype(int)
    assert np.abs(inner - shown).mean() < 4


def test_times_of_a_video_with_a_variable_rate_are_true(tmp_path):
    """(21)"""
    times = [0, 0.1, 0.2, 0.6, 0.7, 1.5, 1.6, 1.7]
    for name in ("a.mp4", "a.mkv"):
        clip = clip_of(film(tmp_path / name, 8, times=times))
        assert numbers_on(clip) == [0, 1, 2, 2, 2, 2, 3, *[4] * 8, 5, 6, 7]
        assert clip.facts["variable_rate"]
        assert len(clip.frames) == 8  # no picture twice


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts"])
def test_a_video_whose_clock_does_not_start_at_zero_starts_with_its_first_frame(tmp_path, name):
    """(19)"""
    clip = clip_of(film(tmp_path / name, 8, times=[5 + n / 10 for n in range(8)]))
    assert numbers_on(clip) == list(range(8))
    assert clip.times[0] == 0
    assert clip.facts["first_frame_at"] >= 5


def test_frames_that_an_edit_list_hides_stay_hidden(tmp_path):
    def earlier(index, packet):
        packet.pts, packet.dts = packet.pts - 5 * 1024, packet.dts - 5 * 1024

    path = film(tmp_path / "a.mp4", 30, options={"bf": "0"})
    options = {"avoid_negative_ts": "disabled", "use_editlist": "1"}
    cut = remuxed(path, tmp_path / "cut.mp4", change=earlier, options=options)
    assert numbers(cut) == list(range(5, 30))


def test_a_webm_that_states_no_length_is_read_to_its_end(tmp_path):
    """Frame counts of 0 or -9e18 elsewhere (8, 9, 30)."""
    path = tmp_path / "a.webm"
    with path.open("wb") as file:

        class Pipe:
            """Cannot go back, so no length is ever written into the header."""

            def write(self, data):
                return file.write(data)

        with av.open(Pipe(), "w", format="webm") as target:
            stream = target.add_stream("libvpx-vp9", rate=10, options=QUIET)
            stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
            for number in range(20):
                frame = av.VideoFrame.from_ndarray(barcode(number), format="rgb24")
                target.mux(stream.encode(frame))
            target.mux(stream.encode())
    clip = clip_of(path)
    assert numbers_on(clip) == list(range(20))
    assert clip.facts["claimed_frames"] == 0


def test_wide_pixels_are_shown_wide(tmp_path):
    clip = clip_of(film(tmp_path / "a.mp4", 8, aspect=2))
    assert numbers_on(clip, shape=(96, 320)) == list(range(8))
    assert (clip.frames[0, :56] == 128).all()  # 320x96 on 160 leaves 48 lines
    assert clip.facts["pixel_aspect"] == 2


def test_wide_pixels_of_a_turned_video_are_turned_too(tmp_path):
    pictures = [np.rot90(barcode(n, 160, 96), -1) for n in range(4)]
    clip = clip_of(film(tmp_path / "a.mp4", pictures=pictures, rotation=90, aspect=2))
    # Stored 96 wide, so 192 shown, and after the turn 160 wide and 192 high.
    assert numbers_on(clip, shape=(192, 160)) == list(range(4))


@pytest.mark.parametrize("size", [(321, 241), (17, 33), (16, 16), (2, 2)])
def test_odd_and_tiny_sizes_are_read(tmp_path, size):
    clip = clip_of(film(tmp_path / "a.mkv", 3, size=size, codec="ffv1", pix="bgr0"))
    assert clip.frames.shape == (len(clip.frames), 160, 160, 3)
    if size[0] > 16:
        assert numbers_on(clip, size[::-1]) == [0, 1, 2]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_two_or_three_frames_are_a_clip(tmp_path, count):
    """(24, 25, 29)"""
    for name in ("a.mp4", "a.webm", "a.gif"):
        keywords = {"a.webm": CODECS["vp9.webm"], "a.gif": CODECS["anim.gif"]}.get(name, {})
        path = film(tmp_path / name, count, **keywords)
        assert numbers(path) == list(range(count))
        held = clip_of(path, Sampling("held", fps=10.0, frames=16, hold_last=True))
        assert len(held) == 16
        assert len(held.frames) == count


def test_video_behind_sound_is_found(tmp_path):
    assert numbers(film(tmp_path / "a.mp4", 8, sound=True)) == list(range(8))


def test_interlaced_lines_are_woven_and_said(tmp_path):
    for name, keywords in {
        "a.mp4": {"options": {"x264-params": "interlaced=1:tff=1"}},
        "a.ts": {"codec": "mpeg2video", "fps": 25, "options": {"flags": "+ilme+ildct"}},
    }.items():
        clip = clip_of(film(tmp_path / name, 20, **keywords), Sampling("t", fps=25.0, frames=400))
        assert sorted(set(numbers_on(clip))) == list(range(20))
        assert clip.facts["interlaced"]
        assert any("interlaced" in text for text in clip.facts["warnings"])


# Colours ----------------------------------------------------------------------------------------

GREEN = np.full((96, 160, 3), (40, 180, 60), np.uint8)


def coloured(path, matrix=None, full=False, transfer=None, **keywords):
    """One colour, coded by FFmpeg's default matrix (601), tagged as told."""

    def prepare(stream):
        codec = stream.codec_context
        if matrix is not None:
            codec.colorspace = matrix
        if transfer is not None:
            codec.color_trc = transfer
        if full:
            codec.color_range = 2

    return film(path, pictures=[GREEN] * 3, prepare=prepare, **keywords)


def test_colours_without_a_tag_follow_bt601_and_that_is_recorded(tmp_path):
    for size in ((160, 96), (1280, 720)):
        pictures = [np.full((size[1], size[0], 3), GREEN[0, 0], np.uint8)] * 2
        clip = clip_of(film(tmp_path / "a.mp4", pictures=pictures))
        assert np.abs(clip.frames[0, 80, 80].astype(int) - GREEN[0, 0]).max() <= 3
        assert (clip.facts["matrix"], clip.facts["matrix_tagged"]) == ("bt601", False)


def test_a_tag_of_another_matrix_is_followed(tmp_path):
    """BT.709 and BT.2020 read as 601 elsewhere (14, 15)."""
    seen = {}
    for name, matrix in {"bt601": 6, "bt709": 1, "bt2020": 9}.items():
        clip = clip_of(coloured(tmp_path / f"{name}.mp4", matrix))
        assert (clip.facts["matrix"], clip.facts["matrix_tagged"]) == (name, True)
        seen[name] = clip.frames[0, 80, 80].astype(float)
    y, cb, cr = _ycbcr(GREEN[0, 0].astype(float), 0.299, 0.114)
    for name, (red, blue) in {
        "bt601": (0.299, 0.114),
        "bt709": (0.2126, 0.0722),
        "bt2020": (0.2627, 0.0593),
    }.items():
        assert np.abs(seen[name] - _rgb(y, cb, cr, red, blue)).max() <= 4, name


def _ycbcr(colour, red, blue):
    y = red * colour[0] + (1 - red - blue) * colour[1] + blue * colour[2]
    return y, (colour[2] - y) / (2 * (1 - blue)), (colour[0] - y) / (2 * (1 - red))


def _rgb(y, cb, cr, red, blue):
    r, b = y + 2 * (1 - red) * cr, y + 2 * (1 - blue) * cb
    return np.array([r, (y - red * r - blue * b) / (1 - red - blue), b]).clip(0, 255)


def test_hdr_is_read_with_a_warning(tmp_path):
    path = coloured(
        tmp_path / "a.mp4", 9, transfer=16, codec="libx265", pix="yuv420p10le", options=QUIET
    )
    clip = clip_of(path)
    assert clip.facts["hdr"] == "PQ (HDR10)"
    assert any("tone mapping" in text for text in clip.facts["warnings"])


def test_ten_bits_are_as_bright_as_eight(tmp_path):
    """(16)"""
    ten = clip_of(coloured(tmp_path / "a.mp4", pix="yuv420p10le", codec="libx265", options=QUIET))
    assert np.abs(ten.frames[0, 80, 80].astype(int) - GREEN[0, 0]).max() <= 4


def test_transparent_parts_show_the_fill_and_not_what_lies_under_them(tmp_path):
    """(37)"""
    pictures = np.zeros((6, 96, 160, 4), np.uint8)
    pictures[..., :3] = [barcode(n) for n in range(6)]
    pictures[:, 20:, :, 3] = 255
    pictures[:, :20, :, :3] = (255, 0, 0)
    path = film(
        tmp_path / "a.webm", pictures=pictures, source="rgba", codec="libvpx-vp9", pix="yuva420p",
        options={**QUIET, "auto-alt-ref": "0"},
    )  # fmt: skip
    for fill in (128, 0):
        clip = clip_of(path, canvas=Canvas(160, fill=fill))
        assert numbers_on(clip) == list(range(6))
        assert np.abs(clip.frames[0, 32:48].astype(int) - fill).max() <= 2
        assert clip.facts["alpha"]


def test_a_gif_is_composed_as_pillow_composes_it(tmp_path):
    """Transparent, partial and restored frames (37, gif background)."""
    path = tmp_path / "a.gif"
    images = []
    for number in range(6):
        image = Image.new("RGBA", (160, 96), (0, 0, 0, 0))
        image.paste(Image.new("RGBA", (30, 30), (250, 40 * number, 0, 255)), (20 * number, 30))
        images.append(image)
    images[0].save(path, save_all=True, append_images=images[1:], duration=100, disposal=2)
    clip = clip_of(path)
    with Image.open(path) as whole:
        for number in range(6):
            whole.seek(number)
            colours = np.asarray(whole.convert("RGBA")).astype(int)
            alpha = colours[..., 3:] // 255
            expected = colours[..., :3] * alpha + 128 * (1 - alpha)
            assert (clip.played[number][32:128] == expected).all()


def test_an_animated_webp_is_read_with_its_own_times(tmp_path):
    path = tmp_path / "a.webp"
    images = [Image.fromarray(barcode(n)) for n in range(5)]
    images[0].save(
        path, save_all=True, append_images=images[1:], duration=[100, 300, 100, 200, 100],
        lossless=True,
    )  # fmt: skip
    assert numbers(path) == [0, 1, 1, 1, 2, 3, 3, 4]


def test_frames_that_change_size_and_kind_on_the_way_are_each_fitted(tmp_path):
    """Reads beyond its buffer elsewhere (13)."""
    path = tmp_path / "a.ts"
    small = film(tmp_path / "1.ts", 12, options={"bf": "0"})
    large = film(
        tmp_path / "2.ts", pictures=[barcode(n, 320, 192) for n in range(12, 24)], pix="yuv444p",
        options={"bf": "0"},
    )  # fmt: skip
    path.write_bytes(small.read_bytes() + large.read_bytes())
    clip = clip_of(path)
    assert numbers_on(clip) == list(range(24))
    assert len(clip.facts["sizes"]) == 2
    with pytest.raises(ValueError, match="limit `pixels`"):
        clip_of(path, limits=Limits(pixels=40_000))


# Damage -----------------------------------------------------------------------------------------


def test_a_file_cut_short_gives_what_it_holds_and_says_so(tmp_path):
    """Endless loops elsewhere (1, 2, 11): the header claims more frames than there are."""
    whole = film(tmp_path / "a.mp4", 60, container_options={"movflags": "faststart"})
    short = tmp_path / "short.mp4"
    short.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    for sampling in (TEN, Sampling("span", fps=10.0, frames=8, window="span")):
        clip = clip_of(short, sampling)
        assert clip.facts["claimed_frames"] == 60
        assert 20 < clip.facts["frames"] < 45
        assert any("cut short" in text for text in clip.facts["warnings"])
    assert numbers(short) == list(range(clip.facts["frames"]))


@pytest.mark.parametrize("name", ["a.mkv", "a.ts", "a.avi", "a.gif"])
def test_cut_short_anywhere_it_neither_hangs_nor_shows_a_wrong_frame(tmp_path, name):
    keywords = {"a.avi": CODECS["mjpeg.avi"], "a.gif": CODECS["anim.gif"]}.get(name, {})
    rng = np.random.default_rng(0)
    noisy = [barcode(n) + rng.integers(0, 30, (96, 160, 3), dtype=np.uint8) for n in range(30)]
    whole = film(tmp_path / name, pictures=noisy, **keywords).read_bytes()
    short = tmp_path / f"short-{name}"
    for share in (0.5, 0.7, 0.9, 0.99):
        short.write_bytes(whole[: int(len(whole) * share)])
        seen = numbers_on(clip_of(short))
        # A frame that is shown before one that precedes it in the file may have lost that one.
        held = [n for n in range(len(seen) - 1) if seen[n] != n]
        assert all(seen[n] == n - 1 for n in held)
        assert len(held) <= 1
        assert len(seen) > 30 * share * 0.5


def test_a_matroska_cut_between_packets_says_how_much_its_header_promised(tmp_path):
    whole = film(tmp_path / "a.mkv", 60)
    assert clip_of(whole).facts["warnings"] == []
    short = tmp_path / "short.mkv"
    for share in (0.4, 0.5, 0.6, 0.7, 0.8):
        short.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * share)])
        told = clip_of(short).facts["warnings"]
        assert any("cut short" in text for text in told), (share, told)


def test_an_mp4_without_its_index_says_that_it_was_cut(tmp_path):
    whole = film(tmp_path / "a.mp4", 60)
    short = tmp_path / "short.mp4"
    short.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    with pytest.raises(ValueError, match="without its index"):
        clip_of(short)


@pytest.mark.parametrize("name", ["h264.mp4", "mpeg4.avi", "vp9.webm"])
def test_spoiled_packets_cost_their_frames_and_are_counted(tmp_path, name):
    """Silently replaced elsewhere (4)."""
    keywords = {**CODECS[name], "options": {"bf": "0", **CODECS[name].get("options", {})}}
    path = film(tmp_path / f"whole-{name}", 60, **keywords)
    clip = clip_of(spoiled(path, tmp_path / name, 20, 33))
    seen, facts = numbers_on(clip), clip.facts
    assert facts["lost_frames"] == 2
    assert any("damaged" in text for text in facts["warnings"])
    # Before the damage and from the next keyframe on all is right.
    right = [n for n in range(60) if n < 20 or 24 <= n < 33 or n >= 48]
    assert [seen[n] for n in right] == right
    assert seen[20] == 19
    wrong = [n for n in range(60) if seen[n] != n and n not in (20, 33)]
    assert 0 < len(wrong) <= facts["doubtful_frames"] == facts["doubtful"]


def test_a_window_before_the_damage_is_not_called_doubtful(tmp_path):
    path = film(tmp_path / "whole.mp4", 60, options={"bf": "0"})
    path = spoiled(path, tmp_path / "a.mp4", 20)
    first, second, *_ = open_clips(path, Sampling("m", fps=10.0, frames=12, window="multi"), SMALL)
    assert first.facts["doubtful"] == 0
    assert numbers_on(first) == list(range(12))
    assert second.facts["doubtful"] > 0


def test_hevc_frames_that_never_come_are_counted(tmp_path):
    path = film(tmp_path / "a.mp4", 60, codec="libx265", options={"bf": "0", **QUIET})
    clip = clip_of(remuxed(path, tmp_path / "b.mp4", keep=lambda i, packet: i != 20))
    assert clip.facts["lost_frames"] > 0
    assert numbers_on(clip)[:20] == list(range(20))
    assert numbers_on(clip)[24:] == list(range(24, 60))


def test_a_packet_that_went_missing_shows_in_the_clock(tmp_path):
    path = film(tmp_path / "a.mp4", 60, options={"bf": "0"})
    clip = clip_of(remuxed(path, tmp_path / "b.mp4", keep=lambda i, packet: i not in (20, 40)))
    assert clip.facts["missing_by_clock"] == 2
    assert any("2 frames are missing by the clock" in text for text in clip.facts["warnings"])


def test_swapped_and_restarted_clocks_are_repaired(tmp_path):
    """Hangs elsewhere (3)."""
    assert numbers(film(tmp_path / "a.avi", 24)) == list(range(24))  # B-frames without times
    one, two = film(tmp_path / "1.ts", 12), tmp_path / "2.ts"
    film(two, pictures=[barcode(n) for n in range(12, 24)])
    both = tmp_path / "both.ts"
    both.write_bytes(one.read_bytes() + two.read_bytes())
    clip = clip_of(both)
    assert numbers_on(clip) == list(range(24))
    assert clip.facts["repaired_times"] > 0


def test_a_raw_stream_has_no_times_and_gets_even_ones(tmp_path):
    clip = clip_of(film(tmp_path / "a.h264", 24))
    assert numbers_on(clip) == list(range(24))


def test_frozen_frames_are_held_once_and_counted(tmp_path):
    pictures = [barcode(n) for n in (0, 1, 2, 2, 2, 2, 6, 7)]
    clip = clip_of(film(tmp_path / "a.mkv", pictures=pictures, codec="ffv1", pix="bgr0"))
    assert numbers_on(clip) == [0, 1, 2, 2, 2, 2, 6, 7]
    assert (len(clip.frames), clip.facts["frozen"]) == (5, 3)


def test_a_slow_grid_and_a_fast_one_show_the_same_pictures(tmp_path):
    """Scores must not hang on the rate of the file (38): repeats are not encoded twice."""
    path = film(tmp_path / "a.mp4", 16, fps=8)
    slow, fast = (clip_of(path, Sampling("t", fps=rate, frames=99)) for rate in (8.0, 16.0))
    assert (slow.frames == fast.frames).all()
    assert fast.shown.tolist() == np.repeat(slow.shown, 2).tolist()
    assert slow.source_fps == fast.source_fps == pytest.approx(8)


# What is no video --------------------------------------------------------------------------------


def test_each_thing_that_is_no_video_is_refused_in_one_line_that_says_why(tmp_path):
    sound = tmp_path / "sound.mp4"
    with av.open(str(sound), "w") as target:
        track = target.add_stream("aac", rate=48_000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        frame.sample_rate = 48_000
        target.mux(track.encode(frame))
        target.mux(track.encode())
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "text.mp4").write_text("no video, but a text about one\n" * 20)
    (tmp_path / "noise.mp4").write_bytes(np.random.default_rng(0).bytes(5000))
    (tmp_path / "pickle.npy").write_bytes(b"\x80\x04\x95" + bytes(50))
    (tmp_path / "zeros.mp4").write_bytes(bytes(5000))
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe.mp4")
    reasons = {
        "sound.mp4": "only audio, no video",
        "empty.mp4": "empty",
        "text.mp4": "is text",
        "noise.mp4": "no video that can be read",
        "zeros.mp4": "no video that can be read",
        "pickle.npy": "is a pickle",
        "folder": "holds no pictures",
        "pipe.mp4": "not a plain file",
        "missing.mp4": "no file",
    }
    for name, why in reasons.items():
        with pytest.raises(ValueError, match=why) as caught:
            clip_of(tmp_path / name)
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    path = film(tmp_path / "a.mp4", 3)

    def refuse(*_, **__):  # the superuser, who may run this, is refused nothing
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ValueError, match=r"a\.mp4 cannot be read \(Permission denied\)"):
        clip_of(path)


def test_a_playlist_opens_nothing_else(tmp_path):
    film(tmp_path / "secret.ts", 5)
    text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsecret.ts\n#EXT-X-ENDLIST\n"
    for name, content in {
        "a.m3u8": text,
        "a.mp4": text,
        "b.ffconcat": "ffconcat version 1.0\nfile secret.ts\n",
        "c.mp4": "#EXTM3U\n\xff\xfe".encode("latin-1"),
    }.items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=name):
            clip_of(tmp_path / name)


def test_names_with_anything_in_them_are_files(tmp_path):
    for name in (
        "A leaf, falling; \"slowly\" 'now'.mp4", "ünï 視頻 🎥.mp4", "concat:a|b.mp4", "-a.mp4",
        "%03d.mp4", "http:__x.mp4", " .mp4", "[1].mp4",
    ):  # fmt: skip
        film(tmp_path / "plain.mp4", 4).rename(tmp_path / name)
        assert numbers(tmp_path / name) == [0, 1, 2, 3]


def test_a_name_that_is_no_text_is_a_file_too(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff\xfe.mp4")
    os.rename(film(tmp_path / "a.mp4", 4), path)
    assert numbers(os.fsdecode(path)) == [0, 1, 2, 3]
    assert numbers_on(safe_clips(os.fsdecode(path), TEN, SMALL)[0]) == [0, 1, 2, 3]


def hurt(data, rng):
    """The bytes with some changed, cut off, blanked or swapped."""
    data, kind = bytearray(data), rng.integers(5)
    places = rng.integers(0, len(data), 10)
    if kind == 0:
        return bytes(data[: places[0]])
    if kind == 1:
        data[places[0] : places[0] + 100] = bytes(rng.integers(200))
    elif kind == 2:
        one, two = sorted(places[:2])
        data[one : one + 50], data[two : two + 50] = data[two : two + 50], data[one : one + 50]
    else:
        for place in places if kind == 3 else places % min(600, len(data)):
            data[place] = rng.integers(256)
    return bytes(data)


@pytest.mark.parametrize(
    "name", ["h264.mp4", "h264.ts", "vp9.webm", "anim.gif", "mpeg4.avi", "a.webp", "a.npz", "a.png"]
)
def test_hurt_anywhere_a_file_gives_clips_or_one_line(tmp_path, name):
    path = tmp_path / name
    images = [Image.fromarray(barcode(n)) for n in range(6)]
    if name == "a.npz":
        np.savez_compressed(path, frames=np.stack(images), fps=10)
    elif name in ("a.webp", "a.png"):
        images[0].save(path, save_all=True, append_images=images[1:], duration=100)
    else:
        film(path, 20, **CODECS[name])
    whole, rng = path.read_bytes(), np.random.default_rng(zlib.crc32(name.encode()))
    limits = Limits(pixels=4_000_000, frames=20_000, seconds=3600.0, bytes=1 << 28)
    outcomes = set()
    for _ in range(40):
        path.write_bytes(hurt(whole, rng))
        try:
            outcomes.add(len(open_clips(path, TEN, Canvas(32), limits)))
        except ValueError as error:
            outcomes.add("refused")
            text = str(error)
            assert "\n" not in text, text
    assert outcomes <= {1, "refused"}
    assert 1 in outcomes or name == "a.npz"  # which has a checksum over every byte


# Limits -----------------------------------------------------------------------------------------


def gif_that_claims(width, height):
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + bytes(200)


def png_that_claims(width, height):
    def chunk(kind, data):
        check = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + check

    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    head = chunk(b"IHDR", size + b"\x08\x02\0\0\0")
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def test_bombs_are_refused_before_anything_is_made_of_them(tmp_path):
    (tmp_path / "a.gif").write_bytes(gif_that_claims(65_535, 65_535))
    (tmp_path / "a.png").write_bytes(png_that_claims(60_000, 60_000))
    (tmp_path / "b.png").write_bytes(png_that_claims(9_000, 9_000))
    for name in ("a.gif", "a.png", "b.png"):
        with pytest.raises(ValueError, match=r"pixels|decompression bomb"):
            clip_of(tmp_path / name)


def test_each_limit_refuses_what_passes_it(tmp_path):
    path = film(tmp_path / "a.mp4", 40)
    for limits, why in {
        Limits(pixels=160 * 96 - 1): "limit `pixels`",
        Limits(frames=39): "limit `frames`",
        Limits(seconds=3.5): "limit `seconds`",
        Limits(bytes=1000): "limit `bytes`",
    }.items():
        with pytest.raises(ValueError, match=why):
            clip_of(path, limits=limits)
    assert len(clip_of(path, limits=Limits(pixels=160 * 96, frames=40, seconds=4.0))) == 40


def test_windows_that_would_fill_the_memory_are_refused_together_and_given_one_by_one(tmp_path):
    path = film(tmp_path / "a.mp4", 40)
    sampling = Sampling("m", fps=10.0, frames=4, window="multi")
    limits = Limits(bytes=200_000 if path.stat().st_size < 200_000 else 400_000)
    with pytest.raises(ValueError, match="use each_clip"):
        open_clips(path, sampling, SMALL, limits)


def test_nothing_stays_open(tmp_path):
    """(34)"""
    path = film(tmp_path / "a.mp4", 12)
    clip_of(path)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(40):
        clip_of(path)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_the_number_reader_itself_reads_every_number():
    for number in range(256):
        square = np.full((160, 160, 3), 128, np.uint8)
        square[32:128] = barcode(number)
        assert number_on(square) == number
