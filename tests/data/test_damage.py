"""Twins share all but the damage: equal before its onset, apart after, farther the larger it is."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cosmolabe.bench.damage_table import damage_table, finals_of, page_rows
from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, VX, VY
from cosmolabe.core.record import plain, read_json
from cosmolabe.data.collect import collect
from cosmolabe.data.damage import DYNAMICS, KINDS, PICTURES, ROLLOUT, Damage, alike, applicable
from cosmolabe.data.damage_rollout import hurt_episode, hurt_prediction, true_prediction
from cosmolabe.data.store import open_store
from cosmolabe.data.twins import cut, draw_twins, effects, twins, write_twins

GAMES = parts.names("games")
ONSET = 100
ALWAYS = (
    "wrong_action", "freeze", "speed_jump", "teleport", "vanish", "identity_swap", "reversed_time",
    "size_change", *ROLLOUT,
)  # fmt: skip
"""Kinds that need no meeting to show; a parameter shows once something falls, slides or bounces."""


def kinds_of(game):
    return [kind for kind in KINDS if applicable(parts.load("games", game))[kind]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Each game's store, collected when it is first asked for."""
    folder = tmp_path_factory.mktemp("stores")

    @cache
    def store(game):
        return collect(
            game, folder / game, 5, split="test", players=("heuristic",), max_ticks=ONSET + 80
        )

    return store


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


def distance(pair, wrap):
    part = slice(ONSET, min(len(pair), ONSET + 60))
    gap = pair.true.states[part, :, :3] - pair.damaged.states[part, :, :3]
    gap[..., :2] -= np.where(wrap, np.round(gap[..., :2]), 0)  # the short way round
    return float(np.abs(gap).mean()) + pair.swapped_frames + pair.resizes * pair.damage.size


def mean_distance(store, kind, size):
    wrap = store.manifest.masks().wrap
    return np.mean([distance(pair, wrap) for pair in pairs(store, kind, size)])


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


@every_kind
def test_the_effect_grows_with_the_size(stores, game, kind):
    """On the mean over episodes; whoever plays on differently can by luck come closer again."""
    none, small, large = (mean_distance(stores(game), kind, size) for size in (0.0, 0.1, 1.0))
    assert none == 0
    assert small <= large
    if kind in ALWAYS:
        assert small < large


@pytest.mark.parametrize("kind", ROLLOUT)
def test_damaged_rollouts_grow_worse_step_by_step(store, kind):
    far = [mean_distance(store, kind, size) for size in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    assert far == sorted(far)
    assert len(set(far)) == len(far)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in PICTURES])
def test_the_state_judge_likes_no_larger_damage_better(stores, kind):
    for game in ("asteroids", "platformer", "pong"):
        store = stores(game)
        if not applicable(store.part)[kind]:
            continue
        numbers = [n for n in range(len(store)) if store.lengths[n] > ONSET + 60]
        means = []
        for size in (0.0, 0.25, 1.0):
            doubles = [twins(store, n, Damage(kind, size, ONSET, seed=n)) for n in numbers]
            means.append(finals_of(store, numbers, doubles).mean())
        assert means[0] == 1.0
        assert means[0] >= means[1] >= means[2], game
        if kind in ROLLOUT:
            assert means[0] > means[1] > means[2], game


def test_drift_grows_with_the_horizon_and_jitter_does_not(store):
    def gaps(kind):
        pair = next(pairs(store, kind, 0.3))
        both = pair.true.states[ONSET:, :, ALIVE].astype(bool)
        gap = np.abs(pair.true.states[ONSET:, :, 1] - pair.damaged.states[ONSET:, :, 1])
        gap = np.minimum(gap, 1 - gap)
        return [gap[part][both[part]].mean() for part in (slice(0, 10), slice(40, 50))]

    early, late = gaps("drift")
    assert late > 3 * early
    early, late = gaps("jitter")
    assert late < 2 * early


def test_smooth_noise_moves_less_from_tick_to_tick_than_jitter(store):
    def roughness(kind):
        pair = next(pairs(store, kind, 0.5))
        gap = pair.damaged.states[ONSET:, :, 1] - pair.true.states[ONSET:, :, 1]
        gap -= np.round(gap)
        return np.abs(np.diff(gap, axis=0)).mean() / np.abs(gap).mean()

    assert roughness("smooth_noise") < 0.6 * roughness("jitter")


