"""`arena verify` and `arena check`: the sealed verifier, and the attacks it is held against."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Table, Verb, progress
from cosmolabe.core.figures import span

Level = Literal["auto", "docker", "bwrap+cgroup", "bwrap+rlimits", "unsafe-local"]


@dataclass(frozen=True, kw_only=True)
class ArenaVerify(Verb):
    """Score what a session submitted, and its starter, once, on episodes it never saw."""

    session: Positional[Path]
    """Folder of a session that has ended."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 256
    """Test episodes, played here under a secret salt; one window each."""
    scenarios: int = 64
    """Episodes of the game's scenarios; 0 leaves them out."""
    seeds: int = 3
    """Trainings of the same code with fresh seeds, 3 or more; 0 leaves them out."""
    level: Level = "auto"
    """Rung of the sandbox ladder; unsafe-local never gives a valid record."""
    gpu: FlagCreatePairsOff[bool] = False
    """Let the submission use the NVIDIA devices."""
    home: Path | None = None
    """Where salt and test episodes lie; else $COSMOLABE_ARENA_HOME, or ~/.local/share."""
    once_more: FlagCreatePairsOff[bool] = False
    """Verify a session that has a verdict already."""

    def run(self) -> Answer:
        """Play, ask, score, train again."""
        from cosmolabe.arena.analysis.sessions import read_session
        from cosmolabe.arena.verdicts import Asked, verify_both

        asked = Asked(
            self.episodes,
            self.scenarios,
            self.seeds,
            self.level,
            self.gpu,
            self.home,
            self.once_more,
        )
        verdict = verify_both(self.session, asked)
        starter = read_session(self.session).starter_verdict
        data = {"session": self.session, **asdict(verdict), "starter": starter}
        where = f"wrote {self.session / 'verdict.json'}"
        text = [*_told(verdict), _beside(verdict, starter), where]
        return Answer(data, text, ok=verdict.status == "ok")


@dataclass(frozen=True, kw_only=True)
class ArenaCheck(Verb):
    """Try every attack on a weakened verifier, which it must fool, and on the sealed one."""

    only: Positional[tuple[str, ...]] = ()
    """Names of attacks and honest submissions; all where none is named."""
    level: Level = "auto"
    """Rung of the sandbox ladder."""
    workers: int = 2
    """Processes, each on a ground of its own."""

    def run(self) -> Answer:
        """One row an attack, one an honest submission."""
        from cosmolabe.arena.attacks.checking import check, left_out

        with progress("attacking") as tell:
            attacks, honest = check(self.only, self.level, self.workers, tell)
        gone = left_out(self.only)
        failed = [row.attack for row in attacks if not row.ok]
        failed += [row.honest for row in honest if not row.ok]
        data = {
            "failed": failed,
            "left_out": gone,
            "attacks": [asdict(row) | {"ok": row.ok} for row in attacks],
            "honest": [asdict(row) | {"ok": row.ok} for row in honest],
        }
        text: list[Any] = []
        if attacks:
            text.append(_attacks_table(attacks))
        if honest:
            text.append(_honest_table(honest))
        count = len(attacks) + len(honest)
        text.append(f"{count - len(failed)} of {count} as it must be")
        text += [
            f"left out: {name}, for there is no {needed} here" for name, needed in gone.items()
        ]
        return Answer(data, text, ok=not failed)


def _attacks_table(rows: list[Any]) -> Table:
    columns = ("attack", "fools the weakened", "stopped", "flagged", "must be", "what was said")
    said = [
        (
            row.attack,
            _yes(row.weakened_verifier_fooled),
            _yes(row.stopped),
            _yes(row.flagged),
            row.must + ("" if row.ok else "  NOT SO"),
            (", ".join(row.flags) or row.why)[:70],
        )
        for row in rows
    ]
    return Table(columns, said)


def _honest_table(rows: list[Any]) -> Table:
    columns = ("honest submission", "status", "flagged", "score", "replicated")
    said = [
        (row.honest, row.status, ", ".join(row.flags) or "no", row.score, row.replicated)
        for row in rows
    ]
    return Table(columns, said)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _beside(verdict: Any, starter: Any) -> str:  # noqa: ANN401 - a Verdict, loaded lazily; JSON
    """What the starter's own run scores, and what was gained over it."""
    from cosmolabe.arena.analysis.sessions import scores_of

    if not starter:
        return "the starter was never run as it was, so no gain over it is known"
    before = scores_of(starter, "test")["composite"]
    if before != before:
        return f"the starter has no score: {starter.get('status')}, {starter.get('why')}"
    said = f"the starter scores {before:.4f} on test"
    if verdict.status != "ok":
        return said
    return f"{said}: a gain of {verdict.scores['test'].composite - before:+.4f}"


def _told(verdict: Any) -> list[Any]:  # noqa: ANN401 - a Verdict, loaded lazily
    from cosmolabe.arena.verifier.verdict import FLAGS, STATUSES

    if verdict.status != "ok":
        return [f"{verdict.status}: {STATUSES[verdict.status]}", verdict.why]
    columns = ("windows", "score", "95 % interval", "c1", "c10", "c20", "skill", "floor", "n")
    rows = [
        (
            name,
            one.composite,
            span(one.low, one.high),
            one.c1,
            one.c10,
            one.c20,
            one.skill,
            one.floor,
            one.windows,
        )
        for name, one in verdict.scores.items()
    ]
    text: list[Any] = [Table(columns, rows)]
    again = verdict.replicated
    if again is not None:
        text.append(
            f"replicated: {again.mean:.4f} over {len(again.scores)} fresh seeds "
            f"(standard deviation {again.sd:.4f})"
        )
        text += [f"  {why}" for why in again.failed]
    text += [f"flag {name}: {FLAGS[name]}" for name in verdict.flags]
    held = "a valid record" if verdict.valid else "no valid record"
    text.append(f"{verdict.parameters:,} parameters; sandbox {verdict.level}: {held}")
    return text
