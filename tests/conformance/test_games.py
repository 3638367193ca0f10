"""Every game keeps its promises, and gives the same bytes however it is run."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scripts import script

from cosmolabe.core import parts
from cosmolabe.data.conformance import CHECKS, check_game
from cosmolabe.engine import kernels

SCRIPT = Path(__file__).with_name("trace_games.py")
trace_games = script("tests/conformance/trace_games.py")

GAMES = parts.names("games")


@pytest.fixture(scope="module")
def golden():
    return json.loads(trace_games.GOLDEN.read_text())


def traced_elsewhere(**environment):
    """Digests of all games from a process of its own."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", GAMES)
def test_a_game_keeps_every_promise(name):
    checks = check_game(parts.load("games", name))
    assert [check.name for check in checks] == list(CHECKS)
    broken = [f"{check.name}: {check.detail}" for check in checks if not check.ok]
    assert not broken, broken


@pytest.mark.parametrize("name", GAMES)
def test_the_first_200_ticks_are_the_golden_ones(name, golden):
    assert name in golden, "run tests/conformance/trace_games.py --write"
    assert trace_games.trace(parts.load("games", name)) == golden[name], (
        "changed rules or drawing need a new version: see tests/conformance/trace_games.py"
    )


def test_another_process_gives_the_same_bytes(golden):
    assert traced_elsewhere() == golden


def test_the_uncompiled_rules_give_the_same_bytes(golden):
    uncompiled = traced_elsewhere(NUMBA_DISABLE_JIT="1")
    for name in GAMES:
        assert uncompiled[name] == golden[name], name


@pytest.mark.parametrize("name", GAMES)
def test_a_batch_of_4096_gives_the_same_bytes_as_single_worlds(name):
    game = parts.load("games", name)
    first = game.new_worlds(np.arange(8))
    worlds = np.tile(first, (512, 1))
    actions = np.tile(trace_games.random_actions(game)[:1, ::8], (4096, 1))
    constants = game.default_parameters()[None]
    kernels.advance(game.step, worlds, actions, constants)
    for place in range(8):
        alone = first[place : place + 1].copy()
        kernels.advance(game.step, alone, actions[:1], constants)
        assert (worlds[place::8].tobytes()) == alone.repeat(512, 0).tobytes()


@pytest.mark.parametrize("name", GAMES)
def test_two_threads_give_the_same_bytes_as_one(name):
    game = parts.load("games", name)
    actions = np.random.default_rng(4).integers(0, len(game.actions), (16, 300)).astype(np.uint8)
    constants = game.default_parameters()[None]
    one = game.new_worlds(np.arange(16))
    two = one.copy()
    kernels.advance(game.step, one, actions, constants)
    with ThreadPoolExecutor(2) as threads:
        halves = [
            threads.submit(kernels.advance, game.step, two[half], actions[half], constants)
            for half in (slice(0, 8), slice(8, 16))
        ]
        for half in halves:
            half.result()
    assert one.tobytes() == two.tobytes()


def test_a_golden_digest_never_changes_under_the_same_version():
    old = {"pong": {"version": 1, "random": "a"}, "gone": {"version": 1, "random": "x"}}
    changed = {"pong": {"version": 1, "random": "b"}, "new": {"version": 1, "random": "c"}}
    kept, refused = trace_games.renew(old, changed)
    assert refused == ["pong"]
    assert kept == {**old, "new": changed["new"]}
    raised = {"pong": {"version": 2, "random": "b"}}
    assert trace_games.renew(old, raised) == ({**old, **raised}, [])
    assert trace_games.renew(old, changed, ("pong",)) == ({**old, **changed}, [])
