"""Dreamer: one recurrent latent state of the whole world, and a decoder that sees each entity.

The recurrent state-space model of DreamerV3 (Hafner et al. 2023): a deterministic state
h' = GRU(h, z, a), a prior p(z' | h'), a posterior q(z | h, frame). True frames are observed through
the posterior; in a rollout z comes from the prior, so an imagined frame never reaches the latent
state. The decoder moves every entity by its own state, registry and neighbours and by (h', z').
"""

from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from cosmolabe.core.fields import ALIVE
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.core.seeds import seed_of
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.entities import entity_features, num_features
from cosmolabe.nets.features import wrapped
from cosmolabe.nets.imagination import Dreamt, Imagination, Likely
from cosmolabe.nets.residual import MOTION, read_heads
from cosmolabe.nets.worlds import NetworkWorld, create_world, load_world

WINDOW = 8  # frames of a context
UNIMIX = 0.01  # share of a uniform distribution in every categorical (DreamerV3)
FREE_NATS = 1.0  # of the KL summed over the categoricals (DreamerV3)
DYNAMICS, REPRESENTATION = 1.0, 0.1  # weights of the two KL terms (DreamerV3)
LATENT = 0.1  # of both together beside our errors, which are means, not sums (our choice)
TOLD = 0.5  # weight of frames told from the posterior, beside imagined ones (our choice)
UPDATE_BIAS = -1.0  # of the GRU's gate: a new state keeps most of the old (DreamerV3)
COUNTS = ("score", "opponent_score")  # points, told as symlog of their change
RATES = ("reward",)  # points of one tick, told as symlog
FAR = -1e9  # attention score of what must not be seen


@dataclass(frozen=True)
class Size:
    """How big the network is."""

    width: int
    """Of an entity's token and of every hidden layer."""
    layers: int
    """Of attention between the entities of one frame."""
    heads: int
    deter: int
    """Width of h."""
    variables: int
    """Categoricals in z."""
    classes: int
    """Of each categorical."""


SIZES = {
    "laptop": Size(width=64, layers=1, heads=4, deter=128, variables=8, classes=8),
    # Hidden width as in AutoWorldModel-Bench, 32 x 32 as in DreamerV3; layers and heads are ours.
    "paper": Size(width=256, layers=2, heads=8, deter=256, variables=32, classes=32),
}

Logits = Float[Tensor, "... variable classes"]


@dataclass(frozen=True)
class Memory:
    """What later frames of a rollout need of earlier ones."""

    registry: Float[Tensor, "batch 1 moving width"]
    scenery: Float[Tensor, "batch scenery width"]
    deter: Float[Tensor, "batch deter"]
    latent: Float[Tensor, "batch variable classes"]
    """Drawn from the prior for the frame that comes next."""
    frame: int
    """Number of that frame, from 0."""


@dataclass(frozen=True)
class Seen:
    """What is seen in frames themselves, without any before them."""

    tokens: Float[Tensor, "batch time moving width"]
    """Each entity with its registry and what it saw of its neighbours."""
    registry: Float[Tensor, "batch 1 moving width"]
    whole: Float[Tensor, "batch time width"]
    """Each frame as one vector."""

    def before_last(self) -> "Seen":
        """All frames but the last."""
        return Seen(self.tokens[:, :-1], self.registry, self.whole[:, :-1])


@dataclass(frozen=True)
class Recalled:
    """What the recurrent state made of a row of frames; entry t of each stands after frame t."""

    deter: Float[Tensor, "batch time deter"]
    prior: Float[Tensor, "batch time variable classes"]
    """Log-probabilities of z of the next frame."""
    latent: Float[Tensor, "batch time variable classes"]
    """Drawn from it."""
    posterior: Float[Tensor, "batch seen variable classes"]
    """Log-probabilities of z of the observed frames themselves."""
    observed: Float[Tensor, "batch seen variable classes"]
    """Drawn from it."""


