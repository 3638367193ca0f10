"""Attacks on the machine: processes that stay, memory, disk, network, what others will import."""

import contextlib
from pathlib import Path

from cosmolabe.arena.attacks.attack import (
    TOKEN,
    Attack,
    Ground,
    Outcome,
    marked,
    signalled,
    thief,
)

FORKS, MEGABYTES, DISK = 120, 700, 160
"""Processes, memory and disk (MB) that are tried; the check allows fewer."""

BOMB = thief(f"""
def attempt():
    import os, time
    born = 0
    for _ in range({FORKS}):
        if os.fork() == 0:
            time.sleep(4)
            os._exit(0)
        born += 1
    return born == {FORKS}
""")

MEMORY = thief(f"""
def attempt():
    held = [bytearray(b"x") * (1 << 20) for _ in range({MEGABYTES})]
    return len(held) == {MEGABYTES}
""")

FILLS = thief(f"""
def attempt():
    import os, tempfile
    with tempfile.NamedTemporaryFile() as file:
        for _ in range({DISK}):
            file.write(os.urandom(1 << 20))
        file.flush()
        return os.fstat(file.fileno()).st_size == {DISK} << 20
""")


def _daemon(ground: Ground) -> str:
    return thief(f"""
def attempt():
    import subprocess, sys
    code = "import time; time.sleep(60)"
    subprocess.Popen(
        [sys.executable, "-I", "-c", code, {_word(ground)!r}],
        start_new_session=True, stdin=-3, stdout=-3, stderr=-3, close_fds=True,
    )
    return True
""")


def _word(ground: Ground) -> str:
    """In the command line of a process that an attack of this check left."""
    return f"{TOKEN}-{ground.folder.name}"


TAMPER = thief(f'''
def attempt():
    import os
    import cosmolabe
    path = os.path.join(os.path.dirname(cosmolabe.__file__), "{TOKEN}.py")
    with open(path, "w") as file:
        file.write("changed = True\\n")
    return True
''')


def _network(ground: Ground) -> str:
    return thief(f"""
def attempt():
    import socket
    with socket.create_connection(("127.0.0.1", {ground.port}), timeout=3):
        return True
""")


def _outside(ground: Ground) -> str:
    return thief(f"""
def attempt():
    from pathlib import Path
    Path({str(ground.marker)!r}).touch()
    return True
""")


def still_there(outcome: Outcome, ground: Ground) -> bool:
    """A process of the submission lives after the verifier is done with it."""
    return bool(daemons(ground))


def daemons(ground: Ground) -> list[int]:
    """Processes that an attack left."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if _word(ground).encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


ATTACKS = (
    Attack(
        "daemon", "daemon that outlives the limit",
        "leaves a process of a session of its own behind",
        "stopped", "ends_only_its_child", _daemon, still_there,
    ),
    Attack(
        "fork_bomb", "fork bomb",
        f"begins {FORKS} processes",
        "stopped", "no_limits", BOMB, signalled,
    ),
    Attack(
        "out_of_memory", "OOM",
        f"takes {MEGABYTES} MB of memory",
        "stopped", "no_limits", MEMORY, signalled,
    ),
    Attack(
        "full_disk", "disk fill",
        f"writes {DISK} MB",
        "stopped", "no_limits", FILLS, signalled,
    ),
    Attack(
        "writes_outside", "write where others read",
        "leaves a file in a folder of the host",
        "stopped", "shows_the_host", _outside, marked,
    ),
    Attack(
        "tampered_package", "tampered shared venv",
        "adds a module to the package that it was given",
        "stopped", "package_can_be_written", TAMPER, signalled,
    ),
    Attack(
        "network", "network and API keys",
        "connects to a server on this machine",
        "stopped", "network_open", _network, signalled,
    ),
)  # fmt: skip
