"""What hangs and swings: pendulums, a cradle, a rope, masses on springs."""

import numpy as np

from cosmolabe.data.scenes.stage import Stage, geom

UNTOUCHED = 'contype="0" conaffinity="0"'


def _beam(width: float, height: float) -> str:
    return geom("box", (width, 0.08, 0.06), 7, f'pos="0 0 {height:.4g}" {UNTOUCHED}')


def _hinge(name: str) -> str:
    return f'<joint name="{name}" type="hinge" axis="0 1 0" damping="0.001"/>'


def _rod(length: float, material: int, thick: float = 0.025) -> str:
    return (
        f'<geom type="capsule" fromto="0 0 0 0 0 {-length:.4g}" size="{thick}" '
        f'material="m{material}" density="50" {UNTOUCHED}/>'
    )


def pendulum(draw: np.random.Generator) -> Stage:
    """One to three pendulums of different lengths, let go from one side."""
    count, height, bodies, places = int(draw.integers(1, 4)), 2.6, _beam(1.6, 2.6), {}
    for i, x in enumerate(np.linspace(-1.0, 1.0, count) if count > 1 else [0.0]):
        name, length, radius = f"bob_{i}", draw.uniform(1.0, 1.9), draw.uniform(0.16, 0.28)
        bob = geom(("sphere", "box")[draw.integers(2)], (radius, radius, radius), i,
                   f'pos="0 0 {-length:.4g}" {UNTOUCHED}')  # fmt: skip
        bodies += (
            f'<body name="{name}" pos="{x:.4g} {0.35 * i:.4g} {height}">{_hinge(name)}'
            f"{_rod(length, 6)}{bob}</body>"
        )
        places[name] = ((-1, 1)[draw.integers(2)] * draw.uniform(0.5, 1.35),)
    return Stage(bodies, tuple(places), 4.2, (0.0, 1.5), places=places, meets=False)


def double_pendulum(draw: np.random.Generator) -> Stage:
    """Two arms, one hung on the other, lifted high."""
    first, second, height = draw.uniform(0.8, 1.1), draw.uniform(0.7, 1.0), 2.3
    heavy, light = draw.uniform(0.16, 0.24), draw.uniform(0.12, 0.2)
    bodies = _beam(0.5, height) + (
        f'<body name="upper" pos="0 0 {height}">{_hinge("upper")}{_rod(first, 5, 0.04)}'
        + geom("sphere", (heavy,), 0, f'pos="0 0 {-first:.4g}" {UNTOUCHED}')
        + f'<body name="lower" pos="0 -0.12 {-first:.4g}">{_hinge("lower")}{_rod(second, 6, 0.04)}'
        + geom("sphere", (light,), 1, f'pos="0 0 {-second:.4g}" {UNTOUCHED}')
        + "</body></body>"
    )
    places = {"upper": (draw.uniform(1.2, 2.8),), "lower": (draw.uniform(-1.5, 1.5),)}
    return Stage(bodies, ("upper", "lower"), 4.8, (0.0, 2.2), places=places, meets=False, steps=960)


def newton_cradle(draw: np.random.Generator) -> Stage:
    """Three to five equal balls in a row; one or two are lifted and let go."""
    count, radius = int(draw.integers(3, 6)), draw.uniform(0.2, 0.26)
    length, height = draw.uniform(1.3, 1.7), 2.5
    bodies, places = _beam(1.4, height), {}
    lifted = int(draw.integers(1, 3)) if count > 3 else 1
    angle = draw.uniform(0.5, 1.0)
    for i in range(count):
        name, x = f"ball_{i}", (i - (count - 1) / 2) * radius * 2.02
        ball = geom("sphere", (radius,), i, f'pos="0 0 {-length:.4g}"')
        bodies += (
            f'<body name="{name}" pos="{x:.4g} 0 {height}">{_hinge(name)}{_rod(length, 6, 0.015)}'
            f"{ball}</body>"
        )
        if i < lifted:
            places[name] = (angle,)
    return Stage(
        bodies, tuple(f"ball_{i}" for i in range(count)), 4.2, (0.0, 1.5), places=places,
        bounce=0.97, friction=0.01, steps=960,
    )  # fmt: skip


def rope(draw: np.random.Generator) -> Stage:
    """A rope of links with a weight at its end, let go from one side."""
    links, height = int(draw.integers(7, 11)), 2.7
    length, bodies, closing = draw.uniform(1.5, 2.1) / links, _beam(0.6, height), ""
    for i in range(links):
        place = f"0 0 {height}" if i == 0 else f"0 0 {-length:.4g}"
        hinge = _hinge(f"link_{i}").replace("0.001", "0.004")
        bodies += f'<body name="link_{i}" pos="{place}">{hinge}{_rod(length, i % 2, 0.045)}'
        closing += "</body>"
    weight = geom("sphere", (draw.uniform(0.16, 0.26),), 3, f'pos="0 0 {-length:.4g}" {UNTOUCHED}')
    places = {"link_0": ((-1, 1)[draw.integers(2)] * draw.uniform(0.7, 1.4),)}
    speeds = {f"link_{links // 2}": (draw.uniform(-3, 3),)}
    movers = tuple(f"link_{i}" for i in range(links))
    return Stage(
        bodies + weight + closing, movers, 4.4, (0.0, 1.6), speeds, places, meets=False, steps=960
    )


def spring_mass(draw: np.random.Generator) -> Stage:
    """One to three weights on springs of many coils, pulled down and let go."""
    count, height, bodies, places = int(draw.integers(1, 4)), 3.0, _beam(1.6, 3.0), {}
    movers, coils = [], 9
    for i, x in enumerate(np.linspace(-1.0, 1.0, count) if count > 1 else [0.0]):
        gap, half = draw.uniform(0.1, 0.13), draw.uniform(0.18, 0.28)
        weight = 500 * 8 * half**3
        stiff = coils * weight * draw.uniform(4.0, 7.0) ** 2
        pull, closing = draw.uniform(0.035, 0.06), ""
        for c in range(coils + 1):
            name = f"coil_{i}_{c}" if c < coils else f"weight_{i}"
            place = f"{x:.4g} 0 {height}" if c == 0 else f"0 0 {-gap:.4g}"
            what = (
                geom("cylinder", (0.13, 0.018), 6, f'{UNTOUCHED} mass="{weight / 60:.4g}"')
                if c < coils
                else geom("box", (half, half, half), i, f'pos="0 0 {-half:.4g}" {UNTOUCHED}')
            )
            slide = (
                f'<joint name="{name}" type="slide" axis="0 0 -1" stiffness="{stiff:.5g}" '
                f'damping="{0.002 * stiff / 40:.4g}"/>'
            )
            bodies += f'<body name="{name}" pos="{place}">{slide}{what}'
            closing += "</body>"
            places[name] = (9.81 * weight / stiff + pull,)
        bodies += closing
        movers.append(f"weight_{i}")
    return Stage(bodies, tuple(movers), 4.2, (0.0, 1.5), places=places, meets=False, steps=960)


SCENES = {
    "pendulum": pendulum,
    "double_pendulum": double_pendulum,
    "newton_cradle": newton_cradle,
    "rope": rope,
    "spring_mass": spring_mass,
}
