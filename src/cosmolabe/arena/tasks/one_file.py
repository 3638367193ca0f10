"""A model and all of `nets` that it uses, told as one file that a session may change.

The text is the package's own, statement by statement, comments included; what nothing in the file
uses is left out. Only names that two modules give to different things are changed.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from cosmolabe.core import parts

INLINED = ("cosmolabe.nets", "cosmolabe.models", "cosmolabe.arena.tasks.starters")
LEFT_OUT = {
    "Descent": ("tensors", "save", "restore"),
    "NetworkWorld": ("save",),
    "Linear": ("save",),
}
"""Methods that serve the package's own checkpoints; a session has but one file of weights."""
GLUE = '''
def load(folder: Path, manifest: Manifest) -> {world}:
    """What was trained in a folder: its config.json says what, weights.safetensors how."""
    return loaded(create(manifest, read_config(folder)["size"]), folder)
'''
END = """
if __name__ == "__main__":
    main(MODEL, Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
"""

Symbol = tuple[str, str]
"""Module and name; of what is not inlined, too."""
ALIASES: dict[Symbol, str] = {}
"""What imports call things by, such as `np`; the package has one alias for each."""


@dataclass
class Piece:
    """One statement at the top of a module, with the comments before and the docstring after it."""

    module: str
    node: ast.stmt
    lines: list[bytes]
    first: int
    """Line number, from 1, of `lines[0]`."""
    defines: tuple[str, ...]
    glued: bool = False
    """Whether it stood directly below the statement before it."""


@dataclass
class Source:
    """A module taken apart."""

    name: str
    summary: str
    pieces: list[Piece]
    imports: dict[str, Symbol] = field(default_factory=dict)
    """What a name that is imported at the top stands for; a whole module has the name ''."""

    @property
    def own(self) -> dict[str, Piece]:
        """The piece that defines each name."""
        return {name: piece for piece in self.pieces for name in piece.defines}


def one_file(model: str) -> str:
    """The source of `train.py` for a model that learns; refused for one that does not."""
    part = parts.load("models", model)
    if not part.trainable:
        have = [name for name in parts.names("models") if parts.load("models", name).trainable]
        raise ValueError(f"'{model}' learns nothing, so there is no session for it; have {have}")
    fitted = hasattr(import_module(f"cosmolabe.models.{model}"), "ridge")
    return _Telling(model, "fitted" if fitted else "network").text()


