"""Where a plan leads: asked of a world model, or of the true rules under other luck.

A world model is told what it is always told, eight true frames and the actions. The true simulator
gets copies of the world with other random numbers, so that knowing the rules is no clairvoyance.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Float32, UInt8

from cosmolabe.bench.continuing import give_luck, played_on
from cosmolabe.bench.driving import imagine, is_finite
from cosmolabe.bench.planning.returns import Frames
from cosmolabe.core.fields import PREDICTED
from cosmolabe.core.rollout import Context, WorldModel
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.dense import dense
from cosmolabe.engine.game import TERMINATED, Game

WINDOW = 8  # true states a model is told (AutoWorldModel-Bench)
LAG = 2  # rows before them that feed their history deltas
Plans = UInt8[np.ndarray, "episode candidate decision"]


@dataclass(frozen=True)
class Moment:
    """Games in full swing, one row each."""

    game: Game
    worlds: Float[np.ndarray, "episode world"]
    """For the true simulator alone."""
    recent: Float32[np.ndarray, "episode time public"]
    """The last LAG + WINDOW states."""
    past: UInt8[np.ndarray, "episode past"]
    """The actions between the last WINDOW states."""
    seeds: tuple[int, ...]
    """Who each episode is; with the tick, this makes other luck other."""
    tick: int

    def __len__(self) -> int:
        return len(self.worlds)

    def take(self, rows: np.ndarray) -> "Moment":
        """The same moment in some of the games."""
        return Moment(
            self.game, self.worlds[rows], self.recent[rows], self.past[rows],
            tuple(self.seeds[row] for row in rows), self.tick,
        )  # fmt: skip

    def context(self, ticks: UInt8[np.ndarray, "episode candidate tick"]) -> Context:
        """What a world model is told: one row a candidate, its actions tick by tick."""
        game, count = self.game, ticks.shape[1]
        told = [dense(game, rows, LAG)[:2] for rows in self.recent]
        states, numbers = (np.repeat(np.stack(part), count, 0) for part in zip(*told, strict=True))
        past = np.repeat(self.past, count, 0)
        future = ticks.reshape(len(past), -1)
        moves = np.concatenate([past, future, future[:, -1:]], 1)
        table = np.array(game.action_table, np.float32)
        registry = game.manifest.registry()
        return Context(
            registry=np.broadcast_to(registry, (len(past), *registry.shape)),
            states=states,
            globals=numbers,
            actions=table[moves],
            masks=game.manifest.masks(),
        )


@dataclass(frozen=True)
class Future:
    """Where candidates lead; rows are episodes x candidates."""

    frames: Frames
    why: tuple[str, ...] = ()
    """Reasons of rows that cannot be used."""


@runtime_checkable
class Dreamer(Protocol):
    """Somebody who can say where plans lead."""

    @property
    def name(self) -> str:
        """Whose futures these are."""
        ...

    def futures(self, moment: Moment, plans: Plans, hold: int, seed: int) -> list[Future]:
        """One future, or several equally likely ones, of every candidate."""
        ...


@dataclass(frozen=True)
class InsideModel:
    """Futures as a world model imagines them."""

    model: WorldModel

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    def futures(self, moment: Moment, plans: Plans, hold: int, seed: int) -> list[Future]:
        """What the model imagines at the end of every decision."""
        context = moment.context(np.repeat(plans, hold, 2))
        prediction, why = imagine(self.model, context, seed)
        why = tuple(
            reason or ("" if sound else "not finite")
            for reason, sound in zip(why, is_finite(prediction), strict=True)
        )
        ends = slice(hold - 1, None, hold)
        now = context.states[:, -1:][..., list(PREDICTED)]
        over = np.asarray(prediction.terminal.reshape(len(why), -1, hold).max(2) > 0)
        frames = Frames(
            np.concatenate([now, prediction.states[:, ends]], 1),
            np.concatenate([context.globals[:, -1:], prediction.globals[:, ends]], 1),
            np.concatenate([np.zeros_like(over[:, :1]), over], 1),
        )
        return [Future(frames, why)]


@dataclass(frozen=True)
class InsideRules:
    """Futures under the true rules: with `streams` other lucks, or with the true one (0)."""

    streams: int = 4
    name: str = "true simulator"

    def futures(self, moment: Moment, plans: Plans, hold: int, seed: int) -> list[Future]:
        """The true game's states at the end of every decision."""
        count = plans.shape[1]
        ticks = np.repeat(plans, hold, 2).reshape(len(moment) * count, -1)
        found = []
        for stream in range(max(self.streams, 1)):
            worlds = moment.worlds.copy()
            if self.streams:
                _reshuffle(moment, worlds, stream, seed)
            public = simulated(moment.game, np.repeat(worlds, count, 0), ticks)
            found.append(Future(frames_of(moment.game, public[:, ::hold])))
        return found


def _reshuffle(moment: Moment, worlds: np.ndarray, stream: int, seed: int) -> None:
    """Other luck for the copies: the same for all candidates of an episode."""
    for world, episode in zip(worlds, moment.seeds, strict=True):
        key = seed_of("planned luck", moment.game.name, episode, moment.tick, stream, seed)
        give_luck(world, key)


def simulated(
    game: Game, worlds: np.ndarray, ticks: UInt8[np.ndarray, "row tick"]
) -> Float32[np.ndarray, "row time public"]:
    """Compact rows of worlds under given actions and the game's own physics; see `played_on`."""
    return played_on(game, worlds, ticks, game.default_parameters())


def frames_of(game: Game, public: Float32[np.ndarray, "row time public"]) -> Frames:
    """Compact rows as frames."""
    rows, length = public.shape[:2]
    states, numbers, _ = dense(game, public.reshape(rows * length, -1))
    return Frames(
        states[..., list(PREDICTED)].reshape(rows, length, game.manifest.num_slots, -1),
        numbers.reshape(rows, length, -1),
        public[..., TERMINATED] != 0,
    )
