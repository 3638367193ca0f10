"""The one-file train.py of every learned model, and the slim package it runs on."""

import ast
import json
import subprocess
import sys

import numpy as np
import pytest

from cosmolabe.arena.tasks.data import write_data
from cosmolabe.arena.tasks.one_file import one_file
from cosmolabe.arena.tasks.slim import modules, write_slim
from cosmolabe.core import parts
from cosmolabe.data.windows import evaluation_windows
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.training import train

LEARNED = [name for name in parts.names("models") if parts.load("models", name).trainable]
RECIPE = {"steps": 4, "unroll": 4, "batch_size": 4}
CALM = {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def room(tmp_path_factory, store):
    """The slim package and the data of a task."""
    folder = tmp_path_factory.mktemp("room")
    write_slim(folder / "package")
    write_data(store, folder / "data")
    return folder


def run(room, *words, code=""):
    start = ["-c", code] if code else []
    return subprocess.run(
        [sys.executable, "-I", "-B", *start, *map(str, words)],
        capture_output=True,
        text=True,
        env=CALM,
        cwd=room,
    )


@pytest.mark.parametrize("model", LEARNED)
def test_the_one_file_starter_trains_to_the_very_bytes_of_the_package(model, room, store, tmp_path):
    (tmp_path / "train.py").write_text(one_file(model))
    (tmp_path / "config.json").write_text(json.dumps({"size": "laptop", "recipe": RECIPE}))
    ended = run(room, room / "package" / "begin.py", tmp_path, room / "data", 7, 60)
    assert ended.returncode == 0, ended.stderr
    own = parts.load("models", model).create(store.manifest, "laptop", 7)
    train(own, store, TrainConfig(**RECIPE, seed=7), tmp_path / "own")
    mine = (tmp_path / "weights.safetensors").read_bytes()
    assert mine == (tmp_path / "own" / "model.safetensors").read_bytes()


@pytest.mark.parametrize("model", LEARNED)
def test_the_one_file_starter_holds_all_it_uses_and_nothing_of_nets(model):
    tree = ast.parse(one_file(model))
    asked = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    assert not {m for m in asked if m.startswith(("cosmolabe.nets", "cosmolabe.models"))}
    assert {m for m in asked if m.startswith("cosmolabe.")} <= set(modules())
    defined = [n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    assert len(defined) == len(set(defined))


def test_a_starter_for_a_model_that_learns_nothing_is_refused():
    with pytest.raises(ValueError, match="'still' learns nothing"):
        one_file("still")


def test_the_slim_package_knows_no_rules(room):
    assert not {m.split(".")[1] for m in modules()} & {"games", "engine", "scenarios", "bench"}
    code = (
        "import sys; sys.path.insert(0, 'package')\n"
        "import cosmolabe, importlib.util\n"
        "print(cosmolabe.__file__)\n"
        "print([importlib.util.find_spec('cosmolabe.' + n) for n in ('games', 'engine')])\n"
    )
    ended = run(room, code=code)
    assert ended.stdout.splitlines()[0] == str(room / "package" / "cosmolabe" / "__init__.py")
    assert ended.stdout.splitlines()[1] == "[None, None]"


def test_the_data_of_a_task_are_the_store_number_for_number(store, room):
    from cosmolabe.data.store import open_store

    task = open_store(room / "data")
    for split in ("train", "val"):
        episodes, starts, _ = evaluation_windows(store, split, 28, 6)
        theirs, same, _ = evaluation_windows(task, split, 28, 6)
        assert (starts == same).all()
        a, b = store.windows(episodes, starts, 28), task.windows(theirs, same, 28)
        for name in ("registry", "states", "actions", "globals", "terminal"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert not len(task.split("test"))


def test_neither_salt_nor_seeds_nor_the_stores_hash_are_in_the_data_of_a_task(tmp_path):
    from cosmolabe.data.collect import collect

    salt = "a-salt-nobody-knows"
    store = collect("pong", tmp_path / "store", 16, max_ticks=60, salt=salt)
    write_data(store, tmp_path / "data")
    told = b"".join(p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file())
    assert salt.encode() not in told
    assert store.fingerprint.encode() not in told
    look, seeds = store.appearance(0), [store.seed(n) for n in range(len(store))]
    assert str(look.seed).encode() not in told
    assert not any(str(seed).encode() in told for seed in seeds)


def test_training_by_the_clock_ends_before_its_limit_however_slow_the_start_was(monkeypatch):
    from cosmolabe.arena.tasks.starters import network

    recipe = TrainConfig(steps=None, seconds=50.0)
    assert 0 < network.seconds_running() < 10_000
    for began, wanted in ((2.0, 15.0), (15.0, 2.0), (90.0, 0.5)):
        monkeypatch.setattr(network, "seconds_running", lambda began=began: began)
        assert network.in_time(recipe, 20.0).seconds == wanted
    assert network.in_time(TrainConfig(steps=7), 20.0) == TrainConfig(steps=7)
