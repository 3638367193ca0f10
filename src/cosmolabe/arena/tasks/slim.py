"""The slim package: what a session's code may import of cosmolabe, without any true rules.

Neither `games` nor `engine` nor what needs them is in it: a statement or method that asks for one
of them is left out of its file. It holds the programs of `arena.inside` beside the package.
"""

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import cosmolabe

FORBIDDEN = ("games", "engine", "scenarios")
ROOTS = (
    "cosmolabe.core.episode",
    "cosmolabe.core.model",
    "cosmolabe.core.record",
    "cosmolabe.core.rollout",
    "cosmolabe.core.seeds",
    "cosmolabe.data.store",
    "cosmolabe.data.windows",
)
PROGRAMS = ("begin",)
KNOWS_RULES = ("cosmolabe.data.replay",)
"""Modules that are nothing without the rules."""


def write_slim(folder: Path) -> Path:
    """Write package and programs into a new folder; gives the folder."""
    for module in modules():
        path = _place(folder, module)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(slim_source(module))
    package = folder / "cosmolabe"
    for inner in [package, *(p for p in package.rglob("*") if p.is_dir())]:
        init = inner / "__init__.py"
        if not init.exists():
            init.write_text('"""Part of cosmolabe that a session may use."""\n')
    write_programs(folder, PROGRAMS)
    return folder


def write_programs(folder: Path, names: tuple[str, ...]) -> None:
    """Copy programs of `arena.inside` into a folder."""
    for name in names:
        source = import_module(f"cosmolabe.arena.inside.{name}").__file__
        (folder / f"{name}.py").write_text(Path(str(source)).read_text(encoding="utf-8"))


def covering(package: Path) -> tuple[tuple[Path, str], ...]:
    """What hides an installed cosmolabe in a sandbox that shows this interpreter's packages.

    The slim package is laid over the whole one. Where cosmolabe is a link to a source folder, the
    link leads nowhere in there and nothing has to be hidden.
    """
    installed = Path(cosmolabe.__file__).resolve().parent
    shown = {Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix)}
    if not any(installed.is_relative_to(prefix) for prefix in shown):
        return ()
    return ((package / "cosmolabe", str(installed)),)


def modules() -> list[str]:
    """All modules of the slim package: what the roots need, and what that needs."""
    found: dict[str, None] = {}

    def visit(module: str) -> None:
        if module in found:
            return
        found[module] = None
        for other in _asked_by(ast.parse(slim_source(module))):
            visit(other)

    for root in ROOTS:
        visit(root)
    return sorted(found)


def slim_source(module: str) -> str:
    """A module's text without whatever needs the true rules."""
    source = Path(str(import_module(module).__file__)).read_text()
    tree = ast.parse(source)
    gone = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and _knows_rules(node.module or "")
        for alias in node.names
    }
    if not gone:
        return source
    body = [_without(node, gone) for node in tree.body]
    tree.body = [node for node in body if node is not None]
    return ast.unparse(tree) + "\n"


def _without(node: ast.stmt, gone: set[str]) -> ast.stmt | None:
    """The statement without what uses these names; None where nothing is left of it."""
    if isinstance(node, ast.ImportFrom) and _knows_rules(node.module or ""):
        return None
    if isinstance(node, ast.ClassDef):
        body = [_without(child, gone) for child in node.body]
        node.body = [child for child in body if child is not None]
        return node if node.body else None
    for inner in ast.walk(node):
        if isinstance(inner, ast.Dict):
            pairs = [
                (k, v) for k, v in zip(inner.keys, inner.values, strict=True) if not _uses(v, gone)
            ]
            inner.keys, inner.values = [k for k, _ in pairs], [v for _, v in pairs]
    return None if _uses(node, gone) else node


def _uses(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node))


def _knows_rules(module: str) -> bool:
    return module.startswith(tuple(f"cosmolabe.{name}" for name in FORBIDDEN)) or (
        module in KNOWS_RULES
    )


def _asked_by(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cosmolabe."):
            yield node.module or ""


def _place(folder: Path, module: str) -> Path:
    path = folder.joinpath(*module.split("."))
    if Path(str(import_module(module).__file__)).name == "__init__.py":
        return path / "__init__.py"
    return path.with_suffix(".py")
