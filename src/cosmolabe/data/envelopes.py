"""Brings a studio's JSONL envelopes in, and hands ours out."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from cosmolabe.core.record import write_json, written_whole
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.arrays import refuse_link
from cosmolabe.data.envelope import Frame, Tensoriser, detensorise, frame_of, frame_to_json
from cosmolabe.data.exporting import sizes_of
from cosmolabe.data.folder import SHARES
from cosmolabe.data.manifests import parse_json, read_manifest
from cosmolabe.data.pack import PackedWriter
from cosmolabe.data.store import Store, open_store

MAX_LINE = 1 << 22  # bytes
MAX_FRAMES = 1 << 20  # of one episode
SHOWN = 20  # complaints told in full


@dataclass
class Complaints:
    """What was wrong, told in full for the first few and counted for all."""

    shown: list[str] = field(default_factory=list)
    rows: int = 0
    episodes: list[str] = field(default_factory=list)

    def add(self, what: str) -> None:
        """One more bad row."""
        self.rows += 1
        if len(self.shown) < SHOWN:
            self.shown.append(what)

    def __str__(self) -> str:
        more = f"\n... and {self.rows - SHOWN} more" if self.rows > SHOWN else ""
        return "\n".join(self.shown) + more


def import_envelopes(
    source: Path | str,
    folder: Path | str,
    *,
    manifest: Path | str | None = None,
    split: str | None = None,
    player: str = "import",
    quantised: bool = False,
    skip_bad: bool = False,
) -> Store:
    """A packed store of JSONL envelopes: one file, or a folder of `*.jsonl` files.

    `manifest` is manifest.json beside them by default. Episodes go to train, val and test by a
    hash of their name, or all to `split`. With `skip_bad` an episode with a bad row is left out
    and counted in the record; without, nothing is written and every bad row is told.
    """
    source, folder = Path(source), Path(folder)
    files = _files(source)
    beside = source if source.is_dir() else source.parent
    named = read_manifest(Path(manifest) if manifest else beside / "manifest.json")
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; choose a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    tensoriser, complaints = Tensoriser(named), Complaints()
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as aside:
        writer = PackedWriter(Path(aside) / "store", named, quantised)
        count = 0
        for name, frames in _episodes(files, tensoriser, complaints):
            if skip_bad or not complaints.rows:
                episode = tensoriser.episode(frames)
                writer.add(
                    episode, split_of(named.game, name) if split is None else split, name, player
                )
                count += 1
        if complaints.rows and not skip_bad:
            raise ValueError(
                f"{complaints.rows} bad row(s), nothing was imported:\n{complaints}\n"
                f"mend them, or leave their episodes out with --skip-bad"
            )
        if not count:
            raise ValueError(
                f"{source} holds no whole episode; nothing was imported.\n{complaints}"
            )
        store = writer.finish(
            bad_rows=complaints.rows,
            skipped_episodes=complaints.episodes,
            complaints=complaints.shown,
        )
        store.folder.replace(folder)
    return open_store(folder)


def split_of(game: str, name: str) -> str:
    """The split of an imported episode, by its name alone: 10 : 3 : 3."""
    place = seed_of("import", game, name) % sum(SHARES.values())
    for split, share in SHARES.items():
        if place < share:
            return split
        place -= share
    raise AssertionError


def export_envelopes(
    store: Store, folder: Path | str, split: str | None = None, limit: int | None = None
) -> int:
    """`envelopes.jsonl` and `manifest.json` of a store's episodes; gives the frames written."""
    sizes_of(store, split, limit)  # an unknown or empty split leaves no folder
    folder = Path(folder)
    numbers = np.arange(len(store)) if split is None else store.split(split)
    count = 0
    with (
        written_whole(folder / "envelopes.jsonl") as part,
        part.open("w", encoding="utf-8") as file,
    ):
        for number in numbers[:limit]:
            name = f"{store.fingerprint}-{number}"
            for frame in detensorise(store.episode(int(number)), store.manifest, name):
                content = frame_to_json(frame)
                file.write(json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n")
                count += 1
    write_json(folder / "manifest.json", store.manifest)
    return count


def read_frames(path: Path) -> Iterator[tuple[int, Frame | ValueError]]:
    """Line numbers and frames of a JSONL file; a line that is none gives its error instead."""
    refuse_link(path)
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            where = f"{path}, line {number}"
            if len(line) > MAX_LINE:
                while not line.endswith(b"\n") and (line := file.readline(MAX_LINE)):
                    pass
                yield number, ValueError(f"{where}: longer than {MAX_LINE} bytes")
                continue
            if not line.strip():
                continue
            try:
                yield number, frame_of(parse_json(line, where, MAX_LINE), where)
            except ValueError as error:
                yield number, error


def _files(source: Path) -> list[Path]:
    if source.is_dir():
        files = sorted(source.glob("*.jsonl"))
        if not files:
            raise ValueError(f"{source} has no *.jsonl files; put the envelopes there")
        return files
    if not source.exists():
        raise ValueError(f"no file {source}; give a .jsonl file or a folder of them")
    return [source]


def _episodes(
    files: list[Path], tensoriser: Tensoriser, complaints: Complaints
) -> Iterator[tuple[str, list[Frame]]]:
    """Whole, sound episodes by name; whatever is wrong with the others goes to `complaints`."""
    seen: set[str] = set()
    for path in files:
        reader = _Reader(path, tensoriser, complaints, seen)
        for line, frame in read_frames(path):
            done = reader.take(line, frame)
            if done:
                yield done
        done = reader.close()
        if done:
            yield done


class _Reader:
    """Gathers a file's frames into episodes."""

    def __init__(
        self, path: Path, tensoriser: Tensoriser, complaints: Complaints, seen: set[str]
    ) -> None:
        self.path, self.tensoriser = path, tensoriser
        self.complaints, self.seen = complaints, seen
        self.name: str | None = None
        self.frames: list[Frame] = []
        self.bad = False
        self.line = 0

    def take(self, line: int, frame: Frame | ValueError) -> tuple[str, list[Frame]] | None:
        """One more line; gives the episode that it ends, if that is sound."""
        where = f"{self.path}, line {line}"
        if isinstance(frame, ValueError):
            self._complain(str(frame))
            return None
        done = None
        if self.name != str(frame.episode):
            done = self.close()
            self.name = str(frame.episode)
            if self.name in self.seen:
                self._complain(
                    f"{where}, episode: '{self.name}' came before; an episode's frames stand "
                    f"together, and its name is used once"
                )
            self.seen.add(self.name)
        self.line = line
        try:
            self.tensoriser.check(frame, where)
            self._check_order(frame, where)
        except ValueError as error:
            self._complain(str(error))
        self.frames.append(frame)
        return done

    def close(self) -> tuple[str, list[Frame]] | None:
        """The episode gathered so far, if it is sound; begins a new one."""
        name, frames = self.name, self.frames
        where = f"{self.path}, line {self.line}"
        if name is not None and not self.bad:
            if frames[-1].action is not None:
                self._complain(
                    f"{where}, action: the last frame of episode '{name}' has an action: "
                    f"{len(frames)} states and {len(frames)} actions; {len(frames)} states have "
                    f"{len(frames) - 1} actions, one from each to the next, so it must be null"
                )
            elif len(frames) < 2:
                self._complain(f"{where}, episode: '{name}' has one frame; it needs two or more")
        bad, self.name, self.frames, self.bad = self.bad, None, [], False
        if name is None:
            return None
        if bad:
            self.complaints.episodes.append(name)
            return None
        return name, frames

    def _check_order(self, frame: Frame, where: str) -> None:
        expected = self.frames[-1].t + 1 if self.frames else 0
        if frame.t != expected and not self.bad:
            what = "missing frame" if frame.t > expected else "time goes backwards"
            if self.frames and frame.t == expected - 1:
                what = "duplicate frame"
            raise ValueError(f"{where}, t: {what}: got {frame.t}, expected {expected}")
        if len(self.frames) >= MAX_FRAMES:
            raise ValueError(f"{where}, t: an episode has at most {MAX_FRAMES} frames")
        if not self.frames:
            return
        before = self.frames[-1]
        if before.terminated or before.truncated:
            raise ValueError(f"{where}, t: the episode ended in the frame before")
        if before.action is None and not self.bad:
            raise ValueError(
                f"{where}, action: the frame before has none; only an episode's last frame has "
                f"action null"
            )

    def _complain(self, what: str) -> None:
        self.bad = True
        self.complaints.add(what)
