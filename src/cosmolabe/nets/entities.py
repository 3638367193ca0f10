"""Entities of one frame that see each other: features, geometry, and blocks of attention.

What happened before is in the state row (velocity and the last two displacements), so a frame is
enough to tell how its entities move, and nothing of the future can leak into it.

Attention gives, beside the mean of the values, the mean displacement to what is attended, per head:
where an entity attends its nearest neighbour it knows exactly how far away that is.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY, VX
from cosmolabe.core.manifest import Manifest, Profile
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.features import wrapped
from cosmolabe.nets.imagination import Imagination

WAVES = (1, 2, 4, 8, 16)  # waves per world of the position features
NEAR = (0.03, 0.15)  # distances that the geometry resolves, shares of the world
NUM_GEOMETRY = 4 * len(NEAR) + 1
ORDERS = ("segment_index", "row", "col")  # fields that say where in a row something stands
STEPS = (-1, 0, 1)  # who stands next to oneself in such an order, and who beside
FAR = -1e9  # attention score of what must not be seen


def num_features(profile: Profile) -> int:
    """Width of what `entity_features` gives."""
    return 3 + 4 * len(WAVES) + 6 + 3 * len(profile.game_fields)


def entity_features(network: Imagination, states: Tensor) -> Tensor:
    """State rows as numbers near 1, by the scales the network holds (batch, ..., feature)."""
    place, alive = states[..., :2], states[..., ALIVE : ALIVE + 1]
    waves = torch.cat([place * (2 * torch.pi * k) for k in WAVES], -1)
    moves = torch.cat([states[..., VX : VX + 2], states[..., -NUM_HISTORY:]], -1)
    moves = (moves / network.speed.repeat(3)).clamp(-8, 8)
    fields = states[..., FIELDS_START:-NUM_HISTORY]
    turns = torch.where(network.field_turns, 2 * torch.pi, torch.pi / 2) * fields
    fields = (fields - network.field_mean) / network.field_scale
    fields = torch.cat([fields, turns.sin(), turns.cos()], -1)
    return torch.cat([2 * place - 1, alive, waves.sin(), waves.cos(), moves, fields], -1)


def orders(manifest: Manifest) -> list[int]:
    """Columns of a state row that say where in an order an entity stands."""
    names = manifest.profile.game_fields
    return [FIELDS_START + names.index(n) for n in ORDERS if n in manifest.fields]


def num_geometry(orders: list[int]) -> int:
    """How many numbers say how two entities stand to each other."""
    return NUM_GEOMETRY + len(STEPS) * len(orders)


@dataclass(frozen=True)
class Surroundings:
    """Who sees whom in a frame: moving slots, then the frame's own token; the scenery last."""

    geometry: Float[Tensor, "frame token seen geometry"]
    hidden: Float[Tensor, "frame token seen"]
    """0, or `FAR` for what is dead and not oneself."""

    def without_scenery(self) -> "Surroundings":
        """Only moving slots and the frame's token."""
        tokens = self.hidden.shape[1]
        return Surroundings(self.geometry[:, :, :tokens], self.hidden[:, :, :tokens])


