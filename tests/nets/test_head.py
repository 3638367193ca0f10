"""Heads: their size, what pooling may not depend on, and what a padded time may not do."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cosmolabe.nets.head import (
    AttentionHead,
    EventHead,
    MeanHead,
    StatsHead,
    build_head,
    pool,
    pool_changes,
    quantile_over,
    window_starts,
)
from cosmolabe.nets.head_recipe import HeadRecipe

clips = arrays(np.float32, (7, 5), elements=st.floats(-4, 4, width=32)).map(torch.from_numpy)
KINDS = ("stats", "mean", "attention", "events")


def small(kind, width=8, **dials):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return build_head(
            width, HeadRecipe(kind=kind, hidden=8, heads=2, window=4, stride=2, **dials)
        )


def some(batch=3, times=9, width=8, seed=0):
    return torch.randn(batch, times, width, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("head", "count"), [(StatsHead, 1_016_321), (MeanHead, 360_961), (AttentionHead, 6_920_961)]
)
def test_the_heads_are_as_large_as_the_paper_says(head, count):
    with torch.device("meta"):
        assert sum(p.numel() for p in head(1280).parameters()) == count


@given(clip=clips, times=st.integers(2, 4))
def test_showing_every_picture_as_often_as_the_next_changes_no_statistic(clip, times):
    once, often = pool(clip[None]), pool(clip.repeat_interleave(times, 0)[None])
    torch.testing.assert_close(once, often, atol=1e-5, rtol=1e-5)


@given(clip=clips, order=st.permutations(range(7)))
def test_statistics_alone_do_not_see_the_order_of_pictures(clip, order):
    torch.testing.assert_close(
        pool(clip[None]), pool(clip[list(order)][None]), atol=1e-5, rtol=1e-5
    )


def test_differences_do_see_that_time_runs_backwards():
    clip = some(1)
    forward, backward = pool_changes(clip, 1), pool_changes(clip.flip(1), 1)
    assert not torch.allclose(forward, backward, atol=0.1)


@given(clip=clips)
def test_the_spread_divides_by_the_number_of_times(clip):
    mean, spread, peak = pool(clip[None]).chunk(3, -1)
    torch.testing.assert_close(mean[0], clip.mean(0), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(spread[0], clip.std(0, correction=0), atol=1e-5, rtol=1e-4)
    assert torch.equal(peak[0], clip.amax(0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_clip_of_one_frame_has_a_score_and_a_slope(kind, times):
    orders = 2 if kind in ("stats", "events") else 0
    clip = some(2, times).requires_grad_()
    score = small(kind, differences=orders)(clip)
    score.sum().backward()
    assert torch.isfinite(score).all()
    assert torch.isfinite(clip.grad).all()


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_no_score_whatever_it_holds(kind):
    head, clip = small(kind), some(3, 8)
    padded = torch.cat([clip, torch.full((3, 4, 8), 1e6)], 1)
    mask = torch.arange(12).expand(3, 12) < 8
    if kind == "events":  # windows past the end are padding as well
        rows, known = head.prepare(padded, mask)
        assert not known.all()
        assert torch.equal(rows[:, :3], head.prepare(clip)[0])
        return
    torch.testing.assert_close(head(padded, mask), head(clip), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_clip_without_frames_is_refused(kind):
    with pytest.raises(ValueError, match="without a single frame"):
        small(kind)(torch.zeros(1, 0, 8))
    with pytest.raises(ValueError, match="without a single frame"):
        small(kind)(some(2), torch.tensor([[True] * 9, [False] * 9]))


@given(values=arrays(np.float64, 6, elements=st.floats(-5, 5)), share=st.floats(0, 1))
def test_the_quantile_over_windows_is_numpys(values, share):
    mask = torch.tensor([[True] * 4 + [False] * 2])
    got = quantile_over(torch.from_numpy(values)[None], mask, share)
    np.testing.assert_allclose(got[0], np.quantile(values[:4], share), atol=1e-12)


@given(times=st.integers(1, 60), window=st.integers(1, 20), stride=st.integers(1, 20))
def test_windows_start_at_the_beginning_and_end_with_the_clip(times, window, stride):
    starts = window_starts(times, window, stride)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert starts[-1] + window >= times
    assert all(b - a <= stride for a, b in pairwise(starts))


def test_a_short_event_moves_an_event_head_more_than_the_whole_clips_statistics():
    """Three strange frames of 64: the window that holds them stands out."""
    calm = torch.zeros(1, 64, 8)
    glitch = calm.clone()
    glitch[:, 30:33] = 1.0
    whole = pool(glitch) - pool(calm)
    rows = EventHead(8, window=8, stride=4).prepare(glitch)[0][0]
    assert rows[:, :16].abs().amax(0).mean() > 2 * whole[0, :16].abs().mean()


def test_an_impossible_head_is_refused_in_words():
    with pytest.raises(ValueError, match="divide"):
        AttentionHead(13)
    with pytest.raises(ValueError, match="differences"):
        build_head(8, HeadRecipe(kind="mean", differences=1))


def test_the_attention_head_is_torchs_attention_told_in_another_order():
    head, clip = AttentionHead(8, 8, heads=2), some(3, 6)
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2, [True] + [False] * 5])
    plain = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        for own in (head.ask, head.key, head.value):
            own.bias.normal_()
        plain.in_proj_weight.copy_(torch.cat([head.ask.weight, head.key.weight, head.value.weight]))
        plain.in_proj_bias.copy_(torch.cat([head.ask.bias, head.key.bias, head.value.bias]))
        plain.out_proj.load_state_dict(head.out.state_dict())
    query = head.query.expand(3, 1, 8)
    found, _ = plain(query, clip, clip, key_padding_mask=~mask)
    torch.testing.assert_close(head.layers(found)[:, 0, 0], head(clip, mask))
