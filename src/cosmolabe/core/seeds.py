"""Seeds that follow from names, so that no two uses of randomness ever share a stream."""

import hashlib

import numpy as np


def seed_of(*names: str | int) -> int:
    """A 63-bit seed that follows from the names alone, on any machine."""
    text = "\x1f".join(str(name) for name in names).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") >> 1


def generator(*names: str | int) -> np.random.Generator:
    """A numpy generator seeded by the names."""
    return np.random.Generator(np.random.Philox(seed_of(*names)))


def episode_seed(salt: str, game: str, split: str, index: int) -> int:
    """H(salt, game, split, index): what makes splits disjoint and reproducible."""
    return seed_of("episode", salt, game, split, index)


def world_key(game: str, version: int, seed: int) -> tuple[int, int]:
    """The two 32-bit Philox key words of one world."""
    key = seed_of("world", game, version, seed)
    return key & 0xFFFFFFFF, key >> 32
