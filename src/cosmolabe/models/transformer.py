"""Transformer over entity-frames: every entity of every frame is a token, the future is unseen.

A token attends, in one softmax, all living entities of its own frame, the scenery, and its own
past, at most W - 1 frames back; how far back is told by a bias per head and lag, so nothing
depends on where in the episode a frame stands. A rollout can keep the keys and values of the last
W - 1 frames instead of computing them again, and gives the same numbers.

A token's motion is its velocity times a gain, plus a push, or a jump to a place. Training unrolls
the model over its own predictions, through the same rebuild as a rollout.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY, VX
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.features import wrapped
from cosmolabe.nets.imagination import Dreamt, Imagination, Likely
from cosmolabe.nets.residual import MOTION, read_heads
from cosmolabe.nets.worlds import NetworkWorld, create_world, load_world

WINDOW = 8  # frames a token sees, its own included
WAVES = (1, 2, 4, 8)  # waves per world of the position features
FAR = -1e9  # attention score of what must not be seen

KeysValues = tuple[Tensor, Tensor]
"""Keys and values, (batch, time, token, head, channel)."""


@dataclass(frozen=True)
class Memory:
    """What later frames of a rollout need of earlier ones."""

    registry: Float[Tensor, "batch 1 moving width"]
    """What each moving slot is, as a part of its tokens."""
    scenery: tuple[KeysValues, ...]
    """Per layer, (batch, scenery, head, channel); the same in every frame."""
    past: tuple[KeysValues | None, ...]
    """Per layer, at most the last W - 1 frames."""


@dataclass(frozen=True)
class Size:
    """How big the network is."""

    width: int
    layers: int
    heads: int
    expansion: int
    """Width of the hidden layer of a block's perceptron, in widths."""


SIZES = {
    "laptop": Size(width=64, layers=2, heads=4, expansion=2),
    # Width and layers as in AutoWorldModel-Bench; heads and expansion are our choice.
    "paper": Size(width=256, layers=3, heads=8, expansion=4),
}


class Block(nn.Module):
    """Attention over own frame, scenery and own past, then a perceptron on each token."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width, self.heads = size.width, size.heads
        self.before_attention = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.mix = nn.Linear(width, width)
        self.lag_bias = nn.Parameter(torch.zeros(size.heads, WINDOW))
        self.reach = nn.Parameter(torch.linspace(0, 6, size.heads))  # how much distance costs
        self.before_perceptron = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, size.expansion * width),
            nn.GELU(),
            nn.Linear(size.expansion * width, width),
        )

    def split(self, tokens: Tensor) -> Tensor:
        """Queries, keys and values (3, batch, ..., head, channel)."""
        both = self.query_key_value(self.before_attention(tokens))
        return both.unflatten(-1, (3, self.heads, -1)).movedim(-3, 0)

    def scenery(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scenery attends nothing; gives its keys, values and its next tokens."""
        _, keys, values = self.split(tokens)
        return keys, values, tokens + self.perceptron(self.before_perceptron(tokens))

    def forward(
        self,
        tokens: Float[Tensor, "batch time token width"],
        scenery: KeysValues,
        distance: Float[Tensor, "batch time token seen"],
        hidden: Float[Tensor, "batch time token seen"],
        past: KeysValues | None,
    ) -> tuple[Tensor, KeysValues]:
        """The next tokens, and the keys and values of all frames that later ones may see."""
        query, key, value = self.split(tokens)
        query = query * query.shape[-1] ** -0.5
        all_keys = key if past is None else torch.cat([past[0], key], 1)
        all_values = value if past is None else torch.cat([past[1], value], 1)
        here_keys = self.with_scenery(key, scenery[0])
        here_values = self.with_scenery(value, scenery[1])

        here = torch.einsum("btihc,btjhc->btihj", query, here_keys)
        cost = F.softplus(self.reach)[:, None]
        here = here - distance[:, :, :, None] * cost + hidden[:, :, :, None]
        back = (query[:, :, None] * all_keys[:, None]).sum(-1)  # as a matmul these are too small
        back = back + self.banded(query.shape[1], all_keys.shape[1])[:, :, None]

        weights = torch.cat([here, back.movedim(2, -1)], -1).softmax(-1)
        here, back = weights.split([here.shape[-1], back.shape[2]], -1)
        seen = torch.einsum("btihj,btjhc->btihc", here, here_values)
        back = back.movedim(-1, 2)[..., None]
        seen = seen + (back * all_values[:, None]).sum(2)
        tokens = tokens + self.mix(seen.flatten(-2))
        tokens = tokens + self.perceptron(self.before_perceptron(tokens))
        return tokens, (all_keys[:, 1 - WINDOW :], all_values[:, 1 - WINDOW :])

    @staticmethod
    def with_scenery(mine: Tensor, scenery: Tensor) -> Tensor:
        """Tokens of the frame, then the scenery, which is the same in every frame."""
        shared = scenery[:, None].expand(-1, mine.shape[1], -1, -1, -1)
        return torch.cat([mine, shared], 2)

    def banded(self, queries: int, keys: int) -> Float[Tensor, "query key head"]:
        """Bias of a token's own past: lags 1 .. W - 1 are seen, all else is not."""
        now = torch.arange(keys - queries, keys)
        lag = now[:, None] - torch.arange(keys)
        bias = self.lag_bias[:, lag.clamp(0, WINDOW - 1)].movedim(0, -1)
        seen = (lag >= 1) & (lag < WINDOW)
        return torch.where(seen[..., None], bias, FAR)


