"""A folder of twins: clips that differ in physics alone, by a known size, and their controls.

Every group is one true clip, its doubles hurt in one way by several sizes, one perhaps under the
threshold, and the true clip in other qualities; or one clip of rare but lawful motion. A group
follows from the recipe, the seed and its place alone, and is written whole or not at all, so the
bytes are the same for any number of workers and after any number of interruptions.
"""

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core import parts
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import (
    plain,
    read_json,
    read_jsonl,
    versions,
    write_json,
    write_jsonl,
    written_whole,
)
from cosmolabe.core.spread import spread
from cosmolabe.data import twin_clips, twin_games
from cosmolabe.data.coding import coded
from cosmolabe.data.held_out import held_out
from cosmolabe.data.quality import QUALITY, changed
from cosmolabe.data.scenes import twins as scene_twins
from cosmolabe.data.starts import Starts
from cosmolabe.data.twin_rows import THRESHOLD, Drawn, Order, TwinRecipe, TwinRow, orders, row_from

ROWS, RECORD = "twins.jsonl", "twins.json"
CLIPS, SOURCES, PARTS = "clips", "sources", "parts"
TOGETHER = 8  # groups of one part
ATTEMPTS = 60  # of a group until one shows its damage
PLAIN, PLAIN_SHARE = 8, 0.001  # a damage shows where so many of 255 change in such a share
SMALLEST_STEPS = 12  # sizes tried for a double under the threshold
Frames = UInt8[np.ndarray, "time height width 3"]


