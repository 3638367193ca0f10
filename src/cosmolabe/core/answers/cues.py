"""Words and signs that the rules for reading replies go by, and the fingerprint of them all."""

import re

from cosmolabe.core.answers.folding import ACUTE, ALIKE, ENDS
from cosmolabe.core.answers.space import NUMBERS, ONLY_ALONE, SAYS_NO, SAYS_YES
from cosmolabe.core.protocol import fingerprint

VERSION = "answers/2"
CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts that put no space between words
CUE = (
    r"(?<!\w)(?:answers?|correct (?:option|choice|label)|(?:final|my) (?:choice|option|selection)"
    r"|i (?:choose|pick|select|go with|would (?:choose|pick|say))"
    r"|antwort|réponse|respuesta|risposta|resposta|antwoord|odpowiedź|ответ)(?!\w)"
    r"|答案|回答|答え|정답"
)
"""Words after which an answer is declared, in some languages (reference/universe §6.7)."""
LINK = (
    r"\s*(?:(?:is|are|was|would be|must be|should be|will be|ist|est|es|è|é|to be)(?!\w)"
    r"|是|为|は)?\s*(?:[:=\u2192]|-+>?)?\s*"
)
AFTER = re.compile(
    r"\s+is\s+(?:the\s+)?"
    r"(?:(?:correct|right|best|final)(?:\s+(?:answer|option|choice))?|answer)(?!\w)"
)
"""What stands behind an answer: B is correct, (B) is the answer."""
LETTER_BEFORE = re.compile(r"(?<!\w)[(\[]?([a-z]{1,2})[)\]]?$")
FILLER = re.compile(
    r"(?:option|choice|letter|label|number|most likely|likely|probably|clearly|definitely|simply"
    r"|that|the|an|a)(?!\w)\s*[:=]?\s*"
)
TITLE = re.compile(r"(?:option|choice|letter)(?!\w)\s*[:=]?\s*")
GOES_ON = re.compile(
    r"\s+(?:because|since|as|for|given|due|based|which|where|with|and|or|is|option)(?!\w)"
)
"""What may follow a bare letter that is also a word, as A and I are."""
WORDS_THEMSELVES = ("a", "i")
ALSO = re.compile(r"\s*(?:/|&|\||,?\s*(?:or|and|oder|und|ou|et|o|y)(?!\w))\s*")
COMMA = re.compile(r"\s*,\s*")
STOP = re.compile(r"\s*[,.;:!?]+\s*|\s+")
"""Where yes and no stand on both sides of one, neither is said."""
SCORED = re.compile(r"\s*[:=]\s*(?:[01]?\.\d|[01](?!\w)|\d+\s*%|true(?!\w)|false(?!\w)|null(?!\w))")
"""Behind a yes or a no: it is weighed, not said, where the other one is named too."""
CLOSES = re.compile(r"\s*(?:[.,;!?)\]}]|$)")
NOT_BEFORE = re.compile(
    r"(?:(?<!\w)(?:not|no|never|nor|neither|without|instead of|rather than|cannot)|n't)"
    r"(?:\s+[^\s,.;:!?]+){0,2}\s+$"
)
NEAR = 80  # characters in which a denial is looked for
IDIOM = re.compile(
    r"no (?:doubt|question|problem|wonder|idea|clue|matter|answer|information"
    r"|(?:video|image|picture|clip|frame)s?(?: \w+)? (?:was|were|is|are|has|have))(?!\w)"
)
"""Begins with "no" and does not say it."""
REFUSAL = re.compile(
    r"(?<!\w)(?:i|we)(?:'m| am| are|'re)?(?: sorry,? (?:but )?i)?"
    r" (?:can't|cannot|can not|couldn't|could not|unable to|not able to|won't|will not)"
    r" (?:\w+ )?(?:answer|determine|tell|say|see|help|assist|view|watch|provide|identify|comply"
    r"|process|access|assess|verify|discern|give|make)(?!\w)"
    r"|(?<!\w)i(?:'m| am) (?:sorry,? )?(?:but )?(?:unable|not able) to"
    r"|(?<!\w)as an ai(?!\w)|(?<!\w)i (?:do not|don't) know|(?<!\w)no (?:idea|clue)(?!\w)"
    r"|(?<!\w)i (?:must|have to) decline|(?<!\w)i refuse"
    r"|(?:cannot|can't|can not) be (?:determined|answered|seen|told|identified)"
    r"|(?:impossible|not possible) to (?:answer|determine|tell|say|identify)"
    r"|(?<!\w)no (?:video|image|picture|clip|frame)s?(?: \w+)? (?:was|were|is|are|has|have) "
)
THOUGHT = re.compile(r"<(/?)think(?:ing)?>", re.I)
"""Where a thought begins or ends."""
LONGEST = 1_000_000
"""Characters of a reply, its thoughts left out, that are read; ours, far above any answer."""
TOKEN = re.compile(
    r"<\|[^|<>]{1,40}\|>|</?s>|<(?:eos|bos|pad|unk|end_of_turn|end_of_utterance)>", re.I
)
TAGGED = re.compile(r"<answer>(.*?)(?:</answer>|$)", re.S | re.I)
TEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit)\s*\{([^{}]*)\}")
BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}")
FINGERPRINT = fingerprint(
    VERSION, CUE, LINK, AFTER.pattern, LETTER_BEFORE.pattern, LONGEST, FILLER.pattern,
    TITLE.pattern, GOES_ON.pattern, WORDS_THEMSELVES,
    ALSO.pattern, COMMA.pattern, STOP.pattern, SCORED.pattern, CLOSES.pattern, NEAR,
    NOT_BEFORE.pattern,
    IDIOM.pattern, REFUSAL.pattern, THOUGHT.pattern, TOKEN.pattern, TAGGED.pattern, TEX.pattern,
    BOXED.pattern, SAYS_YES, SAYS_NO, ONLY_ALONE, NUMBERS,
    {str(k): v for k, v in ALIKE.items()}, ACUTE, ENDS,
)  # fmt: skip
"""Of version, patterns and tables; part of every protocol that reads replies.

A change of the rules' order or code needs a new VERSION.
"""
