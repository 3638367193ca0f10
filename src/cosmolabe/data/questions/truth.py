"""What happened in a clip, read from its true states: events, positions, overlaps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.episode import shortest_way
from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.wording import game_facts, our_game


@dataclass(frozen=True)
class Truth:
    """The true states of a clip of one of our games."""

    manifest: Manifest
    facts: Mapping[str, Any]
    """The game's part of `games.toml`."""
    states: Float[np.ndarray, "time slot state"]
    globals: Float[np.ndarray, "time global"]
    fps: float

    def number(self, name: str) -> Float[np.ndarray, " time"]:
        """A global over the clip."""
        return self.globals[:, self.manifest.profile.global_fields.index(name)]

    def slot(self, name: str) -> int:
        """The slot of that name."""
        return next(k for k, slot in enumerate(self.manifest.slots) if slot.name == name)

    def of_kind(self, kind: str) -> list[int]:
        """All slots of a kind."""
        return [k for k, slot in enumerate(self.manifest.slots) if slot.kind == kind]

    def alive(self, slots: int | list[int]) -> Bool[np.ndarray, "..."]:
        """Who is there, (time,) of one slot, (time, slot) of several."""
        return self.states[:, slots, ALIVE] > 0.5

    def path(self, slot: int) -> Float[np.ndarray, "step 2"]:
        """Steps from frame to frame, the short way round, shares of the world."""
        return shortest_way(
            np.diff(self.states[:, slot, [X, Y]], axis=0).astype(np.float64),
            np.array([self.manifest.wrap_x, self.manifest.wrap_y]),
        )

    def gap(self, one: int, other: int) -> Float[np.ndarray, " time"]:
        """Distance between two bodies' edges, frame by frame; 0 or less where they overlap.

        Both as boxes, or as circles where both are round; NaN where one is not there.
        """
        apart = shortest_way(
            (self.states[:, one, [X, Y]] - self.states[:, other, [X, Y]]).astype(np.float64),
            np.array([self.manifest.wrap_x, self.manifest.wrap_y]),
        )
        apart[:, 0] *= self.manifest.aspect
        a, b = self.manifest.slots[one], self.manifest.slots[other]
        if a.radius and b.radius:
            found = np.hypot(*apart.T) - a.radius - b.radius
        else:
            half = np.array([a.half_width or a.radius, a.half_height or a.radius])
            half = half + [b.half_width or b.radius, b.half_height or b.radius]
            found = (np.abs(apart) - half).max(1)
        there = self.alive(one) & self.alive(other)
        return np.where(there, found, np.nan)


def truth_of(clip: AskedClip) -> Truth | None:
    """The clip's true states; None for a clip that has none, or is of no game of ours."""
    game = our_game(clip.about.get("game", ""))
    if game is None or clip.about.get("states") is None or not game_facts(game.name):
        return None
    return Truth(
        game.manifest, game_facts(game.name), clip.about["states"], clip.about["globals"], clip.fps
    )


def events_of(truth: Truth) -> dict[str, list[int]]:
    """Frames in which each event of the game has just happened, by the event's words.

    Where a life is lost or a level ends, everything is set up again: what goes or comes in that
    very step is no event.
    """
    reset = np.diff(truth.number("level")) != 0
    reset |= np.diff(truth.number("lives")) != 0
    found = {}
    for event in truth.facts["events"]:
        if "global" in event:
            step = np.diff(truth.number(event["global"]))
            happened = step > 1e-6 if event["change"] == "up" else step < -1e-6
        elif "field" in event:
            column = truth.manifest.profile.state_columns.index(event["field"])
            happened = np.diff(truth.states[:, truth.slot(event["slot"]), column]) > 0.5
        else:
            there = truth.alive(truth.of_kind(event.get("dies") or event["appears"]))
            gone, come = there[:-1] & ~there[1:], ~there[:-1] & there[1:]
            happened = (gone if "dies" in event else come).any(1) & ~reset
        found[event["words"]] = [int(frame) + 1 for frame in np.flatnonzero(happened)]
    return found
