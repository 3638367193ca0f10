"""Let players play a game and keep every episode in a store."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from tyro.conf import Positional, arg

from cosmolabe.cli._verb import Answer, Verb, progress


@dataclass(frozen=True, kw_only=True)
class Collect(Verb):
    """Let players play a game and keep every episode in a store."""

    game: Positional[str]
    """Name of the game; `cosmolabe games` lists them."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of the store; a half-filled one is filled up."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 256
    """Episodes in all, 10 : 3 : 3 for train, val and test unless `--split` names one."""
    split: str | None = None
    """Put all episodes into one split."""
    players: tuple[str, ...] = ("heuristic", "random")
    """Who plays, in equal shares."""
    salt: str = "public"
    """Another salt makes other episodes."""
    workers: int = 1
    """Processes; the bytes are the same for any number."""
    max_ticks: int | None = None
    """Longest episode; the game's own limit where none is given."""
    level: int = 1
    """Level the episodes start in."""

    stopped: ClassVar[str] = "what was played is kept; the same command goes on where it stopped"

    def run(self) -> Answer:
        """Play, showing how far it has come."""
        from cosmolabe.data.collect import collect

        with progress(f"playing {self.game}") as tell:
            store = collect(
                self.game,
                self.out,
                self.episodes,
                split=self.split,
                players=self.players,
                salt=self.salt,
                workers=self.workers,
                progress=tell,
                max_ticks=self.max_ticks,
                level=self.level,
            )
        facts = facts_of(store)
        return Answer({"store": self.out, **facts}, in_words(self.out, facts))


def facts_of(store) -> dict:  # noqa: ANN001 - a Store, loaded lazily
    """What a store holds, as plain values."""
    names = ("train", "val", "test", "scenario")
    return {
        "game": store.game,
        "episodes": len(store),
        "states": int(store.lengths.sum()),
        "splits": {name: len(store.split(name)) for name in names if len(store.split(name))},
        "fingerprint": store.fingerprint,
    }


def in_words(folder: Path, facts: dict) -> str:
    """One line for people."""
    splits = ", ".join(f"{count} {name}" for name, count in facts["splits"].items())
    return (
        f"{folder}: {facts['episodes']} episodes of {facts['game']} ({splits}), "
        f"{facts['states']:,} states, fingerprint {facts['fingerprint']}"
    )


VERB = Collect
