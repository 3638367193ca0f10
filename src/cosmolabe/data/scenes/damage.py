"""Damage of a played scene: its laws from the onset on, or where, when and how bodies are shown."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cosmolabe.core.seeds import generator
from cosmolabe.data.scene_names import KINDS, SHOWN
from cosmolabe.data.scenes.shooting import Extra, Play, Shot, Step, go_on, mujoco
from cosmolabe.data.scenes.stage import MATERIALS, right_of

STEEPEST_TURN = np.pi / 3  # of gravity towards the side of the picture, at size 1
SLIPPERIEST = 0.98  # share of it that is lost, at size 1: without any, contacts turn unstable
LIVELIEST = 1.0  # share of its speed that each bounce gains, at size 1
A_BOUNCE = 0.2  # metres per second: who leaves more slowly has not bounced
WILDEST = 8.0  # metres per second: who is faster already gains no more
HEAVIEST = 14.0  # times its mass that a body gains, at size 1
LIFT = 1.7  # times its weight: the force upwards on a body, at size 1
HARDEST_KICK = 0.9  # widths of the picture per second, at size 1
TURNING_KICK = 7.0  # radians per second, at size 1, of what hangs on a hinge
PACE = {"freeze": -1.0, "speed_jump": 1.5}  # share of its motion that a body gains, at size 1
FARTHEST_TELEPORT = 0.4  # widths of the picture, at size 1
LONGEST = 1.5  # seconds that somebody is gone, new or doubled, at size 1
LONGEST_BACK = 0.7  # seconds that time runs backwards, at size 1
LONGEST_LAG = 0.5  # seconds, at size 1
ASIDE = 0.18  # widths of the picture: how far from its original a double stands
LARGEST = 2.0  # times its size, at size 1
FASTEST_DRIFT = 0.4  # widths of the picture per second, at size 1
LARGEST_JITTER = 0.04  # widths, standard deviation on each axis of the picture, at size 1
LARGEST_WOBBLE = 0.08  # widths, the same of smooth noise
SMOOTHING = 0.2  # seconds over which smooth noise is averaged
COARSEST = 9  # frames that a stuttering body stands still, at size 1
WORLD = ""
"""The entity of a damage that concerns all movers."""


def applicable(played: Play) -> dict[str, tuple[str, ...]]:
    """For each kind the movers it can hit in this scene, `WORLD` for all at once; or none."""
    mj, model, stage = mujoco(), played.model, played.stage
    jointed = [name for name in stage.movers if model.body(name).jntnum[0]]
    loose = [n for n in jointed if model.joint(n).type[0] == mj.mjtJoint.mjJNT_FREE]
    solid = [name for name in stage.movers if any(model.geom_contype[g] for g in
             played.geoms_of(name))]  # fmt: skip
    every = dict.fromkeys(KINDS, stage.movers)
    every |= dict.fromkeys(("gravity", "gravity_turned", "reversed_time"), (WORLD,))
    every |= dict.fromkeys(("jitter", "smooth_noise", "drift", "lag"), (WORLD, *stage.movers))
    every |= dict.fromkeys(("friction", "restitution"), (WORLD,) if loose and stage.meets else ())
    every |= dict.fromkeys(("kick", "freeze", "speed_jump"), tuple(jointed))
    every |= dict.fromkeys(("mass", "ghosting"), tuple(solid) if stage.meets else ())
    return every


def hurt_shot(played: Play, kind: str, size: float, entity: str, seed: int) -> Shot:
    """The double's shot: the true one before the onset, and at size 0."""
    if kind not in KINDS:
        raise ValueError(f"no damage '{kind}' of a scene; have {list(KINDS)}")
    able = applicable(played)[kind]
    if entity not in able:
        raise ValueError(f"'{kind}' cannot hit '{entity}' here; it can hit {list(able)}")
    if not 0 <= size <= 1:
        raise ValueError(f"the size of a damage is in [0, 1]; got {size}")
    if size == 0:
        return played.shot
    draw = generator("damaged scene", kind, seed)
    if kind in SHOWN:
        return _SHOWN[kind](played, size, played.geoms_of(entity), draw)
    return _other_laws(played, kind, size, entity, draw)


# --- other laws


