"""One agreed form of a text: two answers are the same where their canonical forms are."""

import re
import unicodedata

ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\uff07`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
        **dict.fromkeys("\u2010\u2011\u2212\ufe63\uff0d", "-"),
    }
)
"""Quotes and hyphens of one meaning; NFKC keeps them apart (reference/universe §6.9)."""
ACUTE = " \u0301"
"""What NFKC makes of an acute accent by itself, which stands for a quote."""
ENDS = "PSZ"  # punctuation, symbols (markdown's among them) and spaces
MARKS = 30  # on one letter; no language has as many
_SIGNED = re.compile(r"-\d")
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_LOOSE = re.compile(r"[*~\"'$]{2,}|(?<!\w)[*~\"'$]+|[*~\"$]+|'(?!\w)")


def canonical(text: str) -> str:
    """NFKC, casefold, quotes and hyphens of one kind, single spaces, bare at both ends.

    Nothing inside is dropped, articles least of all: without them the label "A" would be empty
    and match everything. A minus right before a digit stays. canonical(canonical(x)) is
    canonical(x).
    """
    return _bare(folded(text))


def folded(text: str) -> str:
    """As `canonical`, with the punctuation at its ends."""
    while (once := _folded_once(text)) != text:
        text = once
    return text


def loosened(text: str) -> str:
    """Folded, and without markdown and quotes anywhere, for spans inside a longer text."""
    text = _UNDERSCORES.sub(" ", folded(text))
    return " ".join(_LOOSE.sub(" ", text).split())


def letter(place: int) -> str:
    """The letter of the option at a place from 0: A to Z, then AA, AB and so on."""
    if place < 0:
        raise ValueError(f"options are counted from 0; got {place}")
    word, rest = "", place + 1
    while rest:
        rest, digit = divmod(rest - 1, 26)
        word = chr(ord("A") + digit) + word
    return word


def _folded_once(text: str) -> str:
    text = _calmed(text)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = text.replace(ACUTE, "'").translate(ALIKE)
    seen = (c for c in text if c.isspace() or not _invisible(c))
    return " ".join("".join(seen).split())


def _calmed(text: str) -> str:
    """Without what goes beyond MARKS marks on one letter.

    Sorting a long run of them takes NFKC the square of its length (Unicode's UAX 15, the
    stream-safe form, keeps as many).
    """
    if text.isascii():
        return text
    kept, run = [], 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run <= MARKS:
            kept.append(character)
    return "".join(kept)


def _invisible(character: str) -> bool:
    """Control and format characters, halves of pairs, variation selectors."""
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cf", "Cs") or "\ufe00" <= character <= "\ufe0f"


def _bare(text: str) -> str:
    start, end = 0, len(text)
    while start < end and unicodedata.category(text[start])[0] in ENDS + "M":
        if _SIGNED.match(text, start):
            break
        start += 1
    while start < end and unicodedata.category(text[end - 1])[0] in ENDS:
        end -= 1
    return text[start:end]
