"""`cosmolabe arena audit`, `report`, `edits` and `margin`: what sessions teach."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from cosmolabe.cli._verb import Answer, Table, Verb


@dataclass(frozen=True, kw_only=True)
class ArenaAudit(Verb):
    """Hold what a session says of itself against what can be checked from outside."""

    sessions: Positional[tuple[Path, ...]]
    """Session folders, or folders that hold some."""

    def run(self) -> Answer:
        """Check each; exit code 1 where something does not hold."""
        from cosmolabe.arena.analysis.audit import audit, self_reported
        from cosmolabe.arena.analysis.sessions import find_sessions, read_session
        from cosmolabe.core.record import plain

        told, tables = [], []
        for folder in find_sessions(self.sessions):
            session = read_session(folder)
            findings = audit(session)
            scores = self_reported(session)
            told.append({"session": folder, "scores": scores, "findings": plain(findings)})
            words = {True: "holds", False: "DOES NOT HOLD", None: "unknown"}
            said = (
                f"{folder}: says {_figure(scores['ledger_val'])} on val; verified "
                f"{_figure(scores['test'])} on test, {_figure(scores['verified_val'])} on val"
            )
            rows = [(one.what, words[one.ok], one.told) for one in findings]
            tables.append(Table(("checked", "", ""), rows, said))
        failed = sum(one["ok"] is False for row in told for one in row["findings"])
        return Answer({"sessions": told, "failed": failed}, tables, ok=not failed)


@dataclass(frozen=True, kw_only=True)
class ArenaReport(Verb):
    """Draw sessions as one page: gains, curves, edits by class, differences, ledgers."""

    sessions: Positional[tuple[Path, ...]]
    """Session folders, or folders that hold some."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of arena.json and arena.html."""
    margins: Path | None = None
    """File of margins, registered before the sessions ran (`arena margin`)."""
    answers: Path | None = None
    """JSON lines with a language model's classes of the edits; new ones are added."""
    llm: str = ""
    """Name of that model; with --url, ask it what is not there yet."""
    url: str = ""
    """Any OpenAI-compatible endpoint, as https://host/v1."""
    key: str = "OPENAI_API_KEY"
    """Environment variable that holds its key."""

    stopped = "answers of the language model are kept; the same command asks the rest"

    def run(self) -> Answer:
        """Read, sort, compare, draw."""
        from cosmolabe.arena.analysis.margins import read_margins
        from cosmolabe.arena.analysis.record import arena_record
        from cosmolabe.arena.analysis.sessions import find_sessions, read_session
        from cosmolabe.core.record import write_json
        from cosmolabe.report.arena import write_arena

        margins = read_margins(self.margins) if self.margins else None
        asked = self._asked()
        sessions = [read_session(folder) for folder in find_sessions(self.sessions)]
        record = arena_record(sessions, margins, asked)
        write_json(self.out / "arena.json", record)
        path = write_arena(self.out)
        rows = [
            (
                row["session"], row["cell"], row["who"], row["experiments"], row["val"],
                row["test"], row["delta_test"], row["whole"]["category"], ", ".join(row["flags"]),
            )
            for row in record["sessions"]
        ]  # fmt: skip
        columns = ("session", "cell", "agent", "runs", "val", "test", "gain", "edit", "flags")
        told = ("bands", "agents", "winners", "edits", "scenario", "raters", "notes")
        data = {"report": path, "record": self.out / "arena.json"}
        text: list[Any] = [Table(columns, rows), *record["notes"], f"wrote {path}"]
        return Answer({**data, **{name: record[name] for name in told}}, text)

    def _asked(self) -> Any:  # noqa: ANN401 - a Recorded, loaded lazily
        if self.answers is None:
            if self.llm or self.url:
                raise ValueError("say with --answers where the language model's answers are kept")
            return None
        from cosmolabe.arena.analysis.endpoint import Endpoint, Recorded

        if not self.llm:
            raise ValueError("say with --llm which model's answers are meant")
        if self.key.startswith(("sk-", "Bearer")):
            raise ValueError("--key is the name of an environment variable, not the key itself")
        endpoint = Endpoint(self.llm, self.url, self.key) if self.url else None
        return Recorded(self.answers, endpoint, self.llm)


@dataclass(frozen=True, kw_only=True)
class ArenaEdit(Verb):
    """Sort one edit: the class of the change between two train.py files, and why."""

    before: Positional[Path]
    """A train.py."""
    after: Positional[Path]
    """The same, edited."""

    def run(self) -> Answer:
        """Compare what acts in both."""
        from cosmolabe.arena.analysis.difference import difference
        from cosmolabe.arena.analysis.rules import sort_edit

        found = difference(_read(self.before), _read(self.after))
        told = sort_edit(found)
        data = {
            "category": told.category,
            "beside": told.beside,
            "analytic": told.analytic,
            "why": told.why,
            "diff": found.text,
        }
        beside = f" (beside {', '.join(told.beside)})" if told.beside else ""
        analytic = ", analytic" if told.analytic else ""
        return Answer(data, [f"{told.category}{analytic}{beside}", *told.why, found.text])


@dataclass(frozen=True, kw_only=True)
class ArenaMargin(Verb):
    """Register how far apart two agents may be and still count as equal, before sessions run."""

    out: Annotated[Path, arg(aliases=["-o"])]
    """File to write; one that is there is never changed."""
    test: float
    """Margin of the composite on test."""
    why: str
    """Where the margin comes from."""

    def run(self) -> Answer:
        """Write it and tell its hash."""
        from datetime import UTC, datetime

        from cosmolabe.arena.analysis.margins import register

        today = datetime.now(UTC).date().isoformat()
        told = register(self.out, {"test": self.test}, self.why, today)
        return Answer(
            {"margins": told.margins, "hash": told.hash, "path": self.out},
            f"{self.out}: test ± {self.test}, SHA-256 {told.hash}",
        )


def _read(path: Path) -> str:
    if not path.is_file():
        raise ValueError(f"no file {path}")
    return path.read_text(encoding="utf-8", errors="replace")


def _figure(value: float) -> str:
    return "nothing" if value != value else f"{value:.5f}"
