"""Hand a store's episodes out as frame envelopes or as a packed store."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from cosmolabe.cli._verb import Answer, Verb


@dataclass(frozen=True, kw_only=True)
class Export(Verb):
    """Hand a store's episodes out as frame envelopes or as a packed store."""

    store: Positional[Path]
    """Folder of the store."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder to write."""
    form: Annotated[Literal["envelopes", "packed"], arg(name="as")] = "envelopes"
    """`envelopes`: JSON lines with a manifest; `packed`: a store that needs no engine of ours."""
    split: str | None = None
    """One split only (envelopes)."""
    limit: int | None = None
    """At most so many episodes (envelopes)."""

    def run(self) -> Answer:
        """Write, and say how much."""
        from cosmolabe.data.store import open_store  # lazily, as all below

        store = open_store(self.store)
        if self.out.is_dir() and any(self.out.iterdir()):
            raise ValueError(f"{self.out} is not empty; choose a new folder")
        if self.form == "packed":
            from cosmolabe.data.pack import pack_store

            if self.split or self.limit:
                raise ValueError("a packed store holds all episodes; leave out --split and --limit")
            frames = int(pack_store(store, self.out).lengths.sum())
        else:
            from cosmolabe.data.envelopes import export_envelopes

            frames = export_envelopes(store, self.out, self.split, self.limit)
        data = {"folder": self.out, "as": self.form, "frames": frames}
        return Answer(data, f"{self.out}: {frames} frames of {store.game} as {self.form}")


VERB = Export
