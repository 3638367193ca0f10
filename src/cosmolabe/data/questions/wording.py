"""The words of questions: templates and names, read from the TOML files beside this one."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from cosmolabe.core import parts
from cosmolabe.core.answers import letter
from cosmolabe.core.protocol import fingerprint
from cosmolabe.engine.game import Game

HERE = Path(__file__).parent
FILES = ("templates.toml", "words.toml", "games.toml")


@cache
def _read(file: str) -> Mapping[str, Any]:
    return tomllib.loads((HERE / file).read_text(encoding="utf-8"))


def templates_hash() -> str:
    """16 hex digits that change when any template or any name changes."""
    return fingerprint(*(_read(file) for file in FILES))


def template(name: str, form: str) -> tuple[str, str]:
    """(text, name and version) of a template: `action_recognition.game`, `binary`.

    Raises:
        ValueError: There is none.
    """
    task, _, variant = name.partition(".")
    known = _read("templates.toml")
    found = known.get(task, {}).get(variant or "plain", {})
    if form not in found:
        raise ValueError(f"no template '{name}' for {form} questions")
    return found[form], f"{name}/{known['version']}"


def templates_of(task: str) -> dict[str, dict[str, str]]:
    """All wordings of a task: variant, then format, to text."""
    return {name: dict(forms) for name, forms in _read("templates.toml").get(task, {}).items()}


def words_of(section: str) -> Mapping[str, Any]:
    """One section of `words.toml`."""
    return _read("words.toml")[section]


def character_words(name: str) -> str:
    """What a character is called: `bat_striped` is "the striped bat"."""
    return words_of("characters").get(name, "the " + name.replace("_", " "))


@cache
def our_game(name: str) -> Game | None:
    """One of our games, or None where the name is none of theirs."""
    return parts.load("games", name) if name in parts.names("games") else None


def role_words(game: Game, role: str) -> str:
    """Who a role is in questions; empty where nobody could point it out in the picture."""
    own = words_of("roles").get(game.name, {})
    return own[role] if role in own else game.words[role]


def with_options(options: tuple[str, ...]) -> str:
    """The options as they are shown: "A) jumping B) evading"."""
    return " ".join(f"{letter(place)}) {text}" for place, text in enumerate(options))


def game_facts(name: str) -> Mapping[str, Any]:
    """What can be asked of a game's state, as `games.toml` says; empty for a game it lacks."""
    found = _read("games.toml").get(name, {})
    return found if isinstance(found, Mapping) else {}
