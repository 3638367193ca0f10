"""Who plays: how often a player follows a whim, and how long a decision lasts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cosmolabe.core.seeds import seed_of
from cosmolabe.data.policy import policy_of
from cosmolabe.engine import kernels
from cosmolabe.engine.game import Game


@dataclass(frozen=True)
class Player:
    """A way of choosing actions.

    With chance `randomness` a decision is drawn evenly from all actions, else the game's own
    heuristic (or the game's trained policy) makes it; each decision stands for `hold` ticks.
    """

    name: str
    randomness: float
    hold: int
    learned: bool = False


PLAYERS = {
    player.name: player
    for player in (
        Player("heuristic", randomness=0.02, hold=1),  # slips now and then: no two games alike
        Player("random", randomness=1.0, hold=8),  # one whim lasts long enough to be seen
        Player("mixed", randomness=0.3, hold=4),
        Player("rl", randomness=0.02, hold=4, learned=True),
    )
}


def player_named(name: str) -> Player:
    """The player; an unknown name is refused with the names there are."""
    if name not in PLAYERS:
        raise ValueError(f"no player named '{name}'; have {list(PLAYERS)}")
    return PLAYERS[name]


def let_play(
    player: Player,
    game: Game,
    worlds: np.ndarray,
    constants: np.ndarray,
    luck: np.ndarray,
    actions: np.ndarray,
    keyframes: np.ndarray,
    keyframe_every: int,
    lengths: np.ndarray,
) -> None:
    """Let a player play a batch of worlds, which change in place, to their end.

    `luck` (B, 2) uint64 are the players' own streams; actions (B, T) uint8, keyframes and lengths
    (B,) are written as `engine.kernels.play` says.
    """
    if player.learned:
        policy_of(game.name).play(
            game, worlds, constants, luck, player.randomness, actions, keyframes, keyframe_every,
            lengths,
        )  # fmt: skip
        return
    kernels.play(
        game.step, game.decide, worlds, constants[None], luck, len(game.actions),
        player.randomness, player.hold, actions, keyframes, keyframe_every, lengths,
    )  # fmt: skip


def policy_behind(players: Iterable[str], game: str) -> str:
    """Fingerprint of the policy that these players need, empty where they need none."""
    learned = any(PLAYERS[name].learned for name in players)
    return policy_of(game).fingerprint if learned else ""


def shares_of(
    players: Sequence[str] | Mapping[str, float | int], known: Collection[str] = tuple(PLAYERS)
) -> dict[str, float]:
    """Each player's share of the episodes, summing to 1; a plain list shares evenly."""
    shares = dict(players) if isinstance(players, Mapping) else dict.fromkeys(players, 1.0)
    for name, share in shares.items():
        if name not in known:
            raise ValueError(f"no player named '{name}'; have {list(known)}")
        if not 0 < share < float("inf"):
            raise ValueError(f"the share of player '{name}' must be positive; got {share}")
    if not shares:
        raise ValueError(f"name at least one player of {list(known)}")
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
