"""Who plays an outside game: nobody here knows how to win it, so whims decide."""

from dataclasses import dataclass

import numpy as np

from cosmolabe.core.seeds import generator


@dataclass(frozen=True)
class Whims:
    """Draws an action evenly and keeps it: for `hold` ticks, or as long as a coin says."""

    name: str
    hold: int
    """Ticks a decision stands; the mean where `sticky`."""
    sticky: bool = False

    def actions(self, num_actions: int, ticks: int, *names: str | int) -> np.ndarray:
        """The actions of a whole episode, int64; they follow from the names alone."""
        luck = generator("outside player", self.name, *names)
        new = np.arange(ticks) % self.hold == 0
        if self.sticky:
            new = luck.random(ticks) < 1 / self.hold
            new[:1] = True
        drawn = luck.integers(0, num_actions, ticks)
        at = np.maximum.accumulate(np.where(new, np.arange(ticks), 0))
        return drawn[at]


PLAYERS = {
    player.name: player
    for player in (Whims("random", hold=8), Whims("sticky", hold=16, sticky=True))
}
DEFAULT = tuple(PLAYERS)
