"""Which part of a vision-language model trains: by name, for every family alike.

    zero | V P L and any of them together, as VP | lora(r=8, alpha=8, on=L) | lora(r=8, on=VL, +P)

V is the vision tower, P the projector, L the language model (its word table and head included).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from cosmolabe.core.vlm import Family, Group, Vlm
from cosmolabe.nets.pretrained import require

LETTERS: dict[str, Group] = {"V": "vision", "P": "projector", "L": "language"}
GRAMMAR = "zero, letters of V, P and L (as P or VP), or lora(r=8, alpha=8, on=L|V|VL[, +P])"
LORA = "lora_"
"""In the name of what LoRA adds."""


@dataclass(frozen=True)
class Strategy:
    """What trains whole, and what through low-rank additions."""

    whole: frozenset[Group] = frozenset()
    low_rank: frozenset[Group] = frozenset()
    """W + (alpha / r) A B on every linear layer of these, the head left out (paper, LoRA)."""
    rank: int = 8
    alpha: float = 8.0
    """The paper's; it states neither layers nor dropout (ours: all linear layers, no dropout)."""

    def __str__(self) -> str:
        whole = "".join(letter for letter, group in LETTERS.items() if group in self.whole)
        if not self.low_rank:
            return whole or "zero"
        on = "".join(letter for letter, group in LETTERS.items() if group in self.low_rank)
        return f"lora(r={self.rank},alpha={self.alpha:g},on={on}{',+P' if whole else ''})"

    @property
    def touches(self) -> frozenset[Group]:
        """Parts that no longer give what they gave: what lies before them may be cached."""
        return self.whole | self.low_rank


def parse_strategy(text: str) -> Strategy:
    """The strategy that a text names; case of V, P and L does not matter."""
    said = re.sub(r"\s+", "", text)
    if said.lower() == "zero":
        return Strategy()
    if re.fullmatch(r"[VPLvpl]{1,3}", said) and len(set(said.upper())) == len(said):
        return Strategy(frozenset(LETTERS[letter] for letter in said.upper()))
    found = re.fullmatch(r"lora(?:\((.*)\))?", said, re.IGNORECASE)
    if not found:
        raise ValueError(f"no strategy {text!r}; say {GRAMMAR}")
    return _parse_lora(text, found.group(1) or "")


def _parse_lora(text: str, inside: str) -> Strategy:
    given: dict[str, str] = {}
    whole: frozenset[Group] = frozenset()
    for part in filter(None, inside.split(",")):
        name, equals, value = part.partition("=")
        if part.upper() == "+P":
            whole = frozenset(("projector",))
        elif equals and name.lower() in ("r", "alpha", "on") and name.lower() not in given:
            given[name.lower()] = value
        else:
            raise ValueError(f"strategy {text!r}: {part!r} is not understood; say {GRAMMAR}")
    on = given.get("on", "L").upper()
    if sorted(on) not in (["L"], ["V"], ["L", "V"]):
        raise ValueError(f"strategy {text!r}: on is L, V or VL; got {given['on']!r}")
    try:
        rank, alpha = int(given.get("r", "8")), float(given.get("alpha", "8"))
    except ValueError:
        raise ValueError(f"strategy {text!r}: r is a whole number, alpha a number") from None
    if rank < 1 or not 0 < alpha < float("inf"):
        raise ValueError(f"strategy {text!r}: r is 1 or more, alpha above 0")
    return Strategy(whole, frozenset(LETTERS[letter] for letter in on), rank, alpha)


def apply(strategy: Strategy | str, vlm: Vlm, seed: int = 0) -> list[str]:
    """Freeze everything but what the strategy trains; gives the names that train.

    LoRA's matrices are put into the module itself (peft), drawn from `seed`; the model's answers
    are the same until they have learnt. A model that has them already is refused.
    """
    chosen = parse_strategy(strategy) if isinstance(strategy, str) else strategy
    family = _family(vlm)
    module: nn.Module = vlm.module
    if any(LORA in name for name, _ in module.named_parameters()):
        raise ValueError(f"{vlm.name} has LoRA matrices already; load it anew")
    if chosen.low_rank:
        _inject(chosen, module, family, seed)
    names = []
    for name, parameter in module.named_parameters():
        added = LORA in name
        trains = added or family.group(name) in chosen.whole
        parameter.requires_grad_(trains)
        if trains:
            names.append(name)
    return names


def _inject(strategy: Strategy, module: nn.Module, family: Family, seed: int) -> None:
    peft = require("peft", "vlm")
    targets = sorted(_linear(module, family, strategy.low_rank))
    if not targets:
        raise ValueError(f"no linear layer in {sorted(strategy.low_rank)} for LoRA to add to")
    config = peft.LoraConfig(
        r=strategy.rank, lora_alpha=strategy.alpha, target_modules=targets, lora_dropout=0.0
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        peft.inject_adapter_in_model(config, module)


def _linear(module: nn.Module, family: Family, groups: Iterable[Group]) -> Iterator[str]:
    """Full names of linear layers, 1 x 1 convolutions included, which are the same.

    By full name, for `q_proj` alone would hit the tower too.
    """
    for name, part in module.named_modules():
        linear = isinstance(part, nn.Linear) and not name.endswith("lm_head")
        small = isinstance(part, nn.Conv2d) and part.kernel_size == (1, 1) and part.groups == 1
        if (linear or small) and family.group(f"{name}.weight") in groups:
            yield name


@dataclass(frozen=True)
class Parameters:
    """What a strategy trains, counted before anything is trained."""

    strategy: str
    groups: dict[str, int]
    """Numbers of each part, a tied tensor once, LoRA's left out."""
    names: list[str]
    """What trains."""
    trains: int
    added: int
    """Numbers that LoRA adds; part of `trains`."""
    tied: int
    """Numbers that stand a second time under another name: the head of a tied word table."""

    @property
    def total(self) -> int:
        """All numbers, each once, LoRA's included."""
        return sum(self.groups.values()) + self.added

    @property
    def share(self) -> float:
        """Of all numbers, each once, how many train."""
        return self.trains / self.total

    @property
    def share_tied_twice(self) -> float:
        """The same where the tied head is counted again, as the paper's percentages need."""
        return self.trains / (self.total + self.tied)


def count(strategy: Strategy | str, vlm: Vlm) -> Parameters:
    """Apply a strategy to a model, on the meta device too, and count."""
    chosen = parse_strategy(strategy) if isinstance(strategy, str) else strategy
    names = apply(chosen, vlm)
    family = _family(vlm)
    module: nn.Module = vlm.module
    sizes = {name: parameter.numel() for name, parameter in module.named_parameters()}
    every = dict(module.named_parameters(remove_duplicate=False))
    tied = sum(every[name].numel() for name in every.keys() - sizes.keys())
    groups: dict[str, int] = dict.fromkeys(LETTERS.values(), 0)
    for name, number in sizes.items():
        if LORA not in name:
            groups[family.group(name)] += number
    added = sum(number for name, number in sizes.items() if LORA in name)
    return Parameters(str(chosen), groups, names, sum(sizes[n] for n in names), added, tied)


def _family(vlm: Any) -> Family:  # noqa: ANN401 - a Vlm
    if vlm.family is None or vlm.module is None:
        raise ValueError(f"{vlm.name} answers from elsewhere: nothing of it can train here")
    return vlm.family
