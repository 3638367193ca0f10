"""Check a game, a frame envelope, a store or scenarios; exit code 1 where something is wrong."""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, subcommand

from cosmolabe.cli._verb import Answer, Table, Verb, progress


@dataclass(frozen=True, kw_only=True)
class CheckGame(Verb):
    """Does a game keep its promises? Any game, ours or an outside one, by name."""

    game: Positional[str]
    """Name of the game."""

    def run(self) -> Answer:
        """Run every check of `data/conformance`."""
        from cosmolabe.core import parts  # lazily, as all below
        from cosmolabe.data.conformance import check_game

        checks = check_game(parts.load("games", self.game))
        failed = [check.name for check in checks if not check.ok]
        data = {"game": self.game, "failed": failed, "checks": [asdict(c) for c in checks]}
        rows = [("ok" if check.ok else "FAILED", check.name, check.detail) for check in checks]
        summary = f"{self.game}: {len(checks) - len(failed)} of {len(checks)} promises kept"
        return Answer(data, [Table(("", "promise", "seen"), rows), summary], ok=not failed)


@dataclass(frozen=True, kw_only=True)
class CheckEnvelope(Verb):
    """Do frame envelopes (JSON lines) fit their manifest? What `import` would say, kept nowhere."""

    path: Positional[Path]
    """A .jsonl file, or a folder of them."""
    manifest: Path | None = None
    """The manifest; manifest.json beside the envelopes where none is given."""

    def run(self) -> Answer:
        """Import into a folder that is thrown away."""
        from cosmolabe.data.envelopes import import_envelopes

        with tempfile.TemporaryDirectory() as scratch:
            try:
                store = import_envelopes(self.path, Path(scratch) / "store", manifest=self.manifest)
            except ValueError as error:
                return Answer({"path": self.path, "error": str(error)}, str(error), ok=False)
            episodes, frames = len(store), int(store.lengths.sum())
        text = f"{self.path}: {episodes} episodes, {frames} frames, all sound"
        return Answer({"path": self.path, "episodes": episodes, "frames": frames}, text)


@dataclass(frozen=True, kw_only=True)
class CheckStore(Verb):
    """Is every byte and every state of a store what it was?"""

    store: Positional[Path]
    """Folder of the store."""

    def run(self) -> Answer:
        """Hash every file, play every episode again."""
        from cosmolabe.data.store import open_store

        store = open_store(self.store)
        try:
            episodes = store.verify()
        except ValueError as error:
            return Answer({"store": self.store, "error": str(error)}, str(error), ok=False)
        text = f"{self.store}: {episodes} episodes, every byte and state as recorded"
        return Answer({"store": self.store, "episodes": episodes}, text)


@dataclass(frozen=True, kw_only=True)
class CheckScenarios(Verb):
    """Do scenarios test what they say? Each rule is tried on the truth and on planted changes."""

    game: Positional[str] = ""
    """Name of the game; all games with scenarios where none is given."""
    seeds: int = 200
    """Worlds each scenario starts from."""

    def run(self) -> Answer:
        """One row per predicate."""
        from cosmolabe.bench.scenario_check import check_scenarios
        from cosmolabe.core import parts

        if self.game:
            parts.load("games", self.game)  # an unknown game is refused with the names there are
        games = [self.game] if self.game else list(parts.names("scenarios"))
        checks = []
        with progress("checking") as tell:
            for done, game in enumerate(games):
                tell(done, len(games))
                checks += check_scenarios(game, self.seeds)
        failed = [check for check in checks if not check.ok]
        rows = [asdict(check) | {"why": check.why} for check in checks]
        shown = [
            (
                check.game, check.scenario, check.predicate, check.true_pass, check.planted_fail,
                check.survives_pass, check.reacts, check.why,
            )
            for check in checks
        ]  # fmt: skip
        columns = (
            "game", "scenario", "predicate", "true", "planted fails", "survives", "reacts",
            "what is wrong",
        )  # fmt: skip
        summary = f"{len(checks) - len(failed)} of {len(checks)} predicates test what they say"
        data = {"seeds": self.seeds, "failed": len(failed), "rows": rows}
        return Answer(data, [Table(columns, shown), summary], ok=bool(checks) and not failed)


VERB = (
    Annotated[CheckGame, subcommand("game")]
    | Annotated[CheckEnvelope, subcommand("envelope")]
    | Annotated[CheckStore, subcommand("store")]
    | Annotated[CheckScenarios, subcommand("scenarios")]
)
