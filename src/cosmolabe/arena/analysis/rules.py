"""Sorts an edit by stated rules over its normalised difference; no name of the agent's is believed.

Every rule that holds gives its class so many points and says why; the class with most points is the
edit's, the others stand beside it. Points and words are ours, made on the edits in
`tests/arena/edits/shown.py` and counted once on those in `held_out.py` (docs/arena/analysis.md).
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cosmolabe.arena.analysis.categories import (
    ARCHITECTURE,
    AUGMENTATION,
    BUG_FIX,
    HYPER,
    INFERENCE,
    NONE,
    OBJECTIVE,
    ROLLOUT,
    SCHEDULE,
    STATE,
    TRIVIAL,
)
from cosmolabe.arena.analysis.difference import Change, Difference, Piece
from cosmolabe.arena.analysis.evidence import (
    LAYERS,
    LOSSES,
    LUCK,
    OPTIMISING,
    SAMPLING,
    STEPPING,
    Evidence,
    dotted,
    evidence_of,
    is_number,
    walk,
)

Told = tuple[str, int, str]
"""Class, points, why."""
ORDER = (
    BUG_FIX, ROLLOUT, AUGMENTATION, SCHEDULE, INFERENCE, STATE, OBJECTIVE, ARCHITECTURE, HYPER,
)  # fmt: skip
"""Which class wins where points are equal."""
GUARDS = ("isfinite", "isnan", "nan_to_num", "isinf")
MODES = ("eval", "no_grad", "inference_mode", "requires_grad_")
REPAIRED = 2  # statements that a repair changes at most
BY_HAND = 2  # comparisons with numbers that make a rule of a game


@dataclass(frozen=True)
class Sorted:
    """What the rules say of an edit."""

    category: str
    beside: tuple[str, ...]
    """Other classes that hold, the strongest first."""
    why: tuple[str, ...]
    analytic: bool
    """Whether rules of the game were written by hand into what predicts."""

    @property
    def trivial(self) -> bool:
        """Whether it is numbers alone, or nothing."""
        return self.category in TRIVIAL


def sort_edit(found: Difference) -> Sorted:
    """The class of an edit."""
    if not found:
        return Sorted(NONE, (), ("the program is the same",), False)
    if not any(_acts(change) for change in found.changes):
        why = "only numbers differ" if found.changes else "only the config differs"
        return Sorted(HYPER, (), (why,), False)
    facts = [e for e in evidence_of(found) if _acts(e.change)]
    told = [*_repairs(facts), *(one for e in facts for rule in RULES for one in rule(e))]
    told += [(ARCHITECTURE, 1, f"{e.change.unit}: code of the network") for e in facts if e.module]
    points: Counter[str] = Counter()
    for category, worth, _ in told:
        points[category] = max(points[category], worth)
    if not points:  # code that acts is never a number alone
        points[ARCHITECTURE] = 1
        told = [(ARCHITECTURE, 1, "code that no other rule knows")]
    ranked = sorted(points, key=lambda c: (-points[c], ORDER.index(c)))
    why = sorted(told, key=lambda t: (ranked.index(t[0]), -t[1]))
    return Sorted(
        ranked[0],
        tuple(ranked[1:]),
        tuple(dict.fromkeys(f"{category}: {reason}" for category, _, reason in why)),
        any(_by_hand(e) for e in facts),
    )


def _acts(change: Change) -> bool:
    """Whether more than numbers differ; a number in an index is more than a number."""
    before, after = ([_masked(p) for p in side] for side in (change.removed, change.added))
    return before != after


def _masked(piece: Piece) -> str:
    text = f"{piece.text} pass" if hasattr(piece.node, "body") else piece.text
    try:
        return ast.dump(_Mask().visit(ast.parse(text)))
    except SyntaxError:  # `else:`, a decorator, a handler
        return piece.text


class _Mask(ast.NodeTransformer):
    """Numbers become one and the same; a keyword that only holds a number goes."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A whole number that something is compared with is a bound, more often than a dial."""
        sides = [node.left, *node.comparators]
        node.left, *node.comparators = [s if _is_whole(s) else self.visit(s) for s in sides]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return self.visit(node.operand) if is_number(node) else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(0) if is_number(node) else node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return ast.Constant(0) if all(map(is_number, node.elts)) else self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        self.generic_visit(node)
        plain = isinstance(node.value, ast.Constant) and node.value.value == 0
        return None if plain and type(node.value.value) is int else node


