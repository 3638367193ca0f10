"""One file of named arrays, compressed and checksummed: JSON header, then blobs. No code in it.

Layout: MAGIC, the header's length (8 bytes, little end first), the header's xxh3 (8 bytes), the
header (UTF-8 JSON), then the arrays' bytes. A reader trusts no number before it has checked it.
"""

import json
import math
import os
import stat
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
import zstandard

from cosmolabe.core.record import written_whole

SCHEMA = 1
MAGIC = b"COSMOLABE ARRAYS\n"
MAX_HEADER = 1 << 26  # bytes
MAX_ARRAY = 1 << 36  # bytes of one array, unpacked
MAX_AXES = 8
LEVEL = 3  # zstd
DTYPES = ("uint8", "uint16", "uint32", "uint64", "int16", "int32", "int64", "float32", "float64")
CODECS = ("raw", "zstd", "columns")
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive (.npz or a torch checkpoint, perhaps)"),
    (b"\x80", "a pickle"),
    (b"\x93NUMPY", "a .npy file"),
    (b"ARROW1", "an Arrow file"),
    (b"PAR1", "a Parquet file"),
    (b"\x28\xb5\x2f\xfd", "a bare zstd stream"),
)


@dataclass(frozen=True)
class Packed:
    """What a header says of one array."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    codec: str
    offset: int
    size: int
    xxh3: str

    @property
    def num_bytes(self) -> int:
        """Bytes of the unpacked array."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def refuse_link(path: Path) -> None:
    """A store's files are plain files: a link could show one thing and read another."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        raise ValueError(f"no file {path}; was it moved or never finished?") from None
    if stat.S_ISLNK(mode):
        raise ValueError(f"{path} is a symbolic link; put the file itself there")
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path} is not a plain file; put the file itself there")


def write_arrays(
    path: Path,
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    codecs: Mapping[str, str] | None = None,
) -> str:
    """Write whole or not at all; gives the xxh3 of the whole file.

    `codecs` names how an array is packed: `zstd` (the default), `raw`, or `columns` for a table
    (row, column) whose columns change little from row to row.
    """
    blobs, entries, offset = [], [], 0
    for name, array in arrays.items():
        assert array.dtype.name in DTYPES, array.dtype
        codec = (codecs or {}).get(name, "zstd")
        blob = _pack(np.ascontiguousarray(array), codec)
        digest = xxhash.xxh3_64_hexdigest(blob)
        shape = list(array.shape)
        entries.append([name, array.dtype.name, shape, codec, offset, len(blob), digest])
        blobs.append(blob)
        offset += len(blob)
    header = json.dumps(
        {"schema": SCHEMA, "meta": dict(meta), "arrays": entries}, allow_nan=False, sort_keys=True
    ).encode()
    head = b"".join(
        (MAGIC, len(header).to_bytes(8, "little"), xxhash.xxh3_64_digest(header), header)
    )
    whole = xxhash.xxh3_64()
    with written_whole(path) as part, part.open("wb") as file:
        for blob in (head, *blobs):
            file.write(blob)
            whole.update(blob)
        file.flush()
        os.fsync(file.fileno())
    return whole.hexdigest()


def read_header(path: Path) -> tuple[dict[str, Any], dict[str, Packed], int]:
    """The meta data, what each array is, and where the blobs begin."""
    refuse_link(path)
    with path.open("rb") as file:
        head = file.read(len(MAGIC) + 16)
        _check_magic(path, head)
        length = int.from_bytes(head[len(MAGIC) : len(MAGIC) + 8], "little")
        if len(head) < len(MAGIC) + 16 or length > MAX_HEADER:
            raise ValueError(f"{path}: the header is cut short or damaged; copy the file again")
        header = file.read(length)
    if len(header) < length:
        raise ValueError(f"{path} is cut short inside its header; copy the file again")
    if xxhash.xxh3_64_digest(header) != head[len(MAGIC) + 8 :]:
        raise ValueError(f"{path}: the header is damaged (checksum); copy the file again")
    content = _content_of(path, header)
    start = len(head) + length
    arrays = {row[0]: _entry(path, row) for row in content["arrays"]}
    end = start + max((a.offset + a.size for a in arrays.values()), default=0)
    size = path.stat().st_size
    if size != end:
        what = "is cut short" if size < end else "has bytes after its end"
        raise ValueError(f"{path} {what}: {size} bytes, its header says {end}; copy it again")
    return content["meta"], arrays, start


def read_arrays(
    path: Path, names: Iterable[str] | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The meta data and the arrays asked for (all by default), each checked before unpacking."""
    meta, entries, start = read_header(path)
    missing = [name for name in names or () if name not in entries]
    if missing:
        raise ValueError(f"{path} has no array {missing}; have {sorted(entries)}")
    arrays = {}
    with path.open("rb") as file:
        for name in names or entries:
            entry = entries[name]
            file.seek(start + entry.offset)
            arrays[name] = _unpack(path, entry, file.read(entry.size))
    return meta, arrays


def require_arrays(
    path: Path, arrays: Mapping[str, np.ndarray], forms: Mapping[str, tuple[str, int]]
) -> None:
    """Refuse a file that lacks an array of `forms`, or has one of another dtype or axes."""
    for name, (dtype, axes) in forms.items():
        if name not in arrays:
            raise ValueError(f"{path} has no array '{name}'; have {sorted(arrays)}")
        got = arrays[name]
        if (got.dtype.name, got.ndim) != (dtype, axes):
            raise ValueError(
                f"{path}: array '{name}' is {got.dtype} of shape {got.shape}, expected {dtype} "
                f"with {axes} axes; copy or collect the file again"
            )


