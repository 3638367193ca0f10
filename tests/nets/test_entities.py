"""Who sees whom, and who stands next to whom in an order."""

import torch

from cosmolabe.core import parts
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.entities import (
    NUM_GEOMETRY,
    STEPS,
    free_first,
    num_geometry,
    orders,
    queue,
    surroundings,
)


def batch_of(states):
    registry, empty = states[..., :1], torch.zeros(1, 1, 0)
    return Batch(
        registry,
        states[:, None],
        registry[:, :0],
        states[:, :0],
        empty,
        empty,
        torch.zeros(2, dtype=torch.bool),
    )


def test_the_segment_ahead_is_marked_whatever_their_slots_and_places():
    manifest = parts.load("games", "snake").manifest
    columns = orders(manifest)
    assert len(columns) == 1
    states = torch.zeros(1, 4, 23)
    states[..., 2] = 1
    index = torch.tensor([5.0, 3.0, 4.0, 9.0])
    states[..., columns[0]] = index
    geometry = surroundings(states, states[:, :0], batch_of(states), columns).geometry
    assert geometry.shape[-1] == num_geometry(columns) == NUM_GEOMETRY + len(STEPS)
    for number, step in enumerate(STEPS):
        expected = (index[None] - index[:, None] == step).float()
        assert torch.equal(geometry[0, :4, :4, number], expected)
    assert not geometry[0, 4].any()
    assert not geometry[0, :, 4].any()


def test_a_game_without_orders_has_plain_geometry():
    columns = orders(parts.load("games", "pong").manifest)
    assert columns == []
    states = torch.rand(1, 3, 23)
    found = surroundings(states, states[:, :0], batch_of(states), columns)
    assert found.geometry.shape[-1] == NUM_GEOMETRY


def test_the_first_and_the_second_free_slot_of_a_make_are_told():
    states = torch.zeros(1, 5, 23)
    states[0, 0, 2] = 1
    registry = torch.tensor([[[1.0], [1.0], [2.0], [1.0], [1.0]]])
    told = free_first(states, queue(registry))[0]
    assert told.tolist() == [[0, 0], [1, 0], [1, 0], [0, 1], [0, 0]]
