"""What the discrete world models share: words of the next state, a context, a reader of words.

A model of this kind says how the words of a next state are hidden in training (`word_loss`) and how
they are found in a rollout (`find`). All else stands here: the present frame is looked at once, and
`read` turns half-known words and that look into scores of every word, as often as it is asked.
Globals have words too, said at once by a plain head on the frame's own token, as is the end of the
episode. Training keeps the frames after which something happens, and some of the others.
"""

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from cosmolabe.core.fields import ALIVE, CONTROLLABLE, FIELDS_START, NUM_HISTORY, VX
from cosmolabe.core.manifest import Manifest
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.bins import COORDINATES, NUM_EXACT, Dials, vocabulary_of
from cosmolabe.nets.entities import (
    FAR,
    Block,
    Surroundings,
    entity_features,
    free_first,
    num_features,
    num_geometry,
    orders,
    queue,
    surroundings,
)
from cosmolabe.nets.imagination import Dreamt, Imagination, Likely, Story

STEERED = 3  # weight of what the player steers, on which most else depends
GLOBALS = 0.5  # weight of the globals beside the words of entities
SURE = 4.0  # logit of being alive, or dead, as the words say
MODES = ("argmax", "sample")


@dataclass(frozen=True)
class Size:
    """How big the network is, and what its words are."""

    width: int
    layers: int
    """Of the look at the present frame."""
    reader_layers: int
    heads: int
    expansion: int
    """Width of the hidden layer of a block's perceptron, in widths."""
    changes: int
    """Bins of change to a side; 0: absolute bins alone, as in AutoWorldModel-Bench."""
    places: int
    """At most so many bins of a number's own range."""
    steps: int
    """How often the reader is asked in a rollout, per frame."""
    offsets: bool = True
    """Whether a number may lie anywhere in its bin, or only in the middle."""


@dataclass(frozen=True)
class Look:
    """The present frames, batch and time as one axis."""

    states: Float[Tensor, "frame moving state"]
    tokens: Float[Tensor, "frame token width"]
    """Of moving slots, then of the frame."""
    around: Surroundings


