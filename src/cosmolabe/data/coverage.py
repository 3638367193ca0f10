"""How much of the late game a store has seen: a model cannot learn what no player reached."""

from dataclasses import dataclass

import numpy as np

from cosmolabe.data.replay import SCRIPT, ReplayStore


@dataclass(frozen=True)
class Coverage:
    """One player's share of the late game, in one store."""

    game: str
    player: str
    episodes: int
    frames: int
    """States, the first of each episode included."""
    late_frames: float
    """Share of states that belong to the late game; NaN where the game does not say."""
    late_episodes: float
    """Share of episodes that reach it."""
    median_length: float
    terminated: float
    """Share of episodes that the rules, the game's own clock included, ended; the rest were cut."""
    schema: int = 1


def coverage(store: ReplayStore) -> list[Coverage]:
    """One row a player, in the record's order, one for scenarios, then one for all of them."""
    if not isinstance(store, ReplayStore):
        raise ValueError("coverage needs a replay store: only our own games say what is late")
    players = np.array([store.player(number) for number in range(len(store))])
    late = np.array([store.late(number) for number in range(len(store))], np.float64)
    if store.part.late is None:
        late[:] = np.nan
    ended = np.array([store.terminated(number) for number in range(len(store))])
    rows = []
    for name in (*store.record["players"], SCRIPT, "all"):
        mine = (players == name) | (name == "all")
        if not mine.any():
            continue
        lengths = store.lengths[mine]
        reached = np.where(np.isnan(late[mine]), np.nan, late[mine] > 0)
        rows.append(
            Coverage(
                game=store.game,
                player=name,
                episodes=int(mine.sum()),
                frames=int(lengths.sum()),
                late_frames=float(late[mine].sum() / lengths.sum()),
                late_episodes=float(reached.mean()),
                median_length=float(np.median(lengths)),
                terminated=float(ended[mine].mean()),
            )
        )
    return rows