def test_a_lagging_world_shows_what_was(store):
    pair = next(pairs(store, "lag", 0.5))
    moving = [row for row, slot in enumerate(store.manifest.slots) if slot.mutable]
    late, then = (slice(ONSET + shift, ONSET + shift + 20) for shift in (0, -15))
    np.testing.assert_array_equal(
        pair.damaged.states[late, :, :3][:, moving], pair.true.states[then, :, :3][:, moving]
    )


def test_a_collapsed_world_stands_at_the_mean_of_its_future(store):
    pair = next(pairs(store, "mean_collapse", 1.0))
    alive = pair.true.states[ONSET:, :, ALIVE] > 0.5
    for slot, row in enumerate(store.manifest.slots):
        here = pair.damaged.states[ONSET:, slot, :2][alive[:, slot]]
        if row.mutable and len(here):
            gap = here - here[0]
            assert np.abs(gap - np.round(gap)).max() < 1e-5, row.name


def test_one_entity_of_a_rollout_can_be_hurt_alone(store):
    name = next(slot.name for slot in store.manifest.slots if slot.mutable)
    slot = [row.name for row in store.manifest.slots].index(name)
    pair = twins(store, 0, Damage("jitter", 1.0, ONSET, name))
    differs = (pair.true.states != pair.damaged.states).any((0, 2))
    assert differs[slot]
    assert differs.sum() == 1


def test_velocities_of_a_hurt_rollout_are_its_moves(stores):
    pair = next(pairs(stores("pong"), "drift", 0.5))
    states = pair.damaged.states[ONSET - 1 :, 2]
    np.testing.assert_allclose(states[1:, [VX, VY]], np.diff(states[:, :2], axis=0), atol=1e-6)


def test_a_prediction_is_hurt_as_an_episode_is(store):
    numbers = np.flatnonzero(store.lengths >= ONSET + 20)[:2]
    windows = store.windows(numbers, np.full(len(numbers), ONSET - 8), 28)
    truth = true_prediction(windows, 8)
    for kind in ROLLOUT:
        damages = [Damage(kind, 0.7, 12, seed=int(n)) for n in numbers]
        hurt = hurt_prediction(windows, truth, store.manifest, damages)
        np.testing.assert_array_equal(hurt.states[:, :4], truth.states[:, :4])
        assert (hurt.states[:, 4:] != truth.states[:, 4:]).any((1, 2, 3)).all(), kind
        np.testing.assert_array_equal(hurt.globals, truth.globals)
        for row, number in enumerate(numbers):
            whole = cut(store.episode(int(number)), ONSET + 20)
            part = type(whole)(
                whole.registry, *(getattr(whole, name)[ONSET - 8 :] for name in
                ("states", "actions", "globals", "terminal")),
            )  # fmt: skip
            episode = hurt_episode(part, store.manifest, damages[row])
            np.testing.assert_array_equal(hurt.states[row, ..., :3], episode.states[8:, :, :3])
        nothing = [Damage(kind, 0.0, 12)] * len(numbers)
        same = hurt_prediction(windows, truth, store.manifest, nothing)
        assert same.states.tobytes() == truth.states.tobytes()


def test_what_changes_the_world_cannot_be_done_to_a_prediction(stores):
    store = stores("pong")
    windows = store.windows(np.array([0]), np.array([20]), 28)
    with pytest.raises(ValueError, match="changes the world"):
        hurt_prediction(
            windows, true_prediction(windows, 8), store.manifest, [Damage("gravity", 0.5, 10)]
        )
    with pytest.raises(ValueError, match="cannot hit 'net'"):
        hurt_prediction(
            windows, true_prediction(windows, 8), store.manifest, [Damage("lag", 0.5, 10, "net")]
        )


def test_reversed_time_plays_the_past_backwards_and_then_goes_on(store):
    pair = next(pairs(store, "reversed_time", 0.25))
    shown, true = pair.damaged.states, pair.true.states
    back = np.arange(ONSET - 2, ONSET - 32, -1)
    np.testing.assert_array_equal(shown[ONSET : ONSET + 30, :, :3], true[back, :, :3])
    np.testing.assert_array_equal(shown[ONSET : ONSET + 30, :, VX], -true[back, :, VX])
    np.testing.assert_array_equal(shown[ONSET + 30 :, :, :3], true[ONSET + 30 :, :, :3])


