"""Stores as Parquet that `datasets` and any dataframe library read: one row a frame.

Files are named after their split (`train.parquet`, `val.parquet`, `test.parquet`), which is how
`datasets.load_dataset("parquet", data_dir=...)` finds splits. Columns: episode, t, states (slot,
state) and actions, globals as fixed-size lists of float32, terminated, truncated, player. The
manifest stands in the file's metadata and beside it as manifest.json.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cosmolabe.core.episode import Episode
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.record import plain, write_json, written_whole
from cosmolabe.data.arrays import refuse_link
from cosmolabe.data.exporting import sizes_of
from cosmolabe.data.folder import MANIFEST, SPLITS
from cosmolabe.data.manifests import MANIFEST_TYPE, read_manifest
from cosmolabe.data.pack import PackedWriter
from cosmolabe.data.store import Store

SCHEMA = 1
KEY = b"cosmolabe"


def export_parquet(
    store: Store, folder: Path | str, split: str | None = None, limit: int | None = None
) -> int:
    """One Parquet file a split, a row group an episode; gives the frames written."""
    sizes_of(store, split, limit)  # an unknown or empty split leaves no folder
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name in SPLITS if split is None else (split,):
        numbers = store.split(name)[:limit]
        if not len(numbers):
            continue
        path = folder / f"{name}.parquet"
        schema = schema_of(store.manifest)
        with (
            written_whole(path) as part,
            pq.ParquetWriter(part, schema, compression="zstd") as writer,
        ):
            for number in numbers:
                episode = store.episode(int(number))
                writer.write_table(_to_table(store, int(number), episode))
                count += len(episode)
    write_json(folder / MANIFEST, store.manifest)
    return count


def import_parquet(source: Path | str, folder: Path | str, quantised: bool = False) -> Store:
    """A packed store of what `export_parquet`, or anybody with the same columns, wrote."""
    source = Path(source)
    files = [source / f"{name}.parquet" for name in SPLITS]
    files = [path for path in files if path.exists() or path.is_symlink()]
    if not files:
        raise ValueError(f"{source} has none of {[f'{name}.parquet' for name in SPLITS]}")
    manifest = read_manifest(source / MANIFEST)
    writer = PackedWriter(Path(folder), manifest, quantised)
    for path in files:
        for name, player, episode in _episodes(path, manifest):
            writer.add(episode, path.stem, name, player)
    return writer.finish(source=str(source.name))


def schema_of(manifest: Manifest) -> pa.Schema:
    """The columns, with the manifest in the metadata; lists of nothing are left out."""
    profile, real = manifest.profile, pa.float32()
    state = pa.list_(real, profile.num_state)
    lists = {"actions": profile.action_fields, "globals": profile.global_fields}
    meta = {"schema": SCHEMA, "manifest": plain(manifest)}
    return pa.schema(
        [
            ("episode", pa.string()),
            ("t", pa.int32()),
            ("states", pa.list_(state, manifest.num_slots)),
            *((name, pa.list_(real, len(names))) for name, names in lists.items() if names),
            ("terminated", pa.bool_()),
            ("truncated", pa.bool_()),
            ("player", pa.string()),
        ],
        metadata={KEY: json.dumps(meta).encode()},
    )


def _to_table(store: Store, number: int, episode: Episode) -> pa.Table:
    schema, length = schema_of(store.manifest), len(episode)
    truncated = np.zeros(length, bool)
    truncated[-1] = episode.truncated
    columns = {
        "episode": pa.array([str(number)] * length, pa.string()),
        "t": pa.array(np.arange(length, dtype=np.int32)),
        "terminated": pa.array(episode.terminal),
        "truncated": pa.array(truncated),
        "player": pa.array([store.player(number)] * length, pa.string()),
    }
    for name in set(schema.names) - set(columns):
        columns[name] = _nested(getattr(episode, name))
    return pa.Table.from_arrays(
        [columns[field.name].cast(field.type) for field in schema], schema=schema
    )


def _nested(values: np.ndarray) -> pa.Array:
    """(row, ...) as fixed-size lists of fixed-size lists."""
    array = pa.array(np.ascontiguousarray(values).reshape(-1))
    for size in reversed(values.shape[1:]):
        array = pa.FixedSizeListArray.from_arrays(array, size)
    return array


def _episodes(path: Path, manifest: Manifest) -> Iterator[tuple[str, str, Episode]]:
    refuse_link(path)
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} is no sound Parquet file ({error}); copy it again") from None
    with file:
        wanted = schema_of(manifest)
        differs = [f.name for f in wanted if not _same(file.schema_arrow, f)]
        if differs:
            raise ValueError(
                f"{path}: columns {differs} are missing or of another type; the manifest wants "
                f"{[str(wanted.field(name)) for name in differs]}"
            )
        _check_manifest(path, file, manifest)
        yield from _gather(path, file, manifest)


def _same(schema: pa.Schema, field: pa.Field) -> bool:
    return field.name in schema.names and schema.field(field.name).type.equals(field.type)


def _check_manifest(path: Path, file: pq.ParquetFile, manifest: Manifest) -> None:
    meta = (file.schema_arrow.metadata or {}).get(KEY)
    if meta is None:
        return  # written by somebody else: the manifest beside it speaks
    if MANIFEST_TYPE.validate_python(json.loads(meta)["manifest"]) != manifest:
        raise ValueError(f"{path} was written with another manifest than {MANIFEST} beside it")


def _gather(
    path: Path, file: pq.ParquetFile, manifest: Manifest
) -> Iterator[tuple[str, str, Episode]]:
    seen: set[str] = set()
    name, pieces = None, []
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        names = np.array(table["episode"].to_pylist(), object)
        for rows in np.split(np.arange(len(names)), np.flatnonzero(names[1:] != names[:-1]) + 1):
            if not len(rows):
                continue
            if names[rows[0]] != name:
                if pieces:
                    yield _finish(path, str(name), pieces, manifest)
                name, pieces = names[rows[0]], []
                if name in seen:
                    raise ValueError(f"{path}: episode '{name}' comes back; keep its rows together")
                seen.add(name)
            pieces.append(table.slice(rows[0], len(rows)))
    if pieces:
        yield _finish(path, str(name), pieces, manifest)


def _finish(
    path: Path, name: str, pieces: list[pa.Table], manifest: Manifest
) -> tuple[str, str, Episode]:
    table = pa.concat_tables(pieces).combine_chunks()
    profile, length = manifest.profile, len(table)
    where = f"{path}, episode '{name}'"
    if any(table[column].null_count for column in table.column_names):
        raise ValueError(f"{where}: an empty cell; every column needs a value in every row")
    if table["t"].to_numpy().tolist() != list(range(length)) or length < 2:
        raise ValueError(f"{where}: t must be 0, 1, 2, ... and two rows or more")
    shapes = {
        "states": (length, manifest.num_slots, profile.num_state),
        "actions": (length, len(profile.action_fields)),
        "globals": (length, len(profile.global_fields)),
    }
    arrays = {
        name: _flat(table, name).reshape(shape)
        if name in table.column_names
        else np.zeros(shape, np.float32)
        for name, shape in shapes.items()
    }
    for column, values in arrays.items():
        if not np.isfinite(values).all():
            t = int(np.argwhere(~np.isfinite(values))[0][0])
            raise ValueError(f"{where}, t {t}, {column}: a number that is not finite")
    if arrays["actions"][-1].any():
        raise ValueError(
            f"{where}: {length} states and {length} actions; {length} states have {length - 1} "
            f"actions, one from each to the next, so the last row's must be zero"
        )
    episode = Episode(
        registry=manifest.registry(),
        **arrays,
        terminal=table["terminated"].to_numpy(),
        truncated=bool(table["truncated"][-1].as_py()),
    )
    return name, str(table["player"][0].as_py()), episode


def _flat(table: pa.Table, column: str) -> np.ndarray:
    values: Any = table[column].combine_chunks()
    while isinstance(values.type, pa.FixedSizeListType):
        values = values.flatten()
    return values.to_numpy(zero_copy_only=False).astype(np.float32)
