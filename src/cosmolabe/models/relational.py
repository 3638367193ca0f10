"""Relational network: entities hear one another, remember, and stay, steer, set off or leap.

A message says where two entities stand and will stand to each other, in ticks of typical speed, so
that contact, bounce and catch are nearly linear in it. Messages are summed, a recurrent cell per
entity keeps what a frame does not show, and the head chooses a way to move: stay, steer (a
corrected constant velocity), set off (as the action says), or leap, to beside another entity
or to a place of its own. The choice is hard, so ways are never blended, and is trained by the
expected error over all of them. Setting off is told the action and what the entity is, but not how
it moves: it learns what an action does from every step it is held. Whoever is told the velocity
learns to go on as before, which is right until the action changes, and ignores the action.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY, SHAPES, VX
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.entities import free_first, queue
from cosmolabe.nets.features import wrapped
from cosmolabe.nets.imagination import Dreamt, Imagination, Likely
from cosmolabe.nets.residual import quiet
from cosmolabe.nets.worlds import NetworkWorld, create_world, load_world

WINDOW = 8  # context frames it is meant for; its memory takes any number
WAVES = (1, 2, 4, 8)  # waves per world of the position features
FAR = -1e9  # score of who must not be chosen
NUM_WAYS = 4  # stay, steer, set off, leap
EVEN = 0.1  # share of the chances that is spread evenly in training, so that every way learns
ALIKE = 0.1  # errors this close to the least, in typical moves, make ways equally good
CHOICE = 0.05  # weight of not choosing a good way, in errors of standing still
FAR_OFF = 50.0  # a dead entity's score for any way but a leap, below that of a leap


@dataclass(frozen=True)
class Size:
    """How big the network is."""

    width: int
    message: int


SIZES = {"laptop": Size(width=64, message=32), "paper": Size(width=256, message=128)}


@dataclass(frozen=True)
class Choosing(Likely):
    """What is likely, with the ways to move it was chosen from."""

    ways: Float[Tensor, "batch time moving way 2"]
    chance: Float[Tensor, "batch time moving way"]
    free: Bool[Tensor, "batch time moving"]
    """Whether it had the choice: the dead can only leap."""


@dataclass(frozen=True)
class Memory:
    """What later frames need of earlier ones, and what never changes."""

    registry: Float[Tensor, "batch 1 moving width"]
    extent: Float[Tensor, "batch 1 entity 2"]
    """Half sizes of the moving entities, then the scenery, shares of the world."""
    scenery: Float[Tensor, "batch 1 scenery message"]
    """What the scenery says."""
    queue: Float[Tensor, "batch 1 moving moving"]
    """1 where the second entity is of the same make as the first and stands before it."""
    kept: Float[Tensor, "batch moving width"]
    """State of each entity's recurrent cell."""


