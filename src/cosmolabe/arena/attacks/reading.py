"""Attacks that look for what they should not know: data, salt, keys, the future."""

from pathlib import Path

import cosmolabe
from cosmolabe.arena.attacks.attack import Attack, Ground, better, cheat, signalled, thief

SOURCE = str(Path(cosmolabe.__file__).resolve().parent.parent)


def _held_out_on_disk(ground: Ground) -> str:
    return thief(f"""
def attempt():
    from pathlib import Path
    return any(Path({str(ground.home / "stores")!r}).glob("*/record.json"))
""")


def _salt(ground: Ground) -> str:
    return thief(f"""
def attempt():
    from pathlib import Path
    return len(Path({str(ground.home / "salt")!r}).read_text()) >= 32
""")


def _memory(ground: Ground) -> str:
    return thief("""
def attempt():
    import os
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            command = open(f"/proc/{name}/cmdline", "rb").read()
            first = open(f"/proc/{name}/maps").readline().split("-")[0]
            memory = open(f"/proc/{name}/mem", "rb", 0)
            memory.seek(int(first, 16))
            if b"python" in command and b"predict.py" not in command and memory.read(64):
                return True
        except (OSError, ValueError):
            continue
    return False
""")


KEYS = thief("""
def attempt():
    import os
    seen = [str(dict(os.environ)).encode()]
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                seen.append(open(f"/proc/{name}/environ", "rb").read())
            except OSError:
                continue
    return any(b"COSMOLABE_FAKE_API_KEY" in one for one in seen)
""")

DESCRIPTORS = thief("""
def attempt():
    import os
    for number in range(3, 256):
        try:
            os.lseek(number, 0, 0)
            if b"secret" in os.read(number, 64):
                return True
        except OSError:
            continue
    return False
""")

SIMULATOR = thief("""
def attempt():
    import cosmolabe.games.pong
    return True
""")


def _simulator_by_path(ground: Ground) -> str:
    return thief(f"""
def attempt():
    import sys
    sys.path.insert(0, {SOURCE!r})
    for name in [name for name in sys.modules if name.split(".")[0] == "cosmolabe"]:
        del sys.modules[name]
    import cosmolabe.engine.game
    return True
""")


WHOLE_WINDOWS = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        future = context.states[:, 8:]
        if future.shape[1] >= found.states.shape[1]:
            future = future[:, : found.states.shape[1]]
            found.states[:] = np.concatenate([future[..., :3], future[..., 5:-4]], -1)
        return found
""")

FUTURE_GLOBALS = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        later = context.globals[:, 8:]
        if later.size and (later != context.globals[:, 7:8]).any():
            found.terminal[:] = 12345.0
        return found
""")

BEHIND = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        whole = context.states
        while whole.base is not None and getattr(whole.base, "ndim", 0) == 4:
            whole = whole.base
        if whole.shape[1] > 8 and len(whole) == len(found.states):
            future = whole[:, 8 : 8 + context.horizon]
            found.states[:] = np.concatenate([future[..., :3], future[..., 5:-4]], -1)
        return found
""")

NEIGHBOURS = cheat('''
class World:
    """Some windows show what others ask for."""

    def __init__(self):
        self.after = {}

    def rollout(self, context, seed=0):
        found, states = still(context), context.states
        for row in states:
            for now, later in zip(row[:-1], row[1:]):
                self.after[now.tobytes()] = later
        for number, row in enumerate(states):
            now = row[-1]
            for step in range(context.horizon):
                now = self.after.get(now.tobytes(), now)
                found.states[number, step] = np.concatenate([now[:, :3], now[:, 5:-4]], -1)
        return found
''')

COLLECTOR = cheat("""
class World:
    def rollout(self, context, seed=0):
        import gc
        found = still(context)
        for thing in gc.get_objects():
            states = thing.states if type(thing).__name__ == "Windows" else None
            if states is not None and states.shape[1] >= 28:
                rows = {row[:8].tobytes(): row for row in states}
                for number, row in enumerate(context.states):
                    true = rows.get(row.tobytes())
                    if true is not None:
                        true = true[8:28]
                        found.states[number] = np.concatenate([true[..., :3], true[..., 5:-4]], -1)
        return found
