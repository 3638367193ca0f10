"""Plays a stage and takes its pictures: where every geom is in each frame, then how that looks.

What is drawn is a `Shot`, arrays of places and appearances, so a double whose laws were changed and
one that is only shown otherwise are drawn by the same code, and frames that are equal in the arrays
are equal in every pixel.
"""

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from cosmolabe.data.scenes.stage import Look, Stage, world_of

HIDDEN = 5  # a group of geoms that is not drawn
NO_DRAWING = (
    "MuJoCo cannot draw here ({}); MUJOCO_GL=egl needs libEGL and Mesa's drivers (Debian: libegl1 "
    "libgl1-mesa-dri), MUJOCO_GL=osmesa needs libosmesa6"
)
WAYS = ("egl", "osmesa")  # to draw without a window
MOST_GEOMS = 200  # in a picture
MOST_PIXELS = 640  # of a side
Step = Callable[[Any, Any], None]
"""step(model, data) moves the world on by one small step."""


class Unstable(ValueError):
    """A play that MuJoCo could not follow; it would start again from nowhere."""


@cache
def mujoco() -> Any:  # noqa: ANN401 - the module
    """MuJoCo, drawing without a window unless the environment says otherwise."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        found = importlib.import_module("mujoco")
    except ImportError:
        raise ValueError(
            "scenes need MuJoCo; install it with pip install 'cosmolabe[mujoco]', or give mujoco "
            "the share 0"
        ) from None
    except Exception as error:  # it looks for a way to draw at once, and each way fails in its own
        raise ValueError(NO_DRAWING.format(error)) from None
    found.set_mju_user_warning(lambda _: None)  # else it writes a log where the user stands
    return found


@dataclass(frozen=True)
class Extra:
    """Geoms shown once more."""

    geoms: tuple[int, ...]
    first: int
    """Frame; shown until before `end`."""
    end: int
    aside: np.ndarray
    """Metres from the original, (3,)."""
    still: int = -1
    """Frame whose places it keeps; -1 where it moves along."""


@dataclass(frozen=True)
class Shot:
    """Where every geom is, and how it is shown, in each frame."""

    places: Float[np.ndarray, "time geom 3"]
    turns: Float[np.ndarray, "time geom 9"]
    shown: Bool[np.ndarray, "time geom"]
    scales: Float[np.ndarray, "time geom"]
    materials: Int[np.ndarray, "time geom"]
    extras: tuple[Extra, ...] = ()


@dataclass(frozen=True)
class Play:
    """A stage as MuJoCo has it, played with true laws."""

    stage: Stage
    look: Look
    model: Any
    fps: float
    shot: Shot
    moment: np.ndarray
    """Whole state at the frame before the onset."""
    onset: int
    size: int

    def geoms_of(self, mover: str) -> list[int]:
        """Geoms of one body; of every mover where the name is empty."""
        names = (mover,) if mover else self.stage.movers
        bodies = [self.model.body(name).id for name in names]
        return [g for g in range(self.model.ngeom) if self.model.geom_bodyid[g] in bodies]


def play(stage: Stage, look: Look, fps: float, frames: int, onset: int, size: int) -> Play:
    """Play a stage with true laws for `frames` frames; `size` is of its pictures, in pixels."""
    mj = mujoco()
    model = mj.MjModel.from_xml_string(
        world_of(stage, look, size, 1 / (fps * per_frame(stage, fps)))
    )
    data = mj.MjData(model)
    for values, joints in ((data.qpos, stage.places), (data.qvel, stage.speeds)):
        for name, given in joints.items():
            joint = model.joint(name)
            start = (joint.qposadr if values is data.qpos else joint.dofadr)[0]
            values[start : start + len(given)] = given
    mj.mj_forward(model, data)
    moment = np.empty(0)

    def look_on(frame: int) -> None:
        nonlocal moment
        if frame == onset - 1:
            moment = np.empty(mj.mj_stateSize(model, _whole_state(mj)))
            mj.mj_getState(model, data, moment, _whole_state(mj))

    places, turns = _filmed(model, data, per_frame(stage, fps), frames, None, look_on)
    shot = Shot(
        places, turns, np.ones(places.shape[:2], bool), np.ones(places.shape[:2]),
        np.broadcast_to(model.geom_matid.astype(int), places.shape[:2]).copy(),
    )  # fmt: skip
    return Play(stage, look, model, fps, shot, moment, onset, size)


def go_on(played: Play, model: Any, step: Step | None, start: Step | None = None) -> Shot:  # noqa: ANN401
    """The shot from the onset on with other laws (`model`), or another `step`, or a `start`."""
    mj, onset = mujoco(), played.onset
    data = mj.MjData(model)
    mj.mj_setState(model, data, played.moment, _whole_state(mj))
    if start:
        start(model, data)
    true = played.shot
    places, turns = true.places.copy(), true.turns.copy()
    count, steps = len(places) - onset, per_frame(played.stage, played.fps)
    places[onset:], turns[onset:] = (
        part[1:] for part in _filmed(model, data, steps, count + 1, step, None)
    )
    return replace(true, places=places, turns=turns)


def per_frame(stage: Stage, fps: float) -> int:
    """Steps of physics in one frame."""
    return int(np.ceil(stage.steps / fps))


def _filmed(
    model: Any,  # noqa: ANN401 - MuJoCo's
    data: Any,  # noqa: ANN401 - MuJoCo's
    steps: int,
    frames: int,
    step: Step | None,
    look_on: Callable[[int], None] | None,
) -> tuple[np.ndarray, np.ndarray]:
    mj = mujoco()
    places, turns = np.empty((frames, model.ngeom, 3)), np.empty((frames, model.ngeom, 9))
    for frame in range(frames):
        if look_on:
            look_on(frame)
        mj.mj_kinematics(model, data)
        places[frame], turns[frame] = data.geom_xpos, data.geom_xmat
        if frame == frames - 1:
            break
        if step is None:
            mj.mj_step(model, data, steps)
        else:
            for _ in range(steps):
                step(model, data)
        if any(data.warning[kind].number for kind in _fatal(mj)):
            raise Unstable(f"the play went astray at frame {frame}")
    return places, turns


def same(one: Shot, other: Shot, frame: int) -> bool:
    """Whether two shots show the same in a frame."""
    extras = any(e.first <= frame < e.end for shot in (one, other) for e in shot.extras)
    names = ("places", "turns", "shown", "scales", "materials")
    return not extras and all(
        np.array_equal(getattr(one, name)[frame], getattr(other, name)[frame]) for name in names
    )


def pictures(
    played: Play, shot: Shot, frames: Int[np.ndarray, " frame"] | None = None
) -> UInt8[np.ndarray, "frame height width 3"]:
    """Some frames of a shot, all where none are named."""
    mj, model = mujoco(), played.model
    data = mj.MjData(model)
    mj.mj_forward(model, data)  # camera and lights
    sizes, materials, groups = (
        array.copy() for array in (model.geom_size, model.geom_matid, model.geom_group)
    )
    wanted = np.arange(len(shot.places)) if frames is None else frames
    out = np.empty((len(wanted), played.size, played.size, 3), np.uint8)
    if not len(wanted):
        return out
    film = Film(model, played.size)
    try:
        for row, frame in zip(out, wanted.tolist(), strict=True):
            data.geom_xpos[:], data.geom_xmat[:] = shot.places[frame], shot.turns[frame]
            model.geom_size[:] = sizes * shot.scales[frame][:, None]
            model.geom_matid[:] = shot.materials[frame]
            model.geom_group[:] = np.where(shot.shown[frame], groups, HIDDEN)
            film.set_up(data)
            for extra in shot.extras:
                if extra.first <= frame < extra.end:
                    _show_again(film.scene, shot, extra, frame)
            film.take(row)
    finally:
        film.close()
        model.geom_size[:], model.geom_matid[:], model.geom_group[:] = sizes, materials, groups
    return out


class Film:
    """Draws one model through the process's own context, which is made once.

    MuJoCo's own Renderer makes a context each time, which costs as much as fifty pictures.
    """

    def __init__(self, model: Any, size: int) -> None:  # noqa: ANN401 - MuJoCo's
        mj = self.mj = mujoco()
        _context().make_current()
        self.model = model
        self.context = mj.MjrContext(model, mj.mjtFontScale.mjFONTSCALE_50.value)
        mj.mjr_setBuffer(mj.mjtFramebuffer.mjFB_OFFSCREEN.value, self.context)
        self.scene, self.option = mj.MjvScene(model, MOST_GEOMS), mj.MjvOption()
        self.option.geomgroup[:] = [1, 1, 1, 1, 0, 0]
        self.camera = mj.MjvCamera()
        self.camera.type = mj.mjtCamera.mjCAMERA_FIXED.value
        self.camera.fixedcamid = model.camera("view").id
        self.area = mj.MjrRect(0, 0, size, size)

    def set_up(self, data: Any) -> None:  # noqa: ANN401 - MuJoCo's
        """The scene as the data has it."""
        every = self.mj.mjtCatBit.mjCAT_ALL.value
        self.mj.mjv_updateScene(self.model, data, self.option, None, self.camera, every, self.scene)

    def take(self, out: UInt8[np.ndarray, "height width 3"]) -> None:
        """A picture of the scene, into `out`."""
        self.mj.mjr_render(self.area, self.scene, self.context)
        self.mj.mjr_readPixels(out, None, self.area, self.context)
        out[:] = out[::-1]  # OpenGL counts rows from below

    def close(self) -> None:
        """Let go of what the model had on the renderer."""
        self.context.free()


@cache
def _context() -> Any:  # noqa: ANN401 - MuJoCo's
    mujoco()
    way = os.environ["MUJOCO_GL"].lower()
    try:
        # Named, since mujoco itself has chosen already where somebody imported it before us.
        drawing = importlib.import_module(f"mujoco.{way if way in WAYS else 'glfw'}")
        return drawing.GLContext(MOST_PIXELS, MOST_PIXELS)
    except Exception as error:  # each backend raises its own
        raise ValueError(NO_DRAWING.format(error)) from None


def _show_again(scene: Any, shot: Shot, extra: Extra, frame: int) -> None:  # noqa: ANN401 - MuJoCo's
    mj = mujoco()
    at = extra.still if extra.still >= 0 else frame
    shown = {scene.geoms[i].objid: i for i in range(scene.ngeom)
             if scene.geoms[i].objtype == mj.mjtObj.mjOBJ_GEOM}  # fmt: skip
    for geom in extra.geoms:
        if geom not in shown or scene.ngeom >= scene.maxgeom:
            continue
        like, new = scene.geoms[shown[geom]], scene.geoms[scene.ngeom]
        mj.mjv_initGeom(
            new, like.type, np.array(like.size), shot.places[at, geom] + extra.aside,
            shot.turns[at, geom], np.array(like.rgba),
        )  # fmt: skip
        for name in ("emission", "specular", "shininess", "reflectance"):
            setattr(new, name, getattr(like, name))
        scene.ngeom += 1


def _whole_state(mj: Any) -> int:  # noqa: ANN401 - MuJoCo's constant
    """Everything that decides how it goes on, the solver's memory included."""
    return int(mj.mjtState.mjSTATE_INTEGRATION)


@cache
def _fatal(mj: Any) -> tuple[int, ...]:  # noqa: ANN401 - MuJoCo's constants
    kinds = mj.mjtWarning
    return int(kinds.mjWARN_BADQPOS), int(kinds.mjWARN_BADQVEL), int(kinds.mjWARN_BADQACC)


@cache
def builders() -> dict[str, Callable[[np.random.Generator], Stage]]:
    """Every scene's builder by name."""
    from cosmolabe.data.scenes import falling, hanging, meeting

    return {**falling.SCENES, **hanging.SCENES, **meeting.SCENES}
