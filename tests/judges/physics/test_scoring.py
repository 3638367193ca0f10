import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from moving_squares import glance, random_heads, square

from cosmolabe.judges.physics import PROTOCOLS, Bundle, Physics, Watched, learn, pooled
from cosmolabe.judges.physics.readings import readings_of
from cosmolabe.judges.physics.scoring import judge_watched, violation, window_cuts


def test_order_and_company_change_nothing(physics, clips):
    paths = sorted(clips.glob("*.mp4"))[::2]
    alone = {path.name: physics.score(path)[0] for path in paths}
    together = physics.score(paths[::-1], ahead=3)
    for path, row in zip(paths[::-1], together, strict=True):
        for name in ("status", "raw", "low", "high", "motion", "curve", "worst_start"):
            assert row[name] == alone[path.name][name], name
    assert len({row["raw"] for row in together}) == len(paths)


def test_a_batch_of_tensors_scores_as_each_clip_alone(physics):
    pixels = torch.rand(8, 20, 3, 40, 40, generator=torch.Generator().manual_seed(0))
    together = physics.violation(pixels)
    assert torch.equal(together, torch.cat([physics.violation(one[None]) for one in pixels]))
    mixed = torch.randperm(8, generator=torch.Generator().manual_seed(1))
    assert torch.equal(physics.violation(pixels[mixed]), together[mixed])
    assert together.std() > 0


def test_tensors_score_as_the_same_frames(physics):
    frames = square(48, size=32)
    told = physics.judge_frames(frames, 16.0)
    pixels = torch.from_numpy(frames).permute(0, 3, 1, 2)[None] / 255
    assert abs(float(physics.violation(pixels)) - told.raw) < 1e-5


def test_frames_in_memory_score_as_the_file_that_holds_them(physics, tmp_path):
    frames = square(70)
    np.savez(tmp_path / "a.npz", frames=frames, fps=16.0)
    (row,) = physics.score(tmp_path / "a.npz")
    assert row["status"] == "scored", row["why"]
    assert row["raw"] == physics.judge_frames(frames, 16.0).raw


@given(rows=st.integers(1, 400), length=st.floats(0.05, 1e6), stride=st.floats(0.05, 50))
def test_windows_cover_the_video_from_end_to_end(rows, length, stride):
    cuts = window_cuts(rows, length, stride, 1 / 16)
    assert cuts[0][0] == 0
    assert cuts[-1][1] == rows
    assert len({end - start for start, end in cuts}) == 1
    assert [start for start, _ in cuts] == sorted({start for start, _ in cuts})


def test_a_video_of_three_seconds_is_one_long_window_and_nine_short_ones(physics):
    told = physics.judge_frames(square(48), 16.0)
    assert len(window_cuts(48, 3.0, 1.5, 1 / 16)) == 1
    assert [window[:2] for window in told.curve] == [(0.25 * n, 0.25 * n + 1) for n in range(9)]
    worst = max(told.curve, key=lambda window: window[2])
    assert (told.worst_start, told.worst_end, told.worst_raw) == worst


def test_the_end_of_a_video_counts_once(physics):
    seen = physics.watch(physics_clips(physics, 70))
    assert len(seen.features) == len(seen.clock) == 70
    assert np.allclose(np.diff(seen.clock), 1 / 16)
    assert np.allclose(seen.starts, seen.clock)


def physics_clips(physics, frames):
    from cosmolabe.judges.physics.frames import clips_of

    return clips_of(square(frames), 16.0, physics.protocol)


def test_more_frames_a_second_hardly_change_the_motion_amount(physics):
    slow = square(24, speed=2.0)
    twice = np.repeat(slow, 2, 0)
    one, two = physics.judge_frames(slow, 8.0), physics.judge_frames(twice, 16.0)
    assert one.raw == two.raw
    assert one.motion == two.motion > 0


@pytest.mark.parametrize("kind", ["frozen", "noisy and frozen", "one picture"])
def test_standing_still_is_no_score(physics, kind):
    frames = np.repeat(square(1), 1 if kind == "one picture" else 48, 0)
    if kind == "noisy and frozen":
        dice = np.random.default_rng(0)
        noise = dice.integers(-3, 4, frames.shape)
        frames = np.clip(frames.astype(int) + noise, 0, 255).astype(np.uint8)
    told = physics.judge_frames(frames, 16.0)
    assert told.status == "abstained"
    assert math.isnan(told.value)
    assert math.isnan(told.raw)
    assert "too short" in told.why if kind == "one picture" else "hardly moves" in told.why


def test_slowed_below_the_floor_is_no_score_either(physics):
    assert physics.judge_frames(square(48, speed=2.0), 16.0).status == "scored"
    slowed = np.repeat(square(8, speed=0.3), 40, 0)
    assert physics.judge_frames(slowed, 16.0).status == "abstained"


def test_bars_around_the_picture_do_not_thin_out_its_motion(physics):
    wide = square(32, size=64)[:, 16:48]
    told = physics.judge_frames(wide, 16.0)
    boxed = np.full((32, 64, 64, 3), 128, np.uint8)
    boxed[:, 16:48] = wide
    assert physics.judge_frames(boxed, 16.0).motion == pytest.approx(told.motion, rel=0.03)


def test_the_interval_comes_from_the_members_and_one_alone_has_none(eye):
    heads = random_heads(eye, members=4)
    many = Physics.of(eye, Bundle("many", heads, "glance"))
    told = many.judge_frames(square(48), 16.0)
    assert len(told.members) == 4
    assert told.low <= told.value <= told.high
    assert told.raw == pytest.approx(np.mean(told.members))
    alone = Physics.of(eye, Bundle("alone", random_heads(eye, members=1), "glance"))
    told = alone.judge_frames(square(48), 16.0)
    assert math.isnan(told.low)
    assert math.isnan(told.high)


