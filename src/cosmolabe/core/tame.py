"""Strangers' text (a file's name, a prompt) that cannot steer a terminal or a page."""

import re

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def tame(text: str) -> str:
    """Controls and marks of direction become escapes; ends of lines stay."""
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
