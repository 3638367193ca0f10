"""What can be said of a change without judging it: what was called, where, and what it reaches."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cosmolabe.arena.analysis.difference import Change, Difference, Piece
from cosmolabe.arena.analysis.normalise import Scope, Units

ROLES = {
    "loss": r"loss|losses|miss|missed|error|errors|objective|criterion|penalty|concern|kl|nll|elbo",
    "features": r"feature|features|encode|decode|bins?|bin_of|token|tokenize|describe|represent"
    r"|quantize|normali[sz]e|next_state|rebuild|rebuilt|symlog|geometry|wrapped|place|scales?",
    "predicting": r"rollout|predict|prediction|imagine|sample|sampler|fill|generate|infer|evaluate"
    r"|pick|settle",
    "training": r"train|training|fit|learn|descend|descent|steps_of|main|optimi[sz]e",
    "schedule": r"rate|lr|schedule|scheduler|slope|warmup|share_of|ema|averaged|optimizer",
    "curriculum": r"curriculum|unroll_at|horizon_at|teacher",
    "disturbing": r"augment|augmented|noisy|noise|mirror|mirrored|jitter|corrupt|flip|flipped"
    r"|perturb|hide|shuffled|eventful|mixup",
    "unrolling": r"unroll|unrolled|story|dream",
}
"""Words of a function's name that tell what it is for (ours)."""
LAYERS = re.compile(
    r"(nn\.)?(Linear|Bilinear|Conv\w+|GRU\w*|LSTM\w*|RNN\w*|Embedding\w*|MultiheadAttention"
    r"|Transformer\w*|LayerNorm|RMSNorm|GroupNorm|BatchNorm\w*|Sequential|ModuleList|ModuleDict"
    r"|Parameter|Dropout\w*|GELU|SiLU|ReLU|ELU|Tanh|Mish|Softplus)"
)
LOSSES = re.compile(
    r".*\b(\w*cross_entropy\w*|\w+_loss|kl_div|kl_divergence|CrossEntropyLoss|MSELoss|L1Loss"
    r"|\w+Loss|log_prob)"
)
LUCK = re.compile(
    r".*\b(rand|randn|randint|randperm|rand_like|randn_like|normal_?|uniform_?|bernoulli_?|multinomial)"
)
OPTIMISING = re.compile(
    r".*\b(optim\.\w+|lr_scheduler\.\w+|AdamW?|SGD|RMSprop|Lion|Muon|Adagrad|clip_grad_\w+"
    r"|AveragedModel|swa_utils\.\w+|update_parameters|GradScaler|backward|zero_grad|lerp_)"
)
STEPPING = re.compile(
    r"(unroll\w*|horizon\w*|steps?|rollout\w*|curriculum|length|imagined\w*|depth)"
)
SAMPLING = re.compile(r"(sampling|sampler|weights|WeightedRandomSampler|shuffle|oversample\w*)")


@dataclass(frozen=True)
class Evidence:
    """One changed unit with what its changed statements hold."""

    change: Change
    roles: frozenset[str]
    module: bool
    """Whether the unit belongs to a class that is a network."""
    trained: bool
    """Whether training may run it."""
    predicting: bool
    """Whether a prediction may run it."""
    calls: Counter[str]
    """New calls, by dotted name, less those that are gone."""
    gone: Counter[str]
    """Calls that are gone, less those that are new."""
    words: Counter[str]
    """New names, attributes, keywords and config keys, less those that are gone."""

    @property
    def only_predicting(self) -> bool:
        """Whether only predictions run it."""
        return self.predicting and not self.trained


def evidence_of(found: Difference) -> list[Evidence]:
    """The evidence of each changed unit."""
    modules = _modules(found.before) | _modules(found.after)
    trained: set[str] = set()
    predicting: set[str] = set()
    for units in (found.before, found.after):
        graph = _calls(units)
        trained |= _reached(units, graph, ("training", "loss"))
        predicting |= _reached(units, graph, ("predicting",))
    told = []
    for change in found.changes:
        new, old = _held(change.added), _held(change.removed)
        told.append(
            Evidence(
                change,
                roles_of(change.unit),
                change.unit.split(".")[0] in modules,
                change.unit in trained,
                change.unit in predicting,
                new[0] - old[0],
                old[0] - new[0],
                new[1] - old[1],
            )
        )
    return told


def roles_of(unit: str) -> frozenset[str]:
    """What a unit is for, by the words of its own name."""
    words = unit.split(".")[-1].lower().strip("_")
    parts = {words, *words.split("_")}
    return frozenset(
        role for role, known in ROLES.items() if any(re.fullmatch(known, part) for part in parts)
    )


def dotted(node: ast.AST) -> str:
    """The dotted name of what is called; an expression in front becomes nothing."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            front = dotted(value)
            return f"{front}.{attr}" if front else f".{attr}"
    return ""


def is_number(node: ast.AST) -> bool:
    """A number or a truth value, with or without a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | type(None))


def walk(pieces: Iterable[Piece]) -> Iterable[ast.AST]:
    """All nodes of some statements."""
    return (node for piece in pieces for node in ast.walk(piece.node))


def _held(pieces: Iterable[Piece]) -> tuple[Counter[str], Counter[str]]:
    calls: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for node in walk(pieces):
        match node:
            case ast.Call(func=func):
                calls[dotted(func)] += 1
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=str(word)):
                words[word] += 1
            case ast.Subscript(slice=ast.Constant(value=str(word))):
                words[word] += 1
    return calls, words


def _modules(units: Units) -> set[str]:
    """Classes that are networks: by their base, or by the base of their base."""
    bases = {
        name: [dotted(base) for base in unit.bases]
        for name, unit in units.items()
        if isinstance(unit, ast.ClassDef)
    }
    found: set[str] = set()
    for _ in bases:
        found |= {
            name
            for name, above in bases.items()
            if any(base.split(".")[-1] in {"Module", "Imagination", *found} for base in above)
        }
    return found


def _calls(units: Units) -> dict[str, set[str]]:
    """Which units a unit names, by the last word of their names."""
    by_word: dict[str, set[str]] = {}
    for name in units:
        by_word.setdefault(name.split(".")[-1], set()).add(name)
    classes = {name for name, unit in units.items() if isinstance(unit, ast.ClassDef)}
    graph: dict[str, set[str]] = {}
    for name, unit in units.items():
        graph[name] = set()
        for node in ast.walk(unit):
            word = getattr(node, "id", getattr(node, "attr", None))
            if isinstance(node, ast.Name | ast.Attribute):
                graph[name] |= by_word.get(word, set())
        if name in classes:  # to build a network, or to call it
            graph[name] |= {f"{name}.{part}" for part in ("__init__", "forward", "__call__")}
        if _calls_a_network(unit):
            graph[name] |= {f"{one}.forward" for one in classes}
    return graph


def _calls_a_network(unit: ast.stmt) -> bool:
    """`self(...)` or `network(...)`: the call of a whole network."""
    return isinstance(unit, Scope) and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("self", "network", "net", "model")
        for node in ast.walk(unit)
    )


def _reached(units: Units, graph: Mapping[str, set[str]], roots: tuple[str, ...]) -> set[str]:
    """Units that functions of these roles lead to."""
    todo = [n for n, u in units.items() if isinstance(u, Scope) and roles_of(n) & set(roots)]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name in found or name not in graph:
            continue
        found.add(name)
        todo += graph[name]
    return found
