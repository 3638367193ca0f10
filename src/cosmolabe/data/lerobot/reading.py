"""Reads a LeRobotDataset v3.0 folder, ours or a stranger's, into a packed store.

LeRobot has one action a row and no word on whether it was chosen after the row's state or led to
it. A folder of ours says; for another's the user says (`actions`), for a guess would shift every
action by a tick. Only where every episode ends in a zero action, and not all begin so, is it plain
that T states have T - 1 actions there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cosmolabe.core.episode import Episode
from cosmolabe.core.fields import ALIVE
from cosmolabe.core.manifest import Manifest
from cosmolabe.data.envelopes import split_of
from cosmolabe.data.exporting import (
    action_names,
    episode_of,
    global_names,
    state_names,
    whole_folder,
)
from cosmolabe.data.folder import SPLITS
from cosmolabe.data.lerobot import layout
from cosmolabe.data.lerobot.episodes import BATCH, Row, open_parquet, read_episodes
from cosmolabe.data.lerobot.info import Info, read_info, read_json
from cosmolabe.data.manifests import read_manifest
from cosmolabe.data.pack import PackedWriter
from cosmolabe.data.packing import columns_of
from cosmolabe.data.store import Store, open_store


@dataclass(frozen=True)
class Picks:
    """Which of a file's columns fill the manifest's, by place; -1 where the file has none."""

    states: np.ndarray
    globals: np.ndarray
    actions: np.ndarray


def import_lerobot(
    source: Path | str,
    folder: Path | str,
    *,
    manifest: Path | str | None = None,
    actions: str | None = None,
    split: str | None = None,
    player: str = "import",
    quantised: bool = False,
) -> Store:
    """A packed store of a LeRobotDataset v3.0 folder.

    `manifest` is the folder's own meta/manifest.json by default; its slots and fields are looked up
    by name (`ball.x`) in the names of `observation.state`. `actions` says what a row's action
    belongs to: `follow`, chosen after seeing the row's state, or `lead`, what led to it.
    """
    source, folder = Path(source), Path(folder)
    if actions is not None and actions not in layout.ACTIONS:
        raise ValueError(f"no kind of actions '{actions}'; have {list(layout.ACTIONS)}")
    if split is not None and split not in SPLITS:
        raise ValueError(f"no split '{split}'; have {list(SPLITS)}")
    info = read_info(source)
    named = _manifest_of(source, manifest)
    if named.fps != info.fps:
        raise ValueError(f"{info.path}, fps: {info.fps}, but the manifest says {named.fps:g}")
    picks = _picks(info, named)
    rows = read_episodes(source, info)
    declared = _declared(source)
    if actions and declared and actions != declared:
        raise ValueError(f"{source / layout.OURS} says that actions {declared}, not {actions}")
    kind = actions or declared
    if kind is None:
        kind = _plain_kind(source, info, rows, named, picks)
    with whole_folder(folder) as part:
        writer = PackedWriter(part, named, quantised)
        for number, (row, columns) in enumerate(_gather(source, info, rows, named, picks)):
            where = f"{source / row.file}, episode {number}"
            episode = _episode(columns, named, picks, kind, declared == layout.FOLLOW, where)
            chosen = split or _split_of(info, named.game, number)
            writer.add(episode, chosen, row.name, row.player or player)
        writer.finish(source=source.name, actions=kind)
    return open_store(folder)


def _manifest_of(source: Path, given: Path | str | None) -> Manifest:
    if given is not None:
        return read_manifest(Path(given))
    beside = [source / layout.MANIFEST, source / "manifest.json"]
    found = next((path for path in beside if path.exists() or path.is_symlink()), None)
    if found is None:
        raise ValueError(
            f"{source} has no {layout.MANIFEST}, and LeRobot does not say what is a slot; write a "
            f"manifest (docs/data/writers.md) and give it with --manifest"
        )
    return read_manifest(found)


def _declared(source: Path) -> str | None:
    """What the folder says of its actions, where we wrote it."""
    path = source / layout.OURS
    if not path.exists() and not path.is_symlink():
        return None
    kind = read_json(path).get("actions")
    if kind not in layout.ACTIONS:
        raise ValueError(f"{path}, actions: {kind!r}; have {list(layout.ACTIONS)}")
    return kind


def _picks(info: Info, manifest: Manifest) -> Picks:
    """Where each of the manifest's columns stands in the file, by name."""
    optional = {f".{name}" for name in (*manifest.fields, "alive")}
    states = _places(info, layout.STATE, state_names(manifest), tuple(optional))
    return Picks(
        states=states,
        globals=_places(info, layout.GLOBALS, global_names(manifest)),
        actions=_places(info, layout.ACTION, action_names(manifest)),
    )


