import numpy as np
import pytest
import torch

from cosmolabe.nets.motion_maps import (
    CELLS,
    NAMES,
    REACH,
    SIDE,
    SIDEWAYS,
    displacements,
    motion_maps,
)


def drawn(places, side=SIDE, size=8):
    """A white square on black, one picture a place (row, column)."""
    pictures = torch.zeros(len(places), 3, side, side)
    for picture, (row, column) in zip(pictures, places, strict=True):
        picture[:, row : row + size, column : column + size] = 1
    return pictures


def strongest(maps, name):
    return maps[:, NAMES.index(name)].flatten(1).amax(1)


STEADY = [(40, 8 + 4 * t) for t in range(12)]


def test_what_jumps_comes_from_nowhere_and_what_moves_steadily_does_not():
    steady = motion_maps(drawn(STEADY))
    jumped = motion_maps(drawn([*STEADY[:6], *((8, c) for _, c in STEADY[6:])]))
    came = strongest(jumped, "unexplained before")
    assert came[6] > strongest(steady, "unexplained before")[6] + 0.5
    torch.testing.assert_close(came[1:5], strongest(steady, "unexplained before")[1:5])


def test_what_turns_back_changes_its_speed():
    steady = motion_maps(drawn(STEADY))
    turned = motion_maps(drawn([*STEADY[:7], *STEADY[5::-1][:5]]))
    speed = strongest(turned, "speed changed")
    assert speed[6] == speed[2:-2].max()
    assert speed[6] > strongest(steady, "speed changed")[6] + 0.3


def test_a_thing_that_vanishes_goes_nowhere():
    gone = drawn(STEADY)
    gone[6:] = 0
    after = strongest(motion_maps(gone), "unexplained after")
    assert after[5] > strongest(motion_maps(drawn(STEADY)), "unexplained after")[5] + 0.5


def test_the_same_pictures_backwards_move_the_other_way():
    there = motion_maps(drawn(STEADY))
    back = motion_maps(drawn(STEADY[::-1]))
    right = NAMES.index("right since")
    assert there[3:-3, right].max() > 0
    assert there[3:-3, right].min() >= 0
    assert back[3:-3, right].min() < 0
    assert back[3:-3, right].max() <= 0


def test_a_mirrored_clip_has_mirrored_maps_with_sideways_motion_turned():
    clip = drawn([(30 + t, 8 + 4 * t) for t in range(8)])
    plain, mirrored = motion_maps(clip), motion_maps(clip.flip(-1))
    sign = torch.ones(len(NAMES))
    sign[list(SIDEWAYS)] = -1
    expected = plain.flip(-1) * sign[:, None, None]
    firm = [i for i, name in enumerate(NAMES) if i < 8 or "right" in name]
    torch.testing.assert_close(mirrored[2:-2, firm], expected[2:-2, firm], atol=0.05, rtol=0)


@pytest.mark.parametrize("gain", [0.4, 0.7])
def test_a_darker_clip_moves_as_the_brighter_one_does(gain):
    clip = 0.2 + 0.6 * drawn(STEADY)
    one, other = motion_maps(clip), motion_maps(clip * gain)
    assert (one - other).abs().max() < 0.35 * one.abs().max()
    moves = [NAMES.index(name) for name in ("right since", "right until")]
    torch.testing.assert_close(one[:, moves], other[:, moves])


def test_compiled_loops_and_torch_say_the_same_and_torch_has_a_gradient():
    dice = torch.Generator().manual_seed(0)
    clip = torch.rand(5, 3, SIDE, SIDE, generator=dice)
    compiled = motion_maps(clip)
    clip.requires_grad_()
    written = motion_maps(clip)
    torch.testing.assert_close(compiled, written.detach(), atol=1e-4, rtol=0)
    written.sum().backward()
    assert clip.grad is not None
    assert clip.grad.abs().sum() > 0


def test_one_picture_alone_has_maps_and_nothing_moves_in_it():
    maps = motion_maps(drawn([(10, 10)]))
    assert maps.shape == (1, len(NAMES), CELLS, CELLS)
    assert torch.isfinite(maps).all()
    assert maps[:, 0].max() == 0


def test_displacements_begin_with_none_and_stay_within_reach():
    moves = np.array(displacements())
    assert moves[0].tolist() == [0, 0]
    assert (np.hypot(*moves.T) <= REACH + 0.1).all()
    assert len(set(map(tuple, moves))) == len(moves)