class _Telling:
    """One file being put together."""

    def __init__(self, model: str, starter: str) -> None:
        self.model = f"cosmolabe.models.{model}"
        self.end = f"cosmolabe.arena.tasks.starters.{starter}"
        self.world = "Linear" if starter == "fitted" else "NetworkWorld"
        self.used: dict[Symbol, None] = {}
        self._use((self.model, "create"))
        for name in ("loaded", "read_config", "main"):
            self._use((self.end, name))
        part = _source(self.model).own["MODEL"]
        for symbol in self._symbols_in(part):
            if symbol != (self.model, "load"):
                self._use(symbol)
        asked = (("sys", ""), ("pathlib", "Path"), ("cosmolabe.core.manifest", "Manifest"))
        for module, name in asked:
            self._use((module, name))
        self.final = self._final_names()

    def text(self) -> str:
        """The whole file."""
        body = []
        for module in self._order():
            body.append(self._module(module))
            if module == self.model:
                glue = GLUE.format(world=self.world).strip("\n")
        body.append(_banner(self.model, "what the session asks for") + f"\n\n\n{glue}")
        body.append(self._piece(_source(self.model).own["MODEL"]).strip("\n") + "\n" + END.rstrip())
        summary = _source(self.model).summary
        about = _docstring(self.model, summary)
        return f"{about}\n\n{self._imports()}\n\n" + "\n\n\n".join(body) + "\n"

    # What is used.

    def _use(self, symbol: Symbol) -> None:
        if symbol in self.used or symbol in ((self.model, "MODEL"), (self.model, "load")):
            return
        self.used[symbol] = None
        module, name = symbol
        if _is_inlined(module):
            for other in self._symbols_in(_source(module).own[name]):
                self._use(other)

    def _symbols_in(self, piece: Piece) -> Iterator[Symbol]:
        source, own = _source(piece.module), _source(piece.module).own
        for node in _kept_nodes(piece.node):
            if isinstance(node, ast.Name):
                if node.id in own:
                    yield piece.module, node.id
                elif node.id in source.imports:
                    yield source.imports[node.id]
            elif isinstance(node, ast.ImportFrom) and _is_inlined(node.module or ""):
                for alias in node.names:
                    yield node.module or "", alias.name
            elif isinstance(node, ast.Constant) and node.value in own:
                yield piece.module, str(node.value)  # an annotation of what comes later

    def _order(self) -> list[str]:
        """Modules, each after those it uses; the session's end after the model."""
        order: list[str] = []

        def visit(module: str) -> None:
            if module in order:
                return
            for name in [name for other, name in self.used if other == module]:
                for other, _ in self._symbols_in(_source(module).own[name]):
                    if _is_inlined(other) and other != module:
                        visit(other)
            if module not in order:
                order.append(module)

        visit(self.model)
        visit(self.end)
        return order

    # Names.

    def _final_names(self) -> dict[Symbol, str]:
        """What each symbol is called in the file: its own name, unless two would share it."""
        wanted: dict[str, list[Symbol]] = defaultdict(list)
        for module, name in self.used:
            local = ALIASES.get((module, name)) or name or module.partition(".")[0]
            wanted[local].append((module, name))
        final = {}
        for local, symbols in wanted.items():
            ranked = sorted(symbols, key=lambda s: (s[0] != self.model, not _is_inlined(s[0])))
            taken_by_glue = local in ("load", "MODEL")
            for place, symbol in enumerate(ranked):
                keeps = place == 0 and not taken_by_glue
                final[symbol] = local if keeps else _qualified(symbol)
        return final

    def _renamed(self, module: str) -> dict[str, str]:
        """Names of a module that are called otherwise in the file."""
        source = _source(module)
        meant = {name: (module, name) for name in source.own} | {
            name: symbol for name, symbol in source.imports.items() if name not in source.own
        }
        return {
            name: self.final[symbol]
            for name, symbol in meant.items()
            if self.final.get(symbol, name) != name
        }

    # Text.

    def _module(self, module: str) -> str:
        source, out = _source(module), _banner(module, _source(module).summary)
        before: Piece | None = None
        for piece in source.pieces:
            chosen = any((module, name) in self.used for name in piece.defines)
            if not chosen or "MODEL" in piece.defines:
                continue
            text = self._piece(piece)
            block = isinstance(piece.node, (ast.FunctionDef, ast.ClassDef))
            tight = before is not None and not block and not _is_block(before)
            gap = "\n\n\n" if not tight else "\n" if piece.glued else "\n\n"
            out += gap + text
            before = piece
        return out

    def _piece(self, piece: Piece) -> str:
        lines = list(piece.lines)
        renames = self._renamed(piece.module)
        _refuse_shadowing(piece, renames)
        spots = [
            (node.lineno, node.col_offset, node.id)
            for node in ast.walk(piece.node)
            if isinstance(node, ast.Name) and node.id in renames
        ]
        for line, column, name in sorted(spots, reverse=True):
            text = lines[line - piece.first]
            after = text[column + len(name.encode()) :]
            lines[line - piece.first] = text[:column] + renames[name].encode() + after
        gone = {number - piece.first for number in _lines_left_out(piece)}
        kept = [line for number, line in enumerate(lines) if number not in gone]
        return _without_runs_of_blanks(b"\n".join(kept).decode())

    def _imports(self) -> str:
        whole, names = set(), defaultdict(set)
        for module, name in self.used:
            if _is_inlined(module):
                continue
            final = self.final[(module, name)]
            if not name:
                alias = "" if final == module else f" as {final}"
                whole.add((f"import {module}{alias}", module))
            elif final != name:
                whole.add((f"from {module} import {name} as {final}", module))
            else:
                names[module].add(name)
        every = [*whole]
        every += [(_from(module, sorted(names[module], key=_case)), module) for module in names]
        groups: dict[int, list[str]] = defaultdict(list)
        for text, module in sorted(every, key=lambda one: (one[0][0] == "f", one[1], one[0])):
            groups[_rank(module)].append(text)
        return "\n\n".join("\n".join(groups[rank]) for rank in sorted(groups))


