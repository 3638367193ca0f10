"""A game's frames as JSON lose nothing, and the published schema is the one we check."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cosmolabe.core.episode import Episode, rebuild_motion
from cosmolabe.core.fields import ALIVE, FIELDS_START
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.core.record import plain
from cosmolabe.data.collect import collect
from cosmolabe.data.envelope import (
    detensorise,
    envelope_schema,
    frame_of,
    frame_to_json,
    short,
    tensorise,
)
from cosmolabe.data.envelopes import export_envelopes, import_envelopes
from cosmolabe.data.manifests import manifest_schema, read_manifest

DOCS = Path(__file__).parents[2] / "docs" / "schema"
SMALL = Manifest(
    game="studio",
    version=3,
    slots=(Slot("hero", "player"), Slot("door", "goal", mutable=False), Slot("bat", "enemy")),
    fields=("hp", "rotation"),
    globals=("score", "camera_x"),
    actions=("move_x", "jump"),
    wrap_x=True,
)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def episodes(draw):
    """Any episode that the small manifest can say."""
    length = draw(st.integers(2, 6))
    profile, masks = SMALL.profile, SMALL.masks()
    states = np.zeros((length, 3, profile.num_state), np.float32)
    for column in (0, 1, 3, 4, *(FIELDS_START + np.flatnonzero(masks.fields))):
        states[:, :, column] = draw(hnp.arrays(np.float32, (length, 3), elements=FLOATS))
    states[:, :, :2] = np.clip(states[:, :, :2], -1e6, 1e6)
    states[:, :, ALIVE] = draw(hnp.arrays(bool, (length, 3)))
    numbers = np.zeros((length, len(profile.global_fields)), np.float32)
    numbers[:, masks.globals] = draw(hnp.arrays(np.float32, (length, 2), elements=FLOATS))
    actions = np.zeros((length, len(profile.action_fields)), np.float32)
    actions[:-1, masks.actions] = draw(hnp.arrays(np.float32, (length - 1, 2), elements=FLOATS))
    terminal = np.zeros(length, bool)
    terminal[-1] = draw(st.booleans())
    return Episode(
        SMALL.registry(),
        rebuild_motion(states, SMALL),
        actions,
        numbers,
        terminal,
        truncated=not terminal[-1],
    )


def same(one, other):
    for name in ("registry", "states", "actions", "globals", "terminal"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.truncated == other.truncated


@given(episode=episodes())
def test_frames_give_the_tensors_back(episode):
    lines = [json.dumps(frame_to_json(f)) for f in detensorise(episode, SMALL, "e")]
    frames = [frame_of(json.loads(line), "line") for line in lines]
    same(tensorise(frames, SMALL), episode)


@given(value=FLOATS)
def test_a_short_number_is_the_same_float32(value):
    assert np.float32(short(np.float32(value))) == np.float32(value)


@given(episode=episodes())
def test_every_frame_fits_the_published_schema(episode):
    validator = jsonschema.Draft202012Validator(envelope_schema())
    for frame in detensorise(episode, SMALL, 7):
        validator.validate(frame_to_json(frame))


@pytest.mark.parametrize(
    ("file", "schema"),
    [("envelope.json", envelope_schema()), ("manifest.json", manifest_schema())],
)
def test_the_published_schema_is_the_one_we_check(file, schema):
    assert json.loads((DOCS / file).read_text()) == schema


def test_a_manifest_survives_its_file(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(plain(SMALL)))
    assert read_manifest(path) == SMALL
    jsonschema.Draft202012Validator(manifest_schema()).validate(plain(SMALL))


def test_a_store_exported_and_imported_is_the_same_store(tmp_path):
    store = collect("pong", tmp_path / "replay", 4, max_ticks=70)
    count = export_envelopes(store, tmp_path / "out")
    assert count == store.lengths.sum()
    again = import_envelopes(tmp_path / "out", tmp_path / "packed", split="test")
    assert again.split("test").tolist() == [0, 1, 2, 3]
    for number in range(4):
        same(again.episode(number), store.episode(number))
    assert again.verify() == 4
