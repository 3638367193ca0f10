"""What a reply in words says: one agreed form of text, the answers there are, rules that decide.

docs/judges/vqa-answers.md tells the rules. What a change of them would move is in `FINGERPRINT`.
"""

from cosmolabe.core.answers.cues import FINGERPRINT, VERSION
from cosmolabe.core.answers.folding import canonical, letter
from cosmolabe.core.answers.parsing import parse
from cosmolabe.core.answers.space import STATUSES, AnswerSpace, Parsed, not_answered

__all__ = [
    "FINGERPRINT",
    "STATUSES",
    "VERSION",
    "AnswerSpace",
    "Parsed",
    "canonical",
    "letter",
    "not_answered",
    "parse",
]
