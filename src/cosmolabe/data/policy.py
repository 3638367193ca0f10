"""Trained players: a small network a game, kept as plain arrays beside a JSON record.

`recipes/players.py` trains them (Stable-Baselines3, extra `rl`) and writes `policies/<game>.npz`
and `.json`; to play one needs neither torch nor that extra.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from jaxtyping import Float32

from cosmolabe.core import parts
from cosmolabe.core.record import read_json, versions, write_json, written_whole
from cosmolabe.data.arrays import read_npz
from cosmolabe.data.sight import Sight
from cosmolabe.engine import policy as kernels
from cosmolabe.engine.game import Game

FOLDER = Path(__file__).parent / "policies"
SCHEMA = 1
WIDTH = 64
"""Units of each of the two hidden layers."""
ARRAYS = {
    "table": (np.int64, 2),
    "agent": (np.int64, 1),
    "period": (np.float64, 1),
    "crowd": (np.int64, 2),
    "norm": (np.float32, 2),
    "first": (np.float32, 2),
    "second": (np.float32, 2),
    "third": (np.float32, 2),
}
MOST_BYTES = 1 << 22  # unpacked; ours are a few 10 kB
LONGEST_HOLD = 3600  # ticks
WEIGHTS = ("norm", "first", "second", "third")


@dataclass(frozen=True)
class PolicyRecord:
    """Where a policy comes from."""

    game: str
    version: int
    """Of the game's rules."""
    algorithm: str
    steps: int
    """Decisions it learnt from, all worlds together."""
    seed: int
    hold: int
    """Ticks a decision stands for."""
    sampled: bool
    """Whether it draws from its softmax (PPO) or takes the best action (DQN)."""
    features: tuple[str, ...]
    """What it sees, in order."""
    actions: tuple[str, ...]
    training_seconds: float
    """Process time."""
    measured: Mapping[str, float | int] = field(default_factory=dict)
    """Mean over episodes no training saw: score, shaped return and so on."""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the algorithm and the weights of the reward's terms."""
    versions: Mapping[str, str] = field(default_factory=versions)
    schema: int = SCHEMA


@dataclass(frozen=True)
class Policy:
    """A network and what it looks at."""

    record: PolicyRecord
    sight: Sight
    norm: Float32[np.ndarray, "2 feature"]
    first: Float32[np.ndarray, "feature_and_one hidden"]
    """Weights (input, output) of the first layer; the last row is the bias, as in all layers."""
    second: Float32[np.ndarray, "hidden_and_one hidden"]
    third: Float32[np.ndarray, "hidden_and_one action"]

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All numbers, by the names they have on disk."""
        sight = self.sight
        return {
            "table": sight.table,
            "agent": sight.agent,
            "period": sight.period,
            "crowd": sight.crowd,
            "norm": self.norm,
            "first": self.first,
            "second": self.second,
            "third": self.third,
        }

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when a decision could."""
        whole = xxhash.xxh3_64(f"{self.record.hold} {self.record.sampled}".encode())
        for name, array in self.arrays.items():
            whole.update(f"{name} {array.dtype} {array.shape}".encode())
            whole.update(np.ascontiguousarray(array).data if array.size else b"")
        return whole.hexdigest()

    def features(
        self, rows: Float32[np.ndarray, "batch public"]
    ) -> Float32[np.ndarray, "batch feature"]:
        """What the network is told of public rows."""
        return self.sight.features(rows, self.norm)

    def logits(
        self, rows: Float32[np.ndarray, "batch public"]
    ) -> Float32[np.ndarray, "batch action"]:
        """Logits (PPO) or values (DQN) of every action, from public rows."""
        out = np.zeros((len(rows), self.third.shape[1]), np.float32)
        kernels.think_all(self.features(rows), self.first, self.second, self.third, out)
        return out

    def play(
        self,
        game: Game,
        worlds: np.ndarray,
        constants: np.ndarray,
        luck: np.ndarray,
        randomness: float,
        actions: np.ndarray,
        keyframes: np.ndarray,
        keyframe_every: int,
        lengths: np.ndarray,
    ) -> None:
        """Play a batch of worlds to their end, as `engine.kernels.play` does."""
        sight = self.sight
        kernels.play_policy(
            game.step, worlds, constants[None], luck, randomness, self.record.hold,
            self.record.sampled, sight.table, sight.agent, sight.period, sight.crowd, self.norm,
            self.first, self.second, self.third, game.num_public, actions, keyframes,
            keyframe_every, lengths,
        )  # fmt: skip


def trained_games(folder: Path = FOLDER) -> tuple[str, ...]:
    """Games that have a trained player."""
    return tuple(sorted(path.stem for path in folder.glob("*.npz")))


