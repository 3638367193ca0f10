"""What happened in a session, one JSON line an event, each holding the hash of the one before.

Only ever appended to, flushed to disk before `append` returns, and kept outside every sandbox. A
harness killed while writing leaves a torn last line at worst: it is set aside at the next opening.
The chain shows lines changed, moved or taken out; that the last lines are there is shown by the
hash of the newest one, which the verdict keeps.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cosmolabe.core.record import plain

KINDS = ("begin", "experiment", "score", "submit", "end", "resume")
FIRST = "0" * 64
"""What the first line holds as the hash before it."""
GIVEN = ("n", "prev", "hash", "kind", "time")
"""Fields that the ledger itself writes."""
Line = dict[str, Any]


class Ledger:
    """An open ledger; one harness at a time may hold it.

    Raises:
        ValueError: Another harness holds it, or a line that is whole does not fit the chain.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = not path.exists()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise ValueError(
                f"{path} is held by another harness; one session, one harness"
            ) from None
        try:
            if fresh:
                _flush_folder(path.parent)
            self._set_torn_aside()
            self.lines = read_ledger(path)
        except ValueError:
            self.close()
            raise

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let another harness open it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def head(self) -> str:
        """Hash of the newest line."""
        return self.lines[-1]["hash"] if self.lines else FIRST

    def append(self, kind: str, **fields: Any) -> Line:  # noqa: ANN401 - any JSON value
        """Write one line; it is on the disk when this returns. What is not finite becomes null.

        Raises:
            ValueError: There is no such kind, or a field is the ledger's own to write.
        """
        if kind not in KINDS:
            raise ValueError(f"no kind of line {kind!r}; have {list(KINDS)}")
        if own := [name for name in fields if name in GIVEN]:
            raise ValueError(f"{own} are written by the ledger itself")
        given = {"n": len(self.lines), "prev": self.head, "kind": kind, "time": time.time()}
        line = json.loads(_text({**given, **plain(fields)}))
        line["hash"] = hash_of(line)
        data = (_text(line) + "\n").encode()
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)
        self.lines.append(line)
        return line

    def append_once(self, kind: str, experiment: str, **fields: Any) -> Line:  # noqa: ANN401
        """The line of this kind for this experiment, written only where there is none yet.

        So a harness that was killed may say again what it cannot know it has said.
        """
        return self.find(kind, experiment) or self.append(kind, experiment=experiment, **fields)

    def find(self, kind: str, experiment: str) -> Line | None:
        """The newest line of this kind for this experiment."""
        for line in reversed(self.lines):
            if line["kind"] == kind and line.get("experiment") == experiment:
                return line
        return None

    def _set_torn_aside(self) -> None:
        """Move what follows the last line feed to a file beside, and cut it off."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole == len(data):
            return
        with self.path.with_name(self.path.name + ".torn").open("ab") as aside:
            aside.write(data[whole:] + b"\n")
            aside.flush()
            os.fsync(aside.fileno())
        os.ftruncate(self._file, whole)
        os.fsync(self._file)


def read_ledger(path: Path) -> list[Line]:
    """All whole lines, oldest first; a torn last one is passed over.

    Raises:
        ValueError: A line is no JSON, or does not fit the chain; says which.
    """
    lines, before = [], FIRST
    for number, text in enumerate(_whole_lines(path)):
        where = f"{path}, line {number + 1}"
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(f"{where} is no JSON; the ledger was changed by hand") from None
        if not isinstance(line, dict) or line.get("n") != number:
            raise ValueError(f"{where} is not line {number} of the chain; one is missing or moved")
        if line.get("prev") != before or line.get("hash") != hash_of(line):
            raise ValueError(f"{where} was changed after it was written: its hash does not fit")
        lines.append(line)
        before = line["hash"]
    return lines


def hash_of(line: Mapping[str, Any]) -> str:
    """SHA-256 of a line without its own hash, as JSON with sorted names."""
    rest = {name: value for name, value in line.items() if name != "hash"}
    return hashlib.sha256(_text(rest).encode()).hexdigest()


def _whole_lines(path: Path) -> Iterator[bytes]:
    with contextlib.suppress(FileNotFoundError):
        yield from path.read_bytes().split(b"\n")[:-1]


def _text(line: Mapping[str, Any]) -> str:
    return json.dumps(line, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _flush_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
