"""Shows that every attack works on a verifier with the mistake it needs, and not on the sealed one.

One row an attack: `weakened_verifier_fooled` says that the attack is real, `stopped` that it gained
nothing from the sealed verifier, `flagged` that a warning stands beside it.
"""

import contextlib
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cosmolabe.arena.attacks import answering, files, processes, reading, records, taken_up
from cosmolabe.arena.attacks.attack import TOKEN, Attack, Ground, Outcome, outcome_of
from cosmolabe.arena.attacks.honest import HONEST, Honest
from cosmolabe.arena.attacks.weakened import WEAKNESSES, Watched
from cosmolabe.arena.attacks.weights import make_weights
from cosmolabe.arena.ledger import Ledger
from cosmolabe.arena.sandbox import Limits, scratch_folder
from cosmolabe.arena.tasks.data import write_data
from cosmolabe.arena.tasks.slim import write_slim
from cosmolabe.arena.verdicts import admitting
from cosmolabe.arena.verifier.asking import Patience
from cosmolabe.arena.verifier.copying import copy_submission
from cosmolabe.arena.verifier.held_out import held_out_bed, held_out_store, overlap
from cosmolabe.arena.verifier.replicating import Retraining
from cosmolabe.arena.verifier.scoring import score_of
from cosmolabe.bench.bed import Bed, lay_out
from cosmolabe.core.spread import spread
from cosmolabe.data.collect import collect

ATTACKS: tuple[Attack, ...] = (
    *reading.ATTACKS, *answering.ATTACKS, *files.ATTACKS, *taken_up.ATTACKS, *processes.ATTACKS,
    *records.ATTACKS,
)  # fmt: skip
EPISODES, TICKS = 64, 240
CHUNK = 16
TIGHT = Limits(wall=100.0, memory=500 << 20, processes=24, file_bytes=64 << 20, disk=64 << 20)
"""What a submission of a few lines may use; attacks try for more."""


@dataclass(frozen=True)
class Row:
    """What became of an attack."""

    attack: str
    threat: str
    does: str
    must: str
    flag: str
    """The flag that must be among `flags`, where one must."""
    weakness: str
    weakened_verifier_fooled: bool
    stopped: bool
    flagged: bool
    status: str
    flags: tuple[str, ...]
    why: str
    seconds: float

    @property
    def ok(self) -> bool:
        """It works where it may, and is stopped or flagged as it must be."""
        wanted = {"stopped": self.stopped, "flagged": self.flag in self.flags}
        return self.weakened_verifier_fooled and all(wanted[w] for w in self.must.split(" and "))


@dataclass(frozen=True)
class HonestRow:
    """What became of a submission with nothing to hide."""

    honest: str
    does: str
    status: str
    flagged: bool
    flags: tuple[str, ...]
    score: float
    replicated: float
    seconds: float
    why: str = ""

    @property
    def ok(self) -> bool:
        """Scored, and without a flag."""
        return self.status == "ok" and not self.flagged


@dataclass
class Field:
    """The ground with what the verifiers score on."""

    ground: Ground
    beds: Mapping[str, Mapping[str, Bed]]
    """By game, then by split; `public` is the test everybody can play."""
    data: Path
    session: Path
    """A folder with a ledger."""
    overlaps: Mapping[str, Any] = field(default_factory=dict)


def check(
    names: tuple[str, ...] = (),
    level: str = "auto",
    workers: int = 1,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[list[Row], list[HonestRow]]:
    """Every attack and every honest submission, or those that are named, in their order.

    But not those that are `left_out`.
    """
    known = [a.name for a in ATTACKS] + [h.name for h in HONEST]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"no attack or honest submission {unknown}; have {known}")
    gone = left_out(names)
    chosen = [name for name in known if (not names or name in names) and name not in gone]
    jobs = [(chosen[first::workers], level) for first in range(min(workers, max(len(chosen), 1)))]
    rows: dict[str, Row | HonestRow] = {}
    tell(0, len(chosen))
    with contextlib.closing(spread(_some, jobs, workers)) as finished:
        for _, found in finished:
            rows |= found
            tell(len(rows), len(chosen))
    told = [rows[name] for name in chosen]
    return [r for r in told if isinstance(r, Row)], [r for r in told if isinstance(r, HonestRow)]


