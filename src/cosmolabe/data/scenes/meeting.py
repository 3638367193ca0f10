"""What rolls, slides and meets: ramps, collisions, billiards, towers, dominoes, a seesaw, a top."""

import numpy as np

from cosmolabe.data.scenes.stage import Stage, free, geom


def rolling_ramp(draw: np.random.Generator) -> Stage:
    """Balls and cylinders that roll up a ramp, stop, and come down again."""
    tilt, count = draw.uniform(10, 20), int(draw.integers(2, 4))
    angle, bodies, speeds = np.radians(tilt), "", {}
    along, out = np.array([np.cos(angle), 0, np.sin(angle)]), np.array(
        [-np.sin(angle), 0, np.cos(angle)]
    )  # fmt: skip
    foot = np.array([-1.6, 0, 0.12])
    middle = foot + along * 2.0 - out * 0.08
    bodies += (
        f'<geom type="box" size="2.2 0.9 0.08" pos="{middle[0]:.4g} 0 {middle[2]:.4g}" '
        f'euler="0 {-tilt:.4g} 0" material="m7"/>'
    )
    for i in range(count):
        name, radius = f"roller_{i}", draw.uniform(0.18, 0.28)
        lane = 0.55 * (i - (count - 1) / 2)
        place = foot + along * draw.uniform(0.3, 1.2) + out * radius
        round_ = draw.random() < 0.6
        body = geom("sphere", (radius,), i) if round_ else geom(
            "cylinder", (radius, 0.2), i, 'euler="90 0 0"'
        )  # fmt: skip
        stripe = (
            f'<geom type="box" size="{radius * 0.75:.4g} 0.21 0.03" material="m{i + 3}" '
            'contype="0" conaffinity="0" density="1"/>'
        )
        bodies += free(name, body + (stripe if not round_ else ""), (place[0], lane, place[2]))
        speed = draw.uniform(0.7, 1.5) * 9.81 * np.sin(angle) / 1.45  # it turns after 0.7 to 1.5 s
        speeds[name] = (*(along * speed), 0.0, speed / radius, 0.0)
    return Stage(bodies, tuple(speeds), 4.4, (0.0, 0.8), speeds, bounce=0.3, friction=0.9)


def sliding_box(draw: np.random.Generator) -> Stage:
    """Boxes pushed along the ground; friction brings them to rest."""
    count, bodies, speeds = int(draw.integers(2, 4)), "", {}
    for i in range(count):
        side, name, half = (-1, 1)[draw.integers(2)], f"box_{i}", draw.uniform(0.2, 0.34)
        lane = 0.85 * (i - (count - 1) / 2)
        size = half, draw.uniform(0.2, 0.34), draw.uniform(0.15, 0.34)
        bodies += free(name, geom("box", size, i), (-side * draw.uniform(1.6, 2.4), lane, size[2]))
        speeds[name] = (side * draw.uniform(2.0, 3.8), 0.0, 0.0, 0.0, 0.0, 0.0)
    friction = draw.uniform(0.08, 0.16)
    return Stage(
        bodies, tuple(speeds), 5.6, (0.0, 0.6), speeds, friction=friction, down=(15.0, 35.0)
    )


def collision_pair(draw: np.random.Generator) -> Stage:
    """Two bodies that slide towards each other and rebound, in one lane or two."""
    lanes, bodies, speeds = int(draw.integers(1, 3)), "", {}
    for lane in range(lanes):
        meet = draw.uniform(0.7, 1.7)  # seconds
        for side in (-1, 1):
            name, radius = f"{'left' if side < 0 else 'right'}_{lane}", draw.uniform(0.22, 0.4)
            speed = draw.uniform(0.7, 1.5)
            y = 1.1 * lane - 0.55 * (lanes - 1)
            place = side * (radius + speed * meet), y, radius
            kind = ("sphere", "box")[draw.integers(2)]
            size = (radius,) if kind == "sphere" else (radius,) * 3
            bodies += free(name, geom(kind, size, 2 * lane + (side > 0)), place)
            speeds[name] = (-side * speed, 0.0, 0.0, 0.0, 0.0, 0.0)
    bounce = draw.uniform(0.75, 0.95)
    return Stage(
        bodies, tuple(speeds), 5.0, (0.0, 0.6), speeds, bounce=bounce, friction=0.02,
        down=(12.0, 35.0),
    )  # fmt: skip


