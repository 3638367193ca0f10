"""Who plays: how often a player follows a whim, and how long a decision lasts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cosmolabe.core.seeds import seed_of


@dataclass(frozen=True)
class Player:
    """A way of choosing actions.

    With chance `randomness` a decision is drawn evenly from all actions, else the game's own
    heuristic makes it; each decision stands for `hold` ticks.
    """

    name: str
    randomness: float
    hold: int


PLAYERS = {
    player.name: player
    for player in (
        Player("heuristic", randomness=0.02, hold=1),  # slips now and then: no two games alike
        Player("random", randomness=1.0, hold=8),  # one whim lasts long enough to be seen
        Player("mixed", randomness=0.3, hold=4),
    )
}


def player_named(name: str) -> Player:
    """The player; an unknown name is refused with the names there are."""
    if name not in PLAYERS:
        raise ValueError(f"no player named '{name}'; have {list(PLAYERS)}")
    return PLAYERS[name]


def shares_of(players: Sequence[str] | Mapping[str, float | int]) -> dict[str, float]:
    """Each player's share of the episodes, summing to 1; a plain list shares evenly."""
    shares = dict(players) if isinstance(players, Mapping) else dict.fromkeys(players, 1.0)
    for name, share in shares.items():
        player_named(name)
        if not 0 < share < float("inf"):
            raise ValueError(f"the share of player '{name}' must be positive; got {share}")
    if not shares:
        raise ValueError(f"name at least one player of {list(PLAYERS)}")
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def turns(shares: Mapping[str, float | int], num_episodes: int) -> list[str]:
    """Who plays each episode: always the one furthest behind its share.

    Episode k's player does not depend on how many episodes follow, so a longer collection begins
    like a shorter one.
    """
    owed = np.zeros(len(shares))
    names, parts = list(shares), np.array(list(shares.values()))
    order = []
    for _ in range(num_episodes):
        owed += parts
        turn = int(np.argmax(owed))
        owed[turn] -= 1
        order.append(names[turn])
    return order


def player_key(salt: str, game: str, split: str, index: int) -> tuple[int, int]:
    """The two 32-bit words of the player's own stream: luck in play is not luck of the world."""
    key = seed_of("player", salt, game, split, index)
    return key & 0xFFFFFFFF, key >> 32