def _other_laws(
    played: Play, kind: str, size: float, entity: str, draw: np.random.Generator
) -> Shot:
    mj, model = mujoco(), copy.copy(played.model)
    step: Step | None = None
    start: Step | None = None
    body = model.body(entity).id if entity else -1
    sign = (-1, 1)[draw.integers(2)]
    if kind == "gravity":
        model.opt.gravity[:] *= 1 - size
    elif kind == "gravity_turned":
        angle, pull = sign * STEEPEST_TURN * size, np.linalg.norm(model.opt.gravity)
        down = np.array([0.0, 0.0, -1.0]) * np.cos(angle)
        model.opt.gravity[:] = pull * (down + right_of(played.look) * np.sin(angle))
    elif kind == "friction":
        model.geom_friction[:] *= 1 - SLIPPERIEST * size
    elif kind == "mass":
        model.body_mass[body] *= 1 + HEAVIEST * size
        model.body_inertia[body] *= 1 + HEAVIEST * size
        mj.mj_setConst(model, mj.MjData(model))
    elif kind == "ghosting":
        geoms = played.geoms_of(entity)
        model.geom_size[geoms] *= max(1 - size, 1e-3)
        if size == 1:
            model.geom_contype[geoms] = model.geom_conaffinity[geoms] = 0
    elif kind == "levitate":
        weight = model.body_mass[body] * np.linalg.norm(model.opt.gravity)

        def start(_: Any, data: Any) -> None:  # noqa: ANN401 - MuJoCo's
            data.xfrc_applied[body, 2] = LIFT * size * weight
    elif kind == "kick":
        start = _kick(played, entity, size * sign, draw)
    elif kind == "restitution":
        step = _bouncing_harder(model, played, LIVELIEST * size)
    else:
        step = _changing_pace(model, entity, 1 + PACE[kind] * size)
    return go_on(played, model, step, start)


def _kick(played: Play, entity: str, size: float, draw: np.random.Generator) -> Step:
    """Speed from nowhere: to the side and a little up, or about a hinge."""
    mj = mujoco()
    aside = right_of(played.look) * HARDEST_KICK * played.stage.width * size
    aside[2] += abs(size) * HARDEST_KICK * played.stage.width * draw.uniform(0.2, 0.6)

    def start(model: Any, data: Any) -> None:  # noqa: ANN401 - MuJoCo's
        joint = model.joint(entity)
        first = joint.dofadr[0]
        if joint.type[0] == mj.mjtJoint.mjJNT_FREE:
            data.qvel[first : first + 3] += aside
        elif joint.type[0] == mj.mjtJoint.mjJNT_HINGE:
            data.qvel[first] += TURNING_KICK * size
        else:
            data.qvel[first] += HARDEST_KICK * played.stage.width * size

    return start


def _changing_pace(model: Any, entity: str, factor: float) -> Step:  # noqa: ANN401 - MuJoCo's
    """One body covers another share of the way of each step; its speed stays what it is."""
    mj, joint = mujoco(), model.joint(entity)
    free = joint.type[0] == mj.mjtJoint.mjJNT_FREE
    dofs = slice(joint.dofadr[0], joint.dofadr[0] + (6 if free else 1))
    before, moved = np.empty(model.nq), np.empty(model.nv)

    def step(model: Any, data: Any) -> None:  # noqa: ANN401 - MuJoCo's
        before[:] = data.qpos
        mj.mj_step(model, data)
        mj.mj_differentiatePos(model, moved, 1.0, before, data.qpos)
        moved[dofs] *= factor
        data.qpos[:] = before
        mj.mj_integratePos(model, data.qpos, moved, 1.0)

    return step


def _bouncing_harder(model: Any, played: Play, gain: float) -> Step:  # noqa: ANN401 - MuJoCo's
    """Who leaves what it touched leaves it faster, along the direction in which they touched."""
    mj = mujoco()
    dofs = {}
    for name in played.stage.movers:
        body = model.body(name)
        if body.jntnum[0] and model.joint(name).type[0] == mj.mjtJoint.mjJNT_FREE:
            dofs[int(body.id)] = int(model.joint(name).dofadr[0])
    touched: dict[int, np.ndarray] = {}

    def step(model: Any, data: Any) -> None:  # noqa: ANN401 - MuJoCo's
        mj.mj_step(model, data)
        now: dict[int, np.ndarray] = {}
        if data.ncon:
            frames, pairs = data.contact.frame, model.geom_bodyid[data.contact.geom]
            for frame, (one, other) in zip(frames, pairs, strict=True):
                now[int(one)], now[int(other)] = -frame[:3], frame[:3].copy()
        for body, out in touched.items():
            if body not in now and body in dofs:
                speed = data.qvel[dofs[body] : dofs[body] + 3]
                away = float(speed @ out)
                if A_BOUNCE < away < WILDEST:
                    speed += out * away * gain
        touched.clear()
        touched.update(now)

    return step


# --- other showing


def _moved(played: Play, geoms: list[int], offsets: np.ndarray) -> Shot:
    """Geoms elsewhere in the picture: offsets (time, 2), right and up, from the onset on."""
    places = played.shot.places.copy()
    right, up = right_of(played.look), np.array([0.0, 0.0, 1.0])
    places[played.onset :, geoms] += (offsets[:, :1] * right + offsets[:, 1:] * up)[:, None]
    return replace(played.shot, places=places)


def _after(played: Play) -> int:
    return len(played.shot.places) - played.onset


