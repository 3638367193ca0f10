"""Plays one episode of an outside game; what it holds follows from the names given alone."""

from collections.abc import Iterable

import numpy as np

from cosmolabe.core.episode import Episode, rebuild_motion
from cosmolabe.core.fields import ALIVE
from cosmolabe.data.outside.game import Moment, OutsideGame, Session
from cosmolabe.data.outside.slots import SlotKeeper


def play_episode(
    game: OutsideGame, session: Session, seed: int, actions: Iterable[int], keep_frames: bool
) -> tuple[Episode, list[np.ndarray]]:
    """T states, the T - 1 actions that led from each to the next, and the T frames if asked.

    Row t holds s_t and the action chosen after seeing it; the last row has none.
    """
    keeper, manifest = SlotKeeper(game), game.manifest
    moment = session.reset(seed)
    moments, states = [moment], [keeper.row_of(moment)]
    frames = [session.frame()] if keep_frames else []
    taken: list[int] = []
    for action in actions:
        if moment.terminated or moment.truncated:
            break
        moment = session.step(int(action))
        taken.append(int(action))
        moments.append(moment)
        states.append(keeper.row_of(moment))
        if keep_frames:
            frames.append(session.frame())
    episode = Episode(
        registry=manifest.registry(),
        states=rebuild_motion(np.stack(states), manifest),
        actions=_moves(game, taken),
        globals=_numbers(game, moments),
        terminal=np.array([m.terminated for m in moments]),
        truncated=not moment.terminated,
    )
    _check(game, episode)
    return episode, frames


def _moves(game: OutsideGame, taken: list[int]) -> np.ndarray:
    names = game.manifest.profile.action_fields
    moves = np.zeros((len(taken) + 1, len(names)), np.float32)
    for t, action in enumerate(taken):
        for name, value in game.actions[action].items():
            moves[t, names.index(name)] = value
    return moves


def _numbers(game: OutsideGame, moments: list[Moment]) -> np.ndarray:
    names = game.manifest.profile.global_fields
    numbers = np.zeros((len(moments), len(names)), np.float32)
    for name in game.manifest.globals:
        if name == "tick_share":
            numbers[:, names.index(name)] = np.arange(len(moments)) / game.manifest.max_ticks
        else:
            numbers[:, names.index(name)] = [moment.numbers[name] for moment in moments]
    return numbers


def _check(game: OutsideGame, episode: Episode) -> None:
    if not (np.isfinite(episode.states).all() and np.isfinite(episode.globals).all()):
        where = np.argwhere(~np.isfinite(episode.states))
        slot = game.manifest.slots[int(where[0, 1])].name if len(where) else "a global"
        raise ValueError(f"{game.name} gave a number that is not finite, at {slot}")
    if len(episode) > 1 and not (episode.states[..., ALIVE] > 0.5).any():
        raise ValueError(f"{game.name} showed nobody alive in {len(episode)} states")
