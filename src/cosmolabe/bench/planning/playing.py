"""Plays the true game by plans made inside a model, and by the players it is compared with.

All play the same episodes: from moments that the heuristic player reached, for the same ticks.
What counts is the true game's score, and the true return (`returns.gains`, undiscounted).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Float32, UInt8

from cosmolabe.bench.planning.futures import LAG, WINDOW, Dreamer, Moment, frames_of, simulated
from cosmolabe.bench.planning.planners import Effort, Plan, planner_named
from cosmolabe.bench.planning.returns import WORST, gains
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.seeds import generator, seed_of
from cosmolabe.data.players import player_named
from cosmolabe.engine import kernels
from cosmolabe.engine.game import SCORE, TERMINATED, Game

SALT = "planning"
EARLIEST, LATEST = 60, 900  # ticks at which an episode of planning may begin
MOST_EPISODES = 1000
LIVES_OF_CHANCE = 8  # ours: futures of a player with luck of its own, averaged

Look = Callable[[Moment, Plan], None]


@dataclass(frozen=True)
class PlanProtocol:
    """All that decides what a planner's return means."""

    episodes: int = 8
    ticks: int = 120
    """Played after the start."""
    hold: int = 4
    """Ticks a decision stands for, as for trained players."""
    replan: int = 2
    """Decisions carried out before the next plan."""
    discount: float = 0.97
    """Of a decision against the one before, inside a plan."""
    effort: Effort = field(default_factory=Effort)
    streams: int = 4
    """Other lucks over which the true simulator's planner averages."""
    looks: int = 5
    """Moments of each episode whose candidates are also played in the true game."""
    seed: int = 0

    def __post_init__(self) -> None:
        least = min(self.episodes, self.ticks, self.hold, self.replan, self.streams)
        if least < 1 or self.looks < 0 or self.ticks % (self.hold * self.replan):
            raise ValueError(
                f"planning needs episodes, hold, replan and streams of at least 1, and ticks "
                f"that are whole rounds of {self.hold * self.replan}; got {self.episodes}, "
                f"{self.hold}, {self.replan}, {self.streams} and {self.ticks}"
            )
        if self.episodes > MOST_EPISODES:
            raise ValueError(
                f"planning plays at most {MOST_EPISODES} episodes; got {self.episodes}"
            )
        if self.replan > self.effort.decisions:
            raise ValueError(
                f"a plan of {self.effort.decisions} decisions cannot be followed for {self.replan}"
            )

    @property
    def rounds(self) -> int:
        """Plans made in an episode."""
        return self.ticks // (self.hold * self.replan)

    @property
    def horizon(self) -> int:
        """Ticks a plan looks ahead."""
        return self.effort.decisions * self.hold

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when any choice changes."""
        return fingerprint("planning/1", self)


@dataclass(frozen=True)
class Outcome:
    """What somebody got, one row an episode."""

    score: Float[np.ndarray, " episode"]
    """Points of the true game."""
    parts: Float[np.ndarray, "episode part"]
    """True return by `returns.PARTS`."""
    broken: int = 0
    """Imagined futures that could not be used."""
    why: tuple[str, ...] = ()

    @property
    def value(self) -> Float[np.ndarray, " episode"]:
        """True return."""
        return self.parts.sum(1)


def starts(game: Game, protocol: PlanProtocol) -> Moment:
    """Where the episodes begin: moments of games of the heuristic player, drawn by seed.

    A game that would be over by then begins at half its length.
    """
    moments = [_start(game, number, protocol.seed) for number in range(protocol.episodes)]
    return Moment(
        game,
        *(np.stack([getattr(m, name) for m in moments]) for name in ("worlds", "recent", "past")),
        tuple(range(protocol.episodes)),
        0,
    )


@dataclass(frozen=True)
class _Beginning:
    worlds: np.ndarray
    recent: np.ndarray
    past: np.ndarray


def _start(game: Game, number: int, seed: int) -> _Beginning:
    key = seed_of(SALT, game.name, seed, number)
    world = game.new_world(key)
    actions = _chosen(game, "heuristic", world[None], LATEST, [key])[0]
    public = simulated(game, world[None].copy(), actions[None])[0]
    lasted = int((public[:, TERMINATED] == 0).sum())
    tick = int(generator(SALT, "start", game.name, seed, number).integers(EARLIEST, LATEST))
    tick = tick if tick < lasted else max(lasted // 2, WINDOW + LAG)
    kernels.advance(
        game.step, world[None], actions[None, :tick].copy(), game.default_parameters()[None]
    )
    past = actions[tick - WINDOW + 1 : tick]
    return _Beginning(world, public[tick - WINDOW - LAG + 1 : tick + 1], past)


def _chosen(
    game: Game, player: str, worlds: np.ndarray, num_ticks: int, keys: list[int]
) -> UInt8[np.ndarray, "row tick"]:
    """A player's actions from given worlds."""
    who = player_named(player)
    actions = np.zeros((len(worlds), num_ticks), np.uint8)
    luck = np.array([[key & 0xFFFFFFFF, key >> 32] for key in keys], np.uint64)
    kernels.play(
        game.step, game.decide, worlds.copy(), game.default_parameters()[None], luck,
        len(game.actions), who.randomness, who.hold, actions, np.zeros_like(worlds), num_ticks,
        np.zeros(len(worlds), np.int64),
    )  # fmt: skip
    return actions


