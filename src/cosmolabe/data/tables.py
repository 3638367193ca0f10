"""Tables that strangers wrote, row by row: CSV, JSON, JSON lines, Parquet.

Nothing in them is believed and nothing in them is run: a row that cannot be understood is given
back with its place and the reason, and the next row is read. Limits stand where a file could be
made to fill the memory.
"""

import ast
import csv
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
MOST_DIGITS = 300  # of a whole number: a float can still hold it
SNIFFED = 1 << 20  # characters of a JSON file that are searched for its keys
MOST_SAID = 160  # characters of a stranger's text in a message of ours


@dataclass(frozen=True)
class Limits:
    """What a table may claim; each number is our choice, far above any set we know."""

    num_bytes: int = 1 << 30
    """Of a JSON file, or of a row group of Parquet as it says of itself, unpacked."""
    num_text: int = 1 << 34
    """Of CSV and JSON lines, which are read in pieces."""
    num_rows: int = 5_000_000
    line: int = 1 << 24
    """Characters of one line of JSON or CSV."""
    literal: int = 100_000
    """Characters of a Python literal in a cell."""
    depth: int = 20
    """Brackets within brackets of such a literal."""


LIMITS = Limits()


@dataclass(frozen=True)
class Row:
    """One row: where it stands, what it holds, or why it holds nothing."""

    where: str
    """"FILE, line 3" (or row, or key), the file as the caller named it."""
    values: Mapping[str, Any]
    why: str = ""
    """Says what is wrong; `values` is empty then."""


def read_rows(path: Path, limits: Limits = LIMITS, name: str = "") -> Iterator[Row]:
    """Every row of a table by its suffix; `name` is how messages call the file.

    A JSON file may be a list of objects, or an object of objects (the key then stands under ""),
    or an object that holds one list of objects (`data_list`, `results`, ...).
    """
    name = name or path.name
    reader = {
        ".csv": _csv, ".tsv": _csv, ".json": _json, ".jsonl": _jsonl, ".parquet": _parquet,
    }.get(path.suffix.lower())  # fmt: skip
    if reader is None:
        raise ValueError(f"{name}: no table we read; have {list(SUFFIXES)}")
    try:
        most = limits.num_bytes if path.suffix.lower() == ".json" else limits.num_text
        if path.suffix.lower() != ".parquet" and path.stat().st_size > most:
            yield Row(name, {}, f"{path.stat().st_size} bytes; {most} is the most")
            return
        for number, row in enumerate(reader(path, name, limits)):
            if number >= limits.num_rows:
                yield Row(name, {}, f"more than {limits.num_rows} rows; the rest was left out")
                return
            yield row
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        yield Row(name, {}, f"could not be read ({said(error)}); copy it again")


def has_columns(path: Path, needs: Collection[str], lacks: Collection[str] = ()) -> bool:
    """Does a table have all columns of `needs` and none of `lacks`?

    Of CSV the header is asked, of Parquet the schema, of JSON lines the first row, of JSON the keys
    named in its first megabyte. What cannot be read has no columns.
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            columns = set(pq.read_schema(path).names)
        elif suffix in (".csv", ".tsv"):
            with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
                lines = _pieces(file, SNIFFED)
                columns = set(next(csv.reader(lines, delimiter=_delimiter(path)), ()))
        elif suffix == ".jsonl":
            with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
                row = json.loads(file.readline(LIMITS.line), parse_int=_whole)
            columns = set(row) if isinstance(row, dict) else set()
        else:
            with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
                columns = set(re.findall(r'"([^"\\\n]{1,80})"\s*:', file.read(SNIFFED)))
    except (OSError, ValueError, RecursionError, csv.Error, pa.ArrowException):
        return False
    return set(needs) <= columns and not set(lacks) & columns


def said(value: Any) -> str:  # noqa: ANN401 - whatever a stranger wrote
    """A stranger's value in a message: short, on one line."""
    text = repr(value) if not isinstance(value, (str, BaseException)) else str(value)
    text = " ".join(text[: MOST_SAID * 4].split()).encode(errors="backslashreplace").decode()
    return text if len(text) <= MOST_SAID else text[: MOST_SAID - 1] + "…"


