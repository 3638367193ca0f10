"""Features on disk, computed once: by video, by the eye that saw it, by how it was sampled.

FOLDER/EYE-SAMPLING/ holds `store.json`, one small file a video just put (`loose/`), and shards of
many. A `put` is on disk when it returns, so that a killed run loses nothing that it had finished.
Any number of processes may use a folder at once: files appear whole, only the holder of a lock
packs, and a reader whose file was packed away under it looks again.
"""

import contextlib
import importlib
import json
import re
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import xxhash
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from cosmolabe.core.protocol import canonical, fingerprint
from cosmolabe.core.record import read_json, write_json, written_whole

SCHEMA = 1
STORE, LOOSE, LOCK = "store.json", "loose", "packing.lock"
NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")
"""What a video's hash may look like: it names a file."""
SHARD = 256
"""Videos in a shard; 63 MB of 48 times 1280 features."""
FORGOTTEN = 86_400  # seconds after which the half-written file of a killed process is swept away


class FeatureStore:
    """Features (time, width) float32 of many videos, for one eye and one way of sampling."""

    def __init__(self, folder: str | Path, encoder_key: str, sampling: Any) -> None:  # noqa: ANN401
        """`sampling` is whatever plain values say how pictures were taken."""
        self.name = f"{encoder_key}-{fingerprint(sampling)}"
        if not NAME.fullmatch(self.name):
            raise ValueError(f"an encoder's key is letters, digits and -; got {encoder_key!r}")
        self.folder = Path(folder) / self.name
        self.damaged: dict[str, str] = {}
        """Files that could not be read, and why; what they held is computed again."""
        self._places: dict[str, list[Path]] = {}
        self._seen: set[Path] = set()
        self._fresh = 0
        (self.folder / LOOSE).mkdir(parents=True, exist_ok=True)
        about = {"schema": SCHEMA, "encoder": encoder_key, "sampling": canonical(sampling)}
        _agree(self.folder / STORE, about)
        self._look()
        self._fresh = sum(1 for _ in self._loose())

    def __enter__(self) -> "FeatureStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.pack(SHARD // 4)

    def __contains__(self, video: str) -> bool:
        return self.get(video) is not None

    def get(self, video: str) -> Float[np.ndarray, "time width"] | None:
        """The features of a video by its hash; None where they must be computed."""
        _check_name(video)
        found = self._read(video)
        if found is None and self._look():  # another process may have put or packed it
            found = self._read(video)
        return found

    def put(self, video: str, features: Float[np.ndarray, "time width"]) -> None:
        """Keep the features; on disk when this returns."""
        _check_name(video)
        kept = np.ascontiguousarray(features, np.float32)
        if kept.ndim != 2 or not np.isfinite(kept).all():
            raise ValueError(
                f"features of {video} must be finite and (time, width); got {kept.shape}"
            )
        path = self.folder / LOOSE / f"{video}.safetensors"
        _write(path, {video: kept})
        self._add(video, path)
        self._fresh += 1
        if self._fresh >= SHARD:
            self.pack(SHARD)

    def get_or_make(
        self, video: str, make: Callable[[], Float[np.ndarray, "time width"]]
    ) -> Float[np.ndarray, "time width"]:
        """The features kept, or made now and kept."""
        found = self.get(video)
        if found is None:
            found = np.asarray(make(), np.float32)
            self.put(video, found)
        return found

    def videos(self) -> list[str]:
        """Hashes of all videos that are kept, as far as the files' headers can be read."""
        self._look()
        return sorted(video for video, places in self._places.items() if places)

    def pack(self, least: int = 1) -> None:
        """Put loose files into shards, if there are `least` and nobody else is at it."""
        with _only_one(self.folder / LOCK) as mine:
            if not mine:
                return
            _sweep(self.folder)
            loose = list(self._loose())
            while len(loose) >= max(least, 1):
                taken, loose = loose[:SHARD], loose[SHARD:]
                self._pack(taken)
            self._fresh = len(loose)

    def _pack(self, taken: list[Path]) -> None:
        kept = {path.stem: self._take(path, path.stem) for path in taken}
        sound = {video: found for video, found in kept.items() if found is not None}
        if not sound:
            return
        shard = self.folder / f"shard-{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.safetensors"
        _write(shard, sound)
        for video in sound:
            self._add(video, shard)
        for path in taken:  # last: whoever is killed before this leaves a copy too many
            path.unlink(missing_ok=True)

    def _loose(self) -> Iterator[Path]:
        return (self.folder / LOOSE).glob("*.safetensors")

    def _look(self) -> bool:
        """Take up files that appeared since; whether there were any."""
        shards = self.folder.glob("shard-*.safetensors")
        fresh = [path for path in (*self._loose(), *shards) if path not in self._seen]
        for path in fresh:
            names = [path.stem] if path.parent.name == LOOSE else self._names(path)
            for video in names:
                self._add(video, path)
        return bool(fresh)

    def _add(self, video: str, path: Path) -> None:
        self._seen.add(path)
        places = self._places.setdefault(video, [])
        if path not in places:
            places.insert(0, path)

    def _names(self, path: Path) -> list[str]:
        try:
            with safe_open(path, framework="numpy") as file:
                return [name for name in file.keys() if NAME.fullmatch(name)]  # noqa: SIM118
        except FileNotFoundError:
            return []
        except (SafetensorError, OSError, ValueError) as error:
            self._set_aside(path, str(error))
            return []

    def _read(self, video: str) -> np.ndarray | None:
        for path in list(self._places.get(video, ())):
            found = self._take(path, video)
            if found is not None:
                return found
            self._places[video].remove(path)
            if path.parent.name == LOOSE:  # its name may come back
                self._seen.discard(path)
        return None

    def _take(self, path: Path, video: str) -> np.ndarray | None:
        """One video's features out of a file; None where it is gone or not what was written."""
        try:
            with safe_open(path, framework="numpy") as file:
                found = file.get_tensor(video)
                digest = json.loads((file.metadata() or {}).get("xxh3", "{}")).get(video)
        except FileNotFoundError:
            return None
        except (SafetensorError, OSError, ValueError) as error:
            self._set_aside(path, str(error))
            return None
        if digest != _digest(found):
            self.damaged[str(path)] = f"the numbers of {video} are not those that were written"
            if path.parent.name == LOOSE:
                self._set_aside(path, self.damaged[str(path)])
            return None
        return found

    def _set_aside(self, path: Path, why: str) -> None:
        self.damaged[str(path)] = why
        with contextlib.suppress(OSError):
            path.rename(path.with_suffix(".damaged"))


