"""Twins share all but the damage: equal before its onset, apart after, farther the larger it is."""

from pathlib import Path

import numpy as np
import pytest

from cosmolabe.core import parts
from cosmolabe.data.collect import collect
from cosmolabe.data.damage import KINDS, Damage, applicable
from cosmolabe.data.store import open_store
from cosmolabe.data.twins import draw_twins, effects, twins, write_twins

GAMES = parts.names("games")
ONSET = 100
ALWAYS = ("wrong_action", "freeze", "speed_jump", "teleport", "vanish", "identity_swap")
"""Kinds that need no meeting to show; a parameter shows once something falls, slides or bounces."""


def kinds_of(game):
    return [kind for kind in KINDS if applicable(parts.load("games", game))[kind]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Each game's store, collected when it is first asked for."""
    folder = tmp_path_factory.mktemp("stores")
    return lambda game: collect(
        game, folder / game, 6, split="test", players=("heuristic",), max_ticks=240
    )


@pytest.fixture(params=GAMES)
def store(request, stores):
    return stores(request.param)


every_kind = pytest.mark.parametrize(
    ("game", "kind"), [(game, kind) for game in GAMES for kind in kinds_of(game)]
)


def pairs(store, kind, size):
    for number in range(len(store)):
        if store.lengths[number] > ONSET + 60:
            yield twins(store, number, Damage(kind, size, ONSET, seed=number))


def distance(pair):
    part = slice(ONSET, min(len(pair), ONSET + 60))
    far = np.abs(pair.true.states[part, :, :3] - pair.damaged.states[part, :, :3]).mean()
    return float(far) + pair.swapped_frames


@every_kind
def test_twins_are_equal_in_every_pixel_before_the_onset(stores, game, kind):
    store = stores(game)
    pair = next(pairs(store, kind, 1.0))
    true, damaged = draw_twins(store.part, pair, slice(ONSET - 20, ONSET), 64)
    np.testing.assert_array_equal(true, damaged)
    np.testing.assert_array_equal(pair.true.states[:ONSET], pair.damaged.states[:ONSET])
    np.testing.assert_array_equal(
        pair.true.actions[: len(pair) - 1], pair.damaged.actions[: len(pair) - 1]
    )
    assert pair.first_difference is None or pair.first_difference >= ONSET


@every_kind
def test_size_zero_changes_nothing(stores, game, kind):
    store = stores(game)
    pair = next(pairs(store, kind, 0.0))
    assert pair.first_difference is None
    np.testing.assert_array_equal(pair.true.states, pair.damaged.states)
    true, damaged = draw_twins(store.part, pair, slice(ONSET, ONSET + 30), 64)
    np.testing.assert_array_equal(true, damaged)


@pytest.mark.parametrize("kind", ALWAYS)
def test_size_one_shows_in_the_pixels_after_the_onset(store, kind):
    assert applicable(store.part)[kind], f"{kind} hits something in every game"
    seen = 0
    for pair in pairs(store, kind, 1.0):
        true, damaged = draw_twins(store.part, pair, slice(ONSET, ONSET + 60, 3), 64)
        seen += (true != damaged).any()
    assert seen >= 3


@pytest.mark.parametrize("kind", ALWAYS)
def test_the_effect_grows_with_the_size(store, kind):
    small, large = (
        np.mean([distance(pair) for pair in pairs(store, kind, size)]) for size in (0.1, 1.0)
    )
    assert large > small


def test_the_published_table_says_what_each_game_knows(store):
    page = (Path(__file__).parents[2] / "docs" / "data" / "damage.md").read_text()
    table = [line.strip("| ").split(" | ") for line in page.splitlines() if " | " in line]
    (head,) = (row for row in table if row[1:] == list(GAMES))
    column = head.index(store.game)
    told = {row[0].strip("`"): row[column] for row in table if len(row) == len(head)}
    for kind, entities in applicable(store.part).items():
        wanted = "–" if not entities else "all" if entities == ("",) else str(len(entities))
        assert told[kind] == wanted, f"{kind} in {store.game}"


def test_no_damage_leaves_the_world_of_numbers(store):
    for kind, entities in applicable(store.part).items():
        for entity in entities[:3]:
            pair = twins(store, 0, Damage(kind, 1.0, ONSET, entity))
            assert np.isfinite(pair.damaged.states).all(), kind
            assert pair.damage.entity == entity


def test_every_parameter_kind_shows_somewhere(tmp_path):
    seen = set()
    for game in GAMES:
        store = collect(game, tmp_path / game, 4, split="test", players=("heuristic",))
        kinds = ("gravity", "restitution", "friction", "speed", "ghosting", "action_delay")
        rows = effects(store, range(4), kinds, sizes=(1.0,), frames=600)
        seen |= {row.kind for row in rows if row.shown > 0}
    assert seen == {"gravity", "restitution", "friction", "speed", "ghosting", "action_delay"}


def test_twins_on_disk_stand_side_by_side(tmp_path):
    store = collect("pong", tmp_path / "store", 3, max_ticks=200)
    rows = write_twins(
        store, tmp_path / "twins", [(n, Damage("gravity", 0.8, 90)) for n in range(3)]
    )
    true, damaged = (open_store(tmp_path / "twins" / name) for name in ("true", "damaged"))
    assert true.lengths.tolist() == damaged.lengths.tolist() == [row["states"] for row in rows]
    for number, row in enumerate(rows):
        one, other = true.episode(number), damaged.episode(number)
        np.testing.assert_array_equal(one.states[:90], other.states[:90])
        first = row["first_difference"]
        assert (one.states[first] != other.states[first]).any()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kind": "magic"}, "no damage 'magic'"),
        ({"size": 1.5}, r"in \[0, 1\]"),
        ({"size": float("nan")}, r"in \[0, 1\]"),
        ({"onset": 0}, "onset must be 1 or more"),
        ({"onset": 10_000}, "cannot begin at 10000"),
        ({"kind": "friction"}, "cannot be damaged by 'friction'"),
        ({"kind": "freeze", "entity": "net"}, "cannot hit 'net'"),
    ],
)
def test_impossible_damages_are_refused(tmp_path, changes, told):
    store = collect("pong", tmp_path / "store", 3, max_ticks=60)
    wanted = {"kind": "gravity", "size": 0.5, "onset": 10} | changes
    with pytest.raises(ValueError, match=told):
        twins(store, 0, Damage(**wanted))