def billiard(draw: np.random.Generator) -> Stage:
    """A ball that breaks a triangle of others on a table with cushions, seen from above."""
    rows, radius = int(draw.integers(2, 4)), 0.17
    bodies, speeds = "", {}
    for x, y, w, h in ((0, 1.25, 2.3, 0.1), (0, -1.25, 2.3, 0.1), (2.2, 0, 0.1, 1.25),
                       (-2.2, 0, 0.1, 1.25)):  # fmt: skip
        bodies += f'<geom type="box" size="{w} {h} 0.18" pos="{x} {y} 0.18" material="m7"/>'
    names = []
    for row in range(rows):
        for place in range(row + 1):
            name = f"ball_{len(names)}"
            at = 0.4 + row * radius * 1.78, (place - row / 2) * radius * 2.04, radius
            bodies += free(name, geom("sphere", (radius,), 1 + len(names) % 6), at)
            names.append(name)
    cue = -1.5, draw.uniform(-0.5, 0.5), radius
    bodies += free("cue", geom("sphere", (radius,), 0), cue)
    speed = draw.uniform(2.5, 4.0)
    aim = np.array([0.4 - cue[0], draw.uniform(-0.06, 0.06) - cue[1]])
    aim *= speed / np.hypot(*aim)
    speeds["cue"] = (aim[0], aim[1], 0.0, -aim[1] / radius, aim[0] / radius, 0.0)
    return Stage(
        bodies, ("cue", *names), 5.2, (0.0, 0.0), speeds, bounce=0.9, friction=0.15,
        down=(50.0, 75.0), around=12.0,
    )  # fmt: skip


def tower_topple(draw: np.random.Generator) -> Stage:
    """A tower of blocks that a heavy ball runs into."""
    count, bodies, speeds, half = int(draw.integers(4, 7)), "", {}, draw.uniform(0.18, 0.24)
    names, top = [], 0.0
    for i in range(count):
        name, tall = f"block_{i}", half * draw.uniform(0.7, 1.0)
        place = draw.uniform(-0.04, 0.04), draw.uniform(-0.04, 0.04), top + tall
        bodies += free(name, geom("box", (half, half, tall), i), place)
        names.append(name)
        top += 2 * tall
    radius, speed, meet = draw.uniform(0.26, 0.36), draw.uniform(2.5, 4.5), draw.uniform(0.4, 1.0)
    side = (-1, 1)[draw.integers(2)]
    ball = geom("sphere", (radius,), 6, 'density="4000"')
    bodies += free("ball", ball, (side * (half + radius + speed * meet), 0.0, radius))
    speeds["ball"] = (-side * speed, 0.0, 0.0, 0.0, -side * speed / radius, 0.0)
    return Stage(bodies, ("ball", *names), 4.4, (0.0, 1.0), speeds, friction=draw.uniform(0.4, 0.7))


def domino(draw: np.random.Generator) -> Stage:
    """A row of dominoes, the first of which is pushed."""
    count, tall = int(draw.integers(7, 12)), draw.uniform(0.42, 0.55)
    gap, bodies = tall * draw.uniform(0.75, 1.05), ""
    names = [f"domino_{i}" for i in range(count)]
    left = -gap * (count - 1) / 2
    for i, name in enumerate(names):
        bodies += free(name, geom("box", (0.06, 0.24, tall), i), (left + gap * i, 0.0, tall))
    width = max(4.0, gap * (count + 2))
    push = {names[0]: (0.6, 0.0, 0.0, 0.0, draw.uniform(1.4, 2.2), 0.0)}
    return Stage(
        bodies, tuple(names), width, (0.0, 0.8), push,
        friction=0.3, down=(10.0, 30.0),
    )  # fmt: skip