def test_what_is_unlike_the_training_clips_is_no_score(eye):
    usual = [square(48, seed=n) for n in range(40)]
    plain = Physics.of(eye, Bundle("heads", random_heads(eye), "glance"))
    from cosmolabe.judges.physics.frames import clips_of

    rows = [pooled(plain.watch(clips_of(v, 16.0, plain.protocol)).features) for v in usual]
    knowing = Physics.of(
        eye, Bundle("heads", plain.bundle.fitted, "glance", familiar=learn(np.stack(rows)))
    )
    again = [knowing.judge_frames(square(48, seed=n), 16.0).status for n in range(100, 140)]
    assert again.count("scored") >= 38
    dice = np.random.default_rng(0)
    static = dice.integers(0, 256, (48, 48, 48, 3)).astype(np.uint8)
    told = knowing.judge_frames(static, 16.0)
    assert told.status == "abstained"
    assert "unlike" in told.why
    assert told.distance > 1
    assert knowing.protocol.fingerprint != plain.protocol.fingerprint


def test_every_choice_moves_the_fingerprint(physics):
    prints = {physics.protocol.fingerprint}
    for choice in (
        {"quantile": 0.5}, {"short_weight": 0.0}, {"motion_floor": 0.1}, {"long_stride": 1.0},
        {"short_stride": 0.5}, {"motion_ignored": 0.0}, {"shortest": 0.0}, {"unlike": False},
    ):  # fmt: skip
        prints.add(Physics.of(physics.encoder, physics.bundle, choices=choice).protocol.fingerprint)
    other = Bundle("other", random_heads(physics.encoder, seed=1), "glance")
    prints.add(Physics.of(physics.encoder, other).protocol.fingerprint)
    prints.add(
        Physics.of(physics.encoder, physics.bundle, "physics/phyprobe-1").protocol.fingerprint
    )
    assert len(prints) == 11
    same = Physics.of(glance(chunk=1), Bundle("x", random_heads(glance()), "glance"))
    assert same.protocol.fingerprint == physics.protocol.fingerprint


def test_a_head_may_not_choose_the_grid(physics):
    with pytest.raises(ValueError, match="a head may choose"):
        Physics.of(physics.encoder, physics.bundle, choices={"sampling": None})
    with pytest.raises(ValueError, match="no protocol"):
        Physics.of(physics.encoder, physics.bundle, "physics/9")


def test_a_head_made_for_another_eye_is_refused(physics):
    other = glance()
    other.key = "0123"
    with pytest.raises(ValueError, match="fit a head for this eye"):
        Physics.of(other, physics.bundle)


def test_the_released_way_is_one_window_of_the_whole_and_no_abstention(physics):
    released = Physics.of(physics.encoder, physics.bundle, "physics/phyprobe-1")
    seen = released.watch(released_clips(released, 160))
    told = judge_watched(seen, released.bundle, released.protocol)
    assert len(seen.features) == 48
    assert told.raw == pytest.approx(released.bundle.fitted.score([seen.features])[0])
    assert told.curve == ()
    assert math.isnan(told.worst_start)
    frozen = np.repeat(square(1), 20, 0)
    assert released.judge_frames(frozen, 16.0).status == "scored"
    assert PROTOCOLS["physics/phyprobe-1"].canvas.size == released.protocol.canvas.size == 480


def released_clips(physics, frames):
    from cosmolabe.judges.physics.frames import clips_of

    return clips_of(square(frames), 16.0, physics.protocol)


def test_the_gradient_reaches_the_pixels_and_following_it_lowers_the_score(physics):
    pixels = torch.rand(2, 20, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    pixels.requires_grad_(True)
    optimiser = torch.optim.SGD([pixels], lr=0.3)
    scores = []
    for _ in range(6):
        raw = physics.violation(pixels)
        optimiser.zero_grad()
        raw.sum().backward()
        assert (pixels.grad.flatten(1).norm(dim=1) > 0).all()
        optimiser.step()
        scores.append(raw.detach())
    assert (scores[-1] < scores[0] - 1e-3).all()


def test_what_is_kept_beside_the_features_comes_back(physics):
    seen = physics.watch(physics_clips(physics, 70))
    again = Watched.retold(seen.features, seen.told())
    assert judge_watched(again, physics.bundle, physics.protocol).raw == (
        judge_watched(seen, physics.bundle, physics.protocol).raw
    )
    assert again.facts == {**seen.facts}
    assert again.motion == pytest.approx(seen.motion, rel=1e-6)
    with pytest.raises(ValueError, match="does not fit"):
        Watched.retold(seen.features[1:], seen.told())


def test_violation_of_features_agrees_with_the_verdict(physics):
    seen = physics.watch(physics_clips(physics, 70))
    told = judge_watched(seen, physics.bundle, physics.protocol)
    features = torch.from_numpy(seen.features)[None]
    raw = violation(features, physics.bundle, physics.protocol, seen.row_seconds)
    assert float(raw) == pytest.approx(told.raw, abs=1e-5)


@pytest.mark.parametrize("prompts", [["a", "a", "a"], ["a", "a", "b"]])
def test_videos_of_one_prompt_have_no_interval(prompts):
    rows = [
        {"input": f"{n}.mp4", "prompt": prompt, "status": "scored", "value": n / 10, "raw": n / 10}
        for n, prompt in enumerate(prompts)
    ]
    reading = readings_of(rows, PROTOCOLS["physics/1"], "d")[0]
    assert reading.metric == "violation"
    assert reading.value == pytest.approx(0.1)
    assert math.isnan(reading.low) == math.isnan(reading.high) == (len(set(prompts)) == 1)
