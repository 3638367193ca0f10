"""What one file of `judges/` offers: protocols by name and a way to judge rollouts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class JudgePart:
    """A judge by name."""

    name: str
    summary: str
    """One sentence: the question it answers."""
    protocols: Mapping[str, Any]
    """Frozen dataclasses by name; the first is the default."""
    judge: Callable[..., Any]
    """judge(rollouts, protocol name) gives (readings, one row per rollout)."""

    def protocol(self, name: str = "") -> Any:  # noqa: ANN401 - each judge has its own
        """The protocol of that name; the default where none is named."""
        name = name or next(iter(self.protocols))
        if name not in self.protocols:
            raise ValueError(
                f"the {self.name} judge has no protocol '{name}'; have {list(self.protocols)}"
            )
        return self.protocols[name]
