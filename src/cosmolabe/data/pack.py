"""Writes packed stores, episode by episode; a shard is there whole or not at all."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from cosmolabe.core.episode import Episode
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.record import versions, write_json
from cosmolabe.data.arrays import write_arrays
from cosmolabe.data.folder import INDEX, MANIFEST, RECORD, SCHEMA, SPLITS
from cosmolabe.data.packing import CHUNK, columns_of, pack_chunk, quantise, to_table
from cosmolabe.data.store import Store, open_store
from cosmolabe.engine.game import Appearance

SHARD_SIZE = 256  # episodes


@dataclass
class _Open:
    """A shard being filled."""

    first: int = 0
    lengths: list[int] = field(default_factory=list)
    truncated: list[bool] = field(default_factory=list)
    hashes: list[int] = field(default_factory=list)
    chunks: list[bytes] = field(default_factory=list)
    lows: list[np.ndarray] = field(default_factory=list)
    steps: list[np.ndarray] = field(default_factory=list)
    meta: dict[str, list[Any]] = field(
        default_factory=lambda: {"names": [], "players": [], "appearances": []}
    )
    max_error: float = 0.0


class PackedWriter:
    """Takes episodes in any order of splits; `finish` makes them a store."""

    def __init__(self, folder: Path, manifest: Manifest, quantised: bool = False) -> None:
        if folder.exists() and any(folder.iterdir()):
            raise ValueError(f"{folder} is not empty; choose a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.manifest, self.quantised = folder, manifest, quantised
        self.columns = columns_of(manifest)
        self._open: dict[str, _Open] = {}
        self._rows: list[dict[str, Any]] = []

    def add(
        self,
        episode: Episode,
        split: str = "train",
        name: str = "",
        player: str = "import",
        appearance: Appearance | None = None,
    ) -> None:
        """Pack one episode."""
        if split not in SPLITS:
            raise ValueError(f"no split '{split}'; have {list(SPLITS)}")
        if not np.isfinite(episode.states).all():
            raise ValueError(
                f"episode '{name}': its states, or the motion from one to the "
                f"next, are not finite in 32 bits; places are shares of the world, 0 to 1 mostly"
            )
        shard = self._open.setdefault(split, _Open())
        table = to_table(episode, self.columns)
        packed = table
        if self.quantised:
            packed, low, step = quantise(table)
            shard.lows.append(low)
            shard.steps.append(step)
            back = (low + step * packed).astype(np.float32)
            shard.max_error = max(shard.max_error, float(np.abs(back - table).max()))
            table = back
        shard.chunks += [pack_chunk(packed[at : at + CHUNK]) for at in range(0, len(packed), CHUNK)]
        shard.hashes.append(xxhash.xxh3_64_intdigest(table.tobytes()))
        shard.lengths.append(len(episode))
        shard.truncated.append(episode.truncated)
        shard.meta["names"].append(name)
        shard.meta["players"].append(player)
        shard.meta["appearances"].append(asdict(appearance) if appearance else None)
        if len(shard.lengths) == SHARD_SIZE:
            self._flush(split)

    def finish(self, **notes: Any) -> Store:  # noqa: ANN401 - whatever the import wants recorded
        """Write what is left, the index last; `notes` go into the record."""
        for split in list(self._open):
            if self._open[split].lengths:
                self._flush(split)
        rows = sorted(self._rows, key=lambda row: (SPLITS.index(row["split"]), row["first"]))
        if not rows:
            raise ValueError(f"no episode was left to write to {self.folder}")
        write_json(self.folder / MANIFEST, self.manifest)
        record = {
            "schema": SCHEMA,
            "kind": "packed",
            "game": self.manifest.game,
            "version": self.manifest.version,
            "quantised": self.quantised,
            "num_episodes": sum(len(row["lengths"]) for row in rows),
            **notes,
            "versions": versions(),
        }
        write_json(self.folder / RECORD, record)
        write_json(self.folder / INDEX, {"schema": SCHEMA, "shards": rows})
        return open_store(self.folder)

    def _flush(self, split: str) -> None:
        shard = self._open[split]
        self._open[split] = _Open(first=shard.first + len(shard.lengths))
        sizes = [len(chunk) for chunk in shard.chunks]
        arrays = {
            "lengths": np.array(shard.lengths, np.int64),
            "truncated": np.array(shard.truncated, np.uint8),
            "hashes": np.array(shard.hashes, np.uint64),
            "offsets": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            "chunks": np.frombuffer(b"".join(shard.chunks), np.uint8),
        }
        if self.quantised:
            arrays |= {"low": np.array(shard.lows), "step": np.array(shard.steps)}
        path = self.folder / f"{split}-{shard.first:07d}.shard"
        meta = {**shard.meta, "width": self.columns.width, "game": self.manifest.game}
        digest = write_arrays(path, meta, arrays, {"chunks": "raw"})
        self._rows.append(
            {
                "file": path.name,
                "split": split,
                "first": shard.first,
                "bytes": path.stat().st_size,
                "xxh3": digest,
                "lengths": shard.lengths,
                "max_error": shard.max_error,
            }
        )


def pack_store(source: Store, folder: Path, quantised: bool = False) -> Store:
    """Any store as a packed one, for readers without our engine."""
    writer = PackedWriter(folder, source.manifest, quantised)
    for split in SPLITS:
        for number in source.split(split):
            writer.add(
                source.episode(number),
                split,
                str(number),
                source.player(number),
                source.appearance(number),
            )
    return writer.finish(source=source.fingerprint)