def surroundings(
    states: Float[Tensor, "frame moving state"],
    scenery: Tensor,
    batch: Batch,
    orders: list[int],
) -> Surroundings:
    """Displacements between all tokens of a frame; the frame's own token is near everything.

    In each of the orders also who is a step before, beside and a step behind.
    """
    num = states.shape[1]
    seen = torch.cat([states, scenery], 1)
    gap = wrapped(seen[:, None, :, :2] - states[:, :, None, :2], batch.wrap)
    bent = torch.cat([torch.tanh(gap / near) for near in NEAR], -1)
    steps = seen[:, None, :, orders] - states[:, :, None, orders]
    beside = torch.cat([(1 - (steps - step).abs()).clamp(min=0) for step in STEPS], -1)
    geometry = torch.cat([beside, bent, bent.abs(), gap.abs().sum(-1, keepdim=True)], -1)
    geometry = F.pad(geometry, (0, 0, 0, 0, 0, 1))
    geometry = torch.cat(
        [geometry[:, :, :num], torch.zeros_like(geometry[:, :, :1]), geometry[:, :, num:]], 2
    )
    dead = (seen[:, None, :, ALIVE] < 0.5).expand(-1, num, -1)
    hidden = torch.where(dead & ~torch.eye(num, seen.shape[1], dtype=torch.bool), FAR, 0.0)
    hidden = torch.cat([hidden, torch.where(dead[:, :1], FAR, 0.0)], 1)
    hidden = torch.cat(
        [hidden[:, :, :num], torch.zeros_like(hidden[:, :, :1]), hidden[:, :, num:]], 2
    )
    return Surroundings(geometry, hidden)


def queue(registry: Float[Tensor, "batch moving width"]) -> Float[Tensor, "batch moving moving"]:
    """1 where the second entity is of the same make as the first and stands before it."""
    alike = (registry[:, :, None] == registry[:, None]).all(-1)
    return torch.tril(alike, -1).to(registry.dtype)


def free_first(states: Tensor, queue: Tensor) -> Float[Tensor, "*batch moving 2"]:
    """Whether a dead entity is the first, or the second, of its make to be free.

    Games fill the first free slot; nothing else tells slots of one make apart.
    """
    dead = (states[..., ALIVE : ALIVE + 1] < 0.5).to(states.dtype)
    ahead = queue @ dead
    return dead * torch.cat([ahead == 0, ahead == 1], -1)


class Block(nn.Module):
    """Attention with geometry, then a perceptron on each token."""

    def __init__(
        self, width: int, heads: int, expansion: int, num_geometry: int = NUM_GEOMETRY
    ) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.nearness = nn.Linear(num_geometry, heads, bias=False)
        self.mix = nn.Linear(width + heads * num_geometry, width)
        self.before_perceptron = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, expansion * width), nn.GELU(), nn.Linear(expansion * width, width)
        )
        with torch.no_grad():
            self.nearness.weight.zero_()
            self.nearness.weight[:, -1] = -torch.linspace(0, 12, heads)  # near counts more
            for i in range(num_geometry - NUM_GEOMETRY):  # a head looks at who stands before, ...
                self.nearness.weight[i % heads, i] = 4

    def split(self, tokens: Tensor) -> Tensor:
        """Queries, keys and values (3, frame, token, head, channel)."""
        both = self.query_key_value(self.before_attention(tokens))
        return both.unflatten(-1, (3, self.heads, -1)).movedim(-3, 0)

    def alone(self, tokens: Tensor) -> Tensor:
        """Tokens that attend nothing, as the scenery does."""
        return tokens + self.perceptron(self.before_perceptron(tokens))

    def forward(self, tokens: Tensor, around: Surroundings, scenery: Tensor | None) -> Tensor:
        """The next tokens (frame, token, width); `scenery` (frame, scenery, width) is seen too."""
        query, key, value = self.split(tokens)
        if scenery is not None and scenery.shape[1]:
            _, keys, values = self.split(scenery)
            key, value = torch.cat([key, keys], 1), torch.cat([value, values], 1)
        scores = torch.einsum("fqhc,fshc->fhqs", query * query.shape[-1] ** -0.5, key)
        near = self.nearness(around.geometry).movedim(-1, 1)
        weights = (scores + near + around.hidden[:, None]).softmax(-1)
        seen = torch.einsum("fhqs,fshc->fqhc", weights, value).flatten(-2)
        where = torch.einsum("fhqs,fqsg->fqhg", weights, around.geometry).flatten(-2)
        tokens = tokens + self.mix(torch.cat([seen, where], -1))
        return tokens + self.perceptron(self.before_perceptron(tokens))
