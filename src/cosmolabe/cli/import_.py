"""Bring frame envelopes (JSON lines), Parquet or LeRobot data of any game in as a store."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Verb
from cosmolabe.cli.collect import facts_of, in_words


@dataclass(frozen=True, kw_only=True)
class Import(Verb):
    """Bring frame envelopes (JSON lines), Parquet or LeRobot data of any game in as a store."""

    source: Positional[Path]
    """A .jsonl file or a folder of them (docs/data/envelope.md), a folder of Parquet files as
    `export --as parquet` writes it, or a LeRobotDataset v3.0 folder (docs/data/exports.md)."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of the new store."""
    manifest: Path | None = None
    """The game's manifest; manifest.json beside the envelopes where none is given."""
    actions: Literal["follow", "lead"] | None = None
    """LeRobot data: a row's action was chosen after seeing its state, or led to it."""
    split: str | None = None
    """Put all episodes into one split; else 10 : 3 : 3 by a hash of their names."""
    player: str = "import"
    """Who played, for the record."""
    quantised: FlagCreatePairsOff[bool] = False
    """Keep numbers as 16-bit steps: half the size, not lossless."""
    skip_bad: FlagCreatePairsOff[bool] = False
    """Leave out episodes with a bad row, and count them; else nothing is imported."""

    def run(self) -> Answer:
        """Check every row, then pack."""
        from cosmolabe.data.lerobot.info import is_lerobot  # lazily

        lerobot = is_lerobot(self.source)
        if self.actions and not lerobot:
            raise ValueError("--actions is for LeRobot data; all others have T - 1 actions")
        if lerobot:
            store = self._from_lerobot()
        elif self.source.is_dir() and any(self.source.glob("*.parquet")):
            store = self._from_parquet()
        else:
            store = self._from_envelopes()
        facts = facts_of(store)
        record = getattr(store, "record", {})
        left_out = record.get("skipped_episodes", [])
        text = in_words(self.out, facts)
        if left_out:
            text += f"\nleft out {len(left_out)} episode(s) with {record['bad_rows']} bad row(s)"
        data = {"store": self.out, **facts, "left_out": left_out}
        return Answer(data | {"complaints": record.get("complaints", [])}, text)

    def _from_lerobot(self) -> Any:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.lerobot.reading import import_lerobot

        if self.skip_bad:
            raise ValueError("LeRobot data is whole or refused; leave out --skip-bad")
        return import_lerobot(
            self.source,
            self.out,
            manifest=self.manifest,
            actions=self.actions,
            split=self.split,
            player=self.player,
            quantised=self.quantised,
        )

    def _from_parquet(self) -> Any:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.parquet import import_parquet

        if self.manifest or self.split or self.skip_bad:
            raise ValueError(
                "Parquet brings its manifest and its splits, and is whole or refused; leave out "
                "--manifest, --split and --skip-bad"
            )
        return import_parquet(self.source, self.out, self.quantised)

    def _from_envelopes(self) -> Any:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.envelopes import import_envelopes

        return import_envelopes(
            self.source,
            self.out,
            manifest=self.manifest,
            split=self.split,
            player=self.player,
            quantised=self.quantised,
            skip_bad=self.skip_bad,
        )


VERB = Import