def seesaw(draw: np.random.Generator) -> Stage:
    """A plank on an edge; a weight drops on one end, what lies on the other flies up."""
    half, high = draw.uniform(1.3, 1.7), 0.45
    side = (-1, 1)[draw.integers(2)]
    heavy, light = draw.uniform(0.24, 0.34), draw.uniform(0.14, 0.2)
    bodies = (
        '<geom type="box" size="0.12 0.3 0.2" pos="0 0 0.2" material="m6" contype="0" '
        'conaffinity="0"/>'
        f'<body name="plank" pos="0 0 {high}"><joint name="plank" type="hinge" axis="0 1 0" '
        'damping="0.5"/>' + geom("box", (half, 0.3, 0.04), 7) + "</body>"
    )
    drop = draw.uniform(1.6, 3.0)
    start = side * (half - 0.3)
    bodies += free(
        "weight", geom("box", (heavy,) * 3, 0, 'density="900"'), (start, 0.0, high + drop)
    )
    tilt = np.arcsin((high - 0.05) / half)
    lie = -(high - 0.05) * (half - 0.25) / half + high + light + 0.06
    bodies += free("light", geom("sphere", (light,), 1, 'density="200"'), (-start, 0.0, lie))
    others = int(draw.integers(0, 2))
    for i in range(others):
        bodies += free(
            f"late_{i}", geom("box", (0.2,) * 3, 2), (start * 0.9, 0.0, high + drop + 2.5)
        )
    movers = ("plank", "weight", "light", *(f"late_{i}" for i in range(others)))
    speeds = {"weight": (0.0, 0.0, draw.uniform(0.0, 3.0), 0.0, 0.0, 0.0)}
    return Stage(bodies, movers, 4.6, (0.0, 1.5), speeds, {"plank": (-side * tilt,)}, bounce=0.3)


def spinning_top(draw: np.random.Generator) -> Stage:
    """One or two tops that spin, lean and go round."""
    count, bodies, speeds = int(draw.integers(1, 3)), "", {}
    for i in range(count):
        name, wide = f"top_{i}", draw.uniform(0.38, 0.52)
        tip = 0.34
        parts = (
            geom("sphere", (0.05,), 6, f'pos="0 0 {-tip}"')
            + geom("capsule", (0.05, 0.15), 6, f'pos="0 0 {-tip / 2:.4g}"')
            + geom("cylinder", (wide, 0.07), i, 'density="900"')
            + geom("capsule", (0.04, 0.14), 6, 'pos="0 0 0.2" density="50"')
        )
        for k in range(3):
            x, y = 0.75 * wide * np.cos(2.1 * k), 0.75 * wide * np.sin(2.1 * k)
            parts += geom("box", (0.09, 0.09, 0.08), 3 + k, f'pos="{x:.3g} {y:.3g} 0" '
                          'contype="0" conaffinity="0" density="1"')  # fmt: skip
        lean = draw.uniform(4, 14)
        x = 1.3 * (i - (count - 1) / 2)
        bodies += free(name, parts, (x, 0.3 * i, tip + 0.05), f'euler="{lean:.3g} 0 0"')
        spin = (-1, 1)[draw.integers(2)] * draw.uniform(18, 32)
        speeds[name] = (draw.uniform(-0.3, 0.3), 0.0, 0.0, 0.0, 0.0, spin)
    return Stage(
        bodies, tuple(speeds), 3.0, (0.0, 0.5), speeds, friction=0.8, steps=960, down=(15.0, 35.0)
    )


SCENES = {
    "rolling_ramp": rolling_ramp,
    "sliding_box": sliding_box,
    "collision_pair": collision_pair,
    "billiard": billiard,
    "tower_topple": tower_topple,
    "domino": domino,
    "seesaw": seesaw,
    "spinning_top": spinning_top,
}
