"""Bodies of Gymnasium's MuJoCo environments, seen from the side (Reacher: from above).

Torques are drawn from a small table, one choice of -1, 0 or 1 for each motor. An episode ends by
the clock: these environments call a pole that falls the end, though its physics goes on.
"""

import importlib
import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data.outside.game import Family, Moment, OutsideGame, Thing

VERSION = 1
UP = {"vertical": 2, "above": 1}  # which axis of space points up in the picture


@dataclass(frozen=True)
class Scene:
    """How one environment is looked at."""

    environment: str
    fps: float
    parts: tuple[tuple[str, str, str], ...]
    """(slot, kind, geometry it is the centre of); the first is what the camera follows, if any."""
    motors: tuple[str, ...]
    """Action field of each motor."""
    strength: float
    """What 1 in an action field is to the motor."""
    width: float
    height: float
    """Metres of the view; its centre is at `centre`."""
    centre: tuple[float, float]
    view: str = "vertical"
    follows: bool = False
    """Whether the view moves along with the first part; camera_x then says where it is."""
    options: Mapping[str, Any] | None = None


SCENES = {
    "InvertedPendulum": Scene(
        "InvertedPendulum-v5", 25.0,
        (("cart", "player", "cart"), ("pole", "segment", "cpole")),
        ("move_x",), 3.0, 3.2, 3.2, (0.0, 0.0),
    ),
    "Hopper": Scene(
        "Hopper-v5", 125.0,
        (("torso", "player", "torso_geom"), ("thigh", "segment", "thigh_geom"),
         ("leg", "segment", "leg_geom"), ("foot", "segment", "foot_geom")),
        ("move_x", "move_y", "turn"), 1.0, 4.0, 4.0, (0.0, 1.0),
        follows=True, options={"terminate_when_unhealthy": False},
    ),
    "Reacher": Scene(
        "Reacher-v5", 50.0,
        (("fingertip", "player", "fingertip"), ("upper", "segment", "link0"),
         ("lower", "segment", "link1"), ("target", "goal", "target")),
        ("move_x", "move_y"), 1.0, 0.6, 0.6, (0.0, 0.0), view="above",
    ),
}  # fmt: skip


def game(name: str, frameskip: int, max_ticks: int) -> OutsideGame:
    """`mujoco/Hopper` and its like."""
    if name not in SCENES:
        raise ValueError(f"no outside game 'mujoco/{name}'; have {list(SCENES)}")
    _gymnasium()
    scene = SCENES[name]
    session = MujocoSession(scene, frameskip)  # sizes are the model's own
    try:
        families = tuple(
            Family(_slot(scene, place, session.size_of(part[2])), tracked=False)
            for place, part in enumerate(scene.parts)
        )
    finally:
        session.close()
    choices = list(itertools.product((0.0, -1.0, 1.0), repeat=len(scene.motors)))
    actions = tuple(
        {n: v for n, v in zip(scene.motors, choice, strict=True) if v} for choice in choices
    )
    manifest = Manifest(
        game=f"mujoco-{name.lower()}",
        version=VERSION,
        slots=tuple(slot for family in families for slot in family.slots()),
        globals=("score", "reward", "tick_share") + (("camera_x",) if scene.follows else ()),
        actions=scene.motors,
        fps=scene.fps / frameskip,
        aspect=scene.width / scene.height,
        max_ticks=max_ticks,
    )
    return OutsideGame(
        name=f"mujoco/{name}",
        manifest=manifest,
        families=families,
        actions=actions,
        action_names=tuple(" ".join(f"{v:+.0f}" for v in choice) for choice in choices),
        open=lambda: MujocoSession(scene, frameskip),
        libraries={each: metadata.version(each) for each in ("gymnasium", "mujoco")},
    )


class MujocoSession:
    """One running scene."""

    def __init__(self, scene: Scene, frameskip: int) -> None:
        self.scene, self.frameskip, self.score = scene, frameskip, 0.0
        os.environ.setdefault("MUJOCO_GL", "egl")  # no window needed
        self.env = _gymnasium().make(
            scene.environment, render_mode="rgb_array", width=240, height=240,
            max_episode_steps=-1, **(scene.options or {}),
        )  # fmt: skip
        self.world: Any = self.env.unwrapped
        choices = itertools.product((0.0, -1.0, 1.0), repeat=len(scene.motors))
        self.torques = np.array(list(choices), np.float32) * scene.strength

    def reset(self, seed: int) -> Moment:
        """The start, pushed a little by the seed."""
        self.env.reset(seed=seed)
        self.score = 0.0
        return self._moment(0.0)

    def step(self, action: int) -> Moment:
        """One tick of `frameskip` steps of the environment."""
        total = 0.0
        for _ in range(self.frameskip):
            _, reward, *_ = self.env.step(self.torques[action])
            total += float(reward)
        self.score += total
        return self._moment(total)

    def frame(self) -> np.ndarray:
        """The picture, 240 x 240."""
        return self.env.render()

    def close(self) -> None:
        """Let go of the renderer."""
        self.env.close()

    def size_of(self, geometry: str) -> float:
        """A geometry's radius in metres; of a capsule, that of its ends."""
        return float(self.world.model.geom(geometry).size[0])

    def _moment(self, reward: float) -> Moment:
        scene = self.scene
        places = {slot: self._place(geometry) for slot, _, geometry in scene.parts}
        camera = places[scene.parts[0][0]][0] if scene.follows else 0.0
        things = {
            slot: [
                Thing(
                    (x - camera - scene.centre[0]) / scene.width + 0.5,
                    0.5 - (up - scene.centre[1]) / scene.height,
                )
            ]
            for slot, (x, up) in places.items()
        }
        numbers = {"score": self.score, "reward": reward}
        if scene.follows:
            numbers["camera_x"] = (camera + scene.centre[0]) / scene.width - 0.5
        return Moment(things, numbers)

    def _place(self, geometry: str) -> tuple[float, float]:
        place = self.world.data.geom(geometry).xpos
        return float(place[0]), float(place[UP[self.scene.view]])


def _slot(scene: Scene, place: int, radius: float) -> Slot:
    name, kind, _ = scene.parts[place]
    return Slot(
        name, kind, "circle", "player" if kind != "goal" else "pickup",
        radius=radius / scene.height, mutable=kind != "goal", controllable=kind != "goal",
    )  # fmt: skip


def _gymnasium() -> Any:  # noqa: ANN401 - the module
    import gymnasium

    try:
        importlib.import_module("mujoco")
    except ImportError:
        raise ValueError(
            "MuJoCo scenes need the library mujoco; install it with pip install 'cosmolabe[mujoco]'"
        ) from None
    return gymnasium
