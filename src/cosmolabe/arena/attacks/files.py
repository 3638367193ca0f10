"""Attacks by what a folder holds: links, pipes, shadows, pickles, what others made."""

import json
import os
import pickle
from pathlib import Path

from cosmolabe.arena.attacks.attack import (
    Attack,
    Ground,
    accepted,
    better,
    cheat,
    marked,
    signalled,
    thief,
)

PLAIN = cheat("""
class World:
    def rollout(self, context, seed=0):
        return still(context)
""")
READS_WEIGHTS = thief("""
def attempt():
    return len(open("weights.safetensors").read().strip()) >= 32
""")
READS_OTHERS = thief("""
def attempt():
    from pathlib import Path
    return any(len(path.read_text()) >= 32 for path in Path(".").rglob("salt"))
""")
SHADOWED = thief("""
def attempt():
    import builtins
    return getattr(builtins, "shadowed", False)
""")
PRELOADED = thief("""
def attempt():
    return "libanl" in open("/proc/self/maps").read()
""")
CHANGED = thief("""
def attempt():
    return True
""")


class _Payload:
    """Unpickled, it leaves a mark."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple:
        return Path.touch, (self.marker,)


def _pickle(folder: Path, ground: Ground) -> None:
    (folder / "weights.safetensors").write_bytes(pickle.dumps(_Payload(ground.marker)))


def _symlink(folder: Path, ground: Ground) -> None:
    (folder / "weights.safetensors").symlink_to(ground.home / "salt")


def _hard_link(folder: Path, ground: Ground) -> None:
    os.link(ground.home / "salt", folder / "weights.safetensors")


def _folder_link(folder: Path, ground: Ground) -> None:
    """The folder itself leads elsewhere."""
    real = folder.with_name(folder.name + "-real")
    folder.rename(real)
    folder.symlink_to(real)


def _pipe(folder: Path, ground: Ground) -> None:
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")


def _sparse(folder: Path, ground: Ground) -> None:
    with (folder / "config.json").open("r+b") as file:
        file.truncate(64 << 20)


def _traversal(folder: Path, ground: Ground) -> None:
    way = os.path.relpath(ground.home / "salt", folder)
    (folder / "config.json").write_text(json.dumps({"files": ["train.py", way]}))


def _swapped(folder: Path) -> None:
    (folder / "train.py").write_text(CHANGED)


FORGING = "import os, sys\nos.write(1, b'{\"composite\": 0.99}')\nos._exit(0)\n"

ATTACKS = (
    Attack(
        "pickled_checkpoint", "pickle payload in a checkpoint",
        "lays a pickle where weights are expected, which leaves a mark when it is opened",
        "stopped", "unpickles_weights", PLAIN, marked, prepare=_pickle,
    ),
    Attack(
        "symbolic_link", "symlink",
        "lays a link to the verifier's salt where weights are expected",
        "stopped", "follows_links", READS_WEIGHTS, signalled, prepare=_symlink,
    ),
    Attack(
        "hard_link", "hardlink",
        "gives the verifier's salt a second name, where weights are expected",
        "stopped", "follows_links", READS_WEIGHTS, signalled, prepare=_hard_link,
    ),
    Attack(
        "folder_is_a_link", "symlink",
        "is a link to a folder somewhere else",
        "stopped", "follows_links", PLAIN, accepted, prepare=_folder_link,
    ),
    Attack(
        "named_pipe", "FIFO",
        "lays a pipe, which never ends, where config.json is expected",
        "stopped", "opens_anything", PLAIN, marked, prepare=_pipe,
    ),
    Attack(
        "sparse_file", "sparse file",
        "has a config.json of 64 MB that takes no room",
        "stopped", "no_caps", PLAIN, accepted, prepare=_sparse,
    ),
    Attack(
        "path_traversal", "path traversal",
        "names files of the verifier among its own",
        "stopped", "copies_what_is_named", READS_OTHERS, signalled, prepare=_traversal,
    ),
    Attack(
        "module_shadowing", "module shadowing",
        "lays a json.py beside itself, for a scorer that is started in its folder",
        "stopped", "scorer_in_its_folder", PLAIN, better(), files={"json.py": FORGING},
    ),
    Attack(
        "sitecustomize", "PYTHONPATH, sitecustomize",
        "lays a sitecustomize.py beside itself, for an interpreter that looks there",
        "stopped", "environment_from_config", SHADOWED, signalled,
        files={
            "sitecustomize.py": "import builtins\nbuiltins.shadowed = True\n",
            "config.json": '{"env": {"PYTHONPATH": "."}}',
        },
    ),
    Attack(
        "preloaded_library", "LD_PRELOAD",
        "asks in its config.json for a library to be loaded before all others",
        "stopped", "environment_from_config", PRELOADED, signalled,
        files={"config.json": '{"env": {"LD_PRELOAD": "libanl.so.1"}}'},
    ),
    Attack(
        "changed_after_the_hash", "change after hash",
        "has its train.py exchanged once the verifier has looked at it",
        "stopped", "hashes_then_runs", PLAIN, signalled, meanwhile=_swapped,
    ),
    Attack(
        "horizons_in_config", "edit horizons, cache path, model type in config",
        "asks in its config.json to be scored one step ahead",
        "stopped", "horizons_from_config", PLAIN, better(),
        files={"config.json": '{"horizons": [1]}'},
    ),
    Attack(
        "cache_path_in_config", "edit horizons, cache path, model type in config",
        "names a cache in its config.json, with windows in which nothing happens",
        "stopped", "windows_from_config", PLAIN, better(),
        files={"config.json": '{"cache": "windows.npy"}'}, weights="easy_windows",
    ),
    Attack(
        "warm_start", "warm start from another session",
        "hands in weights that no run of its session made",
        "stopped", "no_provenance", PLAIN, accepted, weights="foreign", provenance=True,
    ),
    Attack(
        "changed_after_training", "change after hash",
        "hands in the weights of a run with other code than made them",
        "stopped", "no_provenance", PLAIN + "\n# and something else\n", accepted,
        weights="ledgered", provenance=True,
    ),
)  # fmt: skip
