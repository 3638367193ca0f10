"""Videos in, rows out, as each is finished; a bad file costs its own row and nothing else."""

import math
import os
import stat
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import xxhash

from cosmolabe.core.clip import Clip
from cosmolabe.core.encoder import Encoder
from cosmolabe.core.errors import in_words
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain
from cosmolabe.data.video import Input, Limits, Worker
from cosmolabe.data.video.stills import in_order
from cosmolabe.judges.physics.bundle import Bundle
from cosmolabe.judges.physics.protocol import PhysicsProtocol
from cosmolabe.judges.physics.scoring import Verdict, judge_watched, row_of
from cosmolabe.judges.physics.watching import Watched

PIECE = 1 << 20  # bytes hashed at a time
AHEAD = 1 << 29
"""Bytes of pictures held of one input before its turn comes; a long video streams from there on."""
KEPT_TEXTS = ("id", "model", "generator", "prompt", "group", "game", "role")
"""What a manifest may say of a video that its row carries on."""


@runtime_checkable
class Loaded(Protocol):
    """The judge with its eye and heads; see `physics.Physics`."""

    @property
    def encoder(self) -> Encoder:
        """The eye."""
        ...

    @property
    def bundle(self) -> Bundle:
        """The heads."""
        ...

    @property
    def protocol(self) -> PhysicsProtocol:
        """With both in it."""
        ...

    def watch(self, clips: Iterable[Clip]) -> Watched:
        """Features and motion of one video's windows."""
        ...


class Kept:
    """Features kept in a folder between runs, with what else was seen beside them."""

    def __init__(self, folder: Path | str, judge: Loaded) -> None:
        from cosmolabe.nets.feature_store import FeatureStore  # the extra `torch` brings it

        how = (*judge.protocol.seen, judge.protocol.motion_ignored)
        self.features = FeatureStore(folder, judge.encoder.key, how)
        self.told = FeatureStore(folder, f"{judge.encoder.key}-told", how)

    def get(self, digest: str) -> Watched | None:
        """What was seen of a video with these bytes."""
        features, told = self.features.get(digest), self.told.get(digest)
        return None if features is None or told is None else Watched.retold(features, told)

    def put(self, digest: str, seen: Watched) -> None:
        """Keep it; on disk when this returns."""
        self.told.put(digest, seen.told())
        self.features.put(digest, seen.features)


