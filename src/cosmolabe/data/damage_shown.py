"""Damage of what is shown while the rules go on: who is there, when it happens, how large it is."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.core.episode import Episode, rebuild_motion
from cosmolabe.core.fields import ALIVE, VX, VY, X, Y
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.seeds import generator
from cosmolabe.data.damage import Damage, alike

LONGEST = 120  # ticks, at size 1
ASIDE = 0.15  # of the world: how far from its original a double stands
LARGEST = 2.0  # times the drawn size, at size 1
SHOWN = ("vanish", "appear", "duplicate", "reversed_time")


def ticks_of(damage: Damage) -> int:
    """How long a damage of what is shown lasts."""
    return round(LONGEST * damage.size)


def shown(true: Episode, manifest: Manifest, damage: Damage) -> Episode:
    """The episode as the damage shows it; the episode itself where there is nothing to show."""
    if ticks_of(damage) == 0:
        return true
    if damage.kind == "reversed_time":
        return _reversed(true, manifest, damage)
    states = true.states.copy()
    slot = [row.name for row in manifest.slots].index(damage.entity)
    part = slice(damage.onset, damage.onset + ticks_of(damage))
    {"vanish": _vanish, "appear": _appear, "duplicate": _duplicate}[damage.kind](
        states, part, slot, manifest, damage
    )
    return _with_states(true, rebuild_motion(states, manifest))


def _vanish(states: np.ndarray, part: slice, slot: int, manifest: Manifest, damage: Damage) -> None:
    states[part, slot, ALIVE] = 0


def _appear(states: np.ndarray, part: slice, slot: int, manifest: Manifest, damage: Damage) -> None:
    """It stands where it was last seen alive; where it never was, at a place drawn by the seed."""
    past = np.flatnonzero(states[: damage.onset, slot, ALIVE] > 0.5)
    row = states[past[-1] if len(past) else damage.onset, slot].copy()
    if not len(past):
        row[[X, Y]] = generator("appears at", damage.entity, damage.seed).uniform(0.15, 0.85, 2)
    row[[VX, VY]], row[ALIVE] = 0, 1
    dead = states[part, slot, ALIVE] <= 0.5
    states[part, slot] = np.where(dead[:, None], row, states[part, slot])


def _duplicate(
    states: np.ndarray, part: slice, slot: int, manifest: Manifest, damage: Damage
) -> None:
    """The first free slot of its kind shows it once more, beside it, moving as it moves."""
    spare = [s for s in alike(manifest, slot) if states[damage.onset, s, ALIVE] <= 0.5]
    if not spare:
        return
    double = states[part, slot].copy()
    aside = ASIDE if double[0, X] < 0.5 else -ASIDE
    double[:, X] += aside
    if manifest.wrap_x:
        double[:, X] %= 1.0
    free = (states[part, spare[0], ALIVE] <= 0.5) & (double[:, ALIVE] > 0.5)
    states[part, spare[0]] = np.where(free[:, None], double, states[part, spare[0]])


def _reversed(true: Episode, manifest: Manifest, damage: Damage) -> Episode:
    """The past once more, backwards; then the episode is where it would have been."""
    back = min(ticks_of(damage), damage.onset - 1, len(true) - damage.onset)
    if back < 1:
        return true
    tick = np.arange(len(true))
    turned = (tick >= damage.onset) & (tick < damage.onset + back)
    source = np.where(turned, 2 * (damage.onset - 1) - tick, tick)
    states = true.states[source]
    states[turned, :, VX : VY + 1] *= -1
    terminal = true.terminal[source]
    return Episode(
        true.registry, rebuild_motion(states, manifest), true.actions, true.globals[source],
        terminal, truncated=not terminal[-1],
    )  # fmt: skip


def _with_states(true: Episode, states: np.ndarray) -> Episode:
    return Episode(true.registry, states, true.actions, true.globals, true.terminal, true.truncated)


def resized(
    draw: Callable[[np.ndarray], np.ndarray],
    states: Float[np.ndarray, "time slot state"],
    slot: int,
    size: float,
    wrap: tuple[bool, bool] = (False, False),
) -> UInt8[np.ndarray, "time height width 3"]:
    """Pictures in which one entity is drawn larger about its own centre.

    `draw` gives the pictures of states; `wrap` says whether rows and columns wrap. What the entity
    covers is found by drawing the scene without it, so that this needs nothing of a game but its
    drawing.
    """
    whole = draw(states)
    if size == 0:
        return whole
    absent = states.copy()
    absent[:, slot, [X, Y]] = np.nan  # left out of a drawing, whatever its alive flag means
    without = draw(absent)
    scale = 1 + (LARGEST - 1) * size
    out = without.copy()
    for picture, before in zip(out, whole, strict=True):
        mask = (picture != before).any(-1)
        if mask.any():
            _stretch(picture, before, mask, scale, wrap)
    return out


def _stretch(
    picture: np.ndarray, source: np.ndarray, mask: np.ndarray, scale: float, wrap: tuple[bool, bool]
) -> None:
    places = []
    for axis, wraps in enumerate(wrap):
        length = mask.shape[axis]
        middle = _middle(np.flatnonzero(mask.any(1 - axis)), length, wraps)
        away = np.arange(length) - middle
        if wraps:
            away -= length * np.round(away / length)
        nearest = np.round(middle + away / scale).astype(int)
        places.append(nearest % length if wraps else np.clip(nearest, 0, length - 1))
    grid = np.ix_(*places)
    covers = mask[grid]
    picture[covers] = source[grid][covers]


def _middle(found: np.ndarray, length: int, wraps: bool) -> float:
    """Middle of what is covered; on an axis that wraps it begins after the widest gap."""
    if not wraps:
        return float(found[0] + found[-1]) / 2
    gaps = np.diff(np.append(found, found[0] + length))
    last = int(np.argmax(gaps))
    first = found[(last + 1) % len(found)]
    end = found[last] + (length if found[last] < first else 0)
    return float(first + end) / 2
