"""What changed between two programs: unit by unit, statement by statement."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

from cosmolabe.arena.analysis.normalise import Scope, Units, locals_of, renamed, same, units_of

MOST_PAIRED = 16  # locals of one function that are tried against each other
TOP = "<top>"


@dataclass(frozen=True)
class Piece:
    """One simple statement, or the head of a compound one."""

    depth: int
    text: str
    node: ast.AST
    """Only what stands in `text`: the body of a compound statement is other pieces."""

    @property
    def key(self) -> tuple[int, str]:
        """What makes two pieces the same."""
        return self.depth, self.text


@dataclass(frozen=True)
class Change:
    """One unit that differs."""

    unit: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]

    @cached_property
    def blocks(self) -> list[tuple[str, tuple[Piece, ...], tuple[Piece, ...]]]:
        """('equal' | 'replace' | 'delete' | 'insert', pieces before, pieces after)."""
        match = SequenceMatcher(
            None, [p.key for p in self.before], [p.key for p in self.after], autojunk=False
        )
        return [(tag, self.before[a:b], self.after[c:d]) for tag, a, b, c, d in match.get_opcodes()]

    @property
    def removed(self) -> tuple[Piece, ...]:
        """Pieces that are gone."""
        return tuple(p for tag, old, _ in self.blocks if tag != "equal" for p in old)

    @property
    def added(self) -> tuple[Piece, ...]:
        """Pieces that are new."""
        return tuple(p for tag, _, new in self.blocks if tag != "equal" for p in new)


@dataclass(frozen=True)
class Difference:
    """All that differs in a train.py and its config.json."""

    changes: tuple[Change, ...]
    config: Mapping[str, tuple[Any, Any]]
    """Key, with dots into nested objects: (before, after); None where it is missing."""
    before: Units
    after: Units

    def __bool__(self) -> bool:
        return bool(self.changes or self.config)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """('@' | ' ' | '-' | '+', text) of a normalised diff, with two lines around."""
        told: list[tuple[str, str]] = []
        if self.config:
            told.append(("@", "config.json"))
            for name, (old, new) in sorted(self.config.items()):
                told += [(sign, f"{name} = {v!r}"[:200]) for sign, v in (("-", old), ("+", new))]
        for change in self.changes:
            told += [("@", change.unit), *_lines(change)]
        return told

    @property
    def text(self) -> str:
        """The diff as text."""
        return "\n".join(f"{sign} {line}".rstrip() for sign, line in self.lines)


def difference(
    before: str,
    after: str,
    config_before: Mapping[str, Any] | None = None,
    config_after: Mapping[str, Any] | None = None,
) -> Difference:
    """How `after` differs from `before`; both are the text of a train.py.

    Comments, docstrings, annotations, formatting, the order of units, names of locals and the name
    of a function, class or constant that is otherwise the same do not count. A program that is no
    Python raises ValueError.
    """
    old, new = units_of(before, "the train.py before"), units_of(after, "the train.py after")
    new = _with_old_names(old, new)
    changes = []
    for name in (*old, *(n for n in new if n not in old)):
        mine, theirs = old.get(name), new.get(name)
        if mine is not None and theirs is not None:
            if same(mine, theirs):
                continue
            theirs = renamed(theirs, paired_locals(mine, theirs))
        changes.append(Change(name, _pieces_of(mine), _pieces_of(theirs)))
    config = _config(dict(_flat(config_before or {})), dict(_flat(config_after or {})))
    return Difference(tuple(changes), config, old, new)


def pieces(statements: Iterable[ast.AST], depth: int = 0) -> Iterator[Piece]:
    """Statements one by one, heads before bodies; `pass` does nothing and is left out."""
    for statement in statements:
        if isinstance(statement, ast.Pass):
            continue
        bodies = [
            (part, held)
            for part in ("body", "handlers", "orelse", "finalbody", "cases")
            if isinstance(held := getattr(statement, part, None), list) and held
        ]
        for decorator in getattr(statement, "decorator_list", ()):
            yield Piece(depth, f"@{ast.unparse(decorator)}", decorator)
        head = _head(statement) if bodies else statement
        text = ast.unparse(head)
        yield Piece(depth, text.splitlines()[-1] if bodies else text, head)
        for part, held in bodies:
            if part in ("orelse", "finalbody"):
                word = "else:" if part == "orelse" else "finally:"
                yield Piece(depth, word, ast.Pass())
            yield from pieces(held, depth + 1)


def paired_locals(before: ast.stmt, after: ast.stmt) -> dict[str, str]:
    """New names of locals that are old ones under another name, found by trying."""
    old, new = locals_of(before), locals_of(after)
    gone = [n for n in old if n not in new][:MOST_PAIRED]
    come = [n for n in new if n not in old][:MOST_PAIRED]
    names: dict[str, str] = {}
    kept = _alike(before, after, names)
    for name in come:
        for candidate in gone:
            alike = _alike(before, after, names | {name: candidate})
            if alike > kept:
                names, kept = names | {name: candidate}, alike
                gone.remove(candidate)
                break
    return names


def _alike(before: ast.stmt, after: ast.stmt, names: Mapping[str, str]) -> int:
    one = [p.key for p in _pieces_of(before)]
    two = [p.key for p in _pieces_of(renamed(after, names))]
    match = SequenceMatcher(None, one, two, autojunk=False)
    return sum(block.size for block in match.get_matching_blocks())


def _with_old_names(old: Units, new: Units) -> Units:
    """A unit that is there under another name only keeps its old one everywhere."""
    names = {}
    gone = [n for n in old if n not in new and "." not in n and TOP not in n]
    for name in (n for n in new if n not in old and "." not in n and TOP not in n):
        for candidate in gone:
            if same(renamed(new[name], {name: candidate}), old[candidate]):
                names[name] = candidate
                gone.remove(candidate)
                break
    if not names:
        return new
    return {
        ".".join(names.get(part, part) for part in name.split(".")): renamed(unit, names)
        for name, unit in new.items()
    }


def _pieces_of(unit: ast.stmt | None) -> tuple[Piece, ...]:
    return tuple(pieces([unit])) if unit is not None else ()


def _head(statement: ast.AST) -> ast.AST:
    """The statement with nothing in its body."""
    fields = {name: getattr(statement, name) for name in statement._fields}
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        if isinstance(fields.get(part), list):
            fields[part] = []
    if isinstance(statement, Scope | ast.ClassDef):
        fields["decorator_list"] = []
    return ast.fix_missing_locations(ast.copy_location(type(statement)(**fields), statement))


def _lines(change: Change) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    for tag, old, new in change.blocks:
        if tag == "equal":
            around = [*old[:2], None, *old[-2:]] if len(old) > 4 else old
            told += [line for piece in around for line in _shown(" ", piece)]
            continue
        told += [line for piece in old for line in _shown("-", piece)]
        told += [line for piece in new for line in _shown("+", piece)]
    return told


def _shown(sign: str, piece: Piece | None) -> list[tuple[str, str]]:
    if piece is None:
        return [(sign, "...")]
    return [(sign, "    " * piece.depth + line) for line in piece.text.splitlines()]


def _flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _config(old: dict[str, Any], new: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = [*old, *(n for n in new if n not in old)]
    return {n: (old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n)}
