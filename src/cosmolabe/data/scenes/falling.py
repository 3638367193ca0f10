"""What falls, flies and bounces."""

import numpy as np

from cosmolabe.data.scenes.stage import Stage, free, geom

KINDS = ("sphere", "box", "cylinder", "capsule")


def shape(draw: np.random.Generator, name: str, size: float, material: int, place: tuple) -> str:
    """A free body of a drawn form, about `size` metres from its centre to its edge."""
    kind = KINDS[draw.integers(len(KINDS))]
    sizes = {
        "sphere": (size,),
        "box": (size * draw.uniform(0.6, 0.9), size * 0.7, size * draw.uniform(0.5, 0.9)),
        "cylinder": (size * 0.7, size * draw.uniform(0.3, 0.7)),
        "capsule": (size * 0.5, size * 0.5),
    }
    turn = f'euler="{draw.uniform(0, 180):.1f} {draw.uniform(0, 180):.1f} 0"'
    return free(name, geom(kind, sizes[kind], material), place, turn)


def falling_shapes(draw: np.random.Generator) -> Stage:
    """Shapes thrown up or let go, at several heights; they fall, tumble and come to rest."""
    count = int(draw.integers(3, 6))
    places = np.linspace(-1.3, 1.3, count) + draw.normal(0, 0.05, count)
    bodies, speeds = "", {}
    for i in range(count):
        name = f"shape_{i}"
        place = float(places[i]), float(draw.uniform(-0.4, 0.4)), float(draw.uniform(0.6, 2.6))
        bodies += shape(draw, name, draw.uniform(0.2, 0.34), i, place)
        up = draw.uniform(1.0, 6.5) if place[2] < 1.8 else draw.uniform(0, 3.0)
        speeds[name] = (draw.uniform(-0.4, 0.4), 0.0, up, *draw.uniform(-5, 5, 3))
    movers = tuple(speeds)
    return Stage(bodies, movers, 4.0, (0.0, 1.5), speeds, bounce=draw.uniform(0.3, 0.6))


def bouncing_ball(draw: np.random.Generator) -> Stage:
    """One to three balls that keep most of their speed at each bounce."""
    count, bodies, speeds = int(draw.integers(1, 4)), "", {}
    places = np.linspace(-1.1, 1.1, count + 2)[1:-1] if count > 1 else [draw.uniform(-0.8, 0.2)]
    for i in range(count):
        name, radius = f"ball_{i}", draw.uniform(0.18, 0.32)
        place = float(places[i]), float(draw.uniform(-0.3, 0.3)), float(draw.uniform(1.4, 2.8))
        bodies += free(name, geom("sphere", (radius,), i), place)
        speeds[name] = (draw.uniform(-0.25, 0.45), 0.0, draw.uniform(-1, 1.5), 0.0, 0.0, 0.0)
    bounce = draw.uniform(0.8, 0.93)
    return Stage(bodies, tuple(speeds), 3.6, (0.0, 1.4), speeds, bounce=bounce)


def projectile(draw: np.random.Generator) -> Stage:
    """Two to four bodies thrown across the view in arcs; they bounce on."""
    count, bodies, speeds = int(draw.integers(2, 5)), "", {}
    for i in range(count):
        side, name = (-1, 1)[draw.integers(2)], f"thrown_{i}"
        place = side * draw.uniform(1.2, 2.8), 0.5 * (i - count / 2), draw.uniform(0.4, 1.6)
        bodies += shape(draw, name, draw.uniform(0.2, 0.36), i, place)
        fly = -side * draw.uniform(1.0, 2.6), 0.0, draw.uniform(4.0, 7.0)
        speeds[name] = (*fly, 0.0, draw.uniform(-6, 6), 0.0)
    return Stage(bodies, tuple(speeds), 5.6, (0.0, 1.9), speeds, bounce=draw.uniform(0.4, 0.7))


def ball_pit(draw: np.random.Generator) -> Stage:
    """Balls that drop into a box and push each other about."""
    count, bodies, speeds = int(draw.integers(8, 14)), "", {}
    wall = 'rgba="0.8 0.8 0.8 0.35"'
    for x in (-1.3, 1.3):
        bodies += f'<geom type="box" size="0.05 0.45 0.6" pos="{x} 0 0.6" {wall}/>'
    bodies += f'<geom type="box" size="1.3 0.05 0.6" pos="0 0.45 0.6" {wall}/>'
    bodies += '<geom type="box" size="1.3 0.05 1.5" pos="0 -0.45 1.5" group="4"/>'
    for i in range(count):
        name = f"ball_{i}"
        place = draw.uniform(-0.95, 0.95), draw.uniform(-0.15, 0.15), 0.6 + 0.42 * i
        bodies += free(name, geom("sphere", (draw.uniform(0.15, 0.22),), i), place)
        speeds[name] = (draw.uniform(-1, 1), 0.0, 0.0, 0.0, 0.0, 0.0)
    return Stage(
        bodies,
        tuple(speeds),
        3.4,
        (0.0, 1.3),
        speeds,
        bounce=draw.uniform(0.5, 0.8),
        down=(8.0, 25.0),
    )


SCENES = {
    "falling_shapes": falling_shapes,
    "bouncing_ball": bouncing_ball,
    "projectile": projectile,
    "ball_pit": ball_pit,
}
