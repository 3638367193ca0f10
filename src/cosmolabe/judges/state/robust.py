"""What a model is shown under a robustness protocol: the context, corrupted by seed.

Corruption touches what moves (valid, mutable slots) and nothing that is scored. A corrupted context
is still a valid one: velocity and history of every entity touched follow from what is shown of it.
Draws belong to a window (its episode and start), so neither order nor number of windows matters.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.episode import Windows, shortest_way
from cosmolabe.core.fields import ALIVE, CONTROLLABLE, FIELDS_START, NUM_HISTORY, VX, VY
from cosmolabe.core.rollout import Context
from cosmolabe.core.seeds import generator
from cosmolabe.judges.state.protocol import RobustProtocol, StateProtocol


def every_of(protocol: StateProtocol) -> int:
    """Ticks between two states of a window."""
    return protocol.every if isinstance(protocol, RobustProtocol) else 1


def ticks_of(protocol: StateProtocol, steps: int) -> int:
    """States of the episode that a window with so many imagined states is cut from."""
    return (protocol.window + steps - 1) * every_of(protocol) + 1


def thinned(windows: Windows, protocol: StateProtocol) -> Windows:
    """Every k-th state, with the action chosen in it; what is pressed in between stays untold.

    Velocity and history are then per shown state, as a model finds them when it rebuilds them.
    """
    every = every_of(protocol)
    if every == 1:
        return windows
    part = slice(None, None, every)
    moving = np.broadcast_to(_moving(windows), windows.states[:, 0, :, 0].shape)
    return replace(
        windows,
        states=_rebuilt(windows.states[:, part].copy(), moving, windows.masks.wrap),
        actions=windows.actions[:, part],
        globals=windows.globals[:, part],
        terminal=windows.terminal[:, part],
    )


def shown_context(windows: Windows, protocol: StateProtocol) -> Context:
    """What a model is told of the windows: the context itself unless the protocol corrupts it."""
    context = windows.context(protocol.window)
    if not isinstance(protocol, RobustProtocol):
        return context
    clean = context.states
    states = clean.copy()
    if protocol.masked:
        _mask(states, windows, protocol)
    if protocol.noise:
        _shake(states, windows, protocol)
    hidden = np.zeros(states.shape[:3], bool)
    if protocol.missing:
        hidden |= _lost(windows, protocol)
    if protocol.reach:
        hidden |= _out_of_sight(clean, windows, protocol)
    _hide(states, hidden & (clean[..., ALIVE] > 0.5) & _moving(windows)[:, None])
    touched = (states[..., : ALIVE + 1] != clean[..., : ALIVE + 1]).any((1, 3))
    return replace(context, states=_rebuilt(states, touched, windows.masks.wrap))


def _moving(windows: Windows) -> Bool[np.ndarray, "batch_or_1 slot"]:
    return np.atleast_2d(windows.masks.valid & windows.masks.mutable)


def _draws(windows: Windows, what: str, seed: int) -> Iterator[np.random.Generator]:
    for episode, start in zip(windows.episodes, windows.starts, strict=True):
        yield generator("corruption", what, seed, int(episode), int(start))


def _mask(states: np.ndarray, windows: Windows, protocol: RobustProtocol) -> None:
    fields = states[..., FIELDS_START:-NUM_HISTORY]
    for row, draw in enumerate(_draws(windows, "masked", protocol.corruption_seed)):
        hidden = windows.masks.fields & (draw.random(fields.shape[-1]) < protocol.masked)
        fields[row][..., hidden] = 0.0


def _shake(states: np.ndarray, windows: Windows, protocol: RobustProtocol) -> None:
    here = (states[..., ALIVE] > 0.5) & _moving(windows)[:, None]
    places = states[..., :2]
    for row, draw in enumerate(_draws(windows, "noise", protocol.corruption_seed)):
        noise = (protocol.noise * draw.normal(size=places.shape[1:])).astype(np.float32)
        moved = places[row] + noise
        moved = np.where(windows.masks.wrap, moved - np.floor(moved), moved)
        places[row] = np.where(here[row][..., None], moved, places[row])


def _lost(windows: Windows, protocol: RobustProtocol) -> Bool[np.ndarray, "batch window slot"]:
    slots, when = windows.states.shape[2], np.arange(protocol.window)[:, None]
    hidden = np.zeros((len(windows), protocol.window, slots), bool)
    for row, draw in enumerate(_draws(windows, "missing", protocol.corruption_seed)):
        first = draw.integers(protocol.window - protocol.missing_states + 1, size=slots)
        gone = draw.random(slots) < protocol.missing
        hidden[row] = gone & (when >= first) & (when < first + protocol.missing_states)
    return hidden


def _out_of_sight(
    states: Float[np.ndarray, "batch window slot state"],
    windows: Windows,
    protocol: RobustProtocol,
) -> Bool[np.ndarray, "batch window slot"]:
    """Whoever is far from the first controllable entity, which always sees itself."""
    controlled = windows.registry[..., CONTROLLABLE] > 0.5
    if not controlled.any(-1).all():
        raise ValueError(
            f"{protocol.name} looks around the controllable entity, and the manifest marks none; "
            "mark one, or leave this protocol out"
        )
    centre = controlled.argmax(-1)
    eye = np.take_along_axis(states[..., :2], centre[:, None, None, None], 2)
    away = states[..., :2] - eye
    away = shortest_way(away, windows.masks.wrap)
    return (np.abs(away) > protocol.reach).any(-1) & ~controlled[:, None]


def _hide(states: np.ndarray, hidden: Bool[np.ndarray, "batch window slot"]) -> None:
    """Dead, where and as it was last shown; all zero where it never was."""
    last = np.zeros_like(states[:, 0])
    for step in range(states.shape[1]):
        unseen = last.copy()
        unseen[..., ALIVE] = 0.0
        states[:, step] = np.where(hidden[:, step, :, None], unseen, states[:, step])
        last = np.where(hidden[:, step, :, None], last, states[:, step])


def _rebuilt(
    states: Float[np.ndarray, "batch time slot state"],
    touched: Bool[np.ndarray, "batch slot"],
    wrap: Bool[np.ndarray, "2"],
) -> Float[np.ndarray, "batch time slot state"]:
    """Velocity and history of the entities touched, from the positions shown.

    The first state has no past: its velocity is that of the second, its history 0.
    """
    delta = np.diff(states[..., :2], axis=1)
    delta = shortest_way(delta, wrap)
    alive = states[..., ALIVE] > 0.5
    delta = np.where((alive[:, 1:] & alive[:, :-1])[..., None], delta, np.float32(0))
    motion = np.zeros((*states.shape[:3], 2 + NUM_HISTORY), np.float32)
    motion[:, 1:, :, :2] = motion[:, 1:, :, 2:4] = delta
    motion[:, :1, :, :2] = delta[:, :1]
    motion[:, 2:, :, 4:] = delta[:, :-1]
    columns = [VX, VY, *range(states.shape[-1] - NUM_HISTORY, states.shape[-1])]
    states[..., columns] = np.where(touched[:, None, :, None], motion, states[..., columns])
    return states
