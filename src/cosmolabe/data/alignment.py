"""Which action belongs to which step of a store: the lag at which actions explain what happens.

By our convention row t holds s_t and the action chosen after seeing it, so a_t explains the way
from s_t to s_{t+1}. A log that is off by one reads as well as a sound one and ruins every model
trained on it. So, for each lag from -3 to 3: how much better is the change from s_t to s_{t+1}
foretold when a_{t+lag} is known too? Ridge regressions say so, always on episodes they were not
fitted on; the interval comes from drawing episodes again.

Columns of the state are looked at one by one, and the verdict is the latest lag that is clearly a
column's best: effects never precede their cause, but a frog may crouch before it hops. Players that
follow a policy act on what they saw, so their later actions betray what happened: where the store
has enough episodes played by whim, those alone are used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from cosmolabe.core import bootstrap
from cosmolabe.core.episode import Episode, shortest_way
from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.seeds import generator
from cosmolabe.data.store import Store

LAGS = tuple(range(-3, 4))
NUM_EPISODES = 48  # ours: enough for lags to part in a few seconds
MOST_STATES = 600  # of one episode
FOLDS = 4
WHIMS = ("random", "sticky")  # players whose actions follow from nothing
RIDGE = 3e-2  # per row, on features scaled to spread 1 (our choice)
COUNTERS = ("score", "reward", "level", "lives", "tick_share", "time_left", "opponent_score")
LEAST = 0.005
"""Explained share, of all columns together, below which actions explain nothing (our choice)."""
LEAST_COLUMN = 0.02
"""The same of one column, which must also reach `LEAST_SHARE` of the best column's (our choice)."""
LEAST_SHARE = 0.2
STRICT = 0.99  # level of a column's interval: there are many columns
LEAP = 0.1  # shares of the world a tick: a teleport, which no regression should be bent by
MOST_SLOTS = 12  # of each group, those that move most
FEW = 20  # changes of a column: with fewer it says nothing


@dataclass(frozen=True)
class Lag:
    """How much of what happens is explained at one lag."""

    lag: int
    explained: float
    """Share of the unexplained change that knowing the action takes away, on held-out episodes."""
    low: float
    high: float


@dataclass(frozen=True)
class Alignment:
    """What a check found; `best` is None where it cannot tell, and `why` says why."""

    what: str
    lags: tuple[Lag, ...]
    best: int | None
    why: str
    episodes: int
    measured: int
    """Columns of state that entered, or frames."""

    @property
    def ok(self) -> bool:
        """False where another lag than 0 is clearly the best."""
        return self.best in (None, 0)


@dataclass
class Losses:
    """Held-out squared errors (episode, column) by lag, and without any action."""

    names: list[str] = field(default_factory=list)
    without: list[np.ndarray] = field(default_factory=list)
    by_lag: dict[int, list[np.ndarray]] = field(default_factory=lambda: {lag: [] for lag in LAGS})


def align(store: Store, num_episodes: int = NUM_EPISODES, seed: int = 0) -> list[Alignment]:
    """Of the controllable slots, then of all mutable ones: lag by lag, and which is best."""
    episodes = sample(store, num_episodes, seed)
    return align_episodes(store.manifest, episodes, seed)


def verdict(found: Sequence[Alignment]) -> Alignment:
    """What the controllable slots say, or where they say nothing, what all mutable ones do."""
    told = [one for one in found if one.best is not None]
    return (told or list(found))[0]


def sample(store: Store, num_episodes: int, seed: int) -> list[Episode]:
    """Some episodes that are long enough, cut to `MOST_STATES`."""
    if num_episodes < FOLDS:
        raise ValueError(f"alignment needs {FOLDS} episodes or more; got {num_episodes}")
    long = np.flatnonzero(store.lengths >= len(LAGS) + 2)
    whims = np.array([number for number in long if store.player(int(number)) in WHIMS], np.int64)
    long = whims if len(whims) >= 2 * FOLDS else long
    chosen = generator("alignment", seed).permutation(long)[:num_episodes]
    return [cut(store.episode(int(number))) for number in np.sort(chosen)]


def cut(episode: Episode) -> Episode:
    """The first `MOST_STATES` states."""
    some = slice(None, MOST_STATES)
    return Episode(
        registry=episode.registry,
        states=episode.states[some],
        actions=episode.actions[some],
        globals=episode.globals[some],
        terminal=episode.terminal[some],
    )


def align_episodes(
    manifest: Manifest, episodes: Sequence[Episode], seed: int = 0
) -> list[Alignment]:
    """As `align`, of episodes at hand."""
    steered = [row for row, slot in enumerate(manifest.slots) if slot.controllable]
    moving = [row for row, slot in enumerate(manifest.slots) if slot.mutable]
    groups = {"controllable": steered, "mutable": moving}
    found, seen = [], {}
    for name, slots in groups.items():
        losses = Losses()
        for slot in _liveliest(episodes, slots):
            if slot not in seen:
                seen[slot] = _losses_of(manifest, episodes, slot)
            losses.names += seen[slot].names
            losses.without += seen[slot].without
            for lag in LAGS:
                losses.by_lag[lag] += seen[slot].by_lag[lag]
        found.append(_verdict(f"actions, {name} slots", losses, len(episodes), seed))
    return found


