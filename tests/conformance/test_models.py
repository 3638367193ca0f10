"""Every world model, by name: a new file in `models/` is tested the day it lands."""

from pathlib import Path

import numpy as np
import pytest

from cosmolabe.core import parts
from cosmolabe.core.model import ModelPart
from cosmolabe.core.rollout import WorldModel
from cosmolabe.data.collect import collect
from cosmolabe.data.windows import evaluation_windows

NAMES = parts.names("models")
DOCS = Path(__file__).parents[2] / "docs" / "models"
WINDOW, HORIZON = 8, 6


@pytest.fixture(scope="module", params=["pong"])
def windows(request, tmp_path_factory):
    store = collect(request.param, tmp_path_factory.mktemp("store"), 12, max_ticks=200)
    episodes, starts, _ = evaluation_windows(store, "train", WINDOW + HORIZON, 4)
    found = store.windows(episodes, starts, WINDOW + HORIZON)
    return store.manifest, found


@pytest.fixture(scope="module", params=NAMES)
def part(request):
    return parts.load("models", request.param)


@pytest.fixture(scope="module")
def model(part, windows):
    return part.create(windows[0], part.sizes[0], 0)


def test_a_model_offers_its_part(part):
    assert isinstance(part, ModelPart)
    assert part.name in NAMES
    assert part.summary.endswith(".")
    assert part.load is not None or not part.trainable


def test_a_model_has_its_name_and_can_be_judged(part, model):
    assert isinstance(model, WorldModel)
    assert model.name == part.name


def test_predictions_have_the_agreed_shapes_and_are_finite(model, windows):
    manifest, found = windows
    prediction = model.rollout(found.context(WINDOW))
    rows, slots = len(found), manifest.num_slots
    assert prediction.states.shape == (rows, HORIZON, slots, manifest.profile.num_predicted)
    assert prediction.globals.shape == (rows, HORIZON, len(manifest.profile.global_fields))
    assert prediction.terminal.shape == (rows, HORIZON)
    for name in ("states", "globals", "terminal"):
        array = getattr(prediction, name)
        assert array.dtype == np.float32
        assert np.isfinite(array).all()


def test_alive_is_a_chance(model, windows):
    alive = model.rollout(windows[1].context(WINDOW)).states[..., 2]
    assert ((alive >= 0) & (alive <= 1)).all()


def test_the_same_call_gives_the_same_bytes(model, windows):
    first, second = (model.rollout(windows[1].context(WINDOW), seed=3) for _ in range(2))
    assert first.states.tobytes() == second.states.tobytes()
    assert first.globals.tobytes() == second.globals.tobytes()


def test_a_rollout_writes_nothing_into_its_context(model, windows):
    context = windows[1].context(WINDOW)
    before = [context.states.copy(), context.globals.copy(), context.actions.copy()]
    model.rollout(context)
    for array, kept in zip((context.states, context.globals, context.actions), before, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_the_beginning_does_not_depend_on_how_long_the_rollout_is(model, windows):
    found = windows[1]
    long, short = model.rollout(found.context(WINDOW)), model.rollout(found.context(WINDOW, 2))
    np.testing.assert_allclose(short.states, long.states[:, :2], atol=1e-6)


def test_immutable_slots_stay_as_they_were(model, windows):
    found = windows[1]
    pinned = ~found.masks.mutable
    states = model.rollout(found.context(WINDOW)).states[:, :, pinned]
    before = found.states[:, WINDOW - 1, pinned][:, None]
    np.testing.assert_array_equal(
        states[..., :3], np.broadcast_to(before, (*states.shape[:3], 23))[..., :3]
    )


def test_what_a_dead_or_invalid_slot_holds_as_nan_does_no_harm(model, windows):
    context = windows[1].context(WINDOW)
    context.masks.valid[-1] = False
    try:
        context.states[:, :, -1] = np.nan
        assert np.isfinite(model.rollout(context).states).all()
    finally:
        context.masks.valid[-1] = True
        context.states[:, :, -1] = 0


def test_a_longer_window_may_hold_a_single_context_frame(model, windows):
    prediction = model.rollout(windows[1].context(1, 3))
    assert prediction.states.shape[1] == 3


def test_a_model_has_its_page_in_the_docs(part):
    page = DOCS / f"{part.name}.md"
    assert page.is_file(), f"write {page}"
    assert part.name in page.read_text()
