"""A game's page gives the parameters, actions and slots that the game has."""

import re
from pathlib import Path

import pytest

from cosmolabe.core import parts

DOCS = Path(__file__).parents[2] / "docs" / "games"
every_game = pytest.mark.parametrize("name", parts.names("games"))


def rows(text):
    """(names, default, unit) of each row of the table of parameters."""
    table = text.split("| parameter | default | unit |\n|---|---|---|\n")[1].split("\n\n")[0]
    for line in table.splitlines():
        names, default, unit = (cell.strip() for cell in line.strip("|").split(" | "))
        yield re.findall(r"\w+", names), float(default), unit


@every_game
def test_the_page_gives_every_parameter_and_its_default(name):
    told = {n: value for names, value, _ in rows((DOCS / f"{name}.md").read_text()) for n in names}
    game = parts.load("games", name)
    assert told == {n: parameter.default for n, parameter in game.parameters.items()}


@every_game
def test_the_page_counts_the_slots_and_names_the_globals(name):
    text, game = (DOCS / f"{name}.md").read_text(), parts.load("games", name)
    assert re.search(r"Slots \((\d+)", text)[1] == str(game.manifest.num_slots)
    said = text.split("**Globals")[1].split("\n\n")[0].replace("tick share", "tick_share")
    assert [one for one in game.manifest.globals if one not in said] == []


@every_game
def test_the_page_names_the_actions_or_counts_them(name):
    text, game = (DOCS / f"{name}.md").read_text(), parts.load("games", name)
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([\w ]+)`", text))))
    count = {"nine": 9}.get(next(iter(re.findall(r"(\w+) actions", text)), ""))
    assert set(game.actions) <= named or count == len(game.actions)
