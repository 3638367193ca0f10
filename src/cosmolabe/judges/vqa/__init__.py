"""The vqa judge: does a rollout show what was commanded, and whom it showed first?

Protocols `vqa/1` (ours, the default) and `vqa/universe-1` (UNIVERSE's frames, written answers and
votes). docs/judges/vqa.md tells it whole, docs/judges/vqa-answers.md how replies are read, kept,
counted and corrected.
"""

from cosmolabe.core.judge import JudgePart
from cosmolabe.judges.vqa.films import Film, Span
from cosmolabe.judges.vqa.finished import judge
from cosmolabe.judges.vqa.judging import Vqa
from cosmolabe.judges.vqa.protocol import PROTOCOLS, VqaProtocol
from cosmolabe.judges.vqa.readings import readings_of

__all__ = ["JUDGE", "PROTOCOLS", "Film", "Span", "Vqa", "VqaProtocol", "judge", "readings_of"]

JUDGE = JudgePart(
    name="vqa",
    summary="Does a rollout show the commanded action, and the character it began with?",
    protocols=PROTOCOLS,
    judge=judge,
)