class Relational(Imagination):
    """The network: sees frames, says what is likely in the next one."""

    window = WINDOW
    player_share = 0.3

    def __init__(self, manifest: Manifest, size: str) -> None:
        super().__init__(manifest)
        if size not in SIZES:
            raise ValueError(f"the relational model has no size '{size}'; have {list(SIZES)}")
        profile, masks = manifest.profile, manifest.masks()
        width, message = SIZES[size].width, SIZES[size].message
        self.aspect = manifest.aspect
        self.sizes_at = len(profile.kinds) + len(SHAPES)
        self.used_fields = masks.fields.nonzero()[0].tolist()
        self.used_globals = masks.globals.nonzero()[0].tolist()
        self.used_actions = masks.actions.nonzero()[0].tolist()
        num_fields, num_globals = len(self.used_fields), len(self.used_globals)
        num_frame = 2 * num_globals + len(self.used_actions)
        self.state_in = nn.Linear(3 + 4 * len(WAVES) + 6 + 8 + 3 * num_fields, width)
        self.turn_in = nn.Linear(2, width, bias=False)
        self.registry_in = nn.Linear(profile.num_registry, width, bias=False)
        self.frame_in = nn.Linear(num_frame, width)
        self.hear = nn.Linear(width, message)
        self.say = nn.Linear(width, message, bias=False)
        self.between = nn.Linear(9 + num_fields, message, bias=False)
        self.point = nn.Linear(message, 1, bias=False)
        self.carry = nn.Linear(width, 4, bias=False)
        self.mix = nn.Linear(message, width)
        self.think = nn.Linear(width, width)
        self.cell = nn.GRUCell(width, width)
        self.decide = nn.Linear(2 * width, width)
        self.entity_out = nn.Linear(width, 8 + NUM_WAYS + 2 + len(profile.game_fields))
        self.act_in = nn.Linear(len(self.used_actions), width)
        self.act_out = nn.Linear(width, 2)
        self.summary = nn.Linear(2 * width + num_frame, width)
        self.frame_out = nn.Linear(width, len(profile.global_fields) + 1)
        for head in (self.entity_out, self.frame_out, self.carry):
            nn.init.normal_(head.weight, std=0.002)
        for head in (self.entity_out, self.frame_out):
            nn.init.zeros_(head.bias)

    def describe(self, states: Tensor, extent: Tensor) -> Tensor:
        """Tokens of entities (batch, ..., width) before the registry is added."""
        place, velocity = states[..., :2], states[..., VX : VX + 2]
        waves = torch.cat([place * (2 * torch.pi * k) for k in WAVES], -1)
        moves = torch.cat([velocity, states[..., -NUM_HISTORY:]], -1) / self.speed.repeat(3)
        edges = torch.cat([place - extent, 1 - extent - place], -1)
        ahead = edges + torch.cat([velocity, -velocity], -1)
        values = states[..., FIELDS_START:-NUM_HISTORY]
        scaled = ((values - self.field_mean) / self.field_scale)[..., self.used_fields]
        quarters = values[..., self.used_fields] * (torch.pi / 2)  # tells small counts apart
        turns = self.field_turns[self.used_fields]
        quarters = torch.where(turns, 4 * quarters, quarters)
        features = [2 * place - 1, states[..., ALIVE : ALIVE + 1], waves.sin(), waves.cos()]
        features += [moves.clamp(-8, 8), self.ticks(edges), self.ticks(ahead)]
        return self.state_in(torch.cat([*features, scaled, quarters.sin(), quarters.cos()], -1))

    def ticks(self, gap: Tensor) -> Tensor:
        """Lengths along x, y, x, y ... in ticks of typical speed, small ones told apart best."""
        return (gap / self.speed.repeat(gap.shape[-1] // 2)).asinh()

    def extent(self, registry: Tensor) -> Tensor:
        """Half width and half height of entities, shares of the world."""
        radius, wide, high = registry[..., self.sizes_at : self.sizes_at + 3].unbind(-1)
        return torch.stack(
            [torch.maximum(radius, wide) / self.aspect, torch.maximum(radius, high)], -1
        )

    def frame(self, dreamt: Dreamt) -> Tensor:
        """Globals, on their scale and in their own steps (timers: ticks left), and the action."""
        numbers = (dreamt.globals - self.global_mean) / self.global_scale
        steps = (dreamt.globals / self.global_step).asinh()
        numbers = torch.cat([n[..., self.used_globals] for n in (numbers.clamp(-8, 8), steps)], -1)
        return torch.cat([numbers, dreamt.actions[..., self.used_actions]], -1)

    def begin(self, batch: Batch) -> Memory:
        """The memory before the first frame."""
        scenery = self.extent(batch.scenery_registry)
        token = self.describe(batch.scenery, scenery) + self.registry_in(batch.scenery_registry)
        moving = self.registry_in(batch.registry)
        return Memory(
            registry=moving[:, None],
            extent=torch.cat([self.extent(batch.registry), scenery], 1)[:, None],
            scenery=self.say(token.relu())[:, None],
            queue=queue(batch.registry)[:, None],
            kept=torch.zeros_like(moving),
        )

    def likely(self, dreamt: Dreamt, memory: Memory | None) -> tuple[Likely, Memory]:
        """What the frames of `dreamt` make likely for the frame after each of them."""
        memory = memory or self.begin(dreamt.batch)
        states = dreamt.states
        moving = states.shape[2]
        frame = self.frame(dreamt)
        token = self.describe(states, memory.extent[:, :, :moving]) + memory.registry
        token = token + self.turn_in(free_first(states, memory.queue))
        message, got, heard = self.messages(token.relu(), dreamt, memory)
        total = self.mix((message * heard[..., None]).sum(3))
        token = (token + total + self.frame_in(frame)[:, :, None]).relu()
        token = token + self.think(token).relu()
        kept = memory.kept.flatten(0, 1)
        remembered = []
        for now in token.unbind(1):
            kept = self.cell(now.flatten(0, 1), kept)
            remembered.append(kept.unflatten(0, now.shape[:2]))
        token = self.decide(torch.cat([token, torch.stack(remembered, 1)], -1)).relu()
        pooled = torch.cat([token.mean(2), token.amax(2), frame], -1)
        actions = self.act_in(dreamt.actions[..., self.used_actions])[:, :, None]
        likely = self.read(
            dreamt,
            self.entity_out(token),
            self.act_out((memory.registry + actions).relu()),
            self.frame_out(self.summary(pooled).relu()),
            self.beside(message, got, heard),
        )
        return likely, replace(memory, kept=remembered[-1])

    def messages(
        self, token: Tensor, dreamt: Dreamt, memory: Memory
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Of each moving entity with all others: message, what a pointer gets, whether heard.

        A pointer gets the way there, and what the other carries: an offset and a push.
        """
        states, batch, frames = dreamt.states, dreamt.batch, dreamt.states.shape[1]
        moving = states.shape[2]
        columns = [0, 1, VX, VX + 1, *(FIELDS_START + f for f in self.used_fields), ALIVE]
        scenery = batch.scenery[:, None].expand(-1, frames, -1, -1)
        others = torch.cat([states, scenery], 2)[..., columns]
        own = others[:, :, :moving]
        extent = memory.extent.expand(-1, frames, -1, -1)
        said = torch.cat([self.say(token), memory.scenery.expand(-1, frames, -1, -1)], 2)
        carried = F.pad(self.carry(token), (0, 0, 0, batch.scenery.shape[1]))
        number = torch.arange(others.shape[2]).expand(others.shape[:3])
        speakers = torch.cat([others, extent, carried, said], -1)
        if batch.terminal is not None:  # training: the dead say nothing, so leave them out
            speakers, number = living(speakers, number, len(columns) - 1)
        widths = [len(columns), 2, 4, said.shape[-1]]
        others, extent, carried, said = speakers.split(widths, -1)
        off = others[:, :, None, :, :-1] - own[:, :, :, None, :-1]
        apart = wrapped(off[..., :2], batch.wrap)
        room = extent[:, :, None] + memory.extent[:, :, :moving, None]
        near = torch.cat([apart, apart.abs() - room, (apart + off[..., 2:4]).abs() - room], -1)
        far = 4 * apart
        relation = [
            self.ticks(near),
            far,
            far.abs().sum(-1, keepdim=True),
            off[..., 4:].clamp(-2, 2),
        ]
        message = self.hear(token)[:, :, :, None] + said[:, :, None]
        message = message + self.between(torch.cat(relation, -1))
        oneself = number[:, :, None] == torch.arange(moving)[:, None]
        heard = (others[:, :, None, :, -1] > 0.5) & ~oneself
        carried = carried[:, :, None].expand(*apart.shape[:-1], -1)
        return message.relu(), torch.cat([apart, carried], -1), heard.to(message.dtype)

    def beside(self, message: Tensor, got: Tensor, heard: Tensor) -> tuple[Tensor, Tensor]:
        """What a pointer at the others gets, and how far it points at all."""
        score = torch.where(heard > 0, 5 * self.point(message)[..., 0], FAR)
        weight = torch.cat([torch.zeros_like(score[..., :1]), score], -1).softmax(-1)[..., 1:]
        return (weight[..., None] * got).sum(3), weight.sum(-1, keepdim=True)

    def read(
        self,
        dreamt: Dreamt,
        entity: Tensor,
        drive: Tensor,
        frame: Tensor,
        beside: tuple[Tensor, Tensor],
    ) -> Likely:
        """The heads' outputs as ways to move, logits, fields and globals."""
        states = dreamt.states
        place, was_alive = states[..., :2], states[..., ALIVE] > 0.5
        gain, push, spot, offset, alive, values, choice = entity.split(
            [2, 2, 2, 2, 1, entity.shape[-1] - 9 - NUM_WAYS - 1, NUM_WAYS + 1], -1
        )
        got, pointed = beside
        to, nose, toss = got.split(2, -1)
        gain, push = quiet(gain), quiet(push + 4 * toss)
        steer = place + states[..., VX : VX + 2] * (1 + gain) + push * self.speed
        spot = wrapped(spot + 0.5 - place, dreamt.batch.wrap)
        leap = place + to + (1 - pointed) * spot + 4 * (offset + nose) * self.speed
        off = place + drive * self.speed
        ways = torch.stack([place, steer, off, leap], -2)
        # Who is born comes from elsewhere; where the dead lie is nobody's concern.
        prior = torch.where(
            was_alive[..., None],
            place.new_tensor([-1.0, 1.0, -1.0, -4.0]),
            place.new_tensor([-FAR_OFF, -FAR_OFF, -FAR_OFF, FAR_OFF]),
        )
        choice = 5 * choice[..., :NUM_WAYS] + prior
        chosen = F.one_hot(choice.argmax(-1), NUM_WAYS)[..., None].to(ways.dtype)
        return Choosing(
            positions=(ways * chosen).sum(-2),
            alive=10 * alive[..., 0] + torch.where(was_alive, 4.0, -4.0),
            fields=states[..., FIELDS_START:-NUM_HISTORY] + values * self.field_scale,
            globals=dreamt.globals + frame[..., :-1] * self.global_step,
            terminal=10 * frame[..., -1] - 6,
            ways=ways,
            chance=choice.softmax(-1),
            free=was_alive,
        )

    def miss(self, likely: Likely, truth: Tensor, batch: Batch) -> Tensor:
        """The expected error over the ways, and what it costs not to choose a good one.

        A way that is seldom chosen would learn nothing, and a chance near 0 would never rise: so
        all ways learn a little, and the choice is also told which ways were good.
        """
        assert isinstance(likely, Choosing)
        gap = wrapped(likely.ways - truth[..., None, :], batch.wrap).abs().sum(-1)
        even = likely.free[..., None] * EVEN
        expected = ((likely.chance * (1 - even) + even / NUM_WAYS) * gap).sum(-1)
        good = gap <= gap.amin(-1, keepdim=True) + ALIKE * self.speed.sum()
        chosen = (likely.chance * good).sum(-1).clamp(min=1e-6)
        return expected - CHOICE * self.reach * likely.free * chosen.log()


def living(speakers: Tensor, number: Tensor, alive: int) -> tuple[Tensor, Tensor]:
    """As many of the entities, the living first, as live in any frame; column `alive` says who."""
    lives = speakers[..., alive] > 0.5
    most = max(1, int(lives.sum(-1).max()))
    _, order = torch.sort(lives.to(torch.uint8), dim=-1, descending=True, stable=True)
    first = order[..., :most]
    chosen = first[..., None].expand(*first.shape, speakers.shape[-1])
    return speakers.gather(2, chosen), number.gather(2, first)


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> NetworkWorld:
    """An untrained relational network."""
    return create_world("relational", Relational, manifest, size, seed)


def load(folder: Path, manifest: Manifest) -> NetworkWorld:
    """A trained relational network from its checkpoint folder."""
    return load_world("relational", Relational, folder, manifest)


MODEL = ModelPart(
    "relational",
    "A recurrent cell per entity that hears all others; chooses to stay, to steer or to leap.",
    create,
    load,
    trainable=True,
    sizes=tuple(SIZES),
    recipe={"seen": 8, "first_unroll": 1},
)
