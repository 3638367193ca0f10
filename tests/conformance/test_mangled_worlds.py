"""Whatever a world vector, a level or a constant says, the rules touch no memory but their own.

A store's keyframes come from strangers, and a compiled rule that trusts a length in them would
read or write outside its array. Whether that crashes is luck, so the rules are compiled with every
index checked. Each game runs in a process of its own: a crash is an exit code.
"""

import os
import subprocess
import sys

import pytest

from cosmolabe.core import parts

VALUES = "(np.nan, np.inf, -np.inf, 1e300, -1e300, 1e6, -1e6, -1.0, 9.0, 1.0)"
SCRIPT = f"""
import sys
import numpy as np
from cosmolabe.core import parts
from cosmolabe.engine import kernels

game = parts.load("games", sys.argv[1])
constants = game.default_parameters()[None]
actions = np.random.default_rng(0).integers(0, len(game.actions), (1, 120)).astype(np.uint8)
fresh = game.new_world(0)
for column in range(game.num_world):
    for value in {VALUES}:
        world = fresh.copy()
        world[column] = value
        kernels.advance(game.step, world[None], actions, constants)
dice = np.random.default_rng(1)
for _ in range(400):
    world = game.new_world(0, 1 + dice.integers(4))
    mangled = dice.random(game.num_world) < 0.2
    world[mangled] = dice.choice({VALUES}, mangled.sum())
    kernels.advance(game.step, world[None], actions, constants)
for level in (1, 2, 9, 1000):
    kernels.advance(game.step, game.new_world(0, level)[None], actions, constants)
for name in game.parameters:
    for value in (1e300, -1e300, 1e6, -1e6, -1.0, 0.0, 1e-300):
        strange = game.default_parameters(**{{name: value}})
        kernels.advance(game.step, game.new_world(0, 1, strange)[None], actions, strange[None])
print("sound")
"""


@pytest.mark.parametrize("name", parts.names("games"))
def test_no_mangled_world_makes_the_rules_leave_their_memory(name, tmp_path):
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, name],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | checked,
    )
    assert done.stdout == "sound\n", (done.returncode, done.stderr[-500:])


@pytest.mark.parametrize("level", [-(2**62), -1, 0, 1001, 10**30, 1.5, None, "2"])
def test_a_level_that_no_world_has_is_refused(level):
    with pytest.raises(ValueError, match="level is a whole number"):
        parts.load("games", "snake").new_world(0, level)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "fast"])
def test_a_constant_that_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="finite numbers"):
        parts.load("games", "snake").default_parameters(growth=value)