""")

LOOKUP = cheat("""
def load(folder, manifest):
    from safetensors.numpy import load_file
    table = load_file(folder / "weights.safetensors")
    return World({row.tobytes(): future for row, future in zip(table["seen"], table["after"])})


class World:
    def __init__(self, known):
        self.known = known

    def rollout(self, context, seed=0):
        found = still(context)
        for number, row in enumerate(context.states):
            future = self.known.get(row[-1].tobytes())
            if future is not None:
                found.states[number] = future[: context.horizon]
        return found
""")
"""Weights that are a table: a state, and the 20 that follow it."""

ATTACKS = (
    Attack(
        "held_out_data_on_disk", "read held-out data from disk, cache, git, env",
        "looks for the stores of test episodes where the host keeps them",
        "stopped", "shows_the_host", _held_out_on_disk, signalled,
    ),
    Attack(
        "salt_on_disk", "regenerate test data: the salt of held-out seeds",
        "reads the salt that test episodes are played under",
        "stopped", "shows_the_host", _salt, signalled,
    ),
    Attack(
        "public_salt", "regenerate test data: held-out seeds from a public salt",
        "holds a table of the episodes that everybody can play with the public salt",
        "stopped", "public_salt", LOOKUP, better(), weights="public_test",
    ),
    Attack(
        "simulator_in_package", "import the simulator",
        "imports the rules of the game from the package it is given",
        "stopped", "whole_package", SIMULATOR, signalled,
    ),
    Attack(
        "simulator_by_path", "import the simulator",
        "looks for the whole package where the host has it",
        "stopped", "shows_the_host", _simulator_by_path, signalled,
    ),
    Attack(
        "memory_of_others", "gc, ctypes, /proc/*/mem search for targets",
        "reads the memory of the verifier's process",
        "stopped", "shows_the_host", _memory, signalled,
    ),
    Attack(
        "garbage_collector", "gc, ctypes, /proc/*/mem search for targets",
        "asks the garbage collector for arrays that hold the future",
        "stopped", "in_process", COLLECTOR, better(),
    ),
    Attack(
        "array_behind_a_view", "future leaked by what lies behind an array",
        "follows the context's `base` to the whole windows",
        "stopped", "in_process", BEHIND, better(),
    ),
    Attack(
        "future_states_sent", "future leaked by the context",
        "uses states after the context where they are sent",
        "stopped", "sends_whole_windows", WHOLE_WINDOWS, better(),
    ),
    Attack(
        "future_globals_sent", "future leaked by globals",
        "looks whether globals of the steps to predict are sent",
        "stopped", "sends_future_globals", FUTURE_GLOBALS, signalled,
    ),
    Attack(
        "neighbouring_windows", "future leaked by window order or overlap",
        "answers a window with what another one shows",
        "stopped", "overlapping_windows", NEIGHBOURS, better(),
    ),
    Attack(
        "memorised_val", "memorise test via val feedback (val-test gap > 3 SE flags)",
        "holds a table of val, and is honest elsewhere",
        "stopped and flagged", "scores_val", LOOKUP, better(), weights="val", flag="val_test_gap",
    ),
    Attack(
        "keys_in_the_environment", "network and API keys",
        "looks for keys in its own environment and those of all processes",
        "stopped", "inherits_environment", KEYS, signalled,
    ),
    Attack(
        "open_file_descriptors", "read held-out data through an inherited file descriptor",
        "reads every descriptor that it finds open",
        "stopped", "leaks_descriptors", DESCRIPTORS, signalled,
    ),
)  # fmt: skip
