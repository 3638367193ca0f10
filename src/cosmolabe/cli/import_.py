"""Bring frame envelopes (JSON lines) of any game in as a store."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Verb
from cosmolabe.cli.collect import facts_of, in_words


@dataclass(frozen=True, kw_only=True)
class Import(Verb):
    """Bring frame envelopes (JSON lines) of any game in as a store."""

    source: Positional[Path]
    """A .jsonl file, or a folder of them; docs/schema/envelope.json says what a line holds."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of the new store."""
    manifest: Path | None = None
    """The game's manifest; manifest.json beside the envelopes where none is given."""
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
        from cosmolabe.data.envelopes import import_envelopes  # lazily

        store = import_envelopes(
            self.source,
            self.out,
            manifest=self.manifest,
            split=self.split,
            player=self.player,
            quantised=self.quantised,
            skip_bad=self.skip_bad,
        )
        facts = facts_of(store)
        record = getattr(store, "record", {})
        left_out = record.get("skipped_episodes", [])
        text = in_words(self.out, facts)
        if left_out:
            text += f"\nleft out {len(left_out)} episode(s) with {record['bad_rows']} bad row(s)"
        data = {"store": self.out, **facts, "left_out": left_out}
        return Answer(data | {"complaints": record.get("complaints", [])}, text)


VERB = Import