def text_of(row: Mapping[str, Any], *names: str) -> str:
    """The first of these columns that holds text, stripped; "" where none does."""
    for name in names:
        value = row.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = "" if value != value else f"{value:g}" if isinstance(value, float) else value
            value = str(value)
        if (
            isinstance(value, str)
            and value.strip()
            and value.strip().lower() not in ("nan", "none")
        ):
            return value.strip()
    return ""


def number_of(
    row: Mapping[str, Any], name: str, low: float | int, high: float | int, whole: bool = False
) -> float:
    """A number of a column, in low..high; NaN where the cell is empty.

    Raises:
        ValueError: The cell holds something else, in words that name it.
    """
    value = row.get(name)
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "nan", "none")):
        return math.nan
    try:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError
        if isinstance(value, str) and len(value) > MOST_DIGITS:
            raise ValueError
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is {said(value)}, expected a number {low:g}..{high:g}") from None
    if math.isnan(number):
        return number
    if not low <= number <= high or (whole and number != int(number)):
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"{name} is {said(value)}, expected {kind} {low:g}..{high:g}")
    return number


def list_of(value: Any, limits: Limits = LIMITS) -> list[str]:  # noqa: ANN401 - whatever it holds
    """The texts of a cell that holds a list, as a list, as JSON or as a Python literal.

    Empty cells and NaN give no text. Nothing is run: a literal is read by `ast.literal_eval`, and
    only when it is short, shallow and made of plain literals.

    Raises:
        ValueError: It is no list of texts.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return []
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in ("", "nan", "none", "null"):
            return []
        value = literal(text, limits)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return [str(item) for item in value]
    raise ValueError(f"expected a list of texts, got {said(value)}")


def literal(text: str, limits: Limits = LIMITS) -> Any:  # noqa: ANN401 - a plain literal
    """A list, tuple or dict written as JSON or as a Python literal.

    Raises:
        ValueError: It is longer or deeper than `limits`, or no plain literal.
    """
    if len(text) > limits.literal:
        raise ValueError(f"a list of {len(text)} characters; {limits.literal} is the most")
    _refuse_odd_literal(text, limits.depth)
    try:
        return json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"no list: {said(text)} ({type(error).__name__})") from None


_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_PLAIN = re.compile(r"[\[\](){},:\s\w.+-]*")


def _refuse_odd_literal(text: str, most: int) -> None:
    """What could take a parser down: deep brackets, long chains of signs, strings with prefixes."""
    if text[:1] not in "[({":
        raise ValueError(f"no list: {said(text)}")
    if re.search(r"\w['\"]", _STRING.sub("''", text).replace("''", "\x00")):
        raise ValueError(f"no plain list: {said(text)}")
    bare = _STRING.sub("0", text)
    if not _PLAIN.fullmatch(bare) or re.search(r"[+-]\s*[+-]", bare):
        raise ValueError(f"no plain list: {said(text)}")
    depth = 0
    for mark in re.findall(r"[\[\](){}]", bare):
        depth += 1 if mark in "[({" else -1
        if depth > most:
            raise ValueError(f"brackets deeper than {most}")


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _csv(path: Path, name: str, limits: Limits) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(_pieces(file, limits.line), delimiter=_delimiter(path))
        try:
            header = next(reader, [])
        except csv.Error as error:
            yield Row(f"{name}, line 1", {}, f"no header ({said(error)})")
            return
        if len(set(header)) < len(header):
            twice = sorted({column for column in header if header.count(column) > 1})
            yield Row(f"{name}, line 1", {}, f"columns {said(twice)} stand twice")
            return
        while True:
            line = reader.line_num + 1
            where = f"{name}, line {line}"
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(where, {}, f"no CSV ({said(error)})")
                continue
            if not cells or not any(cell.strip() for cell in cells):
                continue
            yield _checked(where, header, cells)


def _pieces(file: IO[str], most: int) -> Iterator[str]:
    """Lines, one that is too long in pieces: no line can fill the memory."""
    while line := file.readline(most):
        yield line


def _checked(where: str, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        return Row(where, {}, f"{len(cells)} cells under {len(header)} columns")
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return Row(where, {}, "not UTF-8 text")
    return Row(where, dict(zip(header, cells, strict=True)))


def _jsonl(path: Path, name: str, limits: Limits) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        number = 0
        while line := file.readline(limits.line + 1):
            number += 1
            where = f"{name}, line {number}"
            if len(line) > limits.line:
                yield Row(where, {}, f"a line of more than {limits.line} characters")
                while line and not line.endswith("\n"):
                    line = file.readline(limits.line)
                continue
            if line.strip():
                yield _parsed(where, line)


def _parsed(where: str, text: str) -> Row:
    try:
        text.encode()
        row = json.loads(text, parse_int=_whole)
    except UnicodeEncodeError:
        return Row(where, {}, "not UTF-8 text")
    except (ValueError, RecursionError) as error:
        return Row(where, {}, f"no JSON ({said(error)})")
    return _object(where, row, whole=not _HALVES.search(text))


_HALVES = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
"""JSON's escape of half a character; two of them may be a whole one."""