def _liveliest(episodes: Sequence[Episode], slots: list[int]) -> list[int]:
    """The slots that change most often, `MOST_SLOTS` at most, in the manifest's order."""
    if len(slots) <= MOST_SLOTS:
        return slots
    changes = np.zeros(len(slots))
    for episode in episodes:
        places = episode.states[:, slots, : ALIVE + 1]
        changes += (np.diff(places, axis=0) != 0).any(-1).sum(0)
    return sorted(slots[k] for k in np.argsort(-changes, kind="stable")[:MOST_SLOTS])


def _losses_of(manifest: Manifest, episodes: Sequence[Episode], slot: int) -> Losses:
    """Of one slot: its motion and fields while it lives, and whether it lives."""
    losses = Losses()
    if len(episodes) < FOLDS:
        return losses
    parts = [_Part(manifest, episode, slot) for episode in episodes]
    for living in (True, False):
        rows = [part.lives if living else np.ones_like(part.lives) for part in parts]
        targets = [part.changes if living else part.births for part in parts]
        targets = [target[some] for target, some in zip(targets, rows, strict=True)]
        kept = _worth(np.concatenate(targets))
        if not kept.any():
            continue
        targets = [target[:, kept] for target in targets]
        names = parts[0].names if living else ["alive"]
        slot_name = manifest.slots[slot].name
        losses.names += [f"{slot_name}.{n}" for n, keep in zip(names, kept, strict=True) if keep]
        before = [part.before[some] for part, some in zip(parts, rows, strict=True)]
        losses.without.append(held_out_errors(before, targets))
        for lag in LAGS:
            told = [part.with_action(lag)[some] for part, some in zip(parts, rows, strict=True)]
            losses.by_lag[lag].append(held_out_errors(told, targets))
    return losses


class _Part:
    """One episode as one slot sees it, at the steps for which every lag has an action."""

    def __init__(self, manifest: Manifest, episode: Episode, slot: int) -> None:
        first, last = -LAGS[0], len(episode) - 1 - LAGS[-1]
        self.at = np.arange(first, last)
        states = episode.states[:, slot].astype(np.float64)
        masks = manifest.masks()
        fields = FIELDS_START + np.flatnonzero(masks.fields)
        history = np.arange(states.shape[1] - NUM_HISTORY, states.shape[1])
        used = np.concatenate([[0, 1, 2, 3, 4], fields, history])
        now, after = states[self.at], states[self.at + 1]
        numbers = _context(manifest, episode)[self.at]
        rests = (np.abs(now[:, 3:5]).sum(1, keepdims=True) < 1e-7).astype(np.float64)
        self.before = np.concatenate([now[:, used], rests, numbers], 1)
        step = after[:, :2] - now[:, :2]
        step = shortest_way(step, masks.wrap)
        both = (now[:, ALIVE] > 0.5) & (after[:, ALIVE] > 0.5)
        self.lives = both & (np.abs(step) < LEAP).all(1)
        turned = after[:, fields] - now[:, fields]
        turns = np.array([manifest.profile.state_columns[f] == "rotation" for f in fields], bool)
        turned = shortest_way(turned, turns)
        self.changes = np.concatenate([step, turned], 1)
        self.names = ["x", "y", *(manifest.profile.state_columns[f] for f in fields)]
        self.births = (after[:, ALIVE] - now[:, ALIVE])[:, None]
        # What one steers answers as its own state lets it: a ship is pushed where it points to,
        # a frog hops when it rests.
        steered = manifest.slots[slot].controllable
        own = now[:, np.concatenate([[0, 1, 3, 4], fields])]
        meets = np.concatenate([own, rests, numbers], 1)
        self.meets = meets if steered else meets[:, :0]
        self.actions = episode.actions[:, masks.actions].astype(np.float64)

    def with_action(self, lag: int) -> Float[np.ndarray, "row feature"]:
        """What was known before, the action at `lag`, and how the two meet."""
        action = self.actions[self.at + lag]
        met = (action[:, :, None] * self.meets[:, None]).reshape(len(action), -1)
        return np.concatenate([self.before, action, np.abs(action), met], 1)


def _context(manifest: Manifest, episode: Episode) -> np.ndarray:
    """Globals that say what an action can do now, a waiting time say; no counters of the past."""
    names = manifest.profile.global_fields
    wanted = [n for n in manifest.globals if n not in COUNTERS]
    return episode.globals[:, [names.index(n) for n in wanted]].astype(np.float64)


def _worth(rows: Float[np.ndarray, "_ column"]) -> np.ndarray:
    """Columns that change often enough, and not the same way every time."""
    if not len(rows):
        return np.zeros(rows.shape[1], bool)
    return ((np.abs(rows) > 1e-7).sum(0) >= FEW) & (rows.std(0) > 1e-7)