def _places(
    info: Info, feature: str, wanted: tuple[str, ...], optional: tuple[str, ...] = ()
) -> np.ndarray:
    if not wanted:
        return np.empty(0, np.int64)
    what = info.features.get(feature)
    if what is None:
        raise ValueError(
            f"{info.path}, features: no '{feature}'; the manifest wants {list(wanted)[:8]}"
        )
    if what["dtype"] not in ("float32", "float64") or len(what["shape"]) != 1:
        raise ValueError(
            f"{info.path}, features, {feature}: {what['dtype']} of shape {what['shape']}; expected "
            f"one axis of float32"
        )
    names = _flat_names(what.get("names"))
    if len(names) != what["shape"][0] or len(set(names)) != len(names):
        raise ValueError(
            f"{info.path}, features, {feature}, names: {len(names)} for {what['shape'][0]} "
            f"columns; name each column, such as {list(wanted)[:3]}"
        )
    missing = [n for n in wanted if n not in names and not n.endswith(optional)]
    unknown = [name for name in names if name not in wanted]
    if missing or unknown:
        raise ValueError(
            f"{info.path}, features, {feature}, names: of the manifest's, {missing[:8]} are not "
            f"there; it has nothing called {unknown[:8]}; name the columns as the manifest does"
        )
    places = {name: place for place, name in enumerate(names)}
    return np.array([places.get(name, -1) for name in wanted], np.int64)


def _flat_names(names: Any) -> list[str]:  # noqa: ANN401 - any JSON
    """LeRobot writes a list, or lists by group ({"motors": [...]})."""
    if isinstance(names, dict):
        names = [name for group in names.values() if isinstance(group, list) for name in group]
    return [str(name) for name in names] if isinstance(names, list) else []


def _columns(info: Info, manifest: Manifest) -> dict[str, int]:
    """The columns read, with how many numbers each has in a row."""
    shapes = {
        layout.STATE: state_names(manifest),
        layout.GLOBALS: global_names(manifest),
        layout.ACTION: action_names(manifest),
    }
    columns = {name: info.features[name]["shape"][0] for name, used in shapes.items() if used}
    kept = [name for name in (layout.TERMINATED, layout.TRUNCATED) if name in info.features]
    return columns | dict.fromkeys((*kept, "timestamp", "frame_index", "episode_index", "index"), 1)


def _gather(
    source: Path, info: Info, rows: list[Row], manifest: Manifest, picks: Picks
) -> Iterator[tuple[Row, dict[str, np.ndarray]]]:
    """Every episode's rows in order, its clock and its numbers checked."""
    sizes = _columns(info, manifest)
    stream = _pieces(source, rows, sizes)
    held: list[dict[str, np.ndarray]] = []
    count = 0
    for number, row in enumerate(rows):
        where = f"{source / row.file}, episode {number}"
        while count < row.length:
            piece = next(stream, None)
            if piece is None:
                raise ValueError(f"{where}: {count} rows are left, its length is {row.length}")
            held.append(piece)
            count += len(piece["index"])
        whole = {name: np.concatenate([piece[name] for piece in held]) for name in sizes}
        columns = {name: values[: row.length] for name, values in whole.items()}
        held = [{name: values[row.length :] for name, values in whole.items()}]
        count -= row.length
        _check_clock(columns, row, number, info.fps, where)
        yield row, columns
    if count or next(stream, None) is not None:
        raise ValueError(f"{source / rows[-1].file}: rows after the last episode; copy it again")


def _pieces(
    source: Path, rows: list[Row], sizes: dict[str, int]
) -> Iterator[dict[str, np.ndarray]]:
    for name in dict.fromkeys(row.file for row in rows):
        path = source / name
        with open_parquet(path) as file:
            missing = [column for column in sizes if column not in file.schema_arrow.names]
            if missing:
                raise ValueError(f"{path}: no column {missing}, though meta/info.json names them")
            for batch in file.iter_batches(BATCH, columns=list(sizes)):
                yield {
                    column: _numbers(batch.column(column), size, f"{path}, {column}")
                    for column, size in sizes.items()
                }


