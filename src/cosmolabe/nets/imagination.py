"""Unrolls a network over its own predictions: the same lines in training and in a rollout."""

from dataclasses import dataclass, fields
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from cosmolabe.core.fields import ALIVE, CONTROLLABLE, FIELDS_START, NUM_HISTORY
from cosmolabe.core.manifest import Manifest
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.features import next_state, wrapped
from cosmolabe.nets.scales import Scales, unmeasured


@dataclass(frozen=True)
class Dreamt:
    """Frames a network looks at, true or imagined, with the action taken in each."""

    batch: Batch
    states: Float[Tensor, "batch time moving state"]
    globals: Float[Tensor, "batch time global"]
    actions: Float[Tensor, "batch time action"]
    imagined: int = 0
    """How many of the frames, at the end, the network imagined itself."""


@dataclass(frozen=True)
class Likely:
    """What a network says about the frame after each one it saw."""

    positions: Float[Tensor, "batch time moving 2"]
    alive: Float[Tensor, "batch time moving"]
    """Logit."""
    fields: Float[Tensor, "batch time moving field"]
    globals: Float[Tensor, "batch time global"]
    terminal: Float[Tensor, "batch time"]
    """Logit."""

    def last(self) -> "Likely":
        """Only what is said about the frame after the last."""
        return type(self)(**{f.name: getattr(self, f.name)[:, -1:] for f in fields(self)})


Story = list[tuple[Likely, Tensor, Tensor]]
"""Of each imagined step: what was likely, the state (batch, 1, moving, state), the globals."""


@dataclass(frozen=True)
class Weights:
    """Parts of the loss; positions count 1 (our choice, near the composite's 9 : 1)."""

    alive: float = 0.3
    fields: float = 0.1
    globals: float = 0.05
    terminal: float = 0.05


