"""What the numbers alone give away, and what they do not."""

from dataclasses import replace

import numpy as np
import pytest

from cosmolabe.arena.verifier.scoring import better_by, error_of, score_of, score_on, without
from cosmolabe.arena.verifier.signs import FARTHEST, signs_of, spoilt
from cosmolabe.bench.bed import lay_out, play
from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE
from cosmolabe.data.collect import collect


@pytest.fixture(scope="module")
def rocks(tmp_path_factory):
    """Windows of asteroids, in which many slots are dead."""
    store = collect("asteroids", tmp_path_factory.mktemp("rocks"), 40, split="test", max_ticks=150)
    return lay_out(store, "test")


def prediction_of(name, bed):
    model = parts.load("models", name).create(bed.store.manifest, "laptop", 0)
    return play(model, bed.windows, bed.protocol)[1]


def flags(found, bed):
    return signs_of(found, bed.windows, bed.protocol, spoilt(found, bed.windows))


@pytest.mark.parametrize("name", ["still", "constant_velocity", "linear"])
def test_simple_models_give_no_sign(name, rocks):
    assert flags(prediction_of(name, rocks), rocks) == ()


@pytest.mark.parametrize(
    ("column", "value", "sign"),
    [
        (ALIVE, 1.0, "everyone_alive"),
        (ALIVE, 0.0, "nobody_alive"),
        (0, 0.5, "ignores_context"),
        (0, np.nan, "invalid_predictions"),
        (1, np.inf, "invalid_predictions"),
        (1, -2 * FARTHEST, "invalid_predictions"),
    ],
)
def test_degenerate_numbers_give_a_sign(column, value, sign, rocks):
    found = prediction_of("constant_velocity", rocks)
    found.states[..., column] = value
    if sign == "ignores_context":
        found.states[..., 1] = value
    assert sign in flags(found, rocks)


def test_what_stands_in_slots_that_are_not_scored_spoils_nothing(bed):
    found = prediction_of("still", bed)
    found.states[:, :, ~bed.windows.masks.mutable] = np.nan
    assert spoilt(found, bed.windows) == ("",) * len(bed.windows)


def test_a_spoilt_window_scores_nothing_and_still_counts(rocks):
    found = prediction_of("constant_velocity", rocks)
    whole, _ = score_on(rocks, found)
    found.states[0, -1] = np.nan
    less, rows = score_on(rocks, found)
    assert less.invalid == 1
    assert less.windows == whole.windows
    assert rows.final[0] == pytest.approx(0.0, abs=0.35)  # steps before it fails still count
    assert less.composite < whole.composite


def test_a_floor_has_the_score_that_stands_beside_every_other(rocks):
    score, rows = score_on(rocks, prediction_of("still", rocks))
    assert score.composite == score_of(rocks, "still")
    assert score.se == error_of(rows, rocks) > 0
    gap, error = better_by(rows, rows, rocks)
    assert (gap, error) == (0.0, 0.0)


def test_leaving_windows_out_is_as_if_they_had_not_been_drawn(rocks):
    out = np.zeros(len(rocks.windows), bool)
    out[::3] = True
    part = without(rocks, out)
    found = prediction_of("constant_velocity", rocks)
    keep = np.flatnonzero(~out)
    fewer = replace(
        found,
        states=found.states[keep], globals=found.globals[keep], terminal=found.terminal[keep],
    )  # fmt: skip
    score, rows = score_on(part, fewer)
    _, whole = score_on(rocks, found)
    assert np.array_equal(rows.final, whole.final[keep], equal_nan=True)
    assert score.data != score_on(rocks, found)[0].data
    assert np.isfinite(score.skill) or np.isfinite(score.ceiling)
