"""Lunar Lander, from Gymnasium's Box2D environments: a body with two legs above a landing pad."""

import importlib
import warnings
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data.outside.game import Family, Moment, OutsideGame, Thing

VERSION = 1
FPS = 50.0
SCALE = 30.0  # pixels of a metre
WIDTH, HEIGHT = 600 / SCALE, 400 / SCALE  # metres of the view
NAMES = ("LunarLander",)
ACTIONS: tuple[Mapping[str, float], ...] = ({}, {"turn": -1.0}, {"thrust": 1.0}, {"turn": 1.0})
ACTION_NAMES = ("nothing", "left engine", "main engine", "right engine")
FULL_TURN = 2 * np.pi


def game(name: str, frameskip: int, max_ticks: int) -> OutsideGame:
    """`box2d/LunarLander`."""
    if name not in NAMES:
        raise ValueError(f"no outside game 'box2d/{name}'; have {list(NAMES)}")
    _gymnasium()
    families = (
        Family(_slot("lander", "player", 14.0, 14.0), tracked=False),
        Family(_slot("leg", "segment", 2.0, 8.0), count=2, tracked=False),
        Family(_slot("pad", "goal", 60.0, 2.0), tracked=False),
    )
    manifest = Manifest(
        game="box2d-lunarlander",
        version=VERSION,
        slots=tuple(slot for family in families for slot in family.slots()),
        fields=("on_ground", "rotation"),
        globals=("score", "reward", "phase", "tick_share"),
        actions=("turn", "thrust"),
        fps=FPS / frameskip,
        aspect=WIDTH / HEIGHT,
        max_ticks=max_ticks,
    )
    return OutsideGame(
        name=f"box2d/{name}",
        manifest=manifest,
        families=families,
        actions=ACTIONS,
        action_names=ACTION_NAMES,
        open=lambda: LanderSession(frameskip),
        libraries={each: metadata.version(each) for each in ("gymnasium", "Box2D")},
    )


class LanderSession:
    """One landing."""

    def __init__(self, frameskip: int) -> None:
        self.frameskip, self.score = frameskip, 0.0
        self.env = _gymnasium().make("LunarLander-v3", render_mode="rgb_array")

    def reset(self, seed: int) -> Moment:
        """A new ground, a new push."""
        self.env.reset(seed=seed)
        self.score = 0.0
        return self._moment(0.0, False, False)

    def step(self, action: int) -> Moment:
        """One tick of `frameskip` steps; the last of an episode may have fewer."""
        total, terminated, truncated = 0.0, False, False
        for _ in range(self.frameskip):
            _, reward, terminated, truncated, _ = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        self.score += total
        return self._moment(total, bool(terminated), bool(truncated))

    def frame(self) -> np.ndarray:
        """The picture, 400 x 600."""
        return self.env.render()

    def close(self) -> None:
        """Let go of the window that was never shown."""
        self.env.close()

    def _moment(self, reward: float, terminated: bool, truncated: bool) -> Moment:
        world: Any = self.env.unwrapped
        lander = _thing(world.lander, float(all(leg.ground_contact for leg in world.legs)))
        legs = [_thing(leg, float(leg.ground_contact)) for leg in world.legs]
        pad = Thing((world.helipad_x1 + world.helipad_x2) / 2 / WIDTH, 1 - world.helipad_y / HEIGHT)
        numbers = {"score": self.score, "reward": reward, "phase": 4.0 if terminated else 1.0}
        return Moment({"lander": [lander], "leg": legs, "pad": [pad]}, numbers,
                      terminated, truncated)  # fmt: skip


def _thing(body: Any, on_ground: float) -> Thing:  # noqa: ANN401 - a Box2D body
    x, y = body.position
    turn = float(-body.angle / FULL_TURN % 1.0)  # Box2D turns counter-clockwise
    return Thing(x / WIDTH, 1 - y / HEIGHT, {"rotation": turn, "on_ground": on_ground})


def _slot(name: str, kind: str, half_width: float, half_height: float) -> Slot:
    """Sizes in the environment's own pixels."""
    height = HEIGHT * SCALE
    return Slot(
        name, kind, layer="player" if kind != "goal" else "solid",
        half_width=half_width / height, half_height=half_height / height, solid=True,
        mutable=kind != "goal", controllable=kind == "player",
    )  # fmt: skip


def _gymnasium() -> Any:  # noqa: ANN401 - the module
    import gymnasium

    try:
        with warnings.catch_warnings():  # an error made of one of its own ends the process
            warnings.simplefilter("ignore")
            for library in ("Box2D", "pygame"):
                importlib.import_module(library)
    except ImportError as error:
        raise ValueError(
            f"Lunar Lander needs '{error.name}'; install it with pip install 'cosmolabe[box2d]'"
        ) from None
    return gymnasium