def clip_hash(*arrays: np.ndarray) -> str:
    """32 hex digits of arrays, for clips that are no file: their frames and times."""
    found = xxhash.xxh3_128()
    for array in arrays:
        found.update(f"{array.shape} {array.dtype}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _write(path: Path, features: dict[str, np.ndarray]) -> None:
    digests = json.dumps({video: _digest(kept) for video, kept in features.items()})
    with written_whole(path) as part:
        part.write_bytes(save(features, {"xxh3": digests}))


def _digest(array: np.ndarray) -> str:
    return clip_hash(array)


def _check_name(video: str) -> None:
    if not NAME.fullmatch(video):
        raise ValueError(f"a video's hash is letters, digits, _ and -, at most 128; got {video!r}")


def _agree(path: Path, about: dict[str, Any]) -> None:
    """What the folder holds, written the first time and compared ever after."""
    if not path.exists():
        write_json(path, about)
    found = read_json(path)
    if found != about:
        raise ValueError(f"{path} speaks of other features than its folder's name; remove it")


@contextlib.contextmanager
def _only_one(path: Path) -> Generator[bool]:
    """Whether this process alone holds the lock; freed when the process ends, however it ends."""
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:  # no such lock on Windows: nobody packs, everything else works
        yield False
        return
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def _sweep(folder: Path) -> None:
    for path in (*folder.glob("*.part"), *(folder / LOOSE).glob("*.part")):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > FORGOTTEN:
                path.unlink()
