"""`vqa explain`: a model's word for what goes wrong in the physics judge's worst windows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from cosmolabe.cli._verb import Answer, Table, Verb


@dataclass(frozen=True, kw_only=True)
class VqaExplain(Verb):
    """What goes wrong in the worst windows of a physics run? Out of the damages we know.

    Written into the run's vqa.json and its report. Where --truth names the damage of a video, the
    answer is right or wrong.
    """

    run_folder: Positional[Path]
    """Run folder of `judge --judges physics` (or state,vqa,physics)."""
    vlm: str = "tiny"
    """Model by name, or NAME:SIZE; the bundled one may lack the words and says so."""
    weights: Annotated[str, arg(aliases=["--source"])] = ""
    """Its weights or its address."""
    truth: Path | None = None
    """Table (JSON lines) with `input` and `damage` of videos."""

    def run(self) -> Answer:
        """Ask, note, draw the report anew."""
        from cosmolabe.bench.vqa.explaining import explain_run, score_of, truths_of
        from cosmolabe.core import parts
        from cosmolabe.report.page import write_report

        name, _, size = self.vlm.partition(":")
        more = {"size": size} if size else {}
        model = parts.load("vlms", name).load(self.weights or None, **more)
        truths = truths_of(self.truth) if self.truth is not None else {}
        rows = explain_run(self.run_folder, model, truths)
        score = score_of(rows)
        page = write_report(self.run_folder)
        table = Table(
            ("video", "said", "probability", "truth"),
            [(r["input"], r["said"] or r["status"], r["share"], r["truth"] or "–") for r in rows],
        )
        said = f"{score['n']} of them of known damage" + (
            f", {score['right']:.3f} right (commonest kind {score['majority']:.3f})"
            if score["n"]
            else ""
        )
        return Answer({"explained": rows, "score": score, "report": page}, [table, said])