def _is_whole(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


# -- repairs -------------------------------------------------------------------------------------


def _repairs(facts: list[Evidence]) -> Iterator[Told]:
    """A repair is small: at most two statements, and no new layers, losses or luck."""
    size = sum(max(len(e.change.removed), len(e.change.added)) for e in facts)
    calls = sum((e.calls for e in facts), Counter())
    if any(map(LAYERS.fullmatch, calls)) or any(map(LUCK.fullmatch, calls)):
        return
    for e in facts:
        new = {name.split(".")[-1] for name in e.calls}
        if new & set(GUARDS):
            yield BUG_FIX, 5, f"{e.change.unit}: a guard against what is not finite"
        if new and new <= set(MODES):
            yield BUG_FIX, 5, f"{e.change.unit}: a mode that was forgotten"
    if size > REPAIRED:
        return
    for e in facts:
        for tag, old, new in e.change.blocks:
            if tag == "replace" and len(old) == len(new) == 1 and not e.calls and not e.gone:
                if _leaves(old) == _leaves(new):
                    yield BUG_FIX, 6, f"{e.change.unit}: the same words, another sign or order"
                elif _bounds(old) != _bounds(new) and not e.words:
                    yield BUG_FIX, 6, f"{e.change.unit}: another bound"
                elif _indices(old) != _indices(new) and not e.words:
                    yield BUG_FIX, 6, f"{e.change.unit}: another index"
                elif _conditions(new) > _conditions(old):
                    yield BUG_FIX, 5, f"{e.change.unit}: one more condition"


def _leaves(pieces: tuple[Piece, ...]) -> Counter[str]:
    found: Counter[str] = Counter()
    for node in walk(pieces):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                found[word] += 1
            case ast.Constant(value=value):
                found[repr(value)] += 1
    return found


def _indices(pieces: tuple[Piece, ...]) -> list[str]:
    return [ast.unparse(n.slice) for n in walk(pieces) if isinstance(n, ast.Subscript)]


def _bounds(pieces: tuple[Piece, ...]) -> list[str]:
    return [ast.unparse(n) for n in walk(pieces) if isinstance(n, ast.Compare)]


def _conditions(pieces: tuple[Piece, ...]) -> int:
    return sum(isinstance(n, ast.Compare | ast.BoolOp) for n in walk(pieces))


# -- one rule a class ----------------------------------------------------------------------------


def _architecture(e: Evidence) -> Iterator[Told]:
    layers = [name for name in (*e.calls, *e.gone) if LAYERS.fullmatch(name)]
    if layers and (e.module or e.change.unit.split(".")[-1] == "__init__"):
        yield ARCHITECTURE, 6, f"{e.change.unit}: {', '.join(sorted(layers)[:4])}"
    elif e.module and e.change.unit.endswith(".forward"):
        yield ARCHITECTURE, 3, f"{e.change.unit}: another way from input to output"


def _objective(e: Evidence) -> Iterator[Told]:
    if "loss" in e.roles:
        yield OBJECTIVE, 4, f"{e.change.unit}: the loss itself"
    losses = [name for name in (*e.calls, *e.gone) if LOSSES.fullmatch(name)]
    if losses and not e.only_predicting:
        yield OBJECTIVE, 5, f"{e.change.unit}: {', '.join(sorted(losses)[:3])}"


def _rollout(e: Evidence) -> Iterator[Told]:
    if "curriculum" in e.roles:
        yield ROLLOUT, 6, f"{e.change.unit}: how long training imagines"
    if "unrolling" in e.roles and e.trained:
        if any(name.endswith(("detach", "detach_")) for name in e.calls):
            yield ROLLOUT, 6, f"{e.change.unit}: where gradients stop"
        if e.words["training"] or e.words["teacher"]:
            yield ROLLOUT, 6, f"{e.change.unit}: training goes another way than predicting"
    if not e.roles & {"training", "loss"}:
        return
    for node in walk(e.change.added):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [t.id for t in targets if isinstance(t, ast.Name)]
            if any(map(STEPPING.fullmatch, names)) and not is_number(node.value):
                yield ROLLOUT, 6, f"{e.change.unit}: how many frames are imagined now"
    if any(name.split(".")[-1] in ("fill", "rollout", "unroll", "imagine") for name in e.calls):
        yield ROLLOUT, 6, f"{e.change.unit}: training through its own predictions"


def _state(e: Evidence) -> Iterator[Told]:
    if "features" in e.roles:
        yield STATE, 5, f"{e.change.unit}: what is seen or said of an entity"


def _inference(e: Evidence) -> Iterator[Told]:
    if e.only_predicting and "features" not in e.roles:
        yield INFERENCE, 5, f"{e.change.unit}: runs only when predicting"


def _augmentation(e: Evidence) -> Iterator[Told]:
    if "disturbing" in e.roles:
        yield AUGMENTATION, 6, f"{e.change.unit}: disturbs what is trained on"
    luck = [name for name in e.calls if LUCK.fullmatch(name)]
    if luck and e.trained and e.roles & {"training", "loss"}:
        yield AUGMENTATION, 5, f"{e.change.unit}: {luck[0].split('.')[-1]} on the way to the loss"
    if "training" in e.roles and any(SAMPLING.fullmatch(word) for word in e.words):
        yield AUGMENTATION, 5, f"{e.change.unit}: which windows are drawn"


def _schedule(e: Evidence) -> Iterator[Told]:
    if "schedule" in e.roles:
        yield SCHEDULE, 6, f"{e.change.unit}: the rate over time"
    held = {dotted(n.func) for n in walk(e.change.added) if isinstance(n, ast.Call)}
    changed = {name for name in (*held, *e.gone) if OPTIMISING.fullmatch(name)}
    if changed:
        yield SCHEDULE, 6, f"{e.change.unit}: {', '.join(sorted(changed)[:3])}"


RULES: tuple[Callable[[Evidence], Iterator[Told]], ...] = (
    _architecture, _objective, _rollout, _state, _inference, _augmentation, _schedule,
)  # fmt: skip


def _by_hand(e: Evidence) -> bool:
    """Comparisons of states with numbers that choose where something goes, and nothing learnt."""
    if not e.predicting or any(map(LAYERS.fullmatch, e.calls)):
        return False
    compared = sum(
        isinstance(node, ast.Compare)
        and any(is_number(side) for side in (node.left, *node.comparators))
        for node in walk(e.change.added)
    )
    return compared >= BY_HAND and any(name.split(".")[-1] == "where" for name in e.calls)
