"""The characters: there is one for every name, each well-formed and unlike all others."""

import itertools

import numpy as np
import pytest

from cosmolabe.engine import sprite_art
from cosmolabe.engine.sprites import ART, INK, SIDE, sprite_sheet

FAMILIES = {
    "creatures": tuple(sprite_art.CREATURES),
    "ships": tuple(sprite_art.SHIPS),
    "cars": tuple(sprite_art.CARS),
    "bats": (*sprite_art.BATS, *sprite_art.UNEVEN_BATS),
    "heads": tuple(sprite_art.HEADS),
    "fixtures": tuple(sprite_art.FIXTURES),
}


@pytest.mark.parametrize("name", sorted(ART))
def test_a_sprite_is_twelve_rows_of_twelve_known_letters(name):
    rows = ART[name].split("/")
    assert [len(row) for row in rows] == [SIDE] * SIDE
    assert set("".join(rows)) <= set(INK) | {"."}


def test_no_name_is_drawn_twice():
    assert sum(len(names) for names in FAMILIES.values()) == len(ART)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_at_least_six_members_that_look_different(family):
    names = FAMILIES[family]
    assert len(names) >= 6
    sheet = sprite_sheet(names).astype(float)
    painted = sheet[..., :3] * (sheet[..., 3:] / 255) + 128 * (1 - sheet[..., 3:] / 255)
    small = painted.reshape(len(names), 4, 3, 4, 3, 3).mean((2, 4))
    for a, b in itertools.combinations(range(len(names)), 2):
        assert np.abs(small[a] - small[b]).mean() > 12, (names[a], names[b])


def test_a_letter_becomes_its_colour_and_a_dot_becomes_clear():
    sheet = sprite_sheet(("flag",))
    assert tuple(sheet[0, 3, 3]) == (*INK["r"], 255)
    assert sheet[0, 0, 11, 3] == 0


def test_an_empty_sheet_still_has_a_row_to_index():
    assert sprite_sheet(()).shape == (1, SIDE, SIDE, 4)


def test_an_unknown_name_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match=r"no sprite 'unicorn'; have .*'frog'"):
        sprite_sheet(("unicorn",))
