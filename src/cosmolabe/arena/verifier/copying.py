"""Takes a submission out of an agent's reach: copied first, then hashed, and the copy is run.

Only declared files are looked at, never followed, never opened twice; nothing in them is parsed
here but the header of the weights, which is JSON.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MOST = {"train.py": 2 << 20, "config.json": 256 << 10, "weights.safetensors": 1 << 30}
"""Declared files and the most bytes of each; whatever else lies there is left where it is."""
OPTIONAL = ("weights.safetensors",)
WEIGHTS = "weights.safetensors"
MOST_HEADER = 8 << 20  # bytes of a safetensors header
MOST_NUMBERS = 1 << 40  # of a tensor; more than any file that is taken can hold
BLOCK = 1 << 20


class Refused(ValueError):
    """A submission that is not taken, in the user's words."""


@dataclass(frozen=True)
class Copied:
    """A submission nobody can change any more."""

    folder: Path
    hashes: Mapping[str, str]
    """sha256 of each file, of the copy itself."""
    parameters: int
    """Numbers in the weights; 0 where there are none."""
    ignored: tuple[str, ...] = ()
    """Other names that lay in the folder (at most 20 are told)."""


def copy_submission(source: Path, target: Path) -> Copied:
    """Copy the declared files of `source` into the new folder `target` and hash what was copied."""
    target.mkdir(mode=0o700, parents=True)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        folder = os.open(source, flags)
    except OSError as error:
        raise Refused(f"{source.name} is no plain folder ({error.strerror})") from None
    try:
        hashes = {}
        for name, most in MOST.items():
            found = _copy(folder, name, target / name, most)
            if found:
                hashes[name] = found
        others = sorted(set(os.listdir(folder)) - set(MOST))
    finally:
        os.close(folder)
    return Copied(target, hashes, count_parameters(target / WEIGHTS), tuple(others[:20]))


def _copy(folder: int, name: str, target: Path, most: int) -> str:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        file = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        if name in OPTIONAL:
            return ""
        raise Refused(f"the submission has no {name}") from None
    except OSError as error:
        raise Refused(f"{name} is no plain file ({error.strerror})") from None
    try:
        _check(os.fstat(file), name, most)
        return _copy_bytes(file, name, target, most)
    finally:
        os.close(file)


def _check(found: os.stat_result, name: str, most: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{name} is no plain file; put the file itself there")
    if found.st_nlink != 1:
        raise Refused(
            f"{name} has {found.st_nlink} names (hard links); put a file of its own there"
        )
    if found.st_size > most:
        raise Refused(f"{name} has {found.st_size} bytes; at most {most} are taken")


def _copy_bytes(file: int, name: str, target: Path, most: int) -> str:
    """What was read is what is hashed and what is run; a file that grows meanwhile is refused."""
    digest, taken = hashlib.sha256(), 0
    with target.open("xb") as out:
        while block := os.read(file, BLOCK):
            taken += len(block)
            if taken > most:
                raise Refused(f"{name} grew past {most} bytes while it was copied")
            digest.update(block)
            out.write(block)
    target.chmod(0o444)
    return digest.hexdigest()


def count_parameters(path: Path) -> int:
    """Numbers in a safetensors file, by its header alone; anything else is refused unopened."""
    if not path.exists():
        return 0
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(MOST_HEADER, size - 8):
            raise Refused(f"{WEIGHTS} is no safetensors file; other formats are not taken")
        header = file.read(length)
    try:
        tensors = json.loads(header)
        shapes = [entry["shape"] for name, entry in tensors.items() if name != "__metadata__"]
        counts = [_count(shape) for shape in shapes]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Refused(
            f"the header of {WEIGHTS} cannot be read; write it with safetensors"
        ) from None
    if sum(counts) > size:
        raise Refused(f"the header of {WEIGHTS} tells of more numbers than the file has bytes")
    return sum(counts)


def _count(shape: list[int]) -> int:
    total = 1
    for length in shape:
        if type(length) is not int or not 0 <= length < 1 << 40:
            raise ValueError(f"no length of a tensor: {length!r}")
        total *= length
        if total > MOST_NUMBERS:  # before it grows into a number that takes hours to multiply
            raise ValueError(f"a tensor of {total} numbers")
    return total
