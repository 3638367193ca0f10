"""A program without what does not act: comments, docstrings, annotations, order, local names.

Comments and formatting fall away because the text is parsed and written again. What an agent could
still say to a reader of the code (long strings, very long names) is replaced by its hash.
"""

import ast
import copy
import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache

MOST_BYTES = 1 << 20  # of one program
MOST_NAME, MOST_TEXT = 40, 24  # characters of a name, of a string
WORD = re.compile(r"[\w./%:+-]*")
Scope = ast.FunctionDef | ast.AsyncFunctionDef

Units = dict[str, ast.stmt]
"""The pieces of a program by qualified name, each of which may stand anywhere in the file."""


def parse(source: str, where: str = "train.py") -> ast.Module:
    """The syntax tree; what is no Python, or too long to be a train.py, is refused."""
    if len(source.encode("utf-8", "replace")) > MOST_BYTES:
        raise ValueError(f"{where} is longer than {MOST_BYTES} bytes")
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{where} is no Python ({error})") from None


@lru_cache(maxsize=64)  # a session's runs mostly share their code; units are never changed
def units_of(source: str, where: str = "train.py") -> Units:
    """Functions, methods, class bodies, constants, imports and what else stands at the top."""
    units: Units = {}
    try:
        for statement in _Plain().visit(parse(source, where)).body:
            _collect(statement, "", units)
    except RecursionError:
        raise ValueError(f"{where} is nested too deeply to be read") from None
    return units


def same(one: ast.stmt, two: ast.stmt) -> bool:
    """Whether two units act the same whatever their locals are called."""
    if type(one) is not type(two):
        return False
    return ast.dump(one) == ast.dump(two) or ast.dump(_numbered(one)) == ast.dump(_numbered(two))


def locals_of(unit: ast.stmt) -> list[str]:
    """Names that a function binds and nobody outside can use, in order of appearance."""
    if not isinstance(unit, Scope):
        return []
    outside: set[str] = {"self", "cls"}
    found: dict[str, None] = {}
    for node in ast.walk(unit):
        if isinstance(node, ast.Global | ast.Nonlocal):
            outside.update(node.names)
        elif isinstance(node, ast.keyword) and node.arg:
            outside.add(node.arg)  # a parameter that is named in a call is no private matter
    for node in _in_order(unit):
        name = _bound(node)
        if name and name not in outside and node is not unit:
            found[name] = None
    return list(found)


def renamed(unit: ast.stmt, names: Mapping[str, str]) -> ast.stmt:
    """A copy with other names."""
    return _Rename(names).visit(copy.deepcopy(unit)) if names else unit


def _bound(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return name
        case ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.ExceptHandler(name=str(name)):
            return name
    return None


def _in_order(node: ast.AST) -> list[ast.AST]:
    """The node and all below it, as they are read."""
    return [node] + [deep for child in ast.iter_child_nodes(node) for deep in _in_order(child)]


def _numbered(unit: ast.stmt) -> ast.stmt:
    names = {name: f"\N{MIDDLE DOT}{place}" for place, name in enumerate(locals_of(unit))}
    return renamed(unit, names)


def _collect(statement: ast.stmt, above: str, units: Units) -> None:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _put(units, above + statement.name, statement)
        case ast.ClassDef(name=name):
            body = [part for part in statement.body if not isinstance(part, Scope | ast.ClassDef)]
            for part in statement.body:
                if part not in body:
                    _collect(part, f"{above}{name}.", units)
            statement.body = body or [ast.Pass()]
            _put(units, above + name, statement)
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            _put(units, above + ast.unparse(target), statement)
        case ast.Import() | ast.ImportFrom():
            for alias in statement.names:
                single = copy.deepcopy(statement)
                single.names = [alias]
                _put(units, f"import {alias.asname or alias.name}", single)
        case _:
            _put(units, f"{above}<top>", statement)


def _put(units: Units, name: str, statement: ast.stmt) -> None:
    """A second unit of one name (an overload, a branch) gets a number."""
    free, number = name, 1
    while free in units:
        number += 1
        free = f"{name} #{number}"
    units[free] = statement


class _Plain(ast.NodeTransformer):
    """Takes away docstrings and annotations, and hashes what speaks to a reader."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for part in ("body", "orelse", "finalbody"):
            held = getattr(node, part, None)
            if isinstance(held, list) and held:
                acting = [s for s in held if not isinstance(s, ast.Pass)]
                setattr(node, part, acting or [ast.Pass()] * (not isinstance(node, ast.Module)))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = _short(node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = _short(node.name), None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.name, node.returns = _short(node.name), None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg, node.annotation = _short(node.arg), None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Name("_", ast.Load())
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = _short(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = _short(node.attr)
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        node.arg = _short(node.arg) if node.arg else node.arg
        return self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> ast.AST:
        node.name = ".".join(_short(part) for part in node.name.split("."))
        node.asname = _short(node.asname) if node.asname else node.asname
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str | bytes):
            node.value, node.kind = _quiet(node.value), None
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A constant that stands alone is a comment."""
        return ast.Pass() if isinstance(node.value, ast.Constant) else self.generic_visit(node)


class _Rename(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self.names.get(node.name, node.name) if node.name else None
        return self.generic_visit(node)


def _short(name: str) -> str:
    return name if len(name) <= MOST_NAME else f"name_{_hash(name)}"


def _quiet(text: str | bytes) -> str | bytes:
    if isinstance(text, bytes):
        return text if len(text) <= MOST_TEXT else f"bytes_{_hash(text.hex())}".encode()
    quiet = len(text) <= MOST_TEXT and WORD.fullmatch(text)
    return text if quiet else f"text_{_hash(text)}"


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