def left_out(names: tuple[str, ...] = ()) -> dict[str, str]:
    """Attacks that cannot be shown here, each with the program that its weakened verifier needs."""
    return {
        attack.name: attack.needs
        for attack in ATTACKS
        if attack.needs and not shutil.which(attack.needs) and (not names or attack.name in names)
    }


def _some(names: list[str], level: str) -> dict[str, Row | HonestRow]:
    """Some of them, on a ground of their own."""
    found: dict[str, Row | HonestRow] = {}
    with laid_out() as place:
        for attack in ATTACKS:
            if attack.name in names:
                found[attack.name] = try_attack(attack, place, level)
        for honest in HONEST:
            if honest.name in names:
                found[honest.name] = try_honest(honest, place, level)
    return found


@contextlib.contextmanager
def laid_out() -> Generator[Field]:
    """Stores, beds, package, listener; all removed afterwards."""
    with scratch_folder("check") as folder, listener() as port:
        home = folder / "home"
        (folder / "outside").mkdir()
        store = collect("pong", folder / "store", 48, max_ticks=TICKS)
        tests = {
            game: held_out_store(game, "test", EPISODES, folder=home, max_ticks=TICKS)
            for game in ("pong", "asteroids")
        }
        beds: dict[str, dict[str, Bed]] = {
            game: {"test": held_out_bed(one, "test", folder=home)} for game, one in tests.items()
        }
        pong = beds["pong"]
        shared = overlap(pong["test"], [(store, "train"), (store, "val")])
        public = collect("pong", folder / "public", EPISODES, split="test", max_ticks=TICKS)
        pong |= {"val": lay_out(store, "val"), "public": lay_out(public, "test")}
        write_data(store, folder / "data")
        ground = Ground(
            folder=folder,
            home=home,
            package=write_slim(folder / "package"),
            port=port,
            floor={g: score_of(b["test"], "constant_velocity") for g, b in beds.items()},
            honest={g: score_of(b["test"], "still") for g, b in beds.items()},
        )
        taken_up.commit_salt(ground)
        yield Field(ground, beds, folder / "data", folder / "session", {"test": shared})


def try_attack(attack: Attack, place: Field, level: str = "auto") -> Row:
    """Once against the verifier that makes its mistake, once against the sealed one."""
    began = time.monotonic()
    _clean(place.ground)
    weak = _weak(attack, place, level)
    fooled = attack.gains(weak, place.ground)
    _clean(place.ground)
    sealed = _sealed(attack, place, level)
    stopped = not attack.gains(sealed, place.ground)
    _clean(place.ground)
    return Row(
        attack=attack.name,
        threat=attack.threat,
        does=attack.does,
        must=attack.must,
        flag=attack.flag,
        weakness=attack.weakness,
        weakened_verifier_fooled=bool(fooled),
        stopped=bool(stopped),
        flagged=bool(sealed.flags),
        status=sealed.status,
        flags=sealed.flags,
        why=sealed.note,
        seconds=time.monotonic() - began,
    )