def outcome(game: Game, public: Float32[np.ndarray, "row time public"], hold: int) -> Outcome:
    """What these true rows brought; `hold` ticks make a decision."""
    score = public[:, -1, SCORE].astype(np.float64) - public[:, 0, SCORE]
    return Outcome(score, gains(game, frames_of(game, public[:, ::hold])))


def play_plain(start: Moment, player: str, protocol: PlanProtocol) -> Outcome:
    """What `stay`, the random or the heuristic player gets from the same starts.

    Players with luck of their own play each start several times; an episode's row is the mean.
    """
    game, times = start.game, 1 if player == "stay" else LIVES_OF_CHANCE
    worlds = np.repeat(start.worlds, times, 0)
    if player == "stay":
        actions = np.zeros((len(worlds), protocol.ticks), np.uint8)
    else:
        keys = [
            seed_of(SALT, player, game.name, protocol.seed, episode, k)
            for episode in start.seeds
            for k in range(times)
        ]
        actions = _chosen(game, player, worlds, protocol.ticks, keys)
    got = outcome(game, simulated(game, worlds, actions), protocol.hold)
    return Outcome(
        got.score.reshape(-1, times).mean(1),
        got.parts.reshape(len(start), times, -1).mean(1),
    )


def play_planned(
    start: Moment,
    dreamer: Dreamer,
    planner: str,
    protocol: PlanProtocol,
    look: Look | None = None,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Outcome:
    """Play every episode by plans; all games' candidates are imagined in one call.

    `look` is shown `protocol.looks` moments with the plan made there.
    """
    game, choose = start.game, planner_named(planner)
    dice = generator(SALT, planner, game.name, protocol.seed)
    plan = np.zeros((len(start), protocol.effort.decisions), np.uint8)
    moment, rows, broken = start, [start.recent[:, -1:]], _Broken()
    every = max(protocol.rounds // protocol.looks, 1) if protocol.looks else 0
    for turn in range(protocol.rounds):
        tell(turn, protocol.rounds)

        def imagine(plans: np.ndarray, moment: Moment = moment, turn: int = turn) -> np.ndarray:
            return worth(dreamer, moment, plans, protocol, turn, broken).sum(-1)

        made = choose(imagine, len(game.actions), protocol.effort, plan, dice)
        if look is not None and every and turn % every == 0:
            look(moment, made)
        now = np.repeat(made.decisions[:, : protocol.replan], protocol.hold, 1)
        worlds = moment.worlds.copy()
        public = simulated(game, worlds, now)
        rows.append(public[:, 1:])
        moment = _after(moment, worlds, public, now)
        rest = made.decisions[:, protocol.replan :]
        plan = (
            np.concatenate([rest, np.repeat(rest[:, -1:], protocol.replan, 1)], 1)
            if rest.size
            else plan * 0
        )
    got = outcome(game, np.concatenate(rows, 1), protocol.hold)
    return Outcome(got.score, got.parts, broken.count, tuple(sorted(broken.why)))


@dataclass
class _Broken:
    count: int = 0
    why: set[str] = field(default_factory=set)


def worth(
    dreamer: Dreamer,
    moment: Moment,
    plans: UInt8[np.ndarray, "episode candidate decision"],
    protocol: PlanProtocol,
    turn: int,
    broken: _Broken | None = None,
) -> Float[np.ndarray, "episode candidate part"]:
    """What candidates are worth by a dreamer's futures: the mean over equally likely ones."""
    seed = seed_of(SALT, "luck", protocol.seed, turn) & 0x7FFFFFFF
    values = []
    for future in dreamer.futures(moment, plans, protocol.hold, seed):
        worths = gains(moment.game, future.frames, protocol.discount)
        bad = np.array([bool(why) for why in future.why] or [False] * len(worths))
        worths[bad] = WORST
        if broken is not None:
            broken.count += int(bad.sum())
            broken.why |= {why for why in future.why if why}
        values.append(worths)
    return np.mean(values, axis=0).reshape(*plans.shape[:2], -1)


def _after(moment: Moment, worlds: np.ndarray, public: np.ndarray, now: np.ndarray) -> Moment:
    """The same games some ticks later."""
    length = moment.recent.shape[1]
    return Moment(
        moment.game,
        worlds,
        np.concatenate([moment.recent, public[:, 1:]], 1)[:, -length:].copy(),
        np.concatenate([moment.past, now], 1)[:, -(WINDOW - 1) :].copy(),
        moment.seeds,
        moment.tick + now.shape[1],
    )
