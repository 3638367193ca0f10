"""Which frames a sampling shows, on videos that are nothing but a list of times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.data.video import CANVASES, SAMPLINGS, Canvas, Limits, Sampling
from cosmolabe.data.video.clips import windows_of
from cosmolabe.data.video.container import rising


class Times:
    """A source with times and no pictures."""

    facts, warnings, doubtful = {}, [], set()

    def __init__(self, times, end, rate):
        self.times, self.end, self.rate = np.asarray(times, float), float(end), float(rate)

    def pictures(self, wanted):
        raise NotImplementedError

    def resurvey(self):
        raise NotImplementedError

    def close(self):
        raise NotImplementedError


def even(count, fps):
    return Times(np.arange(count) / fps, count / fps, fps)


gaps = st.lists(st.floats(0.005, 2.0), min_size=0, max_size=40)


@given(gaps=gaps, last=st.floats(0.02, 1.0), sampling=st.sampled_from(list(SAMPLINGS.values())))
def test_each_grid_time_shows_the_last_frame_that_has_begun(gaps, last, sampling):
    times = np.concatenate([[0.0], np.cumsum(gaps)])
    video = Times(times, times[-1] + last, len(times) / (times[-1] + last))
    for window in windows_of(video, sampling):
        assert len(window.times) == len(window.numbers) <= sampling.frames
        assert (np.diff(window.numbers) >= 0).all()
        if sampling.grid == "time":
            for time, number in zip(window.times, window.numbers, strict=True):
                assert times[number] <= time + 1e-3
                assert number + 1 == len(times) or times[number + 1] > time + 1e-3


@given(count=st.integers(1, 400), fps=st.sampled_from([4, 8, 12.5, 15, 16, 24, 25, 29.97, 30, 60]))
def test_windows_side_by_side_leave_no_frame_out_and_none_is_short(count, fps):
    video = even(count, fps)
    windows = windows_of(video, Sampling("all", fps=64.0, frames=16, window="multi"))
    assert {int(n) for window in windows for n in window.numbers} == set(range(count))
    assert len({len(window.times) for window in windows}) == 1


def test_eight_frames_a_second_show_each_frame_twice_on_a_grid_of_sixteen():
    (window,) = windows_of(even(16, 8), SAMPLINGS["physics-1"])
    assert window.numbers.tolist() == [n for n in range(16) for _ in range(2)]
    assert window.times[1] == 1 / 16


def test_a_clip_shorter_than_the_window_is_not_padded():
    (window,) = windows_of(even(10, 16), SAMPLINGS["physics-1"])
    assert window.numbers.tolist() == list(range(10))


def test_a_short_clip_repeats_its_last_frame_where_the_sampling_says_so():
    (window,) = windows_of(even(14, 16), SAMPLINGS["phyprobe-1"])
    assert window.numbers.tolist() == [*range(14), *[13] * 34]


def test_the_window_in_the_centre_has_as_much_before_it_as_after():
    (window,) = windows_of(even(160, 16), SAMPLINGS["physics-1-centre"])
    assert (window.numbers[0], 159 - window.numbers[-1]) == (56, 56)


def test_a_span_reaches_from_the_first_frame_to_the_last():
    (window,) = windows_of(even(320, 16), SAMPLINGS["physics-1-span"])
    assert (window.numbers[0], window.numbers[-1], len(window.numbers)) == (0, 319, 48)
    assert window.fps == pytest.approx(47 / (319 / 16))


def test_windows_of_a_second_start_every_half_second_and_the_last_ends_with_the_clip():
    windows = windows_of(even(45, 16), SAMPLINGS["physics-1-sliding"])
    assert [int(w.numbers[0]) for w in windows] == [0, 8, 16, 24, 29]
    assert windows[-1].numbers[-1] == 44


def released(total, fps, frames=48, grid=16.0, seconds=None):
    """The rule of phyprobe 0.1.0, told a second time and more slowly."""
    count = max(1, round(total / fps * grid))
    numbers = [min(total - 1, round(i / grid * fps)) for i in range(count)]
    if seconds is not None:
        numbers = numbers[: max(1, round(seconds * grid))]
    if len(numbers) < frames:
        return numbers + [numbers[-1]] * (frames - len(numbers))
    return [numbers[round(p)] for p in np.linspace(0, len(numbers) - 1, frames)]


@given(
    total=st.integers(1, 2000), fps=st.sampled_from([4, 6.25, 8, 15, 24, 24000 / 1001, 30, 60, 120])
)
def test_the_released_grid_chooses_the_frames_that_the_released_package_chooses(total, fps):
    (whole,) = windows_of(even(total, fps), SAMPLINGS["phyprobe-1"])
    (start,) = windows_of(even(total, fps), SAMPLINGS["phyprobe-1-start"])
    assert whole.numbers.tolist() == released(total, fps)
    assert start.numbers.tolist() == released(total, fps, seconds=3.0)


def test_a_sampling_or_canvas_that_cannot_be_is_refused_in_words():
    with pytest.raises(ValueError, match="span and start only"):
        Sampling("x", window="multi", grid="released")
    with pytest.raises(ValueError, match="fps is pictures per second"):
        Sampling("x", fps=0.0)
    with pytest.raises(ValueError, match="stride is seconds"):
        Sampling("x", window="multi", stride=0.01)
    with pytest.raises(ValueError, match="1 to 8192"):
        Canvas(0)
    with pytest.raises(ValueError, match="limit 'timeout' is above 0"):
        Limits(timeout=0.0)


def test_keys_change_with_every_choice_but_the_name():
    one = SAMPLINGS["physics-1"]
    assert Sampling("other").key == one.key
    assert len({s.key for s in SAMPLINGS.values()}) == len(SAMPLINGS)
    assert Sampling("x", fps=15.0).key != one.key
    assert len({c.key for c in [*CANVASES.values(), Canvas(448, fill=0)]}) == 3


stamps = st.lists(st.one_of(st.none(), st.integers(-5000, 5000)), min_size=1, max_size=40)


@given(stamps=stamps, step=st.integers(1, 500))
def test_repaired_times_rise_whatever_the_file_says(stamps, step):
    risen = rising(stamps, step)
    assert len(risen) == len(stamps)
    assert (np.diff(risen) > 0).all()


def test_times_that_are_sound_are_left_alone_and_swapped_ones_swapped_back():
    assert rising([3, 4, 8, 9], 1).tolist() == [3, 4, 8, 9]
    assert rising([0, 20, 10, 30], 10).tolist() == [0, 10, 20, 30]
    assert rising([None] * 3, 7).tolist() == [0, 7, 14]


def test_a_clock_that_starts_anew_goes_on_where_it_was():
    assert rising([*range(0, 200, 10), *range(0, 50, 10)], 10).tolist() == list(range(0, 250, 10))
