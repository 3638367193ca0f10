"""Any command-line tool that acts in the task folder: a coding agent, a script, a person's shell.

It runs in a sandbox of its own and sees the task folder, where train.py and config.json are its to
change. Experiments are asked for with `run.py` and run outside. Of the network it reaches the hosts
that its preset, or `hosts`, names.
"""

import contextlib
import os
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import replace
from io import BufferedWriter
from pathlib import Path
from typing import IO, Any

from cosmolabe.arena.presets import Preset, Usage, preset_named
from cosmolabe.arena.sandbox import Box, Child, Limits, open_child, python_root
from cosmolabe.arena.sandbox.proxy import Proxy, Visit
from cosmolabe.arena.service import ANSWERS, ASKED, Service
from cosmolabe.arena.session import Session
from cosmolabe.arena.tasks.folder import PROTECTED
from cosmolabe.arena.tasks.slim import covering
from cosmolabe.core.agent import AgentPart

TASK, HOME = "/task", "/home/agent"
LOOK = 0.2  # seconds between two looks at what is asked
SHOWN_EVERY = 1.0  # seconds between two writings of time_left
READ_ONLY = (*PROTECTED, "experiments", ANSWERS, "time_left")


def drive(desk: Session) -> None:
    """Run the command until it ends, the time is over, or it has spent what it may."""
    preset = preset_of(desk.settings)
    spend = desk.settings.get("spend")
    words = preset.command(str(desk.settings.get("llm") or ""), spend)
    service, transcript = Service(desk, desk.task), desk.folder / "transcript"
    transcript.mkdir(exist_ok=True)
    number = len(list(transcript.glob("*.log")))
    with (
        (transcript / f"{number:02d}.log").open("wb") as log,
        (transcript / f"{number:02d}.hosts").open("a") as visits,
        _network(preset, visits) as (network, env),
    ):
        box = _box(desk, preset, network, env)
        # Its stdout goes where its stderr goes: into the transcript.
        argv = ["/bin/sh", "-c", 'exec "$@" >&2', "sh", *words]
        with open_child(box, argv, desk.level, log=log) as child:
            reader = _Reading(log, preset, desk.usage)
            waiting = threading.Thread(target=_outlast, args=(child,), daemon=True)
            waiting.start()
            while waiting.is_alive():
                served = service.serve()
                reader.read()
                desk.show_time()
                if desk.clock.over or _overspent(desk.usage, spend):
                    child.kill()
                    break
                if not served:
                    time.sleep(LOOK)
            service.serve()
            child.wait()
            reader.read()


def preset_of(settings: Mapping[str, Any]) -> Preset:
    """The preset named, or a command line of the user's own."""
    name, command = str(settings.get("preset") or ""), str(settings.get("command") or "")
    if bool(name) == bool(command):
        raise ValueError("the command agent needs --preset NAME or --command 'LINE', one of them")
    preset = preset_named(name) if name else Preset("command", tuple(shlex.split(command)))
    hosts = tuple(str(settings.get("hosts") or "").split())
    keys = tuple(str(settings.get("keys") or "").split())
    return replace(preset, hosts=preset.hosts + hosts, keys=preset.keys + keys)


def _box(desk: Session, preset: Preset, network: str, env: Mapping[str, str]) -> Box:
    """What the tool sees: the system's programs, the task folder, a home that is kept."""
    home = desk.folder / "home"
    home.mkdir(exist_ok=True)
    desk.show_time()
    (desk.task / ASKED).mkdir(exist_ok=True)
    seconds = min(desk.seconds_left, 7 * 86_400.0)
    return Box(
        readable=(
            *python_root(tools=True),
            *covering(desk.task / "package"),
            *((desk.task / name, f"{TASK}/{name}") for name in READ_ONLY),
        ),
        writable=((desk.task, TASK), (home, HOME)),
        limits=Limits(wall=seconds, memory=8 << 30, processes=1024, disk=8 << 30),
        network=network,
        env={**_surroundings(preset), **env},
        cwd=TASK,
    )


def _surroundings(preset: Preset) -> dict[str, str]:
    """Environment variables: where Python and the tool lie, and the keys that it may have."""
    found = {name: os.environ[name] for name in preset.keys if name in os.environ}
    if preset.keys and not found:
        raise ValueError(f"{preset.name} needs one of {list(preset.keys)} in the environment")
    tool = shutil.which(preset.argv[0])
    if preset.install and tool is None:
        raise ValueError(f"there is no '{preset.argv[0]}' on this machine; {preset.install}")
    folders = [str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
    folders += [str(Path(tool).parent)] if tool else []
    calm = {"OMP_NUM_THREADS": "1", "TERM": "dumb"}
    path = ":".join(dict.fromkeys(folders))
    return {"PATH": path, "HOME": HOME, **calm, **preset.env, **found}


@contextlib.contextmanager
def _network(preset: Preset, visits: IO[str]) -> Generator[tuple[str, dict[str, str]]]:
    """The proxy to the hosts of a preset, each visit written down; or no network at all."""
    if not preset.hosts:
        yield "none", {}
        return

    def note(visit: Visit) -> None:
        verdict = "" if visit.allowed else " refused"
        visits.write(f"{visit.time:.0f} {visit.method} {visit.host}:{visit.port}{verdict}\n")
        visits.flush()

    with Proxy(preset.hosts, note) as proxy:
        yield proxy.network, proxy.env()


def _overspent(usage: Usage, spend: int | float | None) -> bool:
    return spend is not None and usage.cost is not None and usage.cost >= spend


def _outlast(child: Child) -> None:
    with contextlib.suppress(ValueError):  # told again by the one who started it
        child.wait()


class _Reading:
    """Reads a growing transcript for what the tool tells of its usage."""

    def __init__(self, log: BufferedWriter, preset: Preset, usage: Usage) -> None:
        self.log, self.preset, self.usage = log, preset, usage
        self.at, self.rest = 0, b""

    def read(self) -> None:
        """Take in what was written since."""
        self.log.flush()
        if self.preset.reads is None:
            return
        with open(self.log.name, "rb") as file:
            file.seek(self.at)
            data = file.read()
        self.at += len(data)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.preset.reads(line.decode(errors="replace"), self.usage)


AGENT = AgentPart(
    "command",
    "Any command-line tool in the task folder: a coding agent by preset, a script, a shell.",
    drive,
    settings={"preset": "", "command": "", "llm": "", "spend": None, "hosts": "", "keys": ""},
)
