"""What a search may turn: the dials of a starter's recipe, each with a range around what it is."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cosmolabe.core.agent import Proposal


@dataclass(frozen=True)
class Dial:
    """A number between `low` and `high`, drawn evenly or (`log`) evenly in its logarithm."""

    name: str
    low: int | float
    high: int | float
    log: bool = False
    whole: bool = False
    constant: bool = False
    """Whether it is a constant at the top of train.py, not a dial of the recipe."""

    def at(self, share: float) -> float | int:
        """The value at a share, 0..1, of the range."""
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        value = low + min(max(share, 0.0), 1.0) * (high - low)
        value = math.exp(value) if self.log else value
        return round(value) if self.whole else float(f"{value:.4g}")

    def share_of(self, proposal: Proposal) -> float:
        """Where in the range a proposal lies; outside counts as the nearer end."""
        value = self.value_in(proposal)
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def value_in(self, proposal: Proposal) -> float:
        """What the dial is set to; a batch size of null counts as the middle of the range."""
        if self.constant:
            found = re.search(rf"^{self.name} = ([-+.\de]+)", proposal.train, re.MULTILINE)
            assert found is not None
            return float(found[1])
        value = proposal.config["recipe"].get(self.name)
        return float(self.at(0.5)) if value is None else float(value)


NETWORK = (
    Dial("rate", 3e-4, 1e-2, log=True),
    Dial("warmup", 1, 200, log=True, whole=True),
    Dial("weight_decay", 1e-6, 1e-1, log=True),
    Dial("batch_size", 8, 64, log=True, whole=True),
    Dial("seen", 1, 8, whole=True),
    Dial("unroll", 2, 24, log=True, whole=True),
    Dial("growth", 0.0, 1.0),
    Dial("noise", 0.0, 0.01),
    Dial("ema", 0.9, 0.999),
    Dial("clip", 0.1, 10.0, log=True),
)
"""Dials of every network's recipe; the ranges are our choice and hold the starters' values."""
LINEAR = (
    Dial("RIDGE", 1e-7, 1e1, log=True, constant=True),
    Dial("TERMINAL_GAIN", 1.0, 20.0, log=True, constant=True),
)
"""A fit in closed form has but its constants."""


def dials_of(starter: Proposal) -> dict[str, Dial]:
    """The dials of a starter, by name."""
    fitted = re.search(r"^RIDGE = ", starter.train, re.MULTILINE) is not None
    return {dial.name: dial for dial in (LINEAR if fitted else NETWORK)}


def changed(starter: Proposal, point: Mapping[str, Any], note: str) -> Proposal:
    """The starter with some dials set; how far training imagines at first stays within bounds."""
    dials, train = dials_of(starter), starter.train
    recipe = dict(starter.config["recipe"])
    for name, value in point.items():
        if dials[name].constant:
            train = re.sub(rf"^{name} = [-+.\de]+", f"{name} = {value!r}", train, flags=re.M)
        else:
            recipe[name] = value
    if "first_unroll" in recipe:
        recipe["first_unroll"] = min(recipe["first_unroll"], recipe["unroll"])
    return replace(starter, train=train, config={**starter.config, "recipe": recipe}, note=note)


def described(point: Mapping[str, Any]) -> str:
    """A point in words."""
    return ", ".join(f"{name} {value:g}" for name, value in point.items()) or "the starter"