class Imagination(nn.Module):
    """What every network here can do once it can say what is `likely`."""

    window: int
    """Frames a network looks back, its own included."""
    weights = Weights()
    player_share = 0.0
    """Share of the loss on positions that is the controllable entities' alone.

    Where one of many moves by the actions, a mean over all hardly asks what the actions do.
    """
    field_used: Tensor
    field_turns: Tensor
    field_whole: Tensor
    field_scale: Tensor
    field_mean: Tensor
    global_used: Tensor
    global_whole: Tensor
    global_scale: Tensor
    global_mean: Tensor
    global_step: Tensor
    reach: Tensor
    speed: Tensor

    def __init__(self, manifest: Manifest) -> None:
        """Room for the game's scales and masks, saved with the weights."""
        super().__init__()
        masks = manifest.masks()
        self.register_buffer("field_used", torch.from_numpy(masks.fields))
        self.register_buffer("global_used", torch.from_numpy(masks.globals))
        rotation = [name == "rotation" for name in manifest.profile.game_fields]
        self.register_buffer("field_turns", torch.tensor(rotation))
        scales = unmeasured(len(masks.fields), len(masks.globals))
        for field in fields(Scales):
            value = getattr(scales, field.name)
            self.register_buffer(field.name, torch.as_tensor(value).clone())

    def likely(self, dreamt: Dreamt, memory: Any) -> tuple[Likely, Any]:  # noqa: ANN401
        """What is likely after each frame, and the next memory; a memory of None begins a story."""
        raise NotImplementedError

    def shuffle(self, seed: int) -> None:
        """Set what is random in the next story or loss; one without luck has nothing to set.

        What a network draws in a rollout is the same for every row of a batch, so that neither
        the order of rows nor their company changes a number.
        """

    def set_scales(self, scales: Scales) -> None:
        """Take over the scales measured on training windows."""
        for field in fields(Scales):
            getattr(self, field.name).copy_(torch.as_tensor(getattr(scales, field.name)))

    def settle(self, dreamt: Dreamt, likely: Likely) -> tuple[Tensor, Tensor]:
        """The next state and globals: whole numbers rounded (with straight gradients)."""
        states = dreamt.states[:, -1:]
        values = straight_round(likely.fields, self.field_whole)
        values = torch.where(self.field_turns, values - values.detach().floor(), values)
        values = torch.where(self.field_used, values, 0.0)
        alive = (likely.alive > 0).to(values.dtype)[..., None]
        predicted = torch.cat([likely.positions, alive, values], -1)
        everyone = torch.ones_like(states[..., 0], dtype=torch.bool)
        following = next_state(states, predicted, everyone, dreamt.batch.wrap)
        numbers = straight_round(likely.globals, self.global_whole)
        return following, torch.where(self.global_used, numbers, 0.0)

    def unroll(self, batch: Batch, seen: int, steps: int, cached: bool = True) -> Story:
        """Look at `seen` true frames, then imagine.

        The first entry's Likely speaks about every frame after a seen one, the others about one
        frame. Without `cached` every step looks at the whole story again; only for comparison.
        """
        dreamt = Dreamt(
            batch, batch.states[:, :seen], batch.globals[:, :seen], batch.actions[:, :seen]
        )
        story, memory = [], None
        for step in range(steps):
            likely, memory = self.likely(dreamt, memory)
            last = likely.last()
            states, numbers = self.settle(dreamt, last)
            story.append((likely if step == 0 else last, states, numbers))
            action = batch.actions[:, seen + step : seen + step + 1]
            if cached:
                dreamt = Dreamt(batch, states, numbers, action, imagined=1)
            else:
                memory = None
                dreamt = Dreamt(
                    batch,
                    torch.cat([dreamt.states, states], 1),
                    torch.cat([dreamt.globals, numbers], 1),
                    torch.cat([dreamt.actions, action], 1),
                    imagined=step + 1,
                )
        return story

    def miss(
        self, likely: Likely, truth: Float[Tensor, "batch time moving 2"], batch: Batch
    ) -> Float[Tensor, "batch time moving"]:
        """How far each entity's next position is from the truth, |dx| + |dy|."""
        return wrapped(likely.positions - truth, batch.wrap).abs().sum(-1)

    def loss(self, batch: Batch, seen: int) -> dict[str, Tensor]:
        """Parts of the loss, `total` among them, over all frames after the first of a window."""
        story = self.unroll(batch, seen, batch.states.shape[1] - seen)
        likely = joined([step[0] for step in story])
        before = torch.cat([batch.globals[:, :seen], *(told for _, _, told in story[:-1])], 1)
        return self.errors(batch, likely, before)

    def errors(self, batch: Batch, likely: Likely, before: Tensor) -> dict[str, Tensor]:
        """Parts of the loss of what was likely after each frame but the last of a window.

        `before` holds the globals it was said from.
        """
        assert batch.terminal is not None, "only training windows say when an episode was over"
        truth, numbers = batch.states[:, 1:], batch.globals[:, 1:]
        alive = truth[..., ALIVE]
        share = shares(alive)
        gap = self.miss(likely, truth[..., :2], batch)
        off = likely.fields - truth[..., FIELDS_START:-NUM_HISTORY]
        off = torch.where(self.field_turns, off - off.detach().round(), off).abs()
        off = (off / self.field_scale * self.field_used).sum(-1)
        drift = self.drift(likely.globals, before, numbers)
        parts = {
            "positions": (gap * self.concern(batch, alive)).sum(-1).mean() / self.reach,
            "alive": F.binary_cross_entropy_with_logits(likely.alive, alive),
            "fields": (off * share).sum(-1).mean(),
            "globals": (drift * self.global_used).sum(-1).mean() / self.global_used.sum(),
            "terminal": F.binary_cross_entropy_with_logits(
                likely.terminal, batch.terminal[:, 1:].to(gap.dtype)
            ),
        }
        w = self.weights
        parts["total"] = parts["positions"] + sum(
            getattr(w, f.name) * parts[f.name] for f in fields(w)
        )
        return parts

    def concern(self, batch: Batch, alive: Tensor) -> Tensor:
        """Share of each living entity in the loss on positions; sums to 1 over the entities."""
        acting = shares(alive * batch.registry[:, None, :, CONTROLLABLE])
        return (1 - self.player_share) * shares(alive) + self.player_share * acting

    def drift(self, said: Tensor, before: Tensor, truth: Tensor) -> Tensor:
        """How far off each global is, in steps of its usual size."""
        return ((said - truth) / self.global_step).abs().clamp(max=10)


def shares(chosen: Float[Tensor, "*batch moving"]) -> Float[Tensor, "*batch moving"]:
    """An equal share for each of the chosen (1, others 0); none where nobody is chosen."""
    return chosen / chosen.sum(-1, keepdim=True).clamp(min=1)


def joined(parts: list[Likely]) -> Likely:
    """What was said step by step as one, over time."""
    kind = type(parts[0])
    return kind(
        **{f.name: torch.cat([getattr(part, f.name) for part in parts], 1) for f in fields(kind)}
    )


def straight_round(
    values: Float[Tensor, "*shape field"],
    whole: Bool[Tensor, " field"],
) -> Float[Tensor, "*shape field"]:
    """Rounded where `whole`; the gradient passes as if it were not."""
    return torch.where(whole, values + (values.round() - values).detach(), values)