def _teleport(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    """It is elsewhere, on the side of the picture where there is more room, and goes on there."""
    at = played.shot.places[played.onset, geoms].mean(0) - [played.stage.centre[0], 0, 0]
    way = -1 if at @ right_of(played.look) > 0 else 1
    far = way * FARTHEST_TELEPORT * played.stage.width * size
    return _moved(played, geoms, np.tile([far, 0.0], (_after(played), 1)))


def _drift(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    angle = draw.uniform(0, np.pi)
    speed = FASTEST_DRIFT * played.stage.width * size / played.fps
    far = speed * np.arange(1, _after(played) + 1)
    return _moved(played, geoms, np.stack([far * np.cos(angle), far * np.sin(angle)], 1))


def _jitter(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    noise = draw.normal(size=(_after(played), 2)) * LARGEST_JITTER
    return _moved(played, geoms, noise * played.stage.width * size)


def _smooth_noise(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    over = max(2, round(SMOOTHING * played.fps))
    noise = draw.normal(size=(_after(played) + over, 2)).cumsum(0)
    noise = (noise[over:] - noise[:-over]) / np.sqrt(over) * LARGEST_WOBBLE
    return _moved(played, geoms, noise * played.stage.width * size)


def _at_other_times(played: Play, geoms: list[int], source: np.ndarray) -> Shot:
    """Geoms as they were at other frames."""
    places, turns = played.shot.places.copy(), played.shot.turns.copy()
    places[:, geoms], turns[:, geoms] = places[source][:, geoms], turns[source][:, geoms]
    return replace(played.shot, places=places, turns=turns)


def _lag(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    source = np.arange(len(played.shot.places))
    late = round(LONGEST_LAG * played.fps * size)
    source[played.onset :] = np.maximum(source[played.onset :] - late, 0)
    return _at_other_times(played, geoms, source)


def _stutter(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    """It stands for some frames, is where it should be, and stands again."""
    source, every = np.arange(len(played.shot.places)), 1 + round(COARSEST * size)
    after = source[played.onset :] - played.onset + 1
    source[played.onset :] = played.onset - 1 + after // every * every
    return _at_other_times(played, geoms, source)


def _reversed_time(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    """The past once more, backwards; then all is where it would have been."""
    source, onset = np.arange(len(played.shot.places)), played.onset
    back = min(round(LONGEST_BACK * played.fps * size), onset - 1, len(source) - onset)
    if back > 0:
        source[onset : onset + back] = onset - 2 - np.arange(back)
    return _at_other_times(played, geoms, source)


def _vanish(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    shown = played.shot.shown.copy()
    shown[played.onset : played.onset + round(LONGEST * played.fps * size), geoms] = False
    return replace(played.shot, shown=shown)


def _again(played: Play, size: float, geoms: list[int], aside: np.ndarray, still: int = -1) -> Shot:
    end = played.onset + round(LONGEST * played.fps * size)
    extra = Extra(tuple(geoms), played.onset, end, aside, still)
    return replace(played.shot, extras=(extra,) if end > played.onset else ())


def _appear(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    """One like it stands somewhere in the picture where none was."""
    stage = played.stage
    right = draw.uniform(-0.35, 0.35) * stage.width * right_of(played.look)
    place = np.array([stage.centre[0], 0.0, stage.centre[1]]) + right
    place[2] += draw.uniform(-0.15, 0.3) * stage.width
    aside = place - played.shot.places[played.onset, geoms].mean(0)
    return _again(played, size, geoms, aside, played.onset)


def _duplicate(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    """It is there twice, side by side, moving alike."""
    way = (-1, 1)[draw.integers(2)]
    return _again(played, size, geoms, way * ASIDE * played.stage.width * right_of(played.look))


def _size_change(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    """It is drawn larger about its own middle."""
    scale, scales = 1 + (LARGEST - 1) * size, played.shot.scales.copy()
    places = played.shot.places.copy()
    scales[played.onset :, geoms] = scale
    middle = places[played.onset :, geoms].mean(1, keepdims=True)
    places[played.onset :, geoms] = middle + (places[played.onset :, geoms] - middle) * scale
    return replace(played.shot, scales=scales, places=places)


def _identity_swap(played: Play, size: float, geoms: list[int], draw: np.random.Generator) -> Shot:
    """It wears other colours for a share of what is left."""
    materials = played.shot.materials.copy()
    first = min(played.model.mat(f"m{i}").id for i in range(MATERIALS))
    end = played.onset + round(size * _after(played))
    by = 1 + draw.integers(MATERIALS - 1)
    worn = (materials[played.onset : end, geoms] - first + by) % MATERIALS + first
    materials[played.onset : end, geoms] = worn
    return replace(played.shot, materials=materials)


_SHOWN: dict[str, Callable[[Play, float, list[int], np.random.Generator], Shot]] = {
    "teleport": _teleport,
    "vanish": _vanish,
    "appear": _appear,
    "duplicate": _duplicate,
    "size_change": _size_change,
    "identity_swap": _identity_swap,
    "stutter": _stutter,
    "drift": _drift,
    "jitter": _jitter,
    "smooth_noise": _smooth_noise,
    "lag": _lag,
    "reversed_time": _reversed_time,
}
assert tuple(_SHOWN) == SHOWN