def write_twin_set(
    folder: Path | str,
    recipe: TwinRecipe | None = None,
    seed: int = 0,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    starts: Mapping[str, Starts] | None = None,
) -> list[TwinRow]:
    """Write the set, or finish it where it stopped; gives its rows, as `twins.jsonl` holds them.

    `progress(done, total)` is called with groups. `starts` gives each game's scenarios, from which
    the held-out scenes of the test split are taken; without them those groups play on. A folder
    that holds another set, or anything else, is refused.
    """
    folder, recipe = Path(folder), recipe or TwinRecipe()
    asked = orders(recipe, seed)
    if recipe.shares.get("mujoco"):
        scene_twins.check(recipe)
    _begin(folder, recipe, seed, starts)
    _prepare(folder / SOURCES, recipe, seed, starts)
    jobs = [
        (folder.resolve(), recipe, tuple(asked[first : first + TOGETHER]), first // TOGETHER)
        for first in range(0, len(asked), TOGETHER)
    ]
    todo = [job for job in jobs if not _part(folder, job[3]).exists()]
    done = len(asked) - sum(len(job[2]) for job in todo)
    if progress:
        progress(done, len(asked))
    with closing(spread(write_part, todo, workers)) as finished:
        for place, _ in finished:
            done += len(todo[place][2])
            if progress:
                progress(done, len(asked))
    rows = [row for job in jobs for row in _rows_of(_part(folder, job[3]))]
    for leftover in folder.rglob("*.part"):
        leftover.unlink(missing_ok=True)
    write_jsonl(folder / ROWS, rows)
    return rows


def read_twin_set(folder: Path | str) -> list[TwinRow]:
    """The rows of a finished set, every file there; else what is missing is named."""
    folder = Path(folder)
    if not (folder / ROWS).exists():
        raise ValueError(f"no finished set of twins at {folder}; write one with write_twin_set")
    rows = _rows_of(folder / ROWS)
    for row in rows:
        for file in (row.true, row.damaged):
            if file and not (folder / file).is_file():
                raise ValueError(f"{folder / ROWS} names {file}, which is not there")
    return rows


def read_frames(path: Path) -> Frames:
    """The pictures of one clip of a set, mp4 or npz."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as found:
            return found["frames"]
    from cosmolabe.data.coding import decoded

    return decoded(path.read_bytes())


def _begin(
    folder: Path, recipe: TwinRecipe, seed: int, starts: Mapping[str, Starts] | None
) -> None:
    wanted = plain(
        {
            "recipe": asdict(recipe),
            "seed": seed,
            "held_out": held_out().fingerprint,
            "starts": {game: given.fingerprint for game, given in (starts or {}).items()},
            "schema": 1,
        }
    )
    record = folder / RECORD
    if record.exists():
        found = read_json(record)
        differs = [name for name in wanted if found.get(name) != wanted[name]]
        if differs:
            raise ValueError(
                f"{folder} holds another set of twins (its {', '.join(differs)} differ); choose a "
                "new folder"
            )
        return
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; choose a new folder")
    write_json(record, {**wanted, "hash": fingerprint(wanted), "versions": versions()})


def _prepare(
    sources: Path, recipe: TwinRecipe, seed: int, starts: Mapping[str, Starts] | None
) -> None:
    if recipe.shares.get("games"):
        twin_games.prepare(sources, recipe, recipe.games or parts.names("games"), seed)
        if recipe.groups.get("test"):
            twin_games.prepare_scenarios(sources, starts or {}, seed)
    if recipe.shares.get("real"):
        sources.mkdir(parents=True, exist_ok=True)
        twin_clips.prepare(sources, recipe)


def write_part(folder: Path, recipe: TwinRecipe, asked: tuple[Order, ...], number: int) -> None:
    """Some groups' clips, then their rows: the rows are there only once all clips are."""
    rows = [row for order in asked for row in write_group(folder, recipe, order)]
    write_jsonl(_part(folder, number), rows)


def write_group(folder: Path, recipe: TwinRecipe, order: Order) -> list[TwinRow]:
    """All clips of one group."""
    drawn, doubles = _drawn(folder, recipe, order)
    fps = drawn.fps or order.fps

    def keep(name: str, frames: Frames) -> str:
        file = f"{CLIPS}/{order.name}-{name}.{recipe.coding}"
        content = coded(frames, fps) if recipe.coding == "mp4" else _packed(frames, fps)
        with written_whole(folder / file) as part:
            part.write_bytes(content)
        return file

    true = keep("true", drawn.true)

    def row(role: str, name: str, kind: str, size: float, other: Frames | None) -> TwinRow:
        onset = order.onset if role == "damage" else 0
        largest, difference, changed_share = difference_of(drawn.true, other, onset)
        return TwinRow(
            id=f"{order.name}-{name}",
            group=order.name,
            role=role,  # ty: ignore[invalid-argument-type]
            family=order.family,
            scene=drawn.scene,
            theme=drawn.theme,
            characters=drawn.characters,
            kind=kind,
            size=size,
            onset=onset,
            entity=drawn.entity if role == "damage" else "",
            true=true,
            damaged="" if other is None else keep(name, other),
            sub_threshold=role == "damage" and largest <= THRESHOLD,
            largest=largest,
            difference=difference,
            changed=changed_share,
            held_out=_held_out(drawn, kind if role == "damage" else ""),
            split=order.split,
            fps=fps,
            frames=len(drawn.true),
            tags=drawn.tags,
        )

    if order.role == "lawful":
        return [row("lawful", "lawful", "", 0.0, None)]
    rows = [
        row("damage", f"size{round(1000 * size):04d}", drawn.kind, size, frames)
        for size, frames in doubles
    ]
    if order.below:
        found = under_threshold(drawn, min(order.sizes))
        if found:
            rows.append(row("damage", "below", drawn.kind, *found))
    draw = order.draw("quality")
    kinds = draw.permutation(list(QUALITY))[: order.num_quality]
    for kind in kinds:
        amount = round(float(draw.uniform(0.3, 1.0)), 3)
        other = changed(drawn.true, str(kind), amount, int(draw.integers(1 << 31)))
        rows.append(row("quality", str(kind), str(kind), amount, other))
    return rows


def _drawn(
    folder: Path, recipe: TwinRecipe, order: Order
) -> tuple[Drawn, list[tuple[float, Frames]]]:
    """The first attempt whose largest damage shows, with its doubles."""
    for attempt in range(ATTEMPTS):
        drawn = _attempt(folder / SOURCES, recipe, order, attempt)
        if drawn is None:
            continue
        if order.role == "lawful":
            return drawn, []
        assert drawn.hurt is not None
        largest = max(order.sizes)
        first = drawn.hurt(largest)
        if difference_of(drawn.true, first, order.onset)[2] < PLAIN_SHARE:
            continue
        sizes = [size for size in order.sizes if size != largest]
        doubles = [*((size, drawn.hurt(size)) for size in sizes), (largest, first)]
        return drawn, sorted(doubles, key=lambda double: double[0])
    raise ValueError(f"{order.name}: no damage that shows, in {ATTEMPTS} attempts")


def _attempt(sources: Path, recipe: TwinRecipe, order: Order, attempt: int) -> Drawn | None:
    if order.family == "games":
        return twin_games.draw_group(sources, recipe, order, attempt)
    if order.family == "mujoco":
        return scene_twins.draw_group(recipe, order, attempt)
    return twin_clips.draw_group(sources, recipe, order, attempt)


def under_threshold(drawn: Drawn, least: float) -> tuple[float, Frames] | None:
    """The largest size found, under `least`, that changes some pixel but none by more than 2/255.

    None where the kind has no such size: what lasts a number of frames is seen or is not there.
    """
    assert drawn.hurt is not None
    glance = drawn.glance or drawn.hurt
    low, high = 0.0, least
    size = least / 4
    for _ in range(SMALLEST_STEPS):
        frames = glance(size)
        largest = difference_of(drawn.true, frames, 0)[0]
        if 0 < largest <= THRESHOLD and drawn.glance:
            frames = drawn.hurt(size)
            largest = difference_of(drawn.true, frames, 0)[0]
        if 0 < largest <= THRESHOLD:
            return size, frames
        low, high = (low, size) if largest else (size, high)
        size = (low + high) / 2 if low else high / 4
    return None


def difference_of(true: Frames, other: Frames | None, onset: int) -> tuple[int, float, float]:
    """(largest difference of any pixel, mean from the onset on, largest share of a frame changed).

    The share counts pixels in which a channel differs by more than 8/255.
    """
    if other is None:
        return 0, 0.0, 0.0
    one, two = true[onset:], other[onset:]
    apart = np.maximum(one, two) - np.minimum(one, two)
    plain = apart > PLAIN
    share = (plain[..., 0] | plain[..., 1] | plain[..., 2]).mean((1, 2)).max()
    return int(apart.max()), round(float(apart.mean()), 5), round(float(share), 6)


def _held_out(drawn: Drawn, kind: str) -> tuple[str, ...]:
    kept, game = held_out(), drawn.scene.split("/")[0]
    what = {
        "kind": kind in kept.damages,
        "scene": drawn.scene in kept.scenes,
        "theme": f"{game}/{drawn.theme}" in kept.themes,
        "characters": bool(set(drawn.characters) & set(kept.characters)),
    }
    return tuple(name for name, held in what.items() if held)


def _packed(frames: Frames, fps: float) -> bytes:
    """Npz of frames and fps, its bytes the same whenever it is written."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in (("frames", frames), ("fps", np.float64(fps))):
            inner = io.BytesIO()
            np.save(inner, np.asanyarray(array))
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), inner.getvalue())
    return file.getvalue()


def _part(folder: Path, number: int) -> Path:
    return folder / PARTS / f"{number:06d}.jsonl"


def _rows_of(path: Path) -> list[TwinRow]:
    rows = []
    for where, found in read_jsonl(path):
        try:
            rows.append(row_from(found))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{where}: no row of a set of twins ({error})") from None
    return rows


def damages_of(rows: Iterable[TwinRow]) -> dict[str, int]:
    """How many doubles of each kind, over the threshold."""
    counts: dict[str, int] = {}
    for row in rows:
        if row.role == "damage" and not row.sub_threshold:
            counts[row.kind] = counts.get(row.kind, 0) + 1
    return counts
