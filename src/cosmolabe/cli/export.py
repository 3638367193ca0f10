"""Hand a store's episodes out: envelopes, tables, video, or other people's formats."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Verb, progress

Form = Literal["envelopes", "parquet", "video", "packed", "datasets", "zarr", "minari", "lerobot"]


@dataclass(frozen=True, kw_only=True)
class Export(Verb):
    """Hand a store's episodes out: envelopes, tables, video, or other people's formats.

    `envelopes` are JSON lines with a manifest; `parquet` is one file a split, a row a frame;
    `video` is an mp4 an episode with its actions beside it as JSON; `packed` is a store that needs
    no engine of ours. `datasets` (Hugging Face), `zarr` (v3) and `minari` need the extra of their
    name; `lerobot` is a LeRobotDataset v3.0 folder.
    """

    store: Positional[Path]
    """Folder of the store."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder to write."""
    form: Annotated[Form, arg(name="as")] = "envelopes"
    """Which form."""
    split: str | None = None
    """One split only (not for packed)."""
    limit: int | None = None
    """At most so many episodes, of each split but for envelopes and video (not for packed)."""
    pictures: FlagCreatePairsOff[bool] = False
    """Draw the frames too (lerobot; extra `video`)."""
    size: int = 224
    """Height of a video in pixels."""
    frames: int | None = None
    """Frames of a video, at most."""

    def run(self) -> Answer:
        """Write, and say how much."""
        from cosmolabe.data.store import open_store  # lazily

        store = open_store(self.store)
        if self.out.exists() and not self.out.is_dir():
            raise ValueError(f"{self.out} is a file; --out takes a folder")
        if self.out.is_dir() and any(self.out.iterdir()):
            raise ValueError(f"{self.out} is not empty; choose a new folder")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"limit counts episodes, 1 or more; got {self.limit}")
        forms: dict[str, Callable[[Any], int]] = {
            "envelopes": self._envelopes,
            "parquet": self._parquet,
            "video": self._video,
            "packed": self._packed,
            "datasets": self._datasets,
            "zarr": self._zarr,
            "minari": self._minari,
            "lerobot": self._lerobot,
        }
        if self.pictures and self.form != "lerobot":
            raise ValueError("--pictures is for lerobot; `--as video` draws one file an episode")
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

    def _datasets(self, store: Any) -> int:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.huggingface import export_datasets

        with progress("writing splits") as tell:
            return export_datasets(store, self.out, self.split, self.limit, tell)

    def _zarr(self, store: Any) -> int:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.zarr_export import export_zarr

        with progress("writing episodes") as tell:
            return export_zarr(store, self.out, self.split, self.limit, tell)

    def _minari(self, store: Any) -> int:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.minari_export import export_minari

        with progress("writing episodes") as tell:
            return export_minari(store, self.out, self.split, self.limit, tell)

    def _lerobot(self, store: Any) -> int:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.lerobot.writing import export_lerobot

        with progress("writing episodes") as tell:
            return export_lerobot(
                store,
                self.out,
                self.split,
                self.limit,
                pictures=self.pictures,
                size=self.size,
                progress=tell,
            )


VERB = Export
