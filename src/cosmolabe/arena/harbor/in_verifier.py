"""Scores a submission inside Harbor's verifier image: `verify.py SUBMISSION LOGS`.

The submission runs as another user than the one who holds the truth, is told contexts and actions
through a pipe, and gives back predictions; nothing of it is imported here. Where the image lets
bubblewrap work, it runs in the sandbox besides. Without a score no reward is written.
"""

import json
import math
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
if (HERE / "package").is_dir():  # in the image
    sys.path.insert(0, str(HERE / "package"))

from cosmolabe.arena.sandbox import Enforced, best_level  # noqa: E402
from cosmolabe.arena.tasks.slim import write_slim  # noqa: E402
from cosmolabe.arena.verifier import predict  # noqa: E402
from cosmolabe.arena.verifier.asking import Asked, Broken  # noqa: E402
from cosmolabe.arena.verifier.copying import Copied  # noqa: E402
from cosmolabe.arena.verifier.verify import Verifier  # noqa: E402
from cosmolabe.bench.bed import Bed, lay_out  # noqa: E402
from cosmolabe.core.record import plain, write_json  # noqa: E402
from cosmolabe.data.store import open_store  # noqa: E402

NOBODY = 65534
PIECE = 1 << 16  # bytes


class Apart:
    """A process of another user that is spoken to through pipes, by the clock."""

    def __init__(self, command: list[str], cwd: Path) -> None:
        self.isolated = os.geteuid() == 0
        who: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        calm = {"PATH": "/usr/local/bin:/usr/bin:/bin", "OMP_NUM_THREADS": "1", "HOME": "/tmp"}
        options: dict[str, Any] = {
            "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL,
            "cwd": cwd, "env": calm, "close_fds": True, "start_new_session": True,
        }  # fmt: skip
        try:
            self.process = subprocess.Popen(command, **options, **(who if self.isolated else {}))
        except (OSError, subprocess.SubprocessError):  # not allowed to be somebody else
            self.isolated = False
            self.process = subprocess.Popen(command, **options)

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def exchange(self, data: bytes | memoryview, size: int, seconds: float) -> bytearray:
        """Write all of `data` while reading exactly `size` bytes."""
        end, got, left = time.monotonic() + seconds, bytearray(), memoryview(data)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        to, out = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(to, False)
        with selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            ready.register(to, selectors.EVENT_WRITE)
            while len(got) < size:
                if time.monotonic() > end:
                    raise TimeoutError
                for key, _ in ready.select(0.2):
                    if key.fd == to:
                        left = left[self._write(to, left[:PIECE]) :]
                        if not left:
                            ready.unregister(to)
                        continue
                    piece = os.read(out, min(PIECE, size - len(got)))
                    if not piece:
                        raise EOFError
                    got += piece
        return got

    def _write(self, to: int, data: memoryview) -> int:
        try:
            return os.write(to, data)
        except BrokenPipeError:  # it has ended
            raise EOFError from None

    def close_stdin(self) -> None:
        """There are no more questions."""
        if self.process.stdin is not None:
            self.process.stdin.close()

    def more_than_asked(self, seconds: float) -> bool:
        """Whether it writes on."""
        assert self.process.stdout is not None
        out = self.process.stdout.fileno()
        with selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            if not ready.select(seconds):
                raise TimeoutError
            return bool(os.read(out, 1))


class Inside(Verifier):
    """A verifier that has no sandbox to start, only another user."""

    def ask(self, copied: Copied, beds: Mapping[str, Bed], scratch: Path) -> tuple[Asked, Enforced]:
        """The predictions, from a process that may read neither /tests/held_out nor this one."""
        contexts = {name: self.context(bed) for name, bed in beds.items()}
        manifest = scratch / "manifest.json"
        write_json(manifest, next(iter(beds.values())).store.manifest)
        for path in (scratch, *scratch.rglob("*"), self.package, *self.package.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        program = scratch / "predict.py"
        program.write_text(Path(str(predict.__file__)).read_text())
        program.chmod(0o644)
        command = [sys.executable, "-I", "-B", str(program), str(copied.folder)]
        with Apart([*command, str(self.package), str(manifest)], copied.folder) as child:
            asked = self.answers(child, contexts)
            who = f"uid {NOBODY}" if child.isolated else "none"
        return asked, Enforced("harbor" if who != "none" else "unsafe-local", user=who)


def main(submission: Path, logs: Path, held_out: Path) -> int:
    """Score; the reward is the composite on test."""
    kind, level = _how()
    beds = {}
    for folder in sorted(held_out.iterdir()):
        store = open_store(folder)
        count = len(store.split(folder.name))
        beds[folder.name] = lay_out(store, folder.name, num_episodes=count)
    with tempfile.TemporaryDirectory() as room:
        package = write_slim(Path(room) / "package")
        Path(room).chmod(0o755)
        verdict = kind(package, level).verify(submission, beds, audit=kind is Verifier)
    logs.mkdir(parents=True, exist_ok=True)
    write_json(logs / "verdict.json", verdict)
    if verdict.status != "ok":
        print(f"{verdict.status}: {verdict.why}")
        return 1
    rewards = {"reward": verdict.scores["test"].composite}
    for name, score in verdict.scores.items():
        for part in ("c1", "c10", "c20", "composite", "skill"):
            rewards[f"{name}_{part}"] = getattr(score, part)
    rewards |= {"flags": float(len(verdict.flags)), "isolated": float(verdict.valid)}
    told = {name: value for name, value in plain(rewards).items() if value is not None}
    assert all(math.isfinite(value) for value in told.values())
    (logs / "reward.json").write_text(json.dumps(told) + "\n")
    print(json.dumps(told))
    return 0


def _how() -> tuple[type[Verifier], str]:
    """The sandbox where the container lets one be made, another user elsewhere."""
    try:
        return Verifier, best_level()
    except ValueError:
        return Inside, "unsafe-local"


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), HERE / "held_out"))
    except Broken as error:
        sys.exit(f"verifier_error: {error}")
