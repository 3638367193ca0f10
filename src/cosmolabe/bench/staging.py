"""Puts scenarios on the stage: the true context and continuation of each, over a batch of seeds.

staged = stage(game, scenario, seeds=range(8))
staged.windows   what a model is told and what came of it, like any other windows
staged.trace     the true continuation, which predicates read
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

from cosmolabe.bench.continuing import give_luck, played_on
from cosmolabe.core.episode import Windows
from cosmolabe.core.fields import NUM_HISTORY, PREDICTED
from cosmolabe.core.rollout import SURE, Prediction
from cosmolabe.core.scenario import LEAD, Scenario, Trace
from cosmolabe.core.seeds import episode_seed, generator, seed_of
from cosmolabe.data.dense import dense
from cosmolabe.data.playing import parse_script
from cosmolabe.engine.game import TERMINATED, Game

WINDOW = LEAD + 1
"""Context states of every scenario."""
SALT = "public"
SPLIT = "scenario"
"""Worlds of scenarios are a split of their own: no store holds them."""


@dataclass(frozen=True)
class Staged:
    """One scenario as played from a batch of seeds."""

    game: Game
    scenario: Scenario
    seeds: tuple[int, ...]
    windows: Windows
    """W context states and the true continuation; `episodes` holds the seeds."""
    trace: Trace
    """The last context state and the true continuation."""
    actions: UInt8[np.ndarray, "batch window_and_horizon"]
    """What the model is told; the world repeats an action now and then where it is sticky."""
    executed: UInt8[np.ndarray, "batch window_and_horizon"]
    """What the world did."""

    def __len__(self) -> int:
        return len(self.seeds)


def constants_of(
    game: Game, scenario: Scenario, changes: Mapping[str, float] | None = None
) -> np.ndarray:
    """Physics of a scenario, with changes on top."""
    return game.default_parameters(**{**scenario.parameters, **(changes or {})})


def actions_of(
    game: Game, scenario: Scenario, script: str | None = None
) -> UInt8[np.ndarray, " window_and_horizon"]:
    """One action a tick for W + H ticks; the last word of a short script goes on."""
    length = WINDOW + scenario.horizon
    words = parse_script(game, scenario.script if script is None else script)
    return np.array((words + words[-1:] * length)[:length], np.uint8)


def opening(game: Game, scenario: Scenario, seed: int) -> np.ndarray:
    """The start of one seed: a fresh world, then the scenario's own set-up."""
    key = episode_seed(SALT, game.name, SPLIT, seed)
    world = game.new_world(key, scenario.level, constants_of(game, scenario))
    if scenario.set_up is not None:
        scenario.set_up(world, generator("scenario", game.name, scenario.name, seed))
    return world


def stage(
    game: Game,
    scenario: Scenario,
    seeds: Sequence[int] = range(8),
    sticky: float = 0.0,
    script: str | None = None,
    parameters: Mapping[str, float] | None = None,
    stream: int | None = None,
) -> Staged:
    """Play a scenario, or its twin (`script=scenario.twin`), from every seed.

    `sticky` is the chance that the world repeats its previous action while the model is told the
    intended one. `parameters` change the physics after the context: the start stays the true one,
    what comes of it does not. `stream` puts other luck in place of the world's own, after the
    context too. An episode that ends early keeps its last state.
    """
    if not 0.0 <= sticky < 1.0:
        raise ValueError(f"sticky is a chance, in [0, 1); got {sticky}")
    seeds = tuple(int(seed) for seed in seeds)
    if not seeds:
        raise ValueError(f"{game.name} {scenario.name}: at least one seed; got none")
    actions = np.tile(actions_of(game, scenario, script), (len(seeds), 1))
    executed = _stuck(actions, sticky, game, scenario, seeds, stream)
    start = np.stack([opening(game, scenario, seed) for seed in seeds])
    constants = constants_of(game, scenario)
    past = played_on(game, start, executed[:, :LEAD], constants)
    if (start[:, TERMINATED] != 0.0).any():
        raise ValueError(f"{game.name} {scenario.name}: the game ends before the last {LEAD} ticks")
    now = start if stream is None else _other_luck(start, game, scenario, seeds, stream)
    changed = constants_of(game, scenario, parameters)
    future = played_on(game, now.copy(), executed[:, LEAD:-1], changed)
    windows = _windows(game, np.concatenate([past, future[:, 1:]], 1), actions, seeds)
    return Staged(
        game=game,
        scenario=scenario,
        seeds=seeds,
        windows=windows,
        trace=_true_trace(game, windows, actions),
        actions=actions,
        executed=executed,
    )


