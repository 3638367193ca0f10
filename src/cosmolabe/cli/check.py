"""Check a game, a frame envelope or a store; exit code 1 where something is wrong."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, subcommand

from cosmolabe.cli._verb import Answer, Verb


@dataclass(frozen=True, kw_only=True)
class CheckGame(Verb):
    """Does a game keep its promises? Any game, ours or an outside one, by name."""

    game: Positional[str]
    """Name of the game."""

    def run(self) -> Answer:
        """Run every check of `data/conformance`."""
        from cosmolabe.data.conformance import check_game

        return _answer({"game": self.game}, check_game(self.game))


@dataclass(frozen=True, kw_only=True)
class CheckEnvelope(Verb):
    """Does a file of frame envelopes (JSON lines) fit its manifest?"""

    path: Positional[Path]
    """Folder or file of envelopes, as `cosmolabe import` takes it."""

    def run(self) -> Answer:
        """Read every frame."""
        from cosmolabe.data.conformance import check_envelopes

        return _answer({"path": self.path}, check_envelopes(self.path))


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


VERB = (
    Annotated[CheckGame, subcommand("game")]
    | Annotated[CheckEnvelope, subcommand("envelope")]
    | Annotated[CheckStore, subcommand("store")]
)
