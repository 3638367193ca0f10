import numpy as np
import pytest

from cosmolabe.core.fields import (
    AWM,
    GAME_FIELDS,
    HISTORY_START,
    PREDICTED,
    REGISTRY_COLUMNS,
    STATE_COLUMNS,
    Profile,
)
from cosmolabe.core.manifest import Manifest, Slot


def test_the_awm_profile_has_the_paper_s_widths():
    widths = (AWM.num_registry, AWM.num_state, len(AWM.action_fields), len(AWM.global_fields))
    assert widths == (34, 23, 7, 17)
    assert len(REGISTRY_COLUMNS) == 34
    assert len(STATE_COLUMNS) == 23
    assert AWM.num_predicted == len(PREDICTED) == 17


def test_every_name_stands_once():
    for names in (REGISTRY_COLUMNS, STATE_COLUMNS, AWM.action_fields, AWM.global_fields):
        assert len(set(names)) == len(names)


def test_game_fields_stand_in_the_paper_s_alphabetical_order():
    assert list(GAME_FIELDS) == sorted(GAME_FIELDS)
    assert STATE_COLUMNS[HISTORY_START] == "dx1"


def test_a_studio_s_profile_has_its_own_widths():
    profile = Profile(kinds=("hero",), layers=("all",), game_fields=("mana",))
    slot = Slot("hero", "hero", layer="all", radius=0.25, mass=2.0)
    manifest = Manifest("quest", 1, (slot,), fields=("mana",), profile=profile)
    row = manifest.registry()[0]
    assert row.shape == (profile.num_registry,) == (1 + 4 + 3 + 1 + 4 + 3,)
    assert row[0] == 1
    assert row[5] == np.float32(0.25)
    assert row[-3] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slots": ()}, "at least one slot"),
        ({"slots": (Slot("a", "player"), Slot("a", "ball"))}, r"twice: \['a'\]"),
        ({"slots": (Slot("a", "wizard"),)}, r"unknown kind of slot 'a' \['wizard'\]"),
        ({"slots": (Slot("a", "ball", shape="star"),)}, "unknown shape"),
        ({"fields": ("mana",)}, "unknown field"),
        ({"actions": ("dance",)}, "unknown action"),
        ({"fps": 0.0}, "must be positive"),
        ({"fps": 1e308}, "sensible"),
        ({"aspect": 1e-300}, "sensible"),
        *(
            ({"game": name}, "becomes part of file names")
            for name in ("", ".", "..", "../../evil", "/abs", "a\\b", "a\nb", "a\0b", "x" * 101)
        ),
        ({"slots": (Slot("a", "ball", radius=1e308),)}, "sizes and matter"),
        ({"slots": (Slot("a", "ball", mass=-1.0),)}, "sizes and matter"),
    ],
)
def test_a_manifest_refuses_what_it_cannot_mean(change, message):
    with pytest.raises(ValueError, match=message):
        Manifest(**{"game": "g", "version": 1, "slots": (Slot("a", "ball"),), **change})


def test_masks_say_what_is_in_use():
    slots = (Slot("a", "ball"), Slot("wall", "platform", mutable=False))
    masks = Manifest("g", 1, slots, fields=("hp",), actions=("fire",), wrap_y=True).masks()
    assert masks.mutable.tolist() == [True, False]
    assert masks.fields.sum() == masks.actions.sum() == 1
    assert masks.wrap.tolist() == [False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game_fields": ("hp", "x")}, r"core column: \['x'\]"),
        ({"kinds": ("ball", "ball")}, r"kinds have a name twice .*\['ball'\]"),
        ({"layers": tuple(f"layer {n}" for n in range(300))}, "300 layers; at most 256"),
    ],
)
def test_a_profile_refuses_columns_that_two_names_would_share(change, message):
    with pytest.raises(ValueError, match=message):
        Profile(**change)