@cache
def _source(module: str) -> Source:
    path = import_module(module).__file__
    assert path is not None
    data = Path(path).read_bytes()
    lines, tree = data.split(b"\n"), ast.parse(data)
    source = Source(module, (ast.get_docstring(tree) or "").split("\n")[0], [])
    end = 0
    for node in tree.body:
        last = node.end_lineno or node.lineno
        if _is_docstring(node):
            if source.pieces:
                source.pieces[-1].lines += lines[end:last]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            source.imports |= _imported(node)
        else:
            text = lines[end:last]
            blank = next(i for i, line in enumerate(text) if line.strip())
            source.pieces.append(
                Piece(module, node, text[blank:], end + blank + 1, _defined(node), blank == 0)
            )
        end = last
    return source


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, Symbol]:
    found: dict[str, Symbol] = {}
    for alias in node.names:
        if isinstance(node, ast.Import):
            symbol = (alias.name, "")
        else:
            symbol = (node.module or "", alias.name)
        if alias.asname:
            ALIASES[symbol] = alias.asname
        found[alias.asname or alias.name.partition(".")[0]] = symbol
    return found


def _defined(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return (node.name,)
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return tuple(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))


def _kept_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of methods that are left out."""
    yield node
    left_out = LEFT_OUT.get(node.name, ()) if isinstance(node, ast.ClassDef) else ()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and child.name in left_out:
            continue
        yield from _kept_nodes(child)


def _lines_left_out(piece: Piece) -> Iterator[int]:
    """Lines of methods that are left out, and of imports of what now stands in the file."""
    if isinstance(piece.node, ast.ClassDef):
        for child in piece.node.body:
            named = isinstance(child, ast.FunctionDef) and child.name in LEFT_OUT.get(
                piece.node.name, ()
            )
            if named:
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                yield from range(first, (child.end_lineno or first) + 1)
    for node in ast.walk(piece.node):
        if isinstance(node, ast.ImportFrom) and _is_inlined(node.module or ""):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _refuse_shadowing(piece: Piece, renames: Mapping[str, str]) -> None:
    """A name that is changed must mean the same thing everywhere in its statement."""
    for node in ast.walk(piece.node):
        bound = (
            node.arg
            if isinstance(node, ast.arg)
            else node.id
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
            else ""
        )
        assert bound not in renames or bound in piece.defines, (
            f"{piece.module}: '{bound}' means two things in one statement; rename one"
        )
    if isinstance(piece.node, (ast.FunctionDef, ast.ClassDef)):
        assert piece.node.name not in renames, (
            f"{piece.module}: '{piece.node.name}' is defined elsewhere, too"
        )


def _qualified(symbol: Symbol) -> str:
    """A name that says where it comes from: FAR of entities becomes ENTITIES_FAR."""
    module, name = symbol
    stem = module.rpartition(".")[2]
    if name.isupper():
        return f"{stem.upper()}_{name}"
    if name[:1].isupper():
        return f"{stem.title().replace('_', '')}{name}"
    return f"{stem}_{name.lstrip('_')}"


def _is_inlined(module: str) -> bool:
    return module.startswith(tuple(f"{prefix}." for prefix in INLINED))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_block(piece: Piece) -> bool:
    return isinstance(piece.node, (ast.FunctionDef, ast.ClassDef))


def _docstring(model: str, summary: str) -> str:
    name = model.rpartition(".")[2]
    return (
        f'"""{summary}\n\nThe base model `{name}` in one file: yours to change, all of it. It is\n'
        f"cosmolabe's own source, so that training it unchanged gives the package's numbers.\n"
        f'Read it from the end: `main` is called first.\n"""'
    )


def _banner(module: str, summary: str) -> str:
    where = module.removeprefix("cosmolabe.").replace(".", "/")
    text = f"# {'=' * 98}\n# {where}: {summary}"
    return text if len(text.split("\n")[1]) <= 100 else f"# {'=' * 98}\n# {where}:\n# {summary}"


def _without_runs_of_blanks(text: str) -> str:
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip()


def _from(module: str, names: Iterable[str]) -> str:
    names = list(names)
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= 100:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def _case(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def _rank(module: str) -> int:
    import sys

    top = module.partition(".")[0]
    return 0 if top in sys.stdlib_module_names else 2 if top == "cosmolabe" else 1