class Discrete(Imagination):
    """A network that finds the words of the next state."""

    window = 1
    mode = "argmax"
    rebuilt = 0.75
    """Share of training rows whose velocity is the last displacement, as in imagined frames."""
    jitter = 0.0
    """Spread of a shift of each entity in training, shares of the world; its words stay."""
    tremble = 0.03
    """Spread of a shift of each global in training, in its usual changes; its words stay."""
    kept_frames = 1 / 3
    """Share of the frames of a batch that is learnt from; half are eventful, if so many are."""
    known: Tensor
    ranked: Tensor
    before_learning: Tensor
    weight: Tensor
    word_weights = (1.0, 0.5, 1.0, 0.3)
    """Of x and y, of alive, of each field that is one of a few things, of each other field."""

    def __init__(self, manifest: Manifest, size: Size) -> None:
        super().__init__(manifest)
        profile, width = manifest.profile, size.width
        self.shape, self.num_globals = size, len(profile.global_fields)
        self.told = manifest.masks().globals.nonzero()[0].tolist()
        self.dials = Dials()
        self.num_slots = manifest.num_slots
        self.vocabulary = vocabulary_of(manifest, size.changes, size.places)
        self.num_numbers, self.num_words = len(self.vocabulary.columns), self.vocabulary.size
        self.register_buffer("known", self.vocabulary.known(), persistent=False)
        ranked = self.known.logical_not().long().argsort(dim=-1, stable=True)  # known words first
        self.register_buffer("ranked", ranked, persistent=False)
        coordinate, alive, pick, field = self.word_weights
        weights = [coordinate] * 2 + [alive]
        weights += [pick if p else field for p in self.vocabulary.picks[COORDINATES + 1 :]]
        self.register_buffer("weight", torch.tensor(weights), persistent=False)
        self.state_in = nn.Linear(num_features(profile), width)
        self.registry_in = nn.Linear(profile.num_registry, width, bias=False)
        self.turn_in = nn.Linear(2, width, bias=False)
        num_frame = len(profile.action_fields) + 2 * self.num_globals
        self.frame_in = nn.Linear(num_frame, width)
        self.frame_token = nn.Linear(num_frame, width)
        self.orders = orders(manifest)
        apart = num_geometry(self.orders)
        self.blocks = nn.ModuleList(
            Block(width, size.heads, size.expansion, apart) for _ in range(size.layers)
        )
        self.reader = nn.ModuleList(
            Block(width, size.heads, size.expansion, apart) for _ in range(size.reader_layers)
        )
        self.word_in = nn.Embedding(self.num_numbers * (self.num_words + 1), width)
        self.time_in = nn.Embedding(size.steps + 1, width)
        self.word_norm, self.frame_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.word_out = nn.Linear(width, 2 * self.num_numbers * self.num_words)
        self.frame_out = nn.Linear(width, 1 + 2 * len(self.told) * self.dials.size)
        for head in (self.word_out, self.frame_out):
            nn.init.normal_(head.weight, std=0.002)
            nn.init.zeros_(head.bias)
        for table in (self.word_in, self.time_in):
            nn.init.normal_(table.weight, std=0.3)
        self.register_buffer("before_learning", self.usual(), persistent=False)
        self.shuffle(0)

    @property
    def hidden(self) -> int:
        """The word that says nothing yet."""
        return self.num_words

    @property
    def nothing(self) -> int:
        """The word of all numbers but alive of what is dead afterwards, wherever it lies.

        It has to be one word: an alive that is found after x and y follows from what they say.
        """
        return 0 if self.shape.changes else NUM_EXACT

    @property
    def unit(self) -> Float[Tensor, " number"]:
        """What changes are measured in."""
        columns = [c - FIELDS_START for c in self.vocabulary.columns[COORDINATES + 1 :]]
        fields = self.field_scale[columns] / 8  # a change of one spread is the largest told
        return torch.cat([self.speed, torch.ones(1), fields])

    def shuffle(self, seed: int) -> None:
        """Begin the draws anew."""
        self.dice = torch.Generator().manual_seed(seed % (1 << 63))

    def luck(self, look: Look, *shape: int) -> Tensor:
        """Gumbel noise (frame, moving, ...), the same in every frame and so in every row.

        In argmax mode it is the same for every slot too: slots then have no names.
        """
        num = look.states.shape[1]
        drawn = torch.rand((1, num if self.mode == "sample" else 1, *shape), generator=self.dice)
        noise = -torch.log(-torch.log(drawn.clamp(1e-6, 1 - 1e-6)))
        return noise.expand(len(look.states), num, *shape)

    def pick(self, scores: Tensor, look: Look) -> Tensor:
        """The likeliest words, or in sample mode words drawn by their chances."""
        if self.mode == "sample":
            scores = scores + self.luck(look, *scores.shape[2:])
        return scores.argmax(-1)

    def look(self, dreamt: Dreamt) -> tuple[Look, Tensor]:
        """Look once at every frame; gives also what the head says of globals and the end."""
        batch, (rows, time) = dreamt.batch, dreamt.states.shape[:2]
        states = grounded(dreamt.states, self.who_is_steered(batch)).flatten(0, 1)

        def in_every_frame(once: Tensor) -> Tensor:
            return once[:, None].expand(-1, time, *once.shape[1:]).flatten(0, 1)

        numbers = (dreamt.globals - self.global_mean) / self.global_scale
        ticks = dreamt.globals / self.global_step  # of a clock that runs down: how many are left
        frame = torch.cat([numbers.clamp(-8, 8), ticks.clamp(-8, 8) / 2, dreamt.actions], -1)
        frame = frame.flatten(0, 1)
        tokens = self.state_in(entity_features(self, states))
        tokens = tokens + in_every_frame(self.registry_in(batch.registry))
        tokens = tokens + self.turn_in(free_first(states, in_every_frame(queue(batch.registry))))
        tokens = tokens + self.frame_in(frame)[:, None]
        tokens = torch.cat([tokens, self.frame_token(frame)[:, None]], 1)
        scenery = self.state_in(entity_features(self, batch.scenery))
        scenery = scenery + self.registry_in(batch.scenery_registry)
        around = surroundings(states, in_every_frame(batch.scenery), batch, self.orders)
        for block in self.blocks:
            assert isinstance(block, Block)
            tokens = block(tokens, around, in_every_frame(scenery))
            scenery = block.alone(scenery)
        said = self.frame_out(self.frame_norm(tokens[:, -1])).unflatten(0, (rows, time))
        return Look(states, tokens, around.without_scenery()), said

    def who_is_steered(self, batch: Batch) -> Bool[Tensor, "batch moving"]:
        """Which moving slots the player steers."""
        return batch.registry[..., CONTROLLABLE] > 0.5

    def read(
        self, words: Int[Tensor, "frame moving number"], look: Look, time: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Log chances of every word, and where in its bin the number would lie."""
        place = torch.arange(self.num_numbers) * (self.num_words + 1)
        tokens = self.word_in(words + place).sum(-2) + self.time_in(time)[:, None]
        tokens = torch.cat([look.tokens[:, :-1] + tokens, look.tokens[:, -1:]], 1)
        for block in self.reader:
            tokens = block(tokens, look.around, None)
        out = self.word_out(self.word_norm(tokens[:, :-1]))
        scores, offsets = out.unflatten(-1, (2, self.num_numbers, self.num_words)).unbind(-3)
        usual = self.before_learning[(look.states[..., ALIVE] > 0.5).long()]
        return (10 * scores + usual).log_softmax(-1), offsets

    def usual(self) -> Float[Tensor, "alive number word"]:
        """Scores before anything is learnt, of a slot that was dead and of one that was alive.

        Coasting and staying are likely, words that a number does not have are impossible.
        """
        scores = torch.zeros(2, self.num_numbers, self.num_words)
        scores[:, :, 0] = 4.0 * (self.shape.changes > 0)
        scores[:, ALIVE, :2] = torch.tensor([[2.0, -2.0], [-2.0, 2.0]])
        return scores.masked_fill(self.known.logical_not(), FAR)

    def find(self, look: Look) -> tuple[Tensor, Tensor]:
        """The words of the next state and the offsets of all words."""
        raise NotImplementedError

    def word_loss(self, words: Tensor, counts: Tensor, look: Look) -> tuple[dict, Tensor]:
        """Parts of the loss by name, and the offsets of all words; `counts` weighs each word."""
        raise NotImplementedError

    def unroll(self, batch: Batch, seen: int, steps: int, cached: bool = True) -> Story:
        """Imagine from the last seen frame; the first Likely speaks only about what follows it.

        Without `cached` every step looks at the whole story again; only for comparison.
        """
        if cached:
            at = slice(seen - 1, None)
            batch, seen = (
                replace(
                    batch,
                    states=batch.states[:, at],
                    globals=batch.globals[:, at],
                    actions=batch.actions[:, at],
                    terminal=None if batch.terminal is None else batch.terminal[:, at],
                ),
                1,
            )
        return super().unroll(batch, seen, steps, cached)

    def likely(self, dreamt: Dreamt, memory: None) -> tuple[Likely, None]:
        """What the frames of `dreamt` make likely for the frame after each of them."""
        look, said = self.look(dreamt)
        words, offsets = self.find(look)
        values = self.vocabulary.decode(
            words, self.chosen(offsets, words), look.states, self.unit
        ).unflatten(0, dreamt.states.shape[:2])
        fields = torch.zeros_like(dreamt.states)
        fields[..., list(self.vocabulary.columns)] = values
        return Likely(
            positions=values[..., :2],
            alive=(values[..., ALIVE] - 0.5) * 2 * SURE,
            fields=fields[..., FIELDS_START:-NUM_HISTORY],
            globals=self.globals_after(dreamt.globals, said),
            terminal=10 * said[..., -1] - 6,
        ), None

    def dialled(self, said: Tensor) -> tuple[Tensor, Tensor]:
        """Log chances of the words of the globals in use, and their offsets."""
        both = said[..., :-1].unflatten(-1, (2, len(self.told), self.dials.size))
        scores, offsets = both.unbind(-3)
        return (10 * scores).log_softmax(-1), offsets

    @property
    def dial_scales(self) -> tuple[Tensor, Tensor, Tensor]:
        """Usual change, mean and spread of the globals in use."""
        told = self.told
        return self.global_step[told], self.global_mean[told], self.global_scale[told]

    def globals_after(self, before: Tensor, said: Tensor) -> Tensor:
        """The next globals: the likeliest word of each; those not in use stay."""
        scores, offsets = self.dialled(said)
        words = scores.argmax(-1)
        at = offsets.gather(-1, words[..., None])[..., 0].clamp(-0.5, 0.5)
        after = before.clone()
        after[..., self.told] = self.dials.decode(
            words, at, before[..., self.told], *self.dial_scales
        )
        return after

    def missed_globals(self, before: Tensor, after: Tensor, said: Tensor) -> Tensor:
        """Cross-entropy of the globals' words and the size of their offsets' error, per global."""
        scores, offsets = self.dialled(said)
        words, true_offsets = self.dials.encode(
            before[..., self.told], after[..., self.told], *self.dial_scales
        )
        missed = -scores.gather(-1, words[..., None])[..., 0]
        at = offsets.gather(-1, words[..., None])[..., 0]
        off = (at - true_offsets).abs() * (words >= self.dials.exact)
        return (missed + off).mean()

    def chosen(self, offsets: Tensor, words: Tensor) -> Tensor:
        """The offset of each word that was found."""
        if not self.shape.offsets:
            return torch.zeros_like(offsets[..., 0])
        return offsets.gather(-1, words[..., None])[..., 0].clamp(-0.5, 0.5)

    def loss(self, batch: Batch, seen: int) -> dict[str, Tensor]:
        """Parts of the loss, `total` among them, over every pair of frames of a window."""
        batch = ever_alive(self.eventful(pairs(batch)))
        assert batch.terminal is not None, "only training windows say when an episode was over"
        now, after = batch.states[:, :1], batch.states[:, 1:]
        numbers = batch.globals[:, :1]
        trembling = torch.randn(numbers.shape, generator=self.dice) * self.tremble
        dreamt = Dreamt(
            batch, self.as_imagined(now), numbers + trembling * self.global_step, batch.actions
        )
        words, true_offsets = self.true_words(dreamt.states, batch)
        words, true_offsets = words.flatten(0, 1), true_offsets.flatten(0, 1)
        look, said = self.look(replace(dreamt, states=self.shifted(dreamt.states)))
        alive = (after[..., ALIVE].flatten(0, 1) > 0.5)[..., None]
        steered = self.who_is_steered(batch)[..., None]
        counts = self.weight.expand(*words.shape) * (1 + (STEERED - 1) * steered)
        parts, offsets = self.word_loss(words, counts, look)
        at = offsets.gather(-1, words[..., None])[..., 0]
        inside = (words >= NUM_EXACT) & alive
        parts["offsets"] = ((at - true_offsets).abs() * inside * counts).sum() / counts.sum()
        parts["globals"] = self.missed_globals(numbers, batch.globals[:, 1:], said)
        parts["terminal"] = F.binary_cross_entropy_with_logits(
            10 * said[..., -1] - 6, batch.terminal[:, 1:].to(said.dtype)
        )
        parts["total"] = (
            parts["words"]
            + parts["offsets"]
            + GLOBALS * parts["globals"]
            + self.weights.terminal * parts["terminal"]
        )
        return parts

    def true_words(self, now: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Words and offsets of the states after `now`; what is dead afterwards says one word."""
        after = batch.states[:, 1:]
        before = grounded(now, self.who_is_steered(batch))
        words, offsets = self.vocabulary.encode(before, after, batch.wrap, self.unit)
        says_alive = torch.arange(self.num_numbers) == ALIVE
        alive = after[..., ALIVE : ALIVE + 1] > 0.5
        return torch.where(alive | says_alive, words, self.nothing), offsets

    def eventful(self, batch: Batch) -> Batch:
        """A share of the pairs of frames: half of them such that something happens, if there are.

        On snake nothing moves in six ticks of seven, and seven times the windows would be needed.
        """
        num = math.ceil(self.kept_frames * len(batch))
        if num == len(batch):
            return batch
        words = self.true_words(rebuilt(batch.states[:, :1]), batch)[0]
        tells = [n < COORDINATES or pick for n, pick in enumerate(self.vocabulary.picks)]
        moves = (words[..., torch.tensor(tells)] != self.nothing).any(-1)
        changes = batch.states[:, :1, :, ALIVE] != batch.states[:, 1:, :, ALIVE]
        happens = (moves | changes).flatten(1).any(1)
        rank = torch.rand(len(batch), generator=self.dice)
        first = (rank - happens.to(rank.dtype)).argsort()[: num // 2]
        rank[first] = -1
        return taken(batch, rank.argsort()[:num])

    def any_words(self, shape: torch.Size) -> Tensor:
        """Words drawn evenly from those each number has, (..., number)."""
        rank = (torch.rand(shape, generator=self.dice) * self.known.sum(-1)).long()
        return self.ranked.expand(*shape, -1).gather(-1, rank[..., None])[..., 0]

    def as_imagined(self, states: Tensor) -> Tensor:
        """A share of rows with the velocity that a rollout would rebuild."""
        draw = torch.rand((len(states), 1, 1, 1), generator=self.dice)
        return torch.where(draw < self.rebuilt, rebuilt(states), states)

    def shifted(self, states: Tensor) -> Tensor:
        """Every entity a little aside, the same way in all frames of a window."""
        if not self.jitter:
            return states
        rows, _, moving = states.shape[:3]
        aside = torch.randn((rows, 1, moving, 2), generator=self.dice) * self.jitter
        return torch.cat([states[..., :2] + aside, states[..., 2:]], -1)


def rebuilt(states: Tensor) -> Tensor:
    """The states with the last displacement for their velocity, as an imagined frame has it."""
    displacement = states[..., -NUM_HISTORY : 2 - NUM_HISTORY]
    return torch.cat([states[..., :VX], displacement, states[..., VX + 2 :]], -1)


def pairs(batch: Batch) -> Batch:
    """Every two successive frames of the windows as a window of its own."""
    assert batch.terminal is not None, "a batch to learn from"
    num = batch.states.shape[1] - 1

    def two(frames: Tensor) -> Tensor:
        return torch.stack([frames[:, :-1], frames[:, 1:]], 2).flatten(0, 1)

    def each(once: Tensor) -> Tensor:
        return once.repeat_interleave(num, 0)

    return replace(
        batch,
        registry=each(batch.registry),
        scenery_registry=each(batch.scenery_registry),
        scenery=each(batch.scenery),
        states=two(batch.states),
        globals=two(batch.globals),
        actions=batch.actions[:, :num].flatten(0, 1)[:, None],
        terminal=two(batch.terminal),
    )


def taken(batch: Batch, rows: Tensor) -> Batch:
    """The batch with only these rows."""
    names = ("registry", "scenery_registry", "scenery", "states", "globals", "actions", "terminal")
    return replace(batch, **{name: getattr(batch, name)[rows] for name in names})


def ever_alive(batch: Batch) -> Batch:
    """The batch without slots that are dead in every frame: nobody sees them, and they say little.

    On snake and asteroids that is most slots of most windows.
    """
    chosen = (batch.states[..., ALIVE] > 0.5).flatten(0, 1).any(0)
    if not chosen.any():
        return batch
    return replace(batch, registry=batch.registry[:, chosen], states=batch.states[:, :, chosen])


def grounded(
    states: Float[Tensor, "batch time moving state"], controllable: Bool[Tensor, "batch moving"]
) -> Float[Tensor, "batch time moving state"]:
    """The states with what is dead at rest where the player is, which is where shots are born.

    With several players alive that is their mean, with none the middle of the world.
    """
    dead = states[..., ALIVE : ALIVE + 1] <= 0.5
    players = (controllable[:, None, :, None] & ~dead).to(states.dtype)
    num = players.sum(2, keepdim=True)
    here = (states[..., :2] * players).sum(2, keepdim=True) / num.clamp(min=1)
    here = torch.where(num > 0, here, 0.5)
    moves = torch.zeros_like(states[..., VX : VX + 2])
    history = torch.zeros_like(states[..., -NUM_HISTORY:])
    rest = torch.cat(
        [
            here.expand_as(moves),
            states[..., ALIVE : ALIVE + 1],
            moves,
            states[..., FIELDS_START:-NUM_HISTORY],
            history,
        ],
        -1,
    )
    return torch.where(dead, rest, states)