def _object(where: str, value: Any, key: str | None = None, whole: bool = True) -> Row:  # noqa: ANN401
    """A row of a stranger's JSON; where it may hold half a character, every text is looked at."""
    if not whole:
        try:
            json.dumps([key, value], ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return Row(where, {}, "holds half a character, which is no text")
    if isinstance(value, dict):
        return Row(where, value if key is None else {"": key, **value})
    if key is not None:
        return Row(where, {"": key, "value": value})
    return Row(where, {}, f"expected an object, got {said(value)}")


def _json(path: Path, name: str, limits: Limits) -> Iterator[Row]:
    content, why, whole = _loaded(path)
    if why:
        yield Row(name, {}, why)
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield _object(f"{name}, row {number}", value, whole=whole)
    elif isinstance(content, dict):
        lists = [key for key, value in content.items() if _objects(value)]
        if len(lists) == 1:
            for number, value in enumerate(content[lists[0]]):
                yield _object(f"{name}, {said(lists[0])} {number}", value, whole=whole)
            return
        for key, value in content.items():
            yield _object(f"{name}, key {said(key)}", value, key, whole)
    else:
        yield Row(name, {}, f"expected a list or an object, got {said(content)}")


def _objects(value: Any) -> bool:  # noqa: ANN401 - a stranger's JSON
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _loaded(path: Path) -> tuple[Any, str, bool]:
    """The content of a JSON file, or why there is none, and whether its characters are whole ones.

    NaN, which JSON does not know and Python writes, stays NaN.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text, parse_int=_whole), "", not _HALVES.search(text)
    except UnicodeDecodeError:
        return None, "not UTF-8 text", True
    except (ValueError, RecursionError) as error:
        return None, f"no JSON ({said(error)})", True


def _parquet(path: Path, name: str, limits: Limits) -> Iterator[Row]:
    """Text and numbers only: a column of bytes (pictures, whole videos) is not even read."""
    with pq.ParquetFile(path) as file:
        meta = file.metadata
        names = file.schema_arrow.names
        if len(set(names)) < len(names):
            yield Row(name, {}, "columns stand twice")
            return
        plain = [leaf for f in file.schema_arrow for leaf in _light(f)]
        number = 0
        for group in range(meta.num_row_groups):
            size = _claimed(meta.row_group(group), plain)
            if size > limits.num_bytes:
                yield Row(name, {}, f"row group {group} is {size} bytes of text and numbers")
                continue
            for batch in file.iter_batches(4096, row_groups=[group], columns=plain):
                for row in batch.to_pylist():
                    yield Row(f"{name}, row {number}", row)
                    number += 1


def _claimed(group: Any, plain: list[str]) -> int:  # noqa: ANN401 - pyarrow's RowGroupMetaData
    """Unpacked bytes of the columns that are read, as the file says."""
    columns = (group.column(index) for index in range(group.num_columns))
    return sum(
        column.total_uncompressed_size
        for column in columns
        if any(f"{column.path_in_schema}.".startswith(f"{name}.") for name in plain)
    )


def _light(field: pa.Field, before: str = "") -> Iterator[str]:
    """The leaves of a column that are no bytes (the hub's videos are structs of bytes and path)."""
    kind = field.type
    if pa.types.is_struct(kind):
        for inner in (kind.field(i) for i in range(kind.num_fields)):
            yield from _light(inner, f"{before}{field.name}.")
    elif not _heavy(kind):
        yield before + field.name


def _heavy(kind: pa.DataType) -> bool:
    """Bytes, at any depth (the hub's picture and video columns are structs that hold them)."""
    if pa.types.is_nested(kind):
        return any(_heavy(kind.field(i).type) for i in range(kind.num_fields))
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
