"""Say what became better and worse between two runs, and whether it is significant."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Table, Verb
from cosmolabe.core.figures import span


@dataclass(frozen=True, kw_only=True)
class Compare(Verb):
    """Say what became better and worse between two runs, and whether it is significant."""

    before: Positional[Path]
    """Run folder A."""
    after: Positional[Path]
    """Run folder B, of the same windows or videos, by the same protocol."""
    gate: FlagCreatePairsOff[bool] = False
    """Exit with 1 where anything became worse; for CI."""
    margin: float = 0.005
    """A change of the score that nobody needs to act on."""
    seed: int = 0
    """Seed of resamples and sign flips."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """Folder for comparison.json and comparison.html."""

    def run(self) -> Answer:
        """Compare, and write the page where a folder is given."""
        from cosmolabe.bench.compare import check_margin, compare, regressed
        from cosmolabe.bench.physics.comparing import compare_videos, of_videos_alone
        from cosmolabe.core.record import write_json

        check_margin(self.margin)
        alone = [of_videos_alone(folder) for folder in (self.before, self.after)]
        if alone[0] != alone[1]:
            videos, other = (self.before, self.after)[:: 1 if alone[0] else -1]
            raise ValueError(
                f"{videos} holds what the physics judge alone found, {other} what other judges "
                "did; compare runs of the same --judges"
            )
        measure = compare_videos if all(alone) else compare
        comparison = measure(self.before, self.after, self.margin, self.seed)
        worse = regressed(comparison)
        record = {"a": self.before, "b": self.after, **asdict(comparison)}
        data = {**record, "regressed": len(worse)}
        text = [_table(comparison.rows), *comparison.notes, _summary(comparison.rows)]
        if self.out:
            from cosmolabe.report.comparison import write_comparison

            write_json(self.out / "comparison.json", record)
            data["report"] = write_comparison(self.out)
            text.append(f"wrote {data['report']}")
        return Answer(data, text, ok=not (self.gate and worse))


def _table(rows: list) -> Table:
    columns = (
        "game", "metric", "before", "after", "difference", "95 % interval", "p (Holm)", "n", "",
    )  # fmt: skip
    cells = [
        (
            row.game,
            f"{row.metric} at {row.horizon}" if row.horizon else row.metric,
            row.before,
            row.after,
            f"{row.difference:+.4f}",
            span(row.low, row.high, "+.4f"),
            row.p_holm,
            row.n,
            row.verdict,
        )
        for row in rows
    ]
    return Table(columns, cells)


def _summary(rows: list) -> str:
    counts = Counter(row.verdict for row in rows)
    words = (f"{counts[name]} {name}" for name in ("better", "worse", "same", "unclear"))
    return ", ".join(words)


VERB = Compare
