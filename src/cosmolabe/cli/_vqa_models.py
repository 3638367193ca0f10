"""The verb of `vqa` about models: what would train, counted before anything does."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tyro.conf import FlagCreatePairsOff

from cosmolabe.cli._verb import Answer, Table, Verb

SHOWN = 30  # names in the text; --json has all


@dataclass(frozen=True, kw_only=True)
class VqaParams(Verb):
    """Which parameters of a vision-language model would a strategy train, and what share is that?

    Tensors that stand under two names, as a head that is its word table, are counted once; the
    share with such a head counted again stands beside it, for the paper's percentages need it.
    """

    vlm: str = "tiny"
    """NAME or NAME:SIZE; docs/vlms.md lists them."""
    strategy: str = "P"
    """zero, letters of V, P and L, or lora(r=8, alpha=8, on=L|V|VL[, +P])."""
    weights: Path | None = None
    """Folder of the model: its config.json is enough of it, no weight is read."""
    random: FlagCreatePairsOff[bool] = False
    """Count the small untrained net that tests use."""

    def run(self) -> Answer:
        """Build without numbers where that can be, and count."""
        from cosmolabe.core import parts
        from cosmolabe.nets.strategies import LETTERS, count, parse_strategy

        strategy = parse_strategy(self.strategy)
        name, _, size = self.vlm.partition(":")
        part = parts.load("vlms", name)
        model = self._loaded(part, size)
        found = count(strategy, model)
        groups = {
            letter: {
                "part": group,
                "parameters": found.groups[group],
                "share": found.groups[group] / found.total,
            }
            for letter, group in LETTERS.items()
        }
        data: dict[str, Any] = {
            "vlm": self.vlm,
            "of": "a small untrained net" if self.random else str(self.weights or "its real size"),
            **asdict(found),
            "groups": groups,
            "total": found.total,
            "share": found.share,
            "share_tied_twice": found.share_tied_twice,
        }
        return Answer(data, _told(self.vlm, data))

    def _loaded(self, part: Any, size: str) -> Any:  # noqa: ANN401 - a VlmPart and its Vlm
        if part.family is None:
            raise ValueError(f"{part.name} answers from elsewhere: nothing of it can be counted")
        try:
            device = "cpu" if self.random else "meta"
            return part.load(self.weights, size=size, random=self.random, device=device)
        except ValueError as error:
            if self.random or self.weights is not None:
                raise
            raise ValueError(
                f"{error}. A folder with its config.json is enough to count (--weights FOLDER); "
                "--random counts a small untrained net of the same classes"
            ) from None


def _told(name: str, data: dict[str, Any]) -> list[Any]:
    rows = [
        (letter, row["part"], f"{row['parameters']:,}", f"{100 * row['share']:.3f} %")
        for letter, row in data["groups"].items()
    ]
    rows.append(("", "all", f"{data['total']:,}", "100 %"))
    table = Table(("", "part", "parameters", "share"), rows, f"{name}, {data['of']}")
    said = (
        f"{data['strategy']} trains {data['trains']:,} numbers: {100 * data['share']:.3f} % of all"
    )
    if data["added"]:
        said += f"; {data['added']:,} of them are added"
    if data["tied"]:
        said += (
            f"\n{100 * data['share_tied_twice']:.3f} % where the head, which is the word table, "
        )
        said += f"is counted again ({data['tied']:,} numbers), as the paper's 0.07 % needs"
    names = data["names"][:SHOWN]
    more = len(data["names"]) - len(names)
    tail = [f"and {more} more: --json has all"] if more else []
    return [table, said, "\n".join([*names, *tail])]