@cache
def policy_of(game: str) -> Policy:
    """The trained player of a game; a game without one is refused with those that have one."""
    if game not in trained_games():
        raise ValueError(
            f"no trained player of '{game}'; have {list(trained_games())}. Choose another "
            f"player, or train one with recipes/players.py"
        )
    return read_policy(FOLDER, parts.load("games", game))


def write_policy(folder: Path, policy: Policy) -> None:
    """Both files of a policy, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    name = policy.record.game
    with (
        written_whole(folder / f"{name}.npz") as path,
        path.open("wb") as file,
    ):
        np.savez_compressed(file, allow_pickle=False, **policy.arrays)
    write_json(folder / f"{name}.json", policy.record)


def read_policy(folder: Path, game: Game) -> Policy:
    """The policy of a game; what does not fit the game or itself is refused."""
    record = _read_record(folder / f"{game.name}.json", game)
    path = folder / f"{game.name}.npz"
    arrays = read_npz(path, ARRAYS, MOST_BYTES)
    for name, (dtype, axes) in ARRAYS.items():
        got = arrays[name]
        if got.dtype != dtype or got.ndim != axes or not np.isfinite(got).all():
            raise ValueError(
                f"{path}: array '{name}' is {got.dtype} of shape {got.shape} and must be finite "
                f"{np.dtype(dtype)} with {axes} axes; train again with recipes/players.py"
            )
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    told = _misfit(arrays, record, game)
    if told:
        raise ValueError(f"{path}: {told}; train again with recipes/players.py")
    looks = {name: arrays[name] for name in ARRAYS if name not in WEIGHTS}
    weights = {name: arrays[name] for name in WEIGHTS}
    return Policy(record, Sight(record.features, **looks), **weights)


def _read_record(path: Path, game: Game) -> PolicyRecord:
    content = read_json(path)
    known = {f.name for f in fields(PolicyRecord)}
    if not isinstance(content, dict) or set(content) != known or content["schema"] != SCHEMA:
        raise ValueError(f"{path} is no record of a policy; train again with recipes/players.py")
    for name in ("features", "actions"):
        if not isinstance(content[name], list):
            raise ValueError(f"{path}: {name} is a list of names; got {content[name]!r:.60}")
    hold = content["hold"]
    hold_fits = type(hold) is int and 1 <= hold <= LONGEST_HOLD
    if not hold_fits or type(content["sampled"]) is not bool:
        raise ValueError(
            f"{path}: hold is a count of ticks, 1 to {LONGEST_HOLD}, and sampled true or false"
        )
    texts: dict[str, Any] = {name: tuple(content[name]) for name in ("features", "actions")}
    record = PolicyRecord(**{**content, **texts})
    have = (game.name, game.manifest.version, game.actions)
    if (record.game, record.version, record.actions) != have:
        raise ValueError(
            f"{path}: learnt {record.game} version {record.version}, its rules here are {have[0]} "
            f"version {have[1]}; train again with recipes/players.py"
        )
    return record


def _misfit(arrays: dict[str, np.ndarray], record: PolicyRecord, game: Game) -> str:
    """What does not fit, or nothing: afterwards no index can leave its array."""
    table, columns = arrays["table"], game.num_public
    features, hidden = len(table), arrays["second"].shape[1]
    shapes = {
        "table": (len(record.features), 4),
        "agent": (3,),
        "period": (2,),
        "crowd": (len(arrays["crowd"]), 3),
        "norm": (2, features),
        "first": (features + 1, hidden),
        "second": (hidden + 1, hidden),
        "third": (hidden + 1, len(game.actions)),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            return f"array '{name}' has shape {arrays[name].shape}, expected {shape}"
    kind, first, second, alive = table.T
    pairs = np.isin(kind, (kernels.AHEAD, kernels.ACROSS, kernels.FORWARD, kernels.SIDEWAYS))
    turns = np.isin(kind, (kernels.SINE, kernels.COSINE))
    within = (
        (kind >= kernels.PLAIN) & (kind <= kernels.OCCUPIED)
        & (_is_column(first, columns) | (kind == kernels.OCCUPIED))
        & (_is_column(second, columns) | ~pairs)
        & ((second != 0) | ~turns)
        & (_is_column(alive, columns) | (alive == -1))
    ).all()  # fmt: skip
    agent = arrays["agent"]
    within &= (_is_column(agent, columns) | (agent == -1)).all()
    within &= bool(agent[2] >= 0) or not pairs.any()
    within &= _is_column(arrays["crowd"], columns).all() and (arrays["period"] >= 0).all()
    return "" if within else f"it looks at what {game.name} does not show"


def _is_column(numbers: np.ndarray, columns: int) -> np.ndarray:
    return (numbers >= 0) & (numbers < columns)
