"""What a model's certificate says of it: sensitivity and specificity, by game."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosmolabe import vlms
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import read_json
from cosmolabe.judges.vqa.corrected import Rate, chance, told_apart

SCHEMA = 1
FILE = "certificate.json"
MOST_ITEMS = 1 << 50  # that a rate may rest on
UNKNOWN = Rate(math.nan, 0.0)


@dataclass(frozen=True)
class Measured:
    """The part of a certificate that a judge corrects by."""

    rates: Mapping[str, Any] = field(default_factory=dict)
    """By game: obedience, identity and by_format, each with sensitivity and specificity."""
    vlm: str = ""
    """Key of the model that was measured."""
    path: Path | None = None

    @property
    def fingerprint(self) -> str:
        """16 hex digits; empty where nothing was measured."""
        return fingerprint(self.vlm, self.rates) if self.rates else ""

    def of(self, game: str, what: str, form: str = "") -> tuple[Rate, Rate]:
        """(sensitivity, specificity) in a game; n is 0 where they were never measured.

        `what` is obedience or identity; `form` one format of obedience.
        """
        mine = self.rates.get(game, {})
        found = mine.get("by_format", {}).get(form, {}) if form else mine.get(what, {})
        if not found:
            return UNKNOWN, UNKNOWN
        return _rate(found["sensitivity"]), _rate(found["specificity"])


def told_by_game(measured: Measured) -> list[dict[str, Any]]:
    """Of each game, whether the judge tells obedience and identity better than guessing would."""
    return [
        {
            "game": game, "of": what, "sensitivity": sensitivity.share,
            "specificity": specificity.share,
            **dict(zip(("told", "low", "high"), told_apart(sensitivity, specificity), strict=True)),
            "at_chance": bool(chance(sensitivity, specificity)),
        }
        for game in measured.rates
        for what in ("obedience", "identity")
        for sensitivity, specificity in [measured.of(game, what)]
    ]  # fmt: skip


def find_certificate(
    key: str, source: Path | str | None = None, path: Path | str | None = None
) -> Measured:
    """The certificate of the model with this key; an empty one where there is none.

    Looked for at `path`, beside the weights of `source`, and with the models that come with the
    package. One named by `path` must be of this very model.
    """
    if path is not None:
        found = read_certificate(path)
        if found.vlm != key:
            raise ValueError(
                f"{path} was made for the model {found.vlm}, not for this one, {key}; run "
                "`cosmolabe vqa certificate --recompute` for it"
            )
        return found
    places = [Path(source) / FILE] if source is not None else []
    places += sorted(Path(str(vlms.__file__)).parent.rglob(FILE))
    for place in places:
        if place.is_file() and (found := read_certificate(place)).vlm == key:
            return found
    return Measured()


def read_certificate(path: Path | str) -> Measured:
    """A certificate's rates, checked.

    Raises:
        ValueError: It is no certificate of this schema.
    """
    content = read_json(Path(path))
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise ValueError(f"{path}: not the certificate of a vqa judge, schema {SCHEMA}")
    rates, key = content.get("rates"), content.get("vlm_key")
    if not isinstance(rates, dict) or not isinstance(key, str):
        raise ValueError(f"{path}: a certificate holds rates by game and the model's vlm_key")
    for game, mine in rates.items():
        formats = mine.get("by_format", {}) if isinstance(mine, dict) else None
        if not isinstance(formats, dict) or not all(
            map(_fits, (mine.get("obedience"), mine.get("identity"), *formats.values()))
        ):
            raise ValueError(f"{path}: the rates of '{game}' lack sensitivity or specificity")
    return Measured(rates, key, Path(path))


def _fits(part: Any) -> bool:  # noqa: ANN401 - any JSON
    if not isinstance(part, dict):
        return False
    for name in ("sensitivity", "specificity"):
        told = part.get(name)
        if not isinstance(told, dict) or not _within(told.get("n"), MOST_ITEMS):
            return False
        if told["n"] > 0 and not _within(told.get("share"), 1):
            return False
    return True


def _within(value: Any, most: int) -> bool:  # noqa: ANN401 - any JSON
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 <= value <= most


def _rate(told: Mapping[str, Any]) -> Rate:
    return Rate(float(told["share"]), float(told["n"])) if told["n"] > 0 else UNKNOWN