def _numbers(column: pa.Array, size: int, where: str) -> np.ndarray:
    """(row,) or (row, size), all finite; lists of any kind, each of `size` numbers."""
    if column.null_count:
        raise ValueError(f"{where}: an empty cell; every row needs a value")
    lists = isinstance(column, (pa.ListArray, pa.LargeListArray, pa.FixedSizeListArray))
    if lists:
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
        if (lengths != size).any():
            bad = int(np.argmax(lengths != size))
            raise ValueError(f"{where}: {lengths[bad]} numbers in a row, info.json says {size}")
        column = column.flatten()
    elif size != 1:
        raise ValueError(f"{where}: one number in a row, info.json says {size}")
    if column.null_count or not _is_numeric(column.type):
        raise ValueError(
            f"{where}: {column.type}, with {column.null_count} empty; expected numbers"
        )
    values = column.to_numpy(zero_copy_only=False)
    return values.reshape(-1, size) if lists else values


def _is_numeric(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)


def _check_clock(
    columns: dict[str, np.ndarray], row: Row, number: int, fps: int, where: str
) -> None:
    clock = np.arange(row.length)
    wanted = {
        "episode_index": np.full(row.length, number),
        "frame_index": clock,
        "index": row.first + clock,
    }
    for name, right in wanted.items():
        wrong = columns[name] != right
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(
                f"{where}, row {at}, {name}: {columns[name][at]}, expected {right[at]}"
            )
    late = ~(np.abs(columns["timestamp"] - clock / fps) < 0.5 / fps)
    if late.any():
        at = int(np.argmax(late))
        raise ValueError(
            f"{where}, row {at}, timestamp: {columns['timestamp'][at]}, expected {at / fps:g}; a "
            f"frame is missing, or the rate is not {fps}"
        )


def _plain_kind(source: Path, info: Info, rows: list[Row], manifest: Manifest, picks: Picks) -> str:
    """`follow` where every episode ends in a zero action and none begins so; else a refusal."""
    if not len(picks.actions):
        return layout.FOLLOW
    ends, starts = True, False
    for row, columns in _gather(source, info, rows, manifest, picks):
        actions = columns[layout.ACTION].reshape(row.length, -1)
        ends &= not actions[-1].any()
        starts |= bool(actions[0].any())
    if ends and starts:
        return layout.FOLLOW
    first = rows[0].length
    raise ValueError(
        f"{source}, {layout.ACTION}: {first} states and {first} actions in episode 0; {first} "
        f"states have {first - 1} actions between them, so say which belong together: "
        f"--actions follow (a row's action was chosen after seeing its state; the last one is "
        f"dropped) or --actions lead (it led to its state; the first one is dropped)"
    )


def _episode(
    columns: dict[str, np.ndarray],
    manifest: Manifest,
    picks: Picks,
    kind: str,
    padded: bool,
    where: str,
) -> Episode:
    length = len(columns["index"])
    states = _picked(columns, layout.STATE, picks.states, where)
    lacks = np.flatnonzero(picks.states < 0)
    alive = columns_of(manifest).states % manifest.profile.num_state == ALIVE
    states[:, lacks[alive[lacks]]] = 1  # as in envelopes: who is not said to be dead is alive
    actions = _picked(columns, layout.ACTION, picks.actions, where)
    if kind == layout.LEAD:
        actions = np.roll(actions, -1, axis=0)
    elif padded and actions[-1].any():
        raise ValueError(f"{where}, {layout.ACTION}: the last row's must be zero; T states, T - 1 "
                         f"actions")  # fmt: skip
    actions[-1] = 0
    flags = {
        name: columns[name].astype(bool).reshape(length)
        if name in columns
        else np.zeros(length, bool)
        for name in (layout.TERMINATED, layout.TRUNCATED)
    }
    for name, values in flags.items():
        if values[:-1].any():
            at = int(np.argmax(values))
            raise ValueError(f"{where}, row {at}, {name}: true before the episode's last row")
    return episode_of(
        manifest,
        states,
        _picked(columns, layout.GLOBALS, picks.globals, where),
        actions,
        flags[layout.TERMINATED],
        bool(flags[layout.TRUNCATED][-1]),
    )


def _picked(
    columns: dict[str, np.ndarray], name: str, places: np.ndarray, where: str
) -> np.ndarray:
    """The manifest's columns, float32 and finite; zero where the file has none."""
    length = len(columns["index"])
    out = np.zeros((length, len(places)), np.float32)
    if not len(places):
        return out
    with np.errstate(over="ignore"):
        values = columns[name].reshape(length, -1).astype(np.float32)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        was = columns[name].reshape(length, -1)[row, column]
        raise ValueError(f"{where}, row {row}, {name}, column {column}: {was} is no 32-bit number")
    there = places >= 0
    out[:, there] = values[:, places[there]]
    return out


def _split_of(info: Info, game: str, number: int) -> str:
    """As info.json's ranges have it; by a hash of the number where they say nothing of ours."""
    found = [name for name, (first, end) in info.splits.items() if first <= number < end]
    return found[0] if found else split_of(game, str(number))
