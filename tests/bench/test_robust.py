"""Robustness protocols: what is shown is corrupted, what is scored is not."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.bench.bed import lay_out, play
from cosmolabe.bench.evaluate import judge_model, write_run
from cosmolabe.bench.robust import judge_robustness, variant_beds
from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, VX, VY
from cosmolabe.core.record import read_json
from cosmolabe.core.rollout import Prediction
from cosmolabe.data.collect import collect
from cosmolabe.judges.state import (
    CLEAN,
    FLOORS,
    PROTOCOLS,
    ROBUST,
    RobustProtocol,
    judge,
    shown_context,
    thinned,
    ticks_of,
)
from cosmolabe.report.page import write_report

STILL, MOVING = FLOORS
GAMES = ("asteroids", "breakout", "kong", "pong", "racer", "snake")
every_variant = pytest.mark.parametrize("name", ROBUST)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("robust")
    made = {}

    def store(game):
        if game not in made:
            made[game] = collect(game, folder / game, 6, split="test", max_ticks=150)
        return made[game]

    return store


def windows_of(store, protocol, batch=6):
    length = ticks_of(protocol, protocol.horizon)
    long = np.flatnonzero(store.lengths >= length)[:batch]
    starts = (store.lengths[long] - length) // 2
    return thinned(store.windows(long, starts, length), protocol)


def rows_of(windows, order):
    names = ("registry", "states", "actions", "globals", "terminal", "episodes", "starts")
    taken = {name: getattr(windows, name)[order] for name in names}
    return dataclasses.replace(windows, **taken, masks=windows.masks.take(order))


def test_every_protocol_has_a_fingerprint_of_its_own_and_the_clean_one_keeps_its():
    marks = {protocol.fingerprint for protocol in PROTOCOLS.values()}
    assert len(marks) == len(PROTOCOLS) == 2 + len(ROBUST)
    assert PROTOCOLS[CLEAN].fingerprint == "8d1e27dcbcd11847", "published tables carry it"


@pytest.mark.parametrize(
    "changes",
    [
        {"noise": 0.02}, {"masked": 0.5}, {"missing": 0.1}, {"missing_states": 2}, {"every": 3},
        {"reach": 0.4}, {"corruption_seed": 1},
    ],
)  # fmt: skip
def test_every_choice_moves_the_fingerprint(changes):
    assert RobustProtocol(**changes).fingerprint != RobustProtocol().fingerprint


@pytest.mark.parametrize("game", GAMES)
def test_a_corruption_of_size_zero_shows_the_clean_bytes(stores, game):
    nothing = RobustProtocol(name="nothing")
    windows = windows_of(stores(game), nothing)
    clean, shown = windows.context(nothing.window), shown_context(windows, nothing)
    for name in ("registry", "states", "globals", "actions"):
        assert getattr(shown, name).tobytes() == getattr(clean, name).tobytes(), name


@every_variant
@pytest.mark.parametrize("game", GAMES)
def test_the_truth_stays_clean_and_what_is_shown_stays_a_context(stores, game, name):
    protocol, store = ROBUST[name], stores(game)
    windows = windows_of(store, protocol)
    before = windows.states.tobytes()
    shown = shown_context(windows, protocol)
    assert windows.states.tobytes() == before
    assert shown.states.shape == windows.states[:, : protocol.window].shape
    assert np.isfinite(shown.states).all()
    assert set(np.unique(shown.states[..., ALIVE])) <= {0.0, 1.0}
    np.testing.assert_array_equal(shown.actions, windows.actions)
    rests = ~np.broadcast_to(
        windows.masks.mutable, windows.states.shape[:1] + (shown.states.shape[2],)
    )
    if not protocol.masked:
        clean = windows.states[:, : protocol.window]
        same = np.moveaxis(shown.states, 2, 1)[rests] == np.moveaxis(clean, 2, 1)[rests]
        assert same.all(), "what cannot move is known"


@every_variant
@pytest.mark.parametrize("game", GAMES)
def test_velocity_and_history_follow_from_the_positions_shown(stores, game, name):
    protocol = ROBUST[name]
    windows = windows_of(stores(game), protocol)
    shown = shown_context(windows, protocol).states
    clean = windows.states[:, : protocol.window]
    touched = (shown[..., :3] != clean[..., :3]).any((1, 3))
    if protocol.every > 1:
        touched = np.broadcast_to(windows.masks.mutable & windows.masks.valid, touched.shape)
    wrap = windows.masks.wrap
    for row, slot in zip(*np.nonzero(touched), strict=True):
        track = shown[row, :, slot]
        for t in range(1, len(track)):
            moved = track[t, :2] - track[t - 1, :2]
            moved = np.where(wrap, moved - np.floor(moved + 0.5), moved)
            if min(track[t, ALIVE], track[t - 1, ALIVE]) < 0.5:
                moved = np.zeros(2)
            np.testing.assert_allclose(track[t, [VX, VY]], moved, atol=1e-6)
            np.testing.assert_allclose(track[t, -4:-2], moved, atol=1e-6)
            np.testing.assert_array_equal(track[t, -2:], track[t - 1, -4:-2])
        assert not track[0, -4:].any()


@every_variant
@given(seed=st.integers(0, 1000))
def test_the_order_of_windows_changes_nothing(stores, name, seed):
    windows = windows_of(stores("asteroids"), ROBUST[name])
    order = np.random.default_rng(seed).permutation(len(windows))[:3]
    together = shown_context(windows, ROBUST[name]).states[order]
    apart = shown_context(rows_of(windows, order), ROBUST[name]).states
    assert together.tobytes() == apart.tobytes()


def test_another_seed_corrupts_otherwise(stores):
    for name in (f"{CLEAN}+noise", f"{CLEAN}+missing"):
        windows = windows_of(stores("asteroids"), ROBUST[name])
        other = dataclasses.replace(ROBUST[name], corruption_seed=1)
        one, two = (shown_context(windows, p).states for p in (ROBUST[name], other))
        assert (one != two).any()


def test_noise_has_the_spread_it_says_and_hits_only_the_living(stores):
    protocol = ROBUST[f"{CLEAN}+noise"]
    windows = windows_of(stores("breakout"), protocol)
    clean = windows.states[:, : protocol.window]
    gap = shown_context(windows, protocol).states[..., :2] - clean[..., :2]
    hit = (clean[..., ALIVE] > 0.5) & windows.masks.mutable
    assert gap[hit].std() == pytest.approx(protocol.noise, rel=0.1)
    assert not gap[~hit].any()


def test_masked_contexts_show_no_game_field(stores):
    windows = windows_of(stores("racer"), ROBUST[f"{CLEAN}+masked"])
    assert windows.states[:, :8, :, 5:19].any()
    assert not shown_context(windows, ROBUST[f"{CLEAN}+masked"]).states[..., 5:19].any()


def test_a_missing_entity_is_dead_for_its_states_and_rests_where_it_was_last_seen(stores):
    protocol = ROBUST[f"{CLEAN}+missing"]
    windows = windows_of(stores("asteroids"), protocol)
    clean = windows.states[:, : protocol.window]
    shown = shown_context(windows, protocol).states
    gone = (clean[..., ALIVE] > 0.5) & (shown[..., ALIVE] < 0.5)
    runs = gone.sum(1)
    assert runs.any()
    assert runs.max() <= protocol.missing_states
    for row, step, slot in zip(*np.nonzero(gone[:, 1:]), strict=True):
        held, before = shown[row, step + 1, slot, :2], shown[row, step, slot, :2]
        if clean[row, step, slot, ALIVE] > 0.5:
            np.testing.assert_array_equal(held, before)


def test_a_partial_view_shows_the_surroundings_of_the_player_alone(stores):
    protocol = ROBUST[f"{CLEAN}+partial"]
    windows = windows_of(stores("asteroids"), protocol)
    clean = windows.states[:, : protocol.window]
    shown = shown_context(windows, protocol).states
    away = clean[..., :2] - clean[:, :, :1, :2]  # the ship is slot 0, and space wraps
    far = (np.abs(away - np.floor(away + 0.5)) > protocol.reach).any(-1)
    lives = clean[..., ALIVE] > 0.5
    assert (lives & far).any()
    assert (lives & ~far).any()
    np.testing.assert_array_equal(shown[..., ALIVE] > 0.5, lives & ~far)


def test_a_world_without_a_controllable_entity_has_no_partial_view(stores):
    protocol = ROBUST[f"{CLEAN}+partial"]
    windows = windows_of(stores("pong"), protocol)
    windows = dataclasses.replace(windows, registry=np.zeros_like(windows.registry))
    with pytest.raises(ValueError, match="controllable"):
        shown_context(windows, protocol)


def test_skipping_keeps_every_second_state_with_the_action_chosen_in_it(stores):
    protocol, store = ROBUST[f"{CLEAN}+skip2"], stores("pong")
    length = ticks_of(protocol, protocol.horizon)
    assert length == 55
    numbers, starts = np.arange(2), np.array([20, 31])
    full = store.windows(numbers, starts, length)
    thin = thinned(full, protocol)
    assert thin.states.shape[1] == 28
    np.testing.assert_array_equal(thin.states[..., :3], full.states[:, ::2, :, :3])
    np.testing.assert_array_equal(thin.actions, full.actions[:, ::2])
    np.testing.assert_array_equal(thin.globals, full.globals[:, ::2])


def test_the_ceiling_under_skipping_is_the_simulator_at_the_same_ticks(pong):
    bed = lay_out(pong, protocol=f"{CLEAN}+skip2")
    clean = lay_out(pong)
    assert bed.ceiling is not None
    assert clean.ceiling is not None
    first = bed.ceiling.composite[:, 0]
    assert np.nanmean(first) > 0.99, "one shown step ahead little has been decided by luck"
    assert np.nanmean(first) > np.nanmean(bed.ceiling.composite[:, -1])


class Blind:
    """Says the same of every world: a model that reads nothing."""

    name = "blind"

    def rollout(self, context, seed=0):
        shape = (len(context), context.horizon, context.states.shape[2], 17)
        states = np.full(shape, 0.5, np.float32)
        return Prediction(
            states, np.zeros((*shape[:2], 17), np.float32), np.zeros(shape[:2], np.float32)
        )


def test_a_model_that_reads_no_positions_is_unmoved(pong):
    bed = lay_out(pong)
    clean, _ = play(Blind(), bed.windows, bed.protocol)
    for other in variant_beds(bed):
        if other.protocol.every == 1:
            mine, _ = play(Blind(), other.windows, other.protocol)
            np.testing.assert_array_equal(mine.final, clean.final)


def test_noise_costs_a_model_that_follows_velocities_more_the_larger_it_is(pong):
    bed = lay_out(pong)
    finals = [
        np.nanmean(play(MOVING, bed.windows, RobustProtocol(noise=noise))[0].final)
        for noise in (0.0, 0.003, 0.01, 0.03)
    ]
    assert finals == sorted(finals, reverse=True)
    assert finals[0] > finals[-1] + 0.1
    assert finals[0] == np.nanmean(bed.floors[MOVING.name].final)


def test_the_loss_is_the_clean_score_less_the_corrupted_one_on_the_same_episodes(pong, tmp_path):
    bed = lay_out(pong)
    judged = judge_model(
        MOVING, pong, bed=bed, num_pictures=0, num_clips=0, robust=variant_beds(bed)
    )
    for name, protocol in ROBUST.items():
        final, loss = (judged.reading(f"{m}_{protocol.variant}") for m in ("final", "loss"))
        alone = judge_model(MOVING, pong, protocol=name, num_pictures=0, num_clips=0)
        assert (final.value, final.protocol, final.data) == (
            alone.final, protocol.fingerprint, alone.reading("final").data,
        )  # fmt: skip
        assert (final.floor, final.ceiling) == (
            alone.reading("final").floor, alone.reading("final").ceiling,
        )  # fmt: skip
        assert loss.value == pytest.approx(judged.final - final.value)
        assert loss.low <= loss.value <= loss.high
    write_run(judged, tmp_path)
    rows = read_json(tmp_path / "robust.json")
    assert [row["variant"] for row in rows] == ["clean", *(p.variant for p in ROBUST.values())]
    page = write_report(tmp_path).read_text()
    assert "Shown less, or worse" in page
    assert "skip2" in page


def test_where_nobody_is_steered_all_but_the_partial_view_is_measured(pong):
    slots = tuple(dataclasses.replace(s, controllable=False) for s in pong.manifest.slots)

    class Nobody:
        manifest = dataclasses.replace(pong.manifest, slots=slots)

        def __getattr__(self, name):
            return getattr(pong, name)

    bed = dataclasses.replace(lay_out(pong), store=Nobody())
    beds = variant_beds(bed)
    assert [b.protocol.variant for b in beds] == ["noise", "masked", "missing", "skip2"]
    scores, _ = play(STILL, bed.windows, bed.protocol)
    found = {r.metric: r for r in judge_robustness(STILL, bed, scores, beds).readings}
    assert np.isfinite(found["final_noise"].value)
    for name in ("final_partial", "loss_partial"):
        assert np.isnan(found[name].value)
        assert "no controllable" in found[name].why


def test_robustness_is_measured_against_the_clean_protocol_alone(pong):
    bed = lay_out(pong, protocol=f"{CLEAN}+noise")
    with pytest.raises(ValueError, match="against state/1"):
        variant_beds(bed)


def test_a_bed_without_a_model_reads_no_loss(pong):
    bed = lay_out(pong)
    scores, _ = play(STILL, bed.windows, bed.protocol)
    judged = judge_robustness(STILL, bed, scores, [])
    assert judged.readings == []
    assert [row["variant"] for row in judged.rows] == ["clean"]


@every_variant
def test_finished_rollouts_cannot_be_shown_something_else(name):
    with pytest.raises(ValueError, match="judge the model itself"):
        judge([], name)


@pytest.mark.parametrize(
    "changes", [{"noise": -0.1}, {"masked": 2.0}, {"every": 0}, {"missing_states": 9}]
)
def test_impossible_corruptions_are_refused(changes):
    with pytest.raises(ValueError, match="got"):
        RobustProtocol(**changes)


def test_every_game_can_be_judged_under_every_variant(stores):
    for game in parts.names("games"):
        store = stores(game)
        for protocol in ROBUST.values():
            windows = windows_of(store, protocol, 2)
            scores, _ = play(STILL, windows, protocol)
            assert len(windows) == 2
            assert not scores.num_invalid
