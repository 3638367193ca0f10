"""Hand a store's episodes out: envelopes, Parquet, video, or a packed store."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from cosmolabe.cli._verb import Answer, Verb, progress


@dataclass(frozen=True, kw_only=True)
class Export(Verb):
    """Hand a store's episodes out: envelopes, Parquet, video, or a packed store.

    `envelopes` are JSON lines with a manifest; `parquet` is one file a split, a row a frame;
    `video` is an mp4 an episode with its actions beside it as JSON; `packed` is a store that needs
    no engine of ours.
    """

    store: Positional[Path]
    """Folder of the store."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder to write."""
    form: Annotated[Literal["envelopes", "parquet", "video", "packed"], arg(name="as")] = (
        "envelopes"
    )
    """Which form."""
    split: str | None = None
    """One split only (not for packed)."""
    limit: int | None = None
    """At most so many episodes, of each split for Parquet (not for packed)."""
    size: int = 224
    """Height of a video in pixels."""
    frames: int | None = None
    """Frames of a video, at most."""

    def run(self) -> Answer:
        """Write, and say how much."""
        from cosmolabe.data.store import open_store  # lazily

        store = open_store(self.store)
        if self.out.is_dir() and any(self.out.iterdir()):
            raise ValueError(f"{self.out} is not empty; choose a new folder")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"limit counts episodes, 1 or more; got {self.limit}")
        forms: dict[str, Callable[[Any], int]] = {
            "envelopes": self._envelopes,
            "parquet": self._parquet,
            "video": self._video,
            "packed": self._packed,
        }
        frames = forms[self.form](store)
        data = {"folder": self.out, "as": self.form, "frames": frames}
        return Answer(data, f"{self.out}: {frames} frames of {store.game} as {self.form}")

    def _envelopes(self, store: Any) -> int:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.envelopes import export_envelopes

        return export_envelopes(store, self.out, self.split, self.limit)

    def _parquet(self, store: Any) -> int:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.parquet import export_parquet

        return export_parquet(store, self.out, self.split, self.limit)

    def _video(self, store: Any) -> int:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.replay import ReplayStore
        from cosmolabe.data.video import export_video

        if not isinstance(store, ReplayStore):
            raise ValueError(f"{self.store} holds imported episodes; we cannot draw that game")
        numbers = range(len(store)) if self.split is None else store.split(self.split)
        numbers, count = numbers[: self.limit], 0
        with progress("drawing") as tell:
            for done, number in enumerate(numbers):
                tell(done, len(numbers))
                path = self.out / f"{store.game}-{int(number):06d}.mp4"
                made = export_video(store, int(number), path, size=self.size, frames=self.frames)
                count += made["frames"]
        return count

    def _packed(self, store: Any) -> int:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.pack import pack_store

        if self.split is not None or self.limit is not None:
            raise ValueError("a packed store holds all episodes; leave out --split and --limit")
        return int(pack_store(store, self.out).lengths.sum())


VERB = Export
