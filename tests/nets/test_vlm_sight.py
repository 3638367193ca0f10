"""What true states say of pictures, and heads that learn to read it off a tower's tokens."""

import numpy as np
import torch

from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, KINDS, X, Y
from cosmolabe.nets.vlm_sight import (
    PROJECTED,
    UNKNOWN,
    ProjectedHeads,
    SightHeads,
    Sights,
    sights_of,
    total,
)

PONG = parts.load("games", "pong")


def states(count=3):
    found = np.zeros((count, PONG.manifest.num_slots, 23), np.float32)
    found[:, 0, [X, Y, ALIVE]] = (0.1, 0.6, 1)  # the left bat
    found[:, 1, [X, Y, ALIVE]] = (0.9, 0.2, 1)
    return found


def sights(count=3, cells=4):
    return sights_of(PONG.manifest, states(count), {0: 2, 1: 5}, 5, cells)


def test_sights_say_where_the_player_and_the_opponent_stand() -> None:
    found = sights()
    player, opponent = KINDS.index("player"), KINDS.index("opponent")
    assert found.cover[0, player, 2, 0] == 1
    assert found.cover[0, player].sum() == 1
    assert found.cover[0, opponent, 0, 3] == 1
    assert found.places[0, player].tolist() == [np.float32(0.1), np.float32(0.6)]
    assert found.named[0, 2, 0] == 2
    assert found.named[0, 0, 3] == 5
    np.testing.assert_allclose(found.within[0], [0.4, 0.4], atol=1e-5)


def test_who_is_dead_or_off_the_picture_stands_nowhere() -> None:
    some = states()
    some[0, 0, ALIVE] = 0
    some[1, 0, X] = 1.2
    found = sights_of(PONG.manifest, some, {0: 2, 1: 5}, 5, 4)
    player = KINDS.index("player")
    assert found.cover[:2, player].sum() == 0
    assert np.isnan(found.places[:2, player]).all()
    assert found.character.tolist() == [UNKNOWN, UNKNOWN, 2]
    assert (found.named[:2] == 2).sum() == 0


def test_of_many_of_a_kind_no_place_is_asked() -> None:
    breakout = parts.load("games", "breakout")
    some = np.zeros((1, breakout.manifest.num_slots, 23), np.float32)
    bricks = [i for i, slot in enumerate(breakout.manifest.slots) if slot.kind == "brick"]
    some[0, bricks[:2], ALIVE] = 1
    some[0, bricks[:2], X] = 0.5
    some[0, bricks[:2], Y] = 0.5
    found = sights_of(breakout.manifest, some, {0: 0}, 1, 4)
    assert np.isnan(found.places[0, KINDS.index("brick")]).all()
    assert found.counts[0, KINDS.index("brick")] == np.float32(np.log(3))


def test_heads_learn_what_tokens_hold_and_losses_are_finite_where_nothing_is_known() -> None:
    torch.manual_seed(0)
    some = Sights.joined([sights(), sights_of(PONG.manifest, states() * 0, {0: 2, 1: 5}, 5, 4)])
    tokens = torch.randn(len(some), 16, 24)
    heads = SightHeads(24, 8, 8)
    optimizer = torch.optim.Adam(heads.parameters(), lr=0.05)
    first = last = total(heads(tokens, some))
    for _ in range(40):
        last = total(heads(tokens, some))
        optimizer.zero_grad()
        last.backward()
        optimizer.step()
    assert torch.isfinite(first)
    assert last < 0.5 * first
    nothing = sights_of(PONG.manifest, states() * 0, {0: 2, 1: 5}, 5, 4)
    assert torch.isfinite(total(heads(tokens[:3], nothing)))


def test_heads_on_projected_tokens_learn_the_place_within_a_quarter_of_the_picture() -> None:
    torch.manual_seed(0)
    some = sights(4, cells=4)
    tokens = torch.randn(4, 4, 24)
    heads = ProjectedHeads(24, 8, 4)
    optimizer = torch.optim.Adam(heads.parameters(), lr=0.05)
    first = total(heads(tokens, some), PROJECTED).item()
    for _ in range(60):
        losses = heads(tokens, some)
        optimizer.zero_grad()
        total(losses, PROJECTED).backward()
        optimizer.step()
    assert total(heads(tokens, some), PROJECTED).item() < 0.3 * first
    assert heads(tokens, some)["right_place"] == 1
    assert heads(tokens, some)["right_named"] == 1
    nothing = sights_of(PONG.manifest, states() * 0, {0: 2, 1: 5}, 5, 4)
    assert torch.isfinite(total(heads(tokens[:3], nothing), PROJECTED))