def trace_of(prediction: Prediction, staged: Staged) -> Trace:
    """A model's rollout as a trace: the true last context state, then what it imagined."""
    true = staged.trace
    return Trace(
        manifest=true.manifest,
        states=np.concatenate([true.states[:, :1], prediction.states], 1),
        globals=np.concatenate([true.globals[:, :1], prediction.globals], 1),
        terminal=np.concatenate([true.terminal[:, :1], prediction.terminal > 0.0], 1),
        actions=true.actions,
    )


def prediction_of(staged: Staged) -> Prediction:
    """The staged continuation as if a model had imagined it."""
    trace = staged.trace
    return Prediction(
        trace.states[:, 1:],
        trace.globals[:, 1:],
        SURE * (2 * trace.terminal[:, 1:].astype(np.float32) - 1),
    )


def _other_luck(
    worlds: np.ndarray, game: Game, scenario: Scenario, seeds: Sequence[int], stream: int
) -> np.ndarray:
    """The same worlds with other random numbers to come."""
    worlds = worlds.copy()
    for world, seed in zip(worlds, seeds, strict=True):
        give_luck(world, seed_of("other luck", game.name, scenario.name, seed, stream))
    return worlds


def _stuck(
    actions: np.ndarray,
    sticky: float,
    game: Game,
    scenario: Scenario,
    seeds: Sequence[int],
    stream: int | None,
) -> np.ndarray:
    """What a sticky world does; with other luck it sticks elsewhere, but not in the context."""
    executed = actions.copy()
    if not sticky:
        return executed
    for row, seed in zip(executed, seeds, strict=True):
        again = generator("sticky", game.name, scenario.name, seed).random(len(row)) < sticky
        if stream is not None:
            luck = generator("sticky", game.name, scenario.name, seed, stream).random(len(row))
            again[LEAD:] = luck[LEAD:] < sticky
        for tick in np.flatnonzero(again[1:]) + 1:
            row[tick] = row[tick - 1]
    return executed


def _windows(
    game: Game, public: np.ndarray, actions: np.ndarray, seeds: tuple[int, ...]
) -> Windows:
    states, numbers, terminal = _dense(game, public)
    table = np.asarray(game.action_table, np.float32)
    return Windows(
        registry=np.tile(game.manifest.registry(), (len(seeds), 1, 1)),
        states=states,
        actions=table[actions],
        globals=numbers,
        terminal=terminal,
        masks=game.manifest.masks(),
        episodes=np.array(seeds, np.int64),
        starts=np.zeros(len(seeds), np.int64),
    )


def _dense(game: Game, public: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All episodes at once; no first state has a past, nor has a second one two."""
    batch, length, _ = public.shape
    states, numbers, terminal = dense(game, public.reshape(batch * length, -1))
    states = states.reshape(batch, length, *states.shape[1:])
    states[:, 0, :, -NUM_HISTORY:] = 0.0
    states[:, 1, :, -NUM_HISTORY + 2 :] = 0.0
    return states, numbers.reshape(batch, length, -1), terminal.reshape(batch, length)


def _true_trace(game: Game, windows: Windows, actions: np.ndarray) -> Trace:
    return Trace(
        manifest=game.manifest,
        states=windows.states[:, LEAD:][..., list(PREDICTED)],
        globals=windows.globals[:, LEAD:],
        terminal=windows.terminal[:, LEAD:],
        actions=actions[:, LEAD:],
    )
