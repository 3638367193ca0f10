"""A stage: which bodies stand where, how they start, and how the camera and the light see them.

Lengths are metres, z points up, and what happens lies near the plane y = 0, which the camera faces.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

HALVING = 480  # steps per second, at least: a stiff contact lasts several steps
STIFFNESS = 40_000.0  # of contacts, 1/s²: a ball that falls two metres sinks in by 3 cm
MATERIALS = 8  # for bodies, m0 to m7
TEXTURES = ("checker", "gradient", "flat")


@dataclass(frozen=True)
class Stage:
    """What a scene's builder gives: bodies as MJCF and their start; looks come later."""

    bodies: str
    """MJCF inside <worldbody>; bodies that move are named, geoms wear the materials m0 to m7."""
    movers: tuple[str, ...]
    """Bodies that damage can hit."""
    width: float
    """Metres of the plane y = 0 that the picture shows."""
    centre: tuple[float, float]
    """Of the picture, as x and z."""
    speeds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By joint: a free joint's three velocities and three turning rates, a hinge's one rate."""
    places: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By joint, where it does not start at 0."""
    bounce: float = 0.0
    """Share of the speed that a meeting gives back."""
    friction: float = 0.6
    meets: bool = True
    """Whether its movers touch each other or the ground."""
    steps: int = HALVING
    """Of physics, per second, at least."""
    down: tuple[float, float] = (5.0, 25.0)
    """Range from which the camera's angle below the horizon is drawn, degrees."""
    around: float = 25.0
    """How far the camera may stand to either side, degrees."""
    floor: bool = True


def contact(bounce: float) -> str:
    """MuJoCo's solref and solimp for a meeting that gives back such a share of the speed.

    A damped spring: bounce = exp(-pi z / sqrt(1 - z²)), z its damping ratio.
    """
    if bounce <= 0:
        return 'solref="0.01 1"'
    log = np.log(bounce)
    ratio = -log / np.hypot(np.pi, log)
    damping = 2 * np.sqrt(STIFFNESS) * ratio
    return f'solref="{-STIFFNESS:g} {-damping:.4g}" solimp="0.99 0.99 0.001"'


def free(name: str, geoms: str, place: tuple[float, float, float], turn: str = "") -> str:
    """A body that nothing holds; its joint goes by the name of the body."""
    where = f'pos="{numbers(place)}" {turn}'
    return f'<body name="{name}" {where}><freejoint name="{name}"/>{geoms}</body>'


def geom(kind: str, size: tuple[float, ...], material: int, rest: str = "") -> str:
    """A geom of `size` in MuJoCo's half lengths."""
    return f'<geom type="{kind}" size="{numbers(size)}" material="m{material % MATERIALS}" {rest}/>'


def numbers(values: tuple[float, ...]) -> str:
    """As MJCF writes them."""
    return " ".join(f"{value:.5g}" for value in values)


@dataclass(frozen=True)
class Look:
    """Colours, ground, sky, light and camera of one clip."""

    colours: tuple[tuple[float, float, float], ...]
    shine: tuple[float, ...]
    ground: tuple[tuple[float, float, float], tuple[float, float, float]]
    sky: tuple[tuple[float, float, float], tuple[float, float, float]]
    texture: str
    squares: float
    """Of a checker, per metre."""
    light: tuple[float, float, float]
    """Where it points to, from above."""
    brightness: float
    down: float
    """Degrees of the camera below the horizon."""
    around: float
    """Degrees of the camera to the side."""
    zoom: float
    """More is nearer."""


