"""Damage as world models go wrong: on the states of a finished episode or of a prediction.

Nothing is played again. Positions of the entities hit are moved (a lagging one shows its whole
row of some ticks ago), all else stays true, and velocity and history follow from what is shown.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from cosmolabe.core.episode import Episode, Windows, rebuild_motion, shortest_way
from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY, VX, VY
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.rollout import SURE, Prediction
from cosmolabe.core.seeds import generator
from cosmolabe.data.damage import WORLD, Damage, in_rollouts

FASTEST_DRIFT = 0.01  # worlds per tick, at size 1, each entity in a direction of its own
LARGEST_JITTER = 0.05  # worlds, standard deviation on each axis, at size 1
LARGEST_WOBBLE = 0.1  # worlds, the same of smooth noise
SMOOTHING = 12  # ticks over which smooth noise is averaged
LONGEST_LAG = 30  # ticks, at size 1
MARGIN = 0.05  # worlds: a moved entity leaves the world by no more


def hurt_episode(true: Episode, manifest: Manifest, damage: Damage) -> Episode:
    """A finished episode with damaged states from the onset on; actions and globals stay."""
    if damage.size == 0:
        return true
    hit = _hit(manifest, damage)
    states = true.states.copy()
    states[:, hit] = _hurt(true.states[:, hit], manifest, damage)
    after = slice(damage.onset, None)
    states[after, hit, VX : VY + 1] = _moves(states[:, hit], manifest)[damage.onset - 1 :]
    return replace(true, states=rebuild_motion(states, manifest))


def hurt_prediction(
    windows: Windows, prediction: Prediction, manifest: Manifest, damages: Sequence[Damage]
) -> Prediction:
    """What a model imagined, damaged: one damage a window, onsets counted in the window's states.

    The context stays as it is, so an onset inside it begins with the first imagined state.
    """
    context = windows.states.shape[1] - prediction.states.shape[1]
    states = prediction.states.copy()
    for row, damage in enumerate(damages):
        damage = replace(damage, onset=max(damage.onset, context))
        if damage.size == 0:
            continue
        hit = _hit(manifest, damage)
        past = windows.states[row, :context][..., _predicted(windows)]
        whole = np.concatenate([past, prediction.states[row]])
        states[row][:, hit] = _hurt(whole[:, hit], manifest, damage)[context:]
    return replace(prediction, states=states)


def true_prediction(windows: Windows, context: int) -> Prediction:
    """The truth as if a model had imagined it."""
    return Prediction(
        windows.states[:, context:][..., _predicted(windows)],
        windows.globals[:, context:].copy(),
        np.where(windows.terminal[:, context:], SURE, -SURE).astype(np.float32),
    )


def _predicted(windows: Windows) -> list[int]:
    return [*range(ALIVE + 1), *range(FIELDS_START, windows.states.shape[-1] - NUM_HISTORY)]


def _hit(manifest: Manifest, damage: Damage) -> list[int]:
    able = in_rollouts(manifest)
    if damage.kind not in able:
        raise ValueError(
            f"'{damage.kind}' changes the world, not a finished rollout; those can be hurt by "
            f"{list(able)}"
        )
    if damage.entity not in able[damage.kind]:
        raise ValueError(
            f"'{damage.kind}' cannot hit '{damage.entity}'; it can hit {list(able[damage.kind])}"
        )
    names = [slot.name for slot in manifest.slots]
    chosen = able[damage.kind][1:] if damage.entity == WORLD else (damage.entity,)
    return [names.index(name) for name in chosen]


def _hurt(
    rows: Float[np.ndarray, "time slot column"], manifest: Manifest, damage: Damage
) -> Float[np.ndarray, "time slot column"]:
    """The rows of the entities hit; columns begin with x, y and alive."""
    out, after = rows.copy(), slice(damage.onset, None)
    length = len(rows) - damage.onset
    if length < 1:
        return out
    if damage.kind == "lag":
        late = np.arange(damage.onset, len(rows)) - round(LONGEST_LAG * damage.size)
        out[after] = rows[np.maximum(late, 0)]
        return out
    true = rows[after, :, :2].astype(np.float64)
    alive = rows[after, :, ALIVE : ALIVE + 1] > 0.5
    wrap = manifest.masks().wrap
    places = true + damage.size * _offsets(true, alive, wrap, damage)
    inside = np.clip(places, np.minimum(true, -MARGIN), np.maximum(true, 1 + MARGIN))
    places = np.where(wrap, places - np.floor(places), inside)
    out[after, :, :2] = np.where(alive, places, true)
    return out


def _offsets(places: np.ndarray, alive: np.ndarray, wrap: np.ndarray, damage: Damage) -> np.ndarray:
    """How far each entity is moved at each tick, at size 1."""
    draw = generator("damaged rollout", damage.kind, damage.seed)
    length, slots = places.shape[:2]
    if damage.kind == "drift":
        angle = 2 * np.pi * draw.random(slots)
        way = np.stack([np.cos(angle), np.sin(angle)], -1)
        return FASTEST_DRIFT * np.arange(1, length + 1)[:, None, None] * way
    if damage.kind == "jitter":
        return LARGEST_JITTER * draw.normal(size=places.shape)
    if damage.kind == "smooth_noise":
        noise = draw.normal(size=(length + SMOOTHING - 1, slots, 2)).cumsum(0)
        summed = np.concatenate([np.zeros((1, slots, 2)), noise])
        return LARGEST_WOBBLE / np.sqrt(SMOOTHING) * (summed[SMOOTHING:] - summed[:-SMOOTHING])
    assert damage.kind == "mean_collapse", damage.kind
    return shortest_way(_mean_place(places, alive, wrap) - places, wrap)


def _mean_place(places: np.ndarray, alive: np.ndarray, wrap: np.ndarray) -> np.ndarray:
    """Each entity's mean place while it lives, on the circle where the axis wraps."""
    count = np.maximum(alive.sum(0), 1)
    plain = np.where(alive, places, 0).sum(0) / count
    turns = np.where(alive, np.exp(2j * np.pi * places), 0).sum(0)
    return np.where(wrap, np.angle(turns) / (2 * np.pi) % 1.0, plain)


def _moves(rows: np.ndarray, manifest: Manifest) -> np.ndarray:
    """From each state to the next; 0 where somebody is dead at either end."""
    delta = shortest_way(np.diff(rows[..., :2], axis=0), manifest.masks().wrap)
    alive = rows[..., ALIVE : ALIVE + 1] > 0.5
    return np.where(alive[1:] & alive[:-1], delta, 0)
