"""Let players play a game and keep every episode in a store."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Engine, Verb, progress


@dataclass(frozen=True, kw_only=True)
class Collect(Verb):
    """Let players play a game and keep every episode in a store."""

    game: Positional[str]
    """Name of the game; `cosmolabe games` lists them. FAMILY/NAME is a game nobody here wrote, such
    as atari/Pong (docs/outside-games.md)."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of the store; a half-filled one is filled up."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 256
    """Episodes in all, 10 : 3 : 3 for train, val and test unless `--split` names one."""
    split: str | None = None
    """Put all episodes into one split; `scenario` follows the game's scenarios, nobody plays."""
    players: tuple[str, ...] = ()
    """Who plays, in equal shares: heuristic, random, mixed, rl (trained by reinforcement); the
    first two where none is named, in outside games random and sticky."""
    salt: str = "public"
    """Another salt makes other episodes."""
    workers: int = 1
    """Processes; the bytes are the same for any number."""
    engine: Engine = "local"
    """Who plays the shards: processes here, or a Ray cluster (docs/scale.md; extra `ray`)."""
    max_ticks: int | None = None
    """Longest episode; the game's own limit where none is given, 600 in outside games."""
    level: int = 1
    """Level the episodes start in."""
    frameskip: int = 1
    """Outside games: how many of their own frames make one tick."""
    frames: FlagCreatePairsOff[bool] = False
    """Outside games: keep a video of every episode beside the store."""

    stopped: ClassVar[str] = "what was played is kept; the same command goes on where it stopped"

    def run(self) -> Answer:
        """Play, showing how far it has come."""
        store = self._outside() if "/" in self.game else self._ours()
        facts = facts_of(store)
        return Answer({"store": self.out, **facts}, in_words(self.out, facts))

    def _ours(self) -> Any:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.bench.scenario_episodes import ScenarioEpisodes
        from cosmolabe.data.collect import collect

        if self.frameskip != 1 or self.frames:
            raise ValueError(
                "--frameskip and --frames are for outside games; frames of ours are drawn when "
                "asked for, by `cosmolabe export --as video`"
            )
        own = self.players or self.level != 1 or self.max_ticks is not None
        if self.split == "scenario" and own:
            raise ValueError(
                "nobody plays scenarios, and each has a start and a length of its own; leave out "
                "--players, --level and --max-ticks"
            )
        with progress(f"playing {self.game}") as tell:
            return collect(
                self.game,
                self.out,
                self.episodes,
                split=self.split,
                players=self.players or ("heuristic", "random"),
                salt=self.salt,
                workers=self.workers,
                progress=tell,
                max_ticks=self.max_ticks,
                level=self.level,
                starts=ScenarioEpisodes(self.game) if self.split == "scenario" else None,
                engine=self.engine,
            )

    def _outside(self) -> Any:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.outside import MAX_TICKS, outside_game
        from cosmolabe.data.outside.collecting import collect_outside
        from cosmolabe.data.outside.players import DEFAULT

        if self.workers != 1 or self.level != 1 or self.engine != "local":
            raise ValueError(
                "outside games are played by one process from their own beginning; leave out "
                "--workers, --engine and --level"
            )
        if self.split == "scenario":
            raise ValueError("outside games have no scenarios; choose the split train, val or test")
        ticks = MAX_TICKS if self.max_ticks is None else self.max_ticks
        game = outside_game(self.game, self.frameskip, ticks)
        with progress(f"playing {self.game}") as tell:
            return collect_outside(
                game,
                self.out,
                self.episodes,
                split=self.split,
                players=self.players or DEFAULT,
                salt=self.salt,
                frames=self.frames,
                progress=tell,
            )


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