class Cell(nn.Module):
    """GRU of DreamerV3: one normed layer for all gates, the update gate shut a little."""

    def __init__(self, deter: int, inputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(deter + inputs, 3 * deter, bias=False)
        self.norm = nn.LayerNorm(3 * deter)

    def forward(self, deter: Tensor, inputs: Tensor) -> Tensor:
        """The next deterministic state."""
        gates = self.norm(self.linear(torch.cat([deter, inputs], -1)))
        reset, candidate, update = gates.chunk(3, -1)
        candidate = (reset.sigmoid() * candidate).tanh()
        update = (update + UPDATE_BIAS).sigmoid()
        return update * candidate + (1 - update) * deter


class Neighbours(nn.Module):
    """Every entity of a frame looks at all living ones and at the scenery: where they are, what."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width, self.heads = size.width, size.heads
        self.before_attention = nn.LayerNorm(width)
        self.before_keys = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.mix = nn.Linear(width + 2 * size.heads, width)
        self.reach = nn.Parameter(torch.linspace(0, 6, size.heads))  # how much distance costs
        self.before_perceptron = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(
        self,
        tokens: Float[Tensor, "batch time moving width"],
        scenery: Float[Tensor, "batch scenery width"],
        gap: Float[Tensor, "batch time moving seen 2"],
        hidden: Float[Tensor, "batch time moving seen"],
    ) -> Float[Tensor, "batch time moving width"]:
        """The tokens with what they saw; `gap` in shares of the world, `hidden` 0 or `FAR`."""
        fixed = scenery[:, None].expand(-1, tokens.shape[1], -1, -1)
        query = self.query(self.before_attention(tokens)).unflatten(-1, (self.heads, -1))
        seen = self.key_value(self.before_keys(torch.cat([tokens, fixed], 2)))
        key, value = seen.unflatten(-1, (self.heads, -1)).chunk(2, -1)
        score = torch.einsum("btihc,btjhc->bthij", query * query.shape[-1] ** -0.5, key)
        cost = F.softplus(self.reach)[:, None, None]
        score = score - gap.abs().sum(-1)[:, :, None] * cost + hidden[:, :, None]
        weights = score.softmax(-1)
        what = torch.einsum("bthij,btjhc->btihc", weights, value)
        where = torch.einsum("bthij,btijk->btihk", weights, 10 * gap)
        tokens = tokens + self.mix(torch.cat([what.flatten(-2), where.flatten(-2)], -1))
        return tokens + self.perceptron(self.before_perceptron(tokens))


class Dreamer(Imagination):
    """The network: sees frames, says what is likely in the next one."""

    window = WINDOW
    sampling = False
    """True: a rollout draws z from the prior; False: it takes the most likely class of each."""
    counts: Tensor
    rates: Tensor

    def __init__(self, manifest: Manifest, size: str) -> None:
        super().__init__(manifest)
        if size not in SIZES:
            raise ValueError(f"the dreamer has no size '{size}'; have {list(SIZES)}")
        self.shape, profile = SIZES[size], manifest.profile
        shape, width = self.shape, self.shape.width
        num_globals, num_actions = len(profile.global_fields), len(profile.action_fields)
        self.seed = 0
        for name, told in (("counts", COUNTS), ("rates", RATES)):
            chosen = torch.tensor([field in told for field in profile.global_fields])
            self.register_buffer(name, chosen, persistent=False)

        self.state_in = nn.Linear(num_features(profile), width)
        self.registry_in = nn.Linear(profile.num_registry, width, bias=False)
        self.neighbours = nn.ModuleList(Neighbours(shape) for _ in range(shape.layers))
        self.globals_in = nn.Linear(num_globals, width)
        self.pool = nn.Sequential(nn.Linear(3 * width, width), nn.LayerNorm(width), nn.SiLU())

        num_latent = shape.variables * shape.classes
        self.cell = Cell(shape.deter, num_latent + num_actions)
        self.prior_out = self.perceptron(shape.deter, num_latent)
        self.posterior_out = self.perceptron(shape.deter + width, num_latent)

        told = shape.deter + num_latent + num_actions
        self.entity_in = nn.Linear(width, 2 * width)
        self.latent_in = nn.Linear(told, 2 * width)
        self.decoder = nn.Sequential(
            nn.SiLU(), nn.LayerNorm(2 * width), nn.Linear(2 * width, width), nn.SiLU()
        )
        self.entity_out = nn.Linear(width, MOTION + len(profile.game_fields))
        self.frame_out = self.perceptron(told + width, num_globals + 1)
        with torch.no_grad():  # begins at constant velocity
            for head in (self.entity_out, self.frame_out[-1]):
                for weight in head.parameters():
                    weight.mul_(0.02)

    def perceptron(self, inputs: int, outputs: int) -> nn.Sequential:
        """One hidden layer."""
        width = self.shape.width
        return nn.Sequential(
            nn.Linear(inputs, width), nn.LayerNorm(width), nn.SiLU(), nn.Linear(width, outputs)
        )

    def shuffle(self, seed: int) -> None:
        """Set the luck of the next story or loss."""
        self.seed = seed

    # -- what is seen ----------------------------------------------------------------------------

    def begin(self, batch: Batch) -> Memory:
        """The memory before the first frame: h is 0, registry and scenery never change."""
        rows, shape = len(batch), self.shape
        scenery = self.state_in(entity_features(self, batch.scenery))
        return Memory(
            registry=self.registry_in(batch.registry)[:, None],
            scenery=scenery + self.registry_in(batch.scenery_registry),
            deter=batch.states.new_zeros(rows, shape.deter),
            latent=batch.states.new_zeros(rows, shape.variables, shape.classes),
            frame=0,
        )

    def look(self, dreamt: Dreamt, memory: Memory) -> Seen:
        """Every entity among its neighbours, and every frame as a whole."""
        tokens = self.state_in(entity_features(self, dreamt.states)) + memory.registry
        gap, hidden = self.surroundings(dreamt.states, dreamt.batch)
        for layer in self.neighbours:
            tokens = layer(tokens, memory.scenery, gap, hidden)
        return Seen(tokens, memory.registry, self.whole(tokens, dreamt))

    def surroundings(self, states: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """The way from every entity to those it sees, and which are dead (never oneself)."""
        scenery = batch.scenery[:, None].expand(-1, states.shape[1], -1, -1)
        seen = torch.cat([states[..., :3], scenery[..., :3]], 2)
        gap = wrapped(seen[:, :, None, :, :2] - states[:, :, :, None, :2], batch.wrap)
        own = torch.eye(states.shape[2], seen.shape[2], dtype=torch.bool)
        dead = seen[:, :, None, :, ALIVE] < 0.5
        return gap, torch.where(dead & ~own, FAR, 0.0)

    def whole(self, tokens: Tensor, dreamt: Dreamt) -> Tensor:
        """Every frame as one vector: mean and peak of the living, and the globals."""
        alive = dreamt.states[..., ALIVE : ALIVE + 1] > 0.5
        mean = (tokens * alive).sum(2) / alive.sum(2).clamp(min=1)
        peak = torch.where(alive, tokens, -10.0).amax(2)
        numbers = ((dreamt.globals - self.global_mean) / self.global_scale).clamp(-8, 8)
        return self.pool(torch.cat([mean, peak, self.globals_in(numbers)], -1))

    # -- the latent state ------------------------------------------------------------------------

    def likely(self, dreamt: Dreamt, memory: Memory | None) -> tuple[Likely, Memory]:
        """What the frames of `dreamt` make likely for the frame after each of them."""
        memory = memory or self.begin(dreamt.batch)
        seen = self.look(dreamt, memory)
        recalled = self.recall(seen, dreamt, memory)
        likely = self.decode(dreamt, seen, recalled.deter, recalled.latent)
        return likely, replace(
            memory,
            deter=recalled.deter[:, -1],
            latent=recalled.latent[:, -1],
            frame=memory.frame + dreamt.states.shape[1],
        )

    def recall(self, seen: Seen, dreamt: Dreamt, memory: Memory) -> Recalled:
        """Run the recurrent state over frames; z of imagined ones comes from its own prior."""
        deter, latent = memory.deter, memory.latent
        num_frames = seen.whole.shape[1]
        found: dict[str, list[Tensor]] = {field.name: [] for field in fields(Recalled)}
        for step in range(num_frames):
            if step < num_frames - dreamt.imagined:
                posterior = self.posterior(deter, seen.whole[:, step])
                latent = self.draw(posterior, memory.frame + step, "posterior")
                found["posterior"].append(posterior)
                found["observed"].append(latent)
            deter = self.cell(deter, torch.cat([latent.flatten(1), dreamt.actions[:, step]], -1))
            prior = self.prior(deter)
            latent = self.draw(prior, memory.frame + step + 1, "prior")
            for name, value in (("deter", deter), ("prior", prior), ("latent", latent)):
                found[name].append(value)
        empty = latent[:, None][:, :0]
        return Recalled(**{k: torch.stack(v, 1) if v else empty for k, v in found.items()})

    def prior(self, deter: Tensor) -> Tensor:
        """Log-probabilities of z, before its frame is seen."""
        return self.unimix(self.prior_out(deter).unflatten(-1, self.categoricals))

    def posterior(self, deter: Tensor, frame: Tensor) -> Tensor:
        """Log-probabilities of z, with its frame seen."""
        logits = self.posterior_out(torch.cat([deter, frame], -1))
        return self.unimix(logits.unflatten(-1, self.categoricals))

    @property
    def categoricals(self) -> tuple[int, int]:
        """Variables and classes of z."""
        return self.shape.variables, self.shape.classes

    def unimix(self, logits: Tensor) -> Tensor:
        """Log-probabilities of the mixture of 99 % softmax and 1 % uniform."""
        return ((1 - UNIMIX) * logits.softmax(-1) + UNIMIX / logits.shape[-1]).log()

    def draw(self, logits: Tensor, frame: int, which: str) -> Tensor:
        """One class of each variable, one-hot, with the gradient of the probabilities.

        Luck follows from (seed, frame): the same for all rows in a rollout, of its own for each in
        training. Without luck it is the most likely class.
        """
        score = logits.detach()
        if self.training or self.sampling:
            rows = len(logits) if self.training else 1
            dice = torch.Generator().manual_seed(seed_of(which, self.seed, frame))
            luck = torch.rand(rows, *self.categoricals, generator=dice).clamp(1e-7, 1 - 1e-7)
            score = score - (-luck.log()).log()  # Gumbel: the largest is a draw
        chosen = F.one_hot(score.argmax(-1), logits.shape[-1]).to(logits.dtype)
        chances = logits.exp()
        return chosen + (chances - chances.detach())

    # -- what is told ----------------------------------------------------------------------------

    def decode(self, dreamt: Dreamt, seen: Seen, deter: Tensor, latent: Tensor) -> Likely:
        """The next frame from each entity's own token and (h, z, a)."""
        told = torch.cat([deter, latent.flatten(2), dreamt.actions], -1)
        entity = self.entity_in(self.seen_by_decoder(seen))
        entity = self.decoder(entity + self.latent_in(told)[:, :, None])
        frame = self.frame_out(torch.cat([told, seen.whole], -1))
        likely = read_heads(self, dreamt, self.entity_out(entity), frame)
        points = self.base(dreamt.globals) + self.unsquash(frame[..., :-1])
        return replace(likely, globals=torch.where(self.points, points, likely.globals))

    def seen_by_decoder(self, seen: Seen) -> Tensor:
        """What the decoder knows of each entity: its state, registry and neighbours."""
        return seen.tokens

    @property
    def points(self) -> Tensor:
        """Globals that are told in symlog."""
        return self.counts | self.rates

    def base(self, before: Tensor) -> Tensor:
        """What the points of a frame are counted from: the score so far, 0 for a reward."""
        return torch.where(self.counts, before, 0.0)

    def squash(self, values: Tensor) -> Tensor:
        """symlog: sign(x) log(1 + |x|), with a gradient of 1 at 0."""
        return values.clamp(min=0).log1p() - F.relu(-values).log1p()

    def unsquash(self, values: Tensor) -> Tensor:
        """symexp: sign(x) (exp(|x|) - 1), the inverse of `squash` in training and rollout."""
        values = values.clamp(-20, 20)
        return values.clamp(min=0).expm1() - F.relu(-values).expm1()

    # -- the loss --------------------------------------------------------------------------------

    def drift(self, said: Tensor, before: Tensor, truth: Tensor) -> Tensor:
        """How far off each global is; points are compared in symlog."""
        base = self.base(before).detach()
        points = (self.squash(said - base) - self.squash(truth - base)).abs()
        return torch.where(self.points, points, super().drift(said, before, truth))

    def loss(self, batch: Batch, seen: int) -> dict[str, Tensor]:
        """Errors of the imagined story, of the frames told from the posterior, and the two KLs."""
        parts = super().loss(batch, seen)
        dreamt = Dreamt(
            batch, batch.states, batch.globals, batch.actions[:, : batch.states.shape[1]]
        )
        memory = self.begin(batch)
        watched = self.look(dreamt, memory)
        recalled = self.recall(watched, dreamt, memory)
        parts["dyn"], parts["rep"] = self.divergence(
            recalled.posterior[:, 1:], recalled.prior[:, :-1]
        )
        earlier = replace(
            dreamt,
            states=dreamt.states[:, :-1],
            globals=dreamt.globals[:, :-1],
            actions=dreamt.actions[:, :-1],
        )
        told = self.decode(
            earlier, watched.before_last(), recalled.deter[:, :-1], recalled.observed[:, 1:]
        )
        parts["told"] = self.errors(batch, told, earlier.globals)["total"]
        latent = DYNAMICS * parts["dyn"] + REPRESENTATION * parts["rep"]
        parts["total"] = parts["total"] + LATENT * latent + TOLD * parts["told"]
        return parts

    def divergence(self, posterior: Tensor, prior: Tensor) -> tuple[Tensor, Tensor]:
        """KL(stop(q) || p), which pulls the prior, and KL(q || stop(p)), which pulls q alone."""
        dyn = self.free_nats(divergences(self.stop(posterior), prior))
        rep = self.free_nats(divergences(posterior, self.stop(prior)))
        return dyn.mean(), rep.mean()

    def stop(self, logits: Tensor) -> Tensor:
        """The same numbers, without a gradient."""
        return logits.detach()

    def free_nats(self, each: Float[Tensor, "batch time variable"]) -> Float[Tensor, "batch time"]:
        """KL of all variables together; the first nat costs the same as none."""
        return each.sum(-1).clamp(min=FREE_NATS)


def divergences(left: Logits, right: Logits) -> Float[Tensor, "... variable"]:
    """KL(left || right) of each categorical, both as log-probabilities, in nats."""
    return (left.exp() * (left - right)).sum(-1)


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> NetworkWorld:
    """An untrained dreamer."""
    return create_world("dreamer", Dreamer, manifest, size, seed)


def load(folder: Path, manifest: Manifest) -> NetworkWorld:
    """A trained dreamer from its checkpoint folder."""
    return load_world("dreamer", Dreamer, folder, manifest)


MODEL = ModelPart(
    "dreamer",
    "One recurrent latent state (RSSM) and a decoder per entity; luck lives in 8 x 8 categoricals.",
    create,
    load,
    trainable=True,
    sizes=tuple(SIZES),
    # At 2e-3 asteroids broke between step 300 and 430: positions at h = 10 were 0.4 off.
    recipe={"rate": 1e-3},
)