def held_out_errors(
    features: Sequence[Float[np.ndarray, "_ feature"]],
    targets: Sequence[Float[np.ndarray, "_ column"]],
) -> Float[np.ndarray, "episode column"]:
    """Squared errors of each episode under the ridge fitted on the episodes of other folds."""
    every = np.concatenate(features)
    middle, spread = every.mean(0), every.std(0)
    spread[spread < 1e-9] = np.inf  # a column that never changes says nothing
    scaled = [np.concatenate([np.ones((len(x), 1)), (x - middle) / spread], 1) for x in features]
    grams = np.stack([x.T @ x for x in scaled])
    crosses = np.stack([x.T @ y for x, y in zip(scaled, targets, strict=True)])
    errors = np.zeros((len(features), targets[0].shape[1]))
    fold = np.arange(len(features)) % FOLDS
    for held in range(FOLDS):
        learn = fold != held
        count = sum(len(x) for x, used in zip(scaled, learn, strict=True) if used)
        penalty = RIDGE * max(count, 1) * np.eye(grams.shape[1])
        penalty[0, 0] = 1e-9
        weights = np.linalg.solve(grams[learn].sum(0) + penalty, crosses[learn].sum(0))
        for number in np.flatnonzero(fold == held):
            errors[number] = ((targets[number] - scaled[number] @ weights) ** 2).sum(0)
    return errors


def _verdict(what: str, losses: Losses, num_episodes: int, seed: int) -> Alignment:
    if not losses.without:
        lags = tuple(Lag(lag, np.nan, np.nan, np.nan) for lag in LAGS)
        why = "cannot tell: nothing here changes often enough"
        if num_episodes < FOLDS:
            long = f"of {len(LAGS) + 2} states or more"
            why = f"cannot tell: it takes {FOLDS} episodes {long}, found {num_episodes}"
        return Alignment(what, lags, None, why, num_episodes, 0)
    without = np.concatenate(losses.without, 1)
    scale = np.maximum(without.sum(0), 1e-12)
    base = without / scale
    kept = np.stack([np.concatenate(losses.by_lag[lag], 1) / scale for lag in LAGS], 2)
    weights = bootstrap.resamples(np.arange(num_episodes), seed=seed)
    total = np.maximum(weights @ base.sum(1), 1e-12)
    drawn = 1 - (weights @ kept.sum(1)) / total[:, None]
    explained = 1 - kept.sum((0, 1)) / base.sum()
    best, why = choose(explained, drawn, "actions explain nothing of what happens")
    rivals = rivals_of(explained, drawn)
    answers = _answers(losses.names, base, kept, weights) if explained.max() >= LEAST else {}
    latest = max(answers.values(), default=LAGS[0])
    if answers and (latest in rivals or (best is not None and latest > best)):
        best = latest
        late = sorted(f"{name} at {lag:+d}" for name, lag in answers.items() if lag < best)
        why = f"answers later: {', '.join(late)}" if late else ""
    low, high = bootstrap.interval(drawn)
    lags = tuple(
        Lag(lag, float(e), float(a), float(b))
        for lag, e, a, b in zip(LAGS, explained, low, high, strict=True)
    )
    return Alignment(what, lags, best, why, num_episodes, without.shape[1])


def _answers(
    names: Sequence[str],
    base: Float[np.ndarray, "episode column"],
    kept: Float[np.ndarray, "episode column lag"],
    weights: Float[np.ndarray, "resample episode"],
) -> dict[str, int]:
    """The columns that answer to actions with one clear lag, and that lag."""
    explained = 1 - kept.sum(0) / np.maximum(base.sum(0), 1e-12)[:, None]
    least = max(LEAST_COLUMN, LEAST_SHARE * float(explained.max()))
    found = {}
    for column in np.flatnonzero(explained.max(1) >= least):
        total = np.maximum(weights @ base[:, column], 1e-12)
        drawn = 1 - (weights @ kept[:, column]) / total[:, None]
        best, _ = choose(explained[column], drawn, "", STRICT)
        if best is not None:
            found[names[column]] = best
    return found


def choose(
    explained: Float[np.ndarray, " lag"],
    drawn: Float[np.ndarray, "resample lag"],
    nothing: str,
    level: float = bootstrap.LEVEL,
) -> tuple[int | None, str]:
    """The lag that leads all others in the resamples too, or None and why there is none."""
    top = int(np.argmax(explained))
    low = bootstrap.interval(drawn, level)[0]
    if not (explained[top] >= LEAST and low[top] > 0):
        return None, f"cannot tell: {nothing}"
    rivals = rivals_of(explained, drawn, level)
    if len(rivals) > 1:
        names = ", ".join(f"{lag:+d}" for lag in rivals)
        return None, f"cannot tell: lags {names} do equally well"
    return LAGS[top], ""


def rivals_of(
    explained: Float[np.ndarray, " lag"],
    drawn: Float[np.ndarray, "resample lag"],
    level: float = bootstrap.LEVEL,
) -> list[int]:
    """The leading lag and all that are not clearly behind it."""
    top = int(np.argmax(explained))
    behind = bootstrap.interval(drawn[:, [top]] - drawn, level)[0]
    return [lag for k, lag in enumerate(LAGS) if k == top or not behind[k] > 0]
