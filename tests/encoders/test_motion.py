"""Eyes of other libraries, whose silent traps must stay closed."""

import numpy as np
import pytest
import torch

from cosmolabe.core.clip import Clip
from cosmolabe.encoders import videomae, vjepa2, wan_vae


def clip_of(times, side=32, seed=0):
    frames = np.random.default_rng(seed).integers(0, 255, (times, side, side, 3), dtype=np.uint8)
    return Clip(frames, np.arange(times), np.arange(times) / 16, 16.0, 16.0)


def held(clip, times):
    """The clip with its last picture shown until there are `times`."""
    shown = np.minimum(np.arange(times), len(clip) - 1)
    return Clip(clip.frames, shown, np.arange(times) / 16, 16.0, 16.0)


@pytest.fixture(scope="module")
def jepa():
    return vjepa2.load(size="toy", random=True)


@pytest.fixture(scope="module")
def mae():
    return videomae.load(size="toy", random=True)


@pytest.fixture(scope="module")
def wan():
    return wan_vae.load(size="toy", random=True)


@pytest.mark.parametrize(("times", "rows"), [(1, 1), (2, 1), (3, 2), (47, 24), (48, 24)])
def test_v_jepa_gives_a_row_for_two_frames_and_drops_none(jepa, times, rows):
    assert jepa.encode(clip_of(times)).shape == (rows, 24)


def test_v_jepa_holds_the_last_of_an_odd_number_of_frames(jepa):
    clip = clip_of(5)
    np.testing.assert_array_equal(jepa.encode(clip), jepa.encode(held(clip, 6)))
    changed = Clip(clip.frames.copy(), clip.shown, clip.times, 16.0, 16.0)
    changed.frames[-1] = 0
    assert np.abs(jepa.encode(changed)[-1] - jepa.encode(clip)[-1]).max() > 1e-3


def test_v_jepa_never_sees_a_picture_of_a_size_it_would_misplace(jepa):
    with pytest.raises(ValueError, match="takes 32 by 32 pixels and would misplace others"):
        jepa.net(torch.zeros(1, 2, 3, 48, 48))
    assert jepa.encode(clip_of(2, side=48)).shape == (1, 24)  # the eye fits it first


def test_the_rows_of_v_jepa_are_the_means_of_the_patches_in_order_of_time(jepa):
    looked = jepa.look(torch.from_numpy(clip_of(4).frames).permute(0, 3, 1, 2) / 255)
    with torch.no_grad():
        tokens = jepa.net.net(pixel_values_videos=looked[None], skip_predictor=True)
    by_hand = tokens.last_hidden_state.reshape(2, 16, 24).mean(1)  # 2 tubelets of 4 by 4 patches
    np.testing.assert_allclose(jepa.encode(clip_of(4)), by_hand, atol=1e-6)


def test_v_jepa_is_surprised_by_what_its_predictor_misses_and_by_nothing_else(jepa, monkeypatch):
    clip = clip_of(8)
    real = jepa.net.net.predictor.forward
    with torch.no_grad():
        _, comes = jepa.net.foretell(jepa.looked(clip), 2)

    def knows_it_all(tokens, before, after):
        said = real(tokens, before, after)
        said.last_hidden_state = comes + 0.25
        return said

    assert jepa.surprise(clip, (2,))[0] > 0.3
    monkeypatch.setattr(jepa.net.net.predictor, "forward", knows_it_all)
    assert jepa.surprise(clip, (2,))[0] == pytest.approx(0.25, abs=1e-6)


def test_v_jepa_foretells_without_having_seen_what_comes(jepa):
    clip, other = clip_of(8), clip_of(8, seed=1)
    other.frames[:4] = clip.frames[:4]
    with torch.no_grad():
        expected, comes = jepa.net.foretell(jepa.looked(clip), 2)
        expected_too, comes_too = jepa.net.foretell(jepa.looked(other), 2)
    assert torch.equal(expected, expected_too)
    assert not torch.equal(comes, comes_too)


def test_where_nothing_is_left_to_foretell_surprise_is_nan(jepa):
    found = jepa.surprise(clip_of(5), (0, 1, 2, 3, 9))
    assert np.isnan(found).tolist() == [True, False, False, True, True]
    assert np.isnan(jepa.surprise(clip_of(1))).all()


@pytest.mark.parametrize(("times", "rows"), [(1, 1), (3, 2), (16, 8), (17, 9), (20, 10), (48, 24)])
def test_videomae_gives_a_row_for_two_frames_and_none_for_filling(mae, times, rows):
    assert mae.encode(clip_of(times)).shape == (rows, 16)


def test_videomae_sees_48_frames_as_three_pieces(mae):
    clip = clip_of(48)
    pieces = [
        Clip(clip.frames[i : i + 16], np.arange(16), np.arange(16) / 16, 16.0, 16.0)
        for i in (0, 16, 32)
    ]
    alone = np.concatenate([mae.encode(piece) for piece in pieces])
    np.testing.assert_array_equal(mae.encode(clip), alone)


def test_videomae_fills_a_short_piece_with_its_last_frame(mae):
    clip = clip_of(5)
    np.testing.assert_array_equal(mae.encode(clip), mae.encode(held(clip, 16))[:3])


@pytest.mark.parametrize(
    ("times", "rows"), [(1, 1), (2, 2), (5, 2), (6, 3), (45, 12), (48, 13), (49, 13)]
)
def test_the_wan_vae_gives_a_row_for_four_frames_and_drops_none(wan, times, rows):
    assert wan.encode(clip_of(times)).shape == (rows, 16)


def test_the_wan_vae_sees_the_last_frames_that_diffusers_would_drop(wan):
    clip = clip_of(8)
    changed = Clip(clip.frames.copy(), clip.shown, clip.times, 16.0, 16.0)
    changed.frames[-1] = 255 - changed.frames[-1]
    assert np.abs(wan.encode(changed)[-1] - wan.encode(clip)[-1]).max() > 1e-4
    np.testing.assert_array_equal(wan.encode(clip), wan.encode(held(clip, 9)))


def test_the_wan_vaes_features_are_the_standardised_mode_of_the_posterior(wan):
    clip = clip_of(5)
    pixels = torch.from_numpy(clip.frames).permute(3, 0, 1, 2)[None] / 127.5 - 1
    with torch.no_grad():
        posterior = wan.net.net.encode(pixels).latent_dist
    config = wan.net.net.config
    mean = posterior.mean.mean((3, 4))[0].T  # the mode of a Gaussian is its mean
    by_hand = (mean - torch.tensor(config.latents_mean)) / torch.tensor(config.latents_std)
    np.testing.assert_allclose(wan.encode(clip), by_hand, atol=1e-5)


def test_the_wan_2_2_vae_is_the_same_eye_with_48_features():
    eye = wan_vae.load(size="toy-2.2", random=True)
    assert eye.encode(clip_of(8)).shape == (3, 48)


def test_the_half_of_the_wan_vae_that_paints_is_not_kept(wan):
    assert not [name for name in wan.net.state_dict() if "decoder" in name]