def read_npz(path: Path, names: Iterable[str], most: int) -> dict[str, np.ndarray]:
    """The named arrays of a stranger's .npz: plain arrays only, `most` bytes unpacked."""
    if not path.is_file():
        raise ValueError(f"{path} is not a plain file; put the file itself there")
    try:
        with zipfile.ZipFile(path) as archive:
            claimed = sum(item.file_size for item in archive.infolist())
        if claimed > most:
            raise ValueError(f"it claims {claimed} bytes unpacked; at most {most} are read")
        with np.load(path, allow_pickle=False) as content:
            missing = [name for name in names if name not in content]
            if missing:
                raise ValueError(f"no array {missing}; it has {sorted(content)}")
            arrays = {name: content[name] for name in names}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("a member is no array")
        return arrays
    except Exception as error:  # whatever a damaged zip, deflate stream or header may raise
        raise ValueError(f"{path} cannot be read as .npz ({error}); write it again") from None


def file_digest(path: Path) -> str:
    """xxh3 of the whole file."""
    refuse_link(path)
    whole = xxhash.xxh3_64()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            whole.update(piece)
    return whole.hexdigest()


def shuffle_columns(table: np.ndarray) -> bytes:
    """A (row, column) table column by column and byte by byte, each row XORed with the one before.

    What does not change becomes zeros, and the slow high bytes of a number stand together.
    """
    width = table.dtype.itemsize
    words = table.view(f"u{width}").copy()
    words[1:] ^= table.view(f"u{width}")[:-1]
    planes = words.T.copy().view(np.uint8).reshape(table.shape[1], table.shape[0], width)
    return planes.transpose(0, 2, 1).tobytes()


def unshuffle_columns(data: bytes, num_rows: int, num_columns: int, dtype: str) -> np.ndarray:
    """The table that `shuffle_columns` took apart."""
    width = np.dtype(dtype).itemsize
    planes = np.frombuffer(data, np.uint8).reshape(num_columns, width, num_rows)
    words = np.ascontiguousarray(planes.transpose(0, 2, 1)).view(f"u{width}")[..., 0]
    return np.ascontiguousarray(np.bitwise_xor.accumulate(words, axis=1).T).view(dtype)


def _check_magic(path: Path, head: bytes) -> None:
    if head.startswith(MAGIC):
        return
    for start, what in _FOREIGN:
        if head.startswith(start):
            raise ValueError(
                f"{path} is {what}, not a file of arrays; it was not opened. "
                f"Bring other data in with `cosmolabe import`"
            )
    what = "is empty" if not head else "is no file of arrays or is damaged at its start"
    raise ValueError(f"{path} {what}; copy it again or collect it again")


def _content_of(path: Path, header: bytes) -> dict[str, Any]:
    try:
        content = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: the header is no JSON ({error})") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ValueError(
            f"{path} has schema {schema}, this version reads {SCHEMA}; "
            f"open it with the version that wrote it"
        )
    arrays, kinds = content.get("arrays"), (str, str, list, str, int, int, str)
    if (
        not isinstance(content.get("meta"), dict)
        or not isinstance(arrays, list)
        or not all(isinstance(row, list) and tuple(map(type, row)) == kinds for row in arrays)
    ):
        raise ValueError(f"{path}: the header describes no arrays; collect or copy the file again")
    return content


def _entry(path: Path, row: list[Any]) -> Packed:
    entry = Packed(row[0], row[1], tuple(row[2]), *row[3:])
    sound = (
        entry.dtype in DTYPES
        and entry.codec in CODECS
        and all(type(n) is int and n >= 0 for n in (*entry.shape, entry.offset, entry.size))
        and len(entry.shape) <= MAX_AXES
        and entry.num_bytes <= MAX_ARRAY
        and (entry.codec != "columns" or len(entry.shape) == 2)
    )
    if not sound:
        raise ValueError(f"{path}: array '{entry.name}' is described as {row[1:]}, which cannot be")
    return entry


def _pack(array: np.ndarray, codec: str) -> bytes:
    if codec == "raw":
        return array.tobytes()
    data = shuffle_columns(array) if codec == "columns" and array.size else array.tobytes()
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def _unpack(path: Path, entry: Packed, blob: bytes) -> np.ndarray:
    if xxhash.xxh3_64_hexdigest(blob) != entry.xxh3:
        raise ValueError(
            f"{path}: array '{entry.name}' is damaged (checksum); copy or collect the file again"
        )
    if entry.codec != "raw":
        blob = unpack_zstd(blob, entry.num_bytes, f"{path}: array '{entry.name}'")
    if len(blob) != entry.num_bytes:
        raise ValueError(
            f"{path}: array '{entry.name}' has {len(blob)} bytes, not {entry.num_bytes}"
        )
    if entry.codec == "columns" and entry.num_bytes:
        return unshuffle_columns(blob, entry.shape[0], entry.shape[1], entry.dtype)
    return np.frombuffer(blob, entry.dtype).reshape(entry.shape).copy()


def unpack_zstd(blob: bytes, num_bytes: int | None, where: str, most: int = 0) -> bytes:
    """Exactly `num_bytes` unpacked bytes, or, where that is None, no more than `most`.

    A stream that claims another size is refused unread.
    """
    try:
        claims = zstandard.frame_content_size(blob)
        if claims < 0 or (claims != num_bytes if num_bytes is not None else claims > most):
            raise ValueError(f"{where} would unpack to {claims} bytes, not {num_bytes or most}")
        return zstandard.ZstdDecompressor().decompress(blob, max_output_size=max(claims, 1))
    except zstandard.ZstdError as error:
        raise ValueError(f"{where} does not unpack ({error}); copy the file again") from None