class Transformer(Imagination):
    """The network: sees frames, says what is likely in the next one."""

    window = WINDOW

    def __init__(self, manifest: Manifest, size: str) -> None:
        super().__init__(manifest)
        if size not in SIZES:
            raise ValueError(f"the transformer has no size '{size}'; have {list(SIZES)}")
        shape, profile = SIZES[size], manifest.profile
        self.num_fields, self.num_globals = len(profile.game_fields), len(profile.global_fields)
        num_state = 3 + 4 * len(WAVES) + 6 + 3 * self.num_fields
        width = shape.width
        self.state_in = nn.Linear(num_state, width)
        self.registry_in = nn.Linear(profile.num_registry, width, bias=False)
        self.frame_in = nn.Linear(len(profile.action_fields) + self.num_globals, width)
        self.frame_token = nn.Linear(len(profile.action_fields) + self.num_globals, width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.last_norm = nn.LayerNorm(width)
        self.entity_out = nn.Linear(width, MOTION + self.num_fields)
        self.frame_out = nn.Linear(width, self.num_globals + 1)
        for head in (self.entity_out, self.frame_out):
            nn.init.normal_(head.weight, std=0.002)
            nn.init.zeros_(head.bias)

    def describe(self, states: Tensor) -> Tensor:
        """Tokens of entities (batch, ..., width) before registry, time and action are added."""
        alive = states[..., ALIVE : ALIVE + 1]
        place = states[..., :2]
        waves = torch.cat([place * (2 * torch.pi * k) for k in WAVES], -1)
        moves = torch.cat([states[..., VX : VX + 2], states[..., -NUM_HISTORY:]], -1)
        moves = (moves / self.speed.repeat(3)).clamp(-8, 8)
        fields = states[..., FIELDS_START:-NUM_HISTORY]
        quarters = fields * (torch.pi / 2)  # tells directions and other small numbers apart
        fields = (fields - self.field_mean) / self.field_scale
        fields = torch.cat([fields, quarters.sin(), quarters.cos()], -1)
        features = [2 * place - 1, alive, waves.sin(), waves.cos(), moves]
        return self.state_in(torch.cat([*features, fields], -1))

    def begin(self, batch: Batch) -> Memory:
        """The memory before the first frame: registry and scenery, which never change."""
        tokens = self.describe(batch.scenery) + self.registry_in(batch.scenery_registry)
        scenery = []
        for block in self.blocks:
            assert isinstance(block, Block)
            keys, values, tokens = block.scenery(tokens)
            scenery.append((keys, values))
        return Memory(
            registry=self.registry_in(batch.registry)[:, None],
            scenery=tuple(scenery),
            past=(None,) * len(self.blocks),
        )

    def likely(self, dreamt: Dreamt, memory: Memory | None) -> tuple[Likely, Memory]:
        """What the frames of `dreamt` make likely for the frame after each of them."""
        memory = memory or self.begin(dreamt.batch)
        num_moving = dreamt.states.shape[2]
        numbers = (dreamt.globals - self.global_mean) / self.global_scale
        frame = torch.cat([numbers.clamp(-8, 8), dreamt.actions], -1)
        tokens = self.describe(dreamt.states) + memory.registry + self.frame_in(frame)[:, :, None]
        tokens = torch.cat([tokens, self.frame_token(frame)[:, :, None]], 2)
        distance, hidden = self.surroundings(dreamt.states, dreamt.batch)
        kept = []
        for block, scenery, past in zip(self.blocks, memory.scenery, memory.past, strict=True):
            tokens, seen = block(tokens, scenery, distance, hidden, past)
            kept.append(seen)
        tokens = self.last_norm(tokens)
        entity = self.entity_out(tokens[:, :, :num_moving])
        likely = read_heads(self, dreamt, entity, self.frame_out(tokens[:, :, num_moving]))
        return likely, replace(memory, past=tuple(kept))

    def surroundings(self, states: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """How far every token is from those it sees, and which are dead (never oneself)."""
        num_frames, num_moving = states.shape[1], states.shape[2]
        scenery = batch.scenery[:, None].expand(-1, num_frames, -1, -1)
        seen = torch.cat([states[..., :3], scenery[..., :3]], 2)
        gap = wrapped(states[:, :, :, None, :2] - seen[:, :, None, :, :2], batch.wrap)
        distance = gap.abs().sum(-1)
        dead = (seen[:, :, None, :, ALIVE] < 0.5).expand_as(distance)
        own = torch.eye(num_moving, seen.shape[2], dtype=torch.bool)
        hidden = torch.where(dead & ~own, FAR, 0.0)
        return frame_between(distance, num_moving), frame_between(hidden, num_moving)


def frame_between(seen: Tensor, num_moving: int) -> Tensor:
    """Room for the frame token, which is near everything, after the moving slots, both ways."""
    seen = torch.cat(
        [seen[..., :num_moving], seen.new_zeros(*seen.shape[:-1], 1), seen[..., num_moving:]], -1
    )
    return torch.cat([seen, torch.zeros_like(seen[:, :, :1])], 2)


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> NetworkWorld:
    """An untrained transformer."""
    return create_world("transformer", Transformer, manifest, size, seed)


def load(folder: Path, manifest: Manifest) -> NetworkWorld:
    """A trained transformer from its checkpoint folder."""
    return load_world("transformer", Transformer, folder, manifest)


MODEL = ModelPart(
    "transformer",
    "Block-causal attention over entity-frames; learns what a constant velocity gets wrong.",
    create,
    load,
    trainable=True,
    sizes=tuple(SIZES),
)