def score_inputs(
    judge: Loaded,
    inputs: Sequence[Input],
    *,
    limits: Limits | None = None,
    features: Path | str | None = None,
    ahead: int = 1,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(place, row) of each input in turn; the rest as `watch_inputs`."""
    watched = watch_inputs(judge, inputs, limits=limits, features=features, ahead=ahead)
    with closing(watched):
        for place, (about, seen) in enumerate(watched):
            yield place, about | row_of(_verdict(judge, seen))


def watch_inputs(
    judge: Loaded,
    inputs: Sequence[Input],
    *,
    limits: Limits | None = None,
    features: Path | str | None = None,
    ahead: int = 1,
) -> Generator[tuple[dict[str, Any], Watched | str]]:
    """Each input in turn: what is known of it, and what was seen or why nothing was.

    Up to `ahead` more are being decoded meanwhile, in processes that are killed when they take
    longer than `limits` allow. `features` is a folder in which what the eye saw is kept and looked
    up, so that a killed run goes on.
    """
    limits = limits or Limits()
    kept = Kept(features, judge) if features is not None else None
    crew = [Worker() for _ in range(ahead + 1)]
    idle = list(crew)
    waiting: list[Future[Opened]] = []
    rest = iter(inputs)
    try:
        with ThreadPoolExecutor(len(crew)) as pool:
            for _ in inputs:
                for item in rest:
                    waiting.append(pool.submit(_opened, item, judge, limits, kept, idle.pop()))
                    if len(waiting) > ahead:
                        break
                opened = waiting.pop(0).result()
                seen = _watched(judge, opened, kept)
                idle.append(opened.worker)
                yield opened.about, seen
    finally:
        for worker in crew:
            worker.kill()


@dataclass
class Opened:
    """An input on its way: what is kept of it or why it failed, or its windows as they come."""

    about: dict[str, Any]
    worker: Worker
    seen: Watched | str | None = None
    clips: Iterator[Clip] = field(default_factory=lambda: iter(()))


def _opened(
    item: Input, judge: Loaded, limits: Limits, kept: Kept | None, worker: Worker
) -> Opened:
    opened = Opened(about_input(item), worker, item.why or None)
    if item.why:
        return opened
    try:
        digest = content_hash(item.path, limits)
        opened.about["hash"] = digest
        opened.seen = kept.get(digest) if kept is not None and digest else None
        if opened.seen is None:
            clips = worker.clips(item.path, *judge.protocol.seen, limits, item.fps)
            opened.clips = _some_ahead(clips)
    except Exception as error:
        opened.seen = told(error)
    return opened


def _some_ahead(clips: Iterator[Clip]) -> Iterator[Clip]:
    """The same windows, the first AHEAD bytes of them decoded when this returns."""
    first, held = [], 0
    for clip in clips:
        first.append(clip)
        held += clip.frames.nbytes
        if held >= AHEAD:
            break
    return chain(first, clips)


def _watched(judge: Loaded, opened: Opened, kept: Kept | None) -> Watched | str:
    if opened.seen is not None:
        return opened.seen
    try:
        seen = judge.watch(opened.clips)
        if kept is not None and opened.about["hash"]:
            kept.put(opened.about["hash"], seen)
        return seen
    except Exception as error:
        return told(error)


def _verdict(judge: Loaded, seen: Watched | str) -> Verdict:
    if isinstance(seen, str):
        return Verdict("failed", seen)
    try:
        return judge_watched(seen, judge.bundle, judge.protocol)
    except Exception as error:
        return Verdict("failed", told(error))


def about_input(item: Input) -> dict[str, Any]:
    """What is known of an input before it is opened."""
    row: dict[str, Any] = {"input": item.name, "path": str(item.path)}
    for name in KEPT_TEXTS:
        value = (item.row or {}).get(name)
        known = isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
        if known and not isinstance(value, bool):
            row[name] = str(value)
    row["model"] = row.get("model") or row.get("generator", "")
    return row | stamp(Path(item.path))


def stamp(path: Path) -> dict[str, Any]:
    """Size and time of change: a file that has both as before is taken to be the same."""
    stats = [found for one in _files(path) if (found := _stat(one)) is not None]
    return {
        "bytes": sum(found.st_size for found in stats) if stats else None,
        "changed": max((found.st_mtime_ns for found in stats), default=None),
    }


def content_hash(path: Path, limits: Limits) -> str:
    """32 hex digits of the bytes of a file, or of all files of a folder with their names.

    Empty for what is no plain file or larger than the limit: it is refused when it is opened.
    """
    found = xxhash.xxh3_128()
    path = Path(path)
    files = _files(path)
    stats = [_stat(one) for one in files]
    if not files or None in stats or sum(s.st_size for s in stats if s) > limits.bytes:
        return ""
    for one in files:
        if one != path:
            found.update(f"\n{one.relative_to(path)}\n".encode("utf-8", "surrogateescape"))
        left = one.stat().st_size  # what grows without end, or claims 0 and waits, is not read on
        with one.open("rb") as file:
            while left > 0 and (piece := file.read(min(left, PIECE))):
                found.update(piece)
                left -= len(piece)
    return found.hexdigest()


def _stat(path: Path) -> os.stat_result | None:
    """Of a plain file; None for anything else."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def digest_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Fingerprint of the videos judged, whatever their names and order."""
    return fingerprint(sorted(str(row.get("hash") or row.get("input")) for row in rows))


def told(error: BaseException) -> str:
    """An error in a row: ours in its own words, any other with its kind."""
    text = str(error) if isinstance(error, ValueError) else in_words(error)
    return str(plain(text))


def _files(path: Path) -> list[Path]:
    """The file, or the pictures of a folder: what is read of it and nothing else."""
    try:
        return in_order(path) if path.is_dir() else [path]
    except (OSError, ValueError):
        return []
