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

from cosmolabe.arena import places
from cosmolabe.arena.presets import Preset, Usage, preset_named
from cosmolabe.arena.sandbox import Box, Child, Limits, open_child, python_root
from cosmolabe.arena.sandbox.box import Pieces
from cosmolabe.arena.sandbox.proxy import Proxy, Visit
from cosmolabe.arena.service import ANSWERS, ASKED, Service
from cosmolabe.arena.session import Session
from cosmolabe.arena.tasks.folder import PROTECTED
from cosmolabe.arena.tasks.slim import covering
from cosmolabe.core.agent import AgentPart

TASK, HOME, OWN = "/task", "/home/agent", "/own"
PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin")
LOOK = 0.2  # seconds between two looks at what is asked
SHOWN_EVERY = 1.0  # seconds between two writings of time_left
READ_ONLY = (*PROTECTED, "experiments", ANSWERS, "time_left")


def drive(desk: Session) -> None:
    """Run the command until it ends, the time is over, or it has spent what it may."""
    preset = preset_of(desk.settings)
    spend = desk.settings.get("spend")
    words, own = laid_in(
        preset.command(str(desk.settings.get("llm") or ""), spend),
        desk.task,
        python_root(tools=True),
    )
    service, transcript = Service(desk, desk.task), desk.folder / "transcript"
    transcript.mkdir(exist_ok=True)
    number = len(list(transcript.glob("*.log")))
    with (
        (transcript / f"{number:02d}.log").open("wb") as log,
        (transcript / f"{number:02d}.hosts").open("a") as visits,
        _network(preset, visits) as (network, env),
    ):
        box = _box(desk, preset, own, network, env)
        # Its stdout goes where its stderr goes: into the transcript.
        argv = ["/bin/sh", "-c", 'exec "$@" >&2', "sh", *words]
        with open_child(box, argv, desk.level, log=log) as child:
            reader = _Reading(log, preset, desk.usage)
            waiting = threading.Thread(target=_outlast, args=(child,), daemon=True)
            waiting.start()
            asked = 0
            while waiting.is_alive():
                asked += (served := service.serve())
                reader.read()
                desk.show_time()
                if desk.clock.over or _overspent(desk.usage, spend):
                    child.kill()
                    break
                if not served:
                    time.sleep(LOOK)
            asked += service.serve()
            ended = child.wait()
            reader.read()
    if ended.code and not ended.killed and not asked:
        said = child.said.strip().splitlines()
        raise ValueError(
            f"'{words[0]}' ended with {ended.code} and asked for nothing; the last it said: "
            f"{(said or ['nothing'])[-1][:200]!r} (all of it: {log.name}). The session has not "
            "ended: once that is mended, `arena run` goes on with the time that is left"
        )


def check(settings: Mapping[str, Any], folder: Path) -> None:
    """A tool that can be started in the box, with a key if it needs one."""
    preset = preset_of(settings)
    surroundings, pieces = _surroundings(preset), python_root(tools=True)
    words, _ = laid_in(list(preset.argv), folder / "task", pieces)
    with Proxy(preset.hosts):  # refuses what is no host
        pass
    if "/" in words[0]:
        return
    tool = shutil.which(words[0], path=surroundings["PATH"])
    if tool is None:
        raise ValueError(
            f"there is no '{words[0]}' on this machine's {surroundings['PATH']}; a script of your "
            "own is named by its path, like ./my-agent.sh"
        )
    if not all(_shown(path, pieces) for path in (Path(tool), Path(tool).resolve())):
        raise ValueError(
            f"'{words[0]}' lies in {Path(tool).resolve().parent}, which its sandbox does not show: "
            "install it below /usr/local or /opt"
        )


def laid_in(words: list[str], task: Path, pieces: Pieces) -> tuple[list[str], Pieces]:
    """A command line as the box knows it, and the files of this machine that it names by a path.

    What lies in the task folder, or is shown by `pieces`, is named as it is; any other file is laid
    into /own, read-only.
    """
    told: list[str] = []
    own: list[tuple[Path, str]] = []
    for place, word in enumerate(words):
        path = Path(word)
        known = "/" not in word or "\n" in word or _shown(path, pieces)
        if known or (not path.is_absolute() and (task / path).exists()):
            told.append(word)
        elif path.is_file():
            own.append((path.resolve(), f"{OWN}/{place}/{path.name}"))
            told.append(own[-1][1])
        elif place == 0:
            raise ValueError(f"no file {word} here, nor in the task folder {task}")
        else:
            told.append(word)
    return told, tuple(own)


def _shown(path: Path, pieces: Pieces) -> bool:
    """Whether a path of this machine is there in a box, too."""
    if not path.is_absolute():
        return False
    plain = Path(os.path.normpath(path))
    return plain.exists() and any(plain.is_relative_to(inside) for _, inside in pieces)


def preset_of(settings: Mapping[str, Any]) -> Preset:
    """The preset named, or a command line of the user's own."""
    name, command = str(settings.get("preset") or ""), str(settings.get("command") or "")
    if bool(name) == bool(command):
        raise ValueError("the command agent needs --preset NAME or --command 'LINE', one of them")
    preset = preset_named(name) if name else Preset("command", tuple(shlex.split(command)))
    hosts = tuple(str(settings.get("hosts") or "").split())
    keys = tuple(str(settings.get("keys") or "").split())
    return replace(preset, hosts=preset.hosts + hosts, keys=preset.keys + keys)


def _box(desk: Session, preset: Preset, own: Pieces, network: str, env: Mapping[str, str]) -> Box:
    """What the tool sees: the system's programs, the task folder, a home that is kept."""
    home = desk.folder / places.HOME
    home.mkdir(exist_ok=True)
    desk.show_time()
    (desk.task / ASKED).mkdir(exist_ok=True)
    seconds = min(desk.seconds_left, 7 * 86_400.0)
    return Box(
        readable=(
            *python_root(tools=True),
            *own,
            *covering(desk.task / "package"),
            *((desk.task / name, f"{TASK}/{name}") for name in READ_ONLY),
        ),
        writable=((desk.task, TASK), (home, HOME)),
        limits=Limits(
            wall=seconds, memory=8 << 30, processes=1024, disk=8 << 30, log_bytes=1 << 30
        ),
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
    folders = [str(Path(sys.executable).parent), *PROGRAMS]
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
    check=check,
)
