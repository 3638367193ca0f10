"""The scenario split of a dataset: every scenario and its twin, over as many seeds as it takes."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.bench.staging import SALT, actions_of, opening
from cosmolabe.core import parts
from cosmolabe.core.scenario import Scenario
from cosmolabe.core.seeds import seed_of
from cosmolabe.engine.game import Game


@dataclass(frozen=True)
class ScenarioEpisodes:
    """Episode k is scenario k mod n; rounds over all n take turns between script and twin.

    Scenarios with physics of their own are left out: a store has one physics. A pair of rounds
    shares its seeds, so an episode and its twin part at one decision.
    """

    game: str

    def __reduce__(self) -> tuple:
        """Workers get the name alone: the rules of a scenario cannot be pickled."""
        return ScenarioEpisodes, (self.game,)

    @cached_property
    def _scenarios(self) -> tuple[Scenario, ...]:
        every: tuple[Scenario, ...] = parts.load("scenarios", self.game)
        kept = tuple(scenario for scenario in every if not scenario.parameters)
        if not kept:
            raise ValueError(f"{self.game} has no scenario with the game's own physics")
        return kept

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the scenarios, in turn."""
        return tuple(scenario.name for scenario in self._scenarios)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the first start and script of every scenario and its twin."""
        whole = hashlib.blake2b(digest_size=8)
        for index in range(2 * len(self.names)):
            for array in self.episode(SALT, index):
                whole.update(array.tobytes())
        return whole.hexdigest()

    def episode(
        self, salt: str, index: int
    ) -> tuple[Float[np.ndarray, " world"], UInt8[np.ndarray, " tick"]]:
        """World vector at the start and the actions of one episode."""
        game: Game = parts.load("games", self.game)
        turn, place = divmod(index, len(self.names))
        number, is_twin = divmod(turn, 2)
        scenario = self._scenarios[place]
        seed = number if salt == SALT else seed_of("scenario", salt, number)
        script = actions_of(game, scenario, scenario.twin if is_twin else None)
        return opening(game, scenario, seed), script[:-1]