def test_who_appears_was_not_there(store):
    for pair in pairs(store, "appear", 1.0) if applicable(store.part)["appear"] else ():
        born = (pair.damaged.states[..., ALIVE] > 0.5) & (pair.true.states[..., ALIVE] <= 0.5)
        slot = [row.name for row in store.manifest.slots].index(pair.damage.entity)
        assert born.sum() == born[:, slot].sum()
        if pair.true.states[ONSET, slot, ALIVE] <= 0.5:
            assert born[ONSET, slot]


def test_a_double_is_of_the_kind_it_doubles(store):
    for pair in pairs(store, "duplicate", 1.0) if applicable(store.part)["duplicate"] else ():
        names = [row.name for row in store.manifest.slots]
        born = (pair.damaged.states[..., ALIVE] > 0.5) & (pair.true.states[..., ALIVE] <= 0.5)
        slots = np.flatnonzero(born.any(0))
        assert len(slots) <= 1
        assert set(slots) <= set(alike(store.manifest, names.index(pair.damage.entity)))


def test_turned_gravity_pulls_aside_those_who_fall(stores):
    for game in ("platformer", "kong"):
        moved = [
            (pair.damaged.states[:n, :, 0] - pair.true.states[:n, :, 0]).max()
            for pair in pairs(stores(game), "gravity_turned", 1.0)
            for n in [len(pair)]
        ]
        assert max(moved) > 0.05
    assert not applicable(stores("pong").part)["gravity_turned"], "nothing falls in pong"


def test_a_larger_entity_covers_more_of_the_picture(stores):
    for game in ("pong", "racer"):
        store = stores(game)
        name = "player"
        covered = []
        for size in (0.25, 0.5, 1.0):
            pair = twins(store, 0, Damage("size_change", size, ONSET, name))
            true, damaged = draw_twins(store.part, pair, slice(ONSET, ONSET + 5), 112)
            covered.append((true != damaged).any(-1).sum())
        assert covered == sorted(covered)
        assert covered[0] > 0


def test_the_two_families_share_no_kind():
    assert not set(DYNAMICS) & set(ROLLOUT)
    assert {Damage(kind, 0.5, 9).family for kind in ROLLOUT} == {"rollout"}
    assert {Damage(kind, 0.5, 9).family for kind in DYNAMICS} == {"dynamics"}


def test_the_published_table_says_what_each_game_knows(store):
    page = (Path(__file__).parents[2] / "docs" / "data" / "damage.md").read_text()
    head = f"| kind | {' | '.join(GAMES)} |"
    table = page[page.index(head) :].split("\n\n")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in table]
    column = rows[0].index(store.game)
    told = {row[0].strip("`"): row[column] for row in rows[2:]}
    for kind, entities in applicable(store.part).items():
        wanted = "–" if not entities else "all" if "" in entities else str(len(entities))
        assert told[kind] == wanted, f"{kind} in {store.game}"


def test_no_damage_leaves_the_world_of_numbers(store):
    for kind, entities in applicable(store.part).items():
        for entity in entities[:3]:
            pair = twins(store, 0, Damage(kind, 1.0, ONSET, entity))
            assert np.isfinite(pair.damaged.states).all(), kind
            assert pair.damage.entity == entity, kind


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


def test_the_published_measurements_stand_on_the_page():
    docs = Path(__file__).parents[2] / "docs"
    table = read_json(docs / "tables" / "damage.json")
    page = (docs / "data" / "damage.md").read_text()
    for line in page_rows(table):
        assert line in page
    known = {
        (game, kind)
        for game in GAMES
        for kind, hit in applicable(parts.load("games", game)).items()
        if hit
    }
    assert {(row["game"], row["kind"]) for row in table["rows"]} == known


def test_the_measuring_recipe_measures_what_it_says(tmp_path):
    table = damage_table(tmp_path / "work", tmp_path / "damage.json", ("pong",), 2)
    assert read_json(tmp_path / "damage.json")["kinds"] == plain(table["kinds"])
    rows = {(row["kind"], row["size"]): row for row in table["rows"]}
    assert rows["drift", 1.0]["final"] < rows["drift", 0.25]["final"] < 1.0
    assert rows["drift", 1.0]["family"] == "rollout"
    assert rows["teleport", 1.0]["shown"] == 1.0
    rank = {row["kind"]: row for row in table["kinds"]}
    assert rank["drift"]["rank"] < -0.9
    assert np.isnan(rank["size_change"]["rank"]), "states do not show it"
