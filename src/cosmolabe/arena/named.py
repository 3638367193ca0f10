"""Agents by name: as it is written, or with dashes for underscores where that can mean only one."""

from dataclasses import replace

from cosmolabe.core import parts
from cosmolabe.core.agent import AgentPart


def agent_named(name: str) -> AgentPart:
    """The agent of a name; one that is written so goes before one that is only spelt so."""
    have = parts.names("agents")
    spelt = [one for one in have if _spelt(one) == _spelt(name)]
    if name not in have and len(spelt) > 1:
        raise ValueError(f"'{name}' may be any of {spelt}; write the one you mean as it is here")
    found = name if name in have or not spelt else spelt[0]
    part = parts.load("agents", found)
    return part if part.name == found else replace(part, name=found)


def shown(name: str) -> str:
    """How lists write an agent's name: with dashes, unless those are another's."""
    alone = sum(_spelt(one) == _spelt(name) for one in parts.names("agents")) == 1
    return name.replace("_", "-") if alone else name


def _spelt(name: str) -> str:
    return name.replace("-", "_")