def drawn_look(draw: np.random.Generator, stage: Stage) -> Look:
    """A look that the generator draws; bodies are told apart from the ground and each other."""
    hues = (draw.random() + np.arange(MATERIALS) / MATERIALS + draw.normal(0, 0.02, MATERIALS)) % 1
    colours = tuple(_rgb(hue, draw.uniform(0.45, 1.0), draw.uniform(0.6, 1.0)) for hue in
                    draw.permutation(hues))  # fmt: skip
    pale, hue = draw.uniform(0.25, 0.85), draw.random()
    ground = _rgb(hue, draw.uniform(0, 0.35), pale), _rgb(hue, draw.uniform(0, 0.35), 0.75 * pale)
    sky = _rgb(draw.random(), 0.3, draw.uniform(0.4, 1)), _rgb(draw.random(), 0.3, 0.2)
    return Look(
        colours=colours,
        shine=tuple(draw.uniform(0, 0.8, MATERIALS).round(3)),
        ground=ground,
        sky=sky,
        texture=TEXTURES[draw.integers(len(TEXTURES))],
        squares=float(draw.uniform(0.4, 1.5)),
        light=(float(draw.uniform(-0.6, 0.6)), float(draw.uniform(0.1, 0.7)), -1.0),
        brightness=float(draw.uniform(0.55, 0.9)),
        down=float(draw.uniform(*stage.down)),
        around=float(draw.uniform(-stage.around, stage.around)),
        zoom=float(draw.uniform(1.0, 1.25)),
    )


def _rgb(hue: float, colourful: float, bright: float) -> tuple[float, float, float]:
    """Hue, saturation and value as red, green and blue, all in 0..1."""
    wheel = np.clip(np.abs((hue * 6 + np.array([0, 4, 2])) % 6 - 3) - 1, 0, 1)
    red, green, blue = bright * (1 - colourful * (1 - wheel))
    return round(float(red), 3), round(float(green), 3), round(float(blue), 3)


ANGLE = 35.0  # degrees: the camera's vertical field of view


def right_of(look: Look) -> np.ndarray:
    """The direction in space that is right in the picture."""
    angle = np.radians(look.around)
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def world_of(stage: Stage, look: Look, size: int, timestep: float) -> str:
    """The whole MJCF."""
    materials = "".join(
        f'<material name="m{i}" rgba="{numbers(colour)} 1" specular="{shine}" shininess="{shine}"/>'
        for i, (colour, shine) in enumerate(zip(look.colours, look.shine, strict=True))
    )
    texture = (
        f'<texture name="ground" type="2d" builtin="{look.texture}" width="128" height="128" '
        f'rgb1="{numbers(look.ground[0])}" rgb2="{numbers(look.ground[1])}"/>'
        f'<material name="ground" texture="ground" texuniform="true" '
        f'texrepeat="{look.squares:.3g} {look.squares:.3g}" specular="0.1" shininess="0.1"/>'
        f'<texture type="skybox" builtin="gradient" width="64" height="64" '
        f'rgb1="{numbers(look.sky[0])}" rgb2="{numbers(look.sky[1])}"/>'
    )
    right = right_of(look)
    tilt = np.radians(look.down)
    forward = np.array([-right[1], right[0], 0.0]) * np.cos(tilt) - np.array([0, 0, np.sin(tilt)])
    up = np.cross(right, forward)
    distance = stage.width / 2 / np.tan(np.radians(ANGLE / 2)) / look.zoom
    place = np.array([stage.centre[0], 0.0, stage.centre[1]]) - forward * distance
    ground = '<geom name="ground" type="plane" size="40 40 1" material="ground"/>'
    return f"""
<mujoco>
 <option timestep="{timestep:.10g}" integrator="implicitfast"/>
 <visual>
  <global offwidth="{size}" offheight="{size}" fovy="{ANGLE}"/>
  <quality shadowsize="512" offsamples="4" numslices="16" numstacks="8" numquads="2"/>
  <headlight ambient="0.3 0.3 0.3" diffuse="0.25 0.25 0.25" specular="0 0 0"/>
  <map znear="0.05" zfar="60" shadowclip="4" shadowscale="0.8"/>
 </visual>
 <statistic center="{stage.centre[0]} 0 {stage.centre[1]}" extent="{stage.width:.4g}"/>
 <default>
  <geom {contact(stage.bounce)} friction="{stage.friction:.4g} 0.002 0.0001" density="500"/>
 </default>
 <asset>{texture}{materials}</asset>
 <worldbody>
  <camera name="view" pos="{numbers(tuple(place))}"
          xyaxes="{numbers(tuple(right))} {numbers(tuple(up))}" fovy="{ANGLE}"/>
  <light directional="true" pos="{stage.centre[0]} 0 {stage.width * 2:.4g}"
         dir="{numbers(look.light)}" diffuse="{numbers((look.brightness,) * 3)}"/>
  {ground if stage.floor else ""}
  {stage.bodies}
 </worldbody>
</mujoco>"""
