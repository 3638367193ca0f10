"""Answers what an agent in a sandbox asks for: experiments and the choice of a submission.

`run.py` inside leaves a question as a file in `asked/` and waits for a file in `answers/`, which is
read-only in there. A question is a stranger's: a plain file of a sensible size, JSON of few kinds.
"""

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from cosmolabe.core.agent import Desk, Proposal, SessionOver, Tried
from cosmolabe.core.record import write_json

ASKED, ANSWERS = "asked", "answers"
NAME = re.compile(r"[0-9a-f]{32}\.json")
LONGEST = 4 << 20  # bytes of a question
LONGEST_NOTE = 10_000  # characters


class Service:
    """Serves the questions of one task folder."""

    def __init__(self, desk: Desk, task: Path) -> None:
        self.desk, self.task = desk, task
        for name in (ASKED, ANSWERS):
            (task / name).mkdir(exist_ok=True)
        self.served = {path.name for path in (task / ANSWERS).iterdir()}

    def serve(self) -> int:
        """Answer all that is asked now; gives how many. `SessionOver` once time is over."""
        asked = self._waiting()
        for name in asked:
            self.served.add(name)
            try:
                answer = self._answer(_read(self.task / ASKED / name))
            except SessionOver as over:
                write_json(self.task / ANSWERS / name, _told(False, f"the session is over: {over}"))
                raise
            except ValueError as error:
                answer = _told(False, f"refused: {error}")
            write_json(self.task / ANSWERS / name, answer)
        return len(asked)

    def _waiting(self) -> list[str]:
        """Names of questions that nobody answered yet, in a fixed order."""
        with os.scandir(self.task / ASKED) as found:
            names = {entry.name for entry in found if NAME.fullmatch(entry.name)}
        return sorted(names - self.served)

    def _answer(self, question: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
        if not isinstance(question, dict):
            raise ValueError("a question is an object")
        if question.get("kind") == "submit":
            self.desk.submit(str(question.get("experiment")))
            return _told(True, f"{question['experiment']} will be submitted")
        if question.get("kind") != "experiment":
            raise ValueError(f"unknown kind {str(question.get('kind'))[:40]!r}")
        return _report(self.desk.run(proposal_of(question)))


def proposal_of(question: dict[str, Any]) -> Proposal:
    """The experiment that a question asks for."""
    train, config = question.get("train"), question.get("config")
    note, seed = question.get("note", ""), question.get("seed")
    if not isinstance(train, str) or not isinstance(config, dict) or not isinstance(note, str):
        raise ValueError("an experiment needs train (text), config (an object) and a note (text)")
    if seed is not None and not (type(seed) is int and 0 <= seed < 1 << 31):
        raise ValueError(f"a seed is a whole number of 31 bits; got {str(seed)[:40]}")
    return Proposal(train, config, note[:LONGEST_NOTE], seed)


def _report(one: Tried) -> dict[str, Any]:
    ok = one.status == "ok"
    said = ", ".join(f"{name} {one.val[name]:.5f}" for name in ("composite", "c1", "c10", "c20"))
    text = f"{one.experiment}: {one.status}, {one.wall:.1f} s; "
    text += f"val: {said}" if ok else f"see experiments/{one.experiment}/log.txt"
    return _told(ok, text)


def _told(ok: bool, text: str) -> dict[str, Any]:
    return {"ok": ok, "text": text}


def _read(path: Path) -> Any:  # noqa: ANN401 - any JSON
    """A question's JSON; links, pipes and endless files are refused."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ValueError(f"the question cannot be read ({error.strerror})") from None
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise ValueError("the question is no plain file")
        data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise ValueError(f"a question has {LONGEST} bytes at most")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("the question is no JSON") from None
