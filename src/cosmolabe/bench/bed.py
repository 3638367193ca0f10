"""The test bed: windows drawn by seed, with the floors and the ceiling measured on them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cosmolabe.bench.ceiling import has_worlds, simulated
from cosmolabe.bench.driving import CHUNK, imagine, imagine_single_steps, join_steps
from cosmolabe.core.episode import Windows
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.rollout import Prediction, WorldModel
from cosmolabe.data.store import Store
from cosmolabe.data.windows import evaluation_windows
from cosmolabe.judges.state import FLOORS as TRIVIAL
from cosmolabe.judges.state import (
    JUDGE,
    StateProtocol,
    WindowScores,
    digest_of,
    every_of,
    score,
    shown_context,
    thinned,
    ticks_of,
)

FLOORS = tuple(model.name for model in TRIVIAL)
"""Names of the trivial models; the better one is the floor."""
NUM_EPISODES = 256  # ours; the public release of AutoWorldModel-Bench looks at about 14
NUM_STREAMS = 4  # ours: futures of other luck averaged into the ceiling


@dataclass(frozen=True)
class Bed:
    """Windows of one store and what is known about them before any model is judged."""

    store: Store
    split: str
    protocol: StateProtocol
    windows: Windows
    skipped: np.ndarray
    """Episodes drawn but too short for a window."""
    floors: dict[str, WindowScores]
    ceiling: WindowScores | None
    """The true simulator with other luck; None where the store cannot replay."""
    data: str
    """Fingerprint of the store and of the windows drawn."""

    @property
    def game(self) -> str:
        """The game played in the store."""
        return self.store.game


def lay_out(
    store: Store,
    split: str = "test",
    protocol: str | StateProtocol = "state/1",
    *,
    num_episodes: int = NUM_EPISODES,
    per_episode: int = 1,
    seed: int = 0,
    horizon: int | None = None,
) -> Bed:
    """Draw the windows and measure floors and ceiling on them; `horizon` looks further ahead."""
    chosen = JUDGE.protocol(protocol) if isinstance(protocol, str) else protocol
    steps = max(chosen.horizon, horizon or 0)
    length = ticks_of(chosen, steps)
    episodes, starts, skipped = evaluation_windows(
        store, split, length, num_episodes, per_episode, seed
    )
    if not len(episodes):
        raise ValueError(
            f"all {len(skipped)} episodes drawn from split '{split}' of {store.game} are shorter "
            f"than {length} states; collect longer ones or ask for a shorter horizon"
        )
    windows = thinned(store.windows(episodes, starts, length), chosen)
    floors = {model.name: play(model, windows, chosen)[0] for model in TRIVIAL}
    return Bed(
        store=store,
        split=split,
        protocol=chosen,
        windows=windows,
        skipped=skipped,
        floors=floors,
        ceiling=_ceiling(store, windows, chosen, steps) if has_worlds(store) else None,
        data=fingerprint(
            store.fingerprint, split, episodes.tolist(), starts.tolist(), digest_of(windows)
        ),
    )


def play(
    model: WorldModel,
    windows: Windows,
    protocol: StateProtocol,
    seed: int = 0,
    chunk: int = CHUNK,
) -> tuple[WindowScores, Prediction]:
    """Let a model imagine the windows and score it."""
    prediction, why = imagine(model, shown_context(windows, protocol), seed, chunk)
    first = None
    if protocol.teacher_forced_first:
        first, more = imagine_single_steps(model, windows, protocol.window, seed, chunk)
        why = tuple(a or b for a, b in zip(why, more, strict=True))
    return score(windows, prediction, protocol, why, first), prediction


def _ceiling(store: Store, windows: Windows, protocol: StateProtocol, steps: int) -> WindowScores:
    every = every_of(protocol)
    now = windows.starts + (protocol.window - 1) * every
    scores = []
    for stream in range(NUM_STREAMS):
        first = None
        if protocol.teacher_forced_first:
            first = join_steps(
                [simulated(store, windows.episodes, now + step, 1, stream) for step in range(steps)]
            )
        future = _each(simulated(store, windows.episodes, now, steps * every, stream), every)
        scores.append(score(windows, future, protocol, (), first))
    return _mean(scores)


def _each(prediction: Prediction, every: int) -> Prediction:
    part = slice(every - 1, None, every)
    return Prediction(
        prediction.states[:, part], prediction.globals[:, part], prediction.terminal[:, part]
    )


def _mean(scores: Sequence[WindowScores]) -> WindowScores:
    """Mean over futures: what is missing is missing in all of them, for it depends on the truth."""
    names = ("composite", "position_l1", "alive_f1", "final", "gap", "count", "alive")
    means = {name: np.mean([getattr(one, name) for one in scores], axis=0) for name in names}
    return WindowScores(**means, why=scores[0].why)