def try_honest(honest: Honest, place: Field, level: str = "auto") -> HonestRow:
    """The sealed verifier on one with nothing to hide, with everything it looks at."""
    began = time.monotonic()
    folder = place.ground.folder / f"honest-{honest.name}"
    submission = honest.write(folder, place.ground.package, place.data, level)
    ledger = place.ground.folder / f"session-{honest.name}"
    _ledgered(submission, ledger)
    verifier = Watched(place.ground.package, level, chunk=CHUNK)
    again = Retraining(place.data, honest.seconds) if honest.again else None
    verdict = verifier.verify(
        submission,
        {name: place.beds["pong"][name] for name in ("test", "val")},
        admit=admitting(ledger),
        overlaps=place.overlaps,
        again=again,
    )
    outcome = outcome_of(verdict, None)
    replicated = verdict.replicated.mean if verdict.replicated else float("nan")
    score = verdict.scores["test"].composite if verdict.status == "ok" else float("nan")
    return HonestRow(
        honest.name,
        honest.does,
        outcome.status,
        bool(outcome.flags),
        outcome.flags,
        score,
        replicated,
        time.monotonic() - began,
        outcome.note,
    )


def _weak(attack: Attack, place: Field, level: str) -> Outcome:
    submission = _written(attack, place, "weak")
    verifier = WEAKNESSES[attack.weakness](
        place.ground.package,
        level,
        patience=_patience(attack),
        chunk=CHUNK,
        ground=place.ground,
        attack=attack,
    )
    return verifier.run(submission, place.beds[attack.game])


def _sealed(attack: Attack, place: Field, level: str) -> Outcome:
    """As a session's submission is verified, with the ledger where the attack is about it."""
    submission = _written(attack, place, "sealed")
    if attack.weakness in records.ELSEWHERE:
        return records.ELSEWHERE[attack.weakness](submission)
    verifier = Watched(place.ground.package, level, TIGHT, patience=_patience(attack), chunk=CHUNK)
    beds = place.beds[attack.game]
    ledger = place.session / attack.name
    if attack.provenance:
        _ledgered(_made(attack, place), ledger)

    def admit(copied: Any) -> str:  # noqa: ANN401 - a Copied
        if attack.meanwhile:
            attack.meanwhile(submission)
        return admitting(ledger)(copied) if attack.provenance else ""

    pong = attack.game == "pong"
    verdict = verifier.verify(
        submission,
        {name: bed for name, bed in beds.items() if name != "public"},
        admit=admit,
        overlaps=place.overlaps if pong else None,
        again=Retraining(place.data, 60.0) if attack.again else None,
    )
    return outcome_of(verdict, verifier.seen.get("test"))


def _written(attack: Attack, place: Field, who: str) -> Path:
    folder = attack.write(place.ground.folder / f"{attack.name}-{who}", place.ground)
    if attack.weights:
        make_weights(attack.weights, folder, place.beds["pong"])
    return folder


def _made(attack: Attack, place: Field) -> Path:
    """What a run of the session really made: the same code, or the same weights, never both."""
    folder = place.ground.folder / f"{attack.name}-made"
    replace(attack, train=files.PLAIN, weights="").write(folder, place.ground)
    make_weights("ledgered", folder, place.beds["pong"])
    return folder


def _ledgered(submission: Path, session: Path) -> None:
    """A ledger in which one run made this submission."""
    import json

    session.mkdir(parents=True)
    copied = copy_submission(submission, session / "copy")
    with Ledger(session / "ledger.jsonl") as ledger:
        ledger.append(
            "experiment",
            experiment="001",
            status="ok",
            code_hash=copied.hashes["train.py"],
            config=json.loads((copied.folder / "config.json").read_text()),
            weights_hash=copied.hashes.get("weights.safetensors", ""),
        )


def _patience(attack: Attack) -> Patience:
    hurried = attack.first < 60
    return Patience(attack.first, 3.0 if hurried else 60.0, 120.0)


def _clean(ground: Ground) -> None:
    """Away with what an attack left, so that the next one starts anew."""
    ground.marker.unlink(missing_ok=True)
    for pid in processes.daemons(ground):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(ground.folder / "package-of-the-weakened", ignore_errors=True)
    for path in ground.package.rglob(f"{TOKEN}.py"):
        path.unlink()


@contextlib.contextmanager
def listener() -> Generator[int]:
    """A server on this machine that takes any connection; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            with contextlib.suppress(OSError):
                while True:
                    server.accept()[0].close()

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
    thread.join()
