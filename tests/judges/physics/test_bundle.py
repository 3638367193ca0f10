import hashlib
import json

import numpy as np
import pytest
from moving_squares import glance, random_heads, square

from cosmolabe.core import parts
from cosmolabe.judges.physics import Bundle, Physics, bundled, learn, load_bundle, save_bundle
from cosmolabe.judges.physics.familiar import Familiar
from cosmolabe.nets import released_head
from cosmolabe.nets.checkpoints import read_tensors, write_tensors


@pytest.fixture
def folder(eye, tmp_path):
    rows = np.random.default_rng(0).normal(size=(40, 12))
    bundle = Bundle(
        "mine", random_heads(eye), "glance", familiar=learn(rows),
        choices={"quantile": 0.8, "short_weight": 0.5}, about={"seed": 3},
    )  # fmt: skip
    return save_bundle(bundle, tmp_path / "mine"), bundle


def test_a_head_comes_back_as_it_was_written(eye, folder):
    path, bundle = folder
    again = load_bundle(path)
    assert again.sha256 == bundle.sha256
    assert again.about == {"seed": 3}
    one, two = Physics.of(eye, bundle), Physics.of(eye, again)
    assert one.protocol == two.protocol
    assert one.protocol.quantile == 0.8
    frames = square(48)
    assert one.judge_frames(frames, 16.0) == two.judge_frames(frames, 16.0)


@pytest.mark.parametrize("name", ["head.safetensors", "familiar.safetensors", "head.json"])
def test_a_changed_file_is_refused(folder, name):
    path, _ = folder
    content = bytearray((path / name).read_bytes())
    content[-2] ^= 1
    (path / name).write_bytes(bytes(content))
    with pytest.raises(ValueError, match=name):
        load_bundle(path)


def test_a_file_that_is_gone_is_refused(folder):
    path, _ = folder
    (path / "familiar.safetensors").unlink()
    with pytest.raises(ValueError, match="familiar"):
        load_bundle(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 9}, "not the recipe"),
        ({"encoder": "glance"}, "encoder"),
        ({"protocol": "physics/9"}, "no protocol"),
        ({"choices": []}, "choices"),
        ({"choices": {"quantile": "0.9"}}, "a number"),
        ({"choices": {"quantile": True}}, "a number"),
        ({"choices": {"quantile": None}}, "a number"),
        ({"choices": {"motion_floor": {}}}, "a number"),
        ({"choices": {"unlike": "no"}}, "true or false"),
        ({"choices": {"quantile": 2.0}}, "0..1"),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused(folder, change, words):
    path, _ = folder
    recipe = json.loads((path / "recipe.json").read_text())
    (path / "recipe.json").write_text(json.dumps(recipe | change))
    with pytest.raises(ValueError, match=words):
        Physics.of(glance(), load_bundle(path))


def vouched(path):
    """The recipe says that all files are as they should be."""
    recipe = json.loads((path / "recipe.json").read_text())
    recipe["sha256"] = {
        name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in recipe["sha256"]
    }
    (path / "recipe.json").write_text(json.dumps(recipe))
    return path


@pytest.mark.parametrize(
    ("entry", "value"),
    [("members", 10**9), ("members", 10**6), ("hidden", 10**12), ("hidden", 10**25)],
)
def test_a_config_cannot_make_room_for_what_does_not_lie_there(folder, entry, value):
    path, _ = folder
    config = json.loads((path / "head.json").read_text())
    config["recipe"][entry] = value
    (path / "head.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="more numbers than"):
        load_bundle(vouched(path))


@pytest.mark.parametrize("shape", ["narrow", "flat", "scalar"])
def test_what_is_familiar_must_fit_the_heads(folder, shape):
    path, _ = folder
    tensors = read_tensors(path / "familiar.safetensors")
    if shape == "narrow":
        tensors = {
            name: value[..., :5] if name.split(".")[1] in ("mean", "scale", "directions") else value
            for name, value in tensors.items()
        }
    elif shape == "flat":
        tensors["familiar.mean"] = tensors["familiar.mean"][None]
    else:
        tensors["familiar.spread"] = np.array(tensors["familiar.spread"][0])
    write_tensors(path / "familiar.safetensors", tensors)
    with pytest.raises(ValueError, match=r"columns|fit together"):
        load_bundle(vouched(path))


def test_heads_whose_numbers_run_over_give_no_score(folder, eye):
    path, _ = folder
    tensors = read_tensors(path / "head.safetensors")
    huge = {k: v * np.float32(1e30) if "weight" in k else v for k, v in tensors.items()}
    write_tensors(path / "head.safetensors", huge)
    physics = Physics.of(eye, load_bundle(vouched(path)), choices={"unlike": False})
    with pytest.raises(ValueError, match="no finite number"):
        physics.judge_frames(square(48), 16.0)


def test_the_released_head_gets_the_eye_that_it_was_trained_with(monkeypatch):
    monkeypatch.setattr(released_head, "load_released", lambda: random_heads(glance(), members=1))
    bundle = load_bundle("phyprobe")
    sizes = parts.load("encoders", bundle.encoder).shapes
    assert sizes[bundle.size] == (480, released_head.WIDTH)
    protocol = bundle.bound("", "key", 448)
    assert protocol.canvas.size == sizes[bundle.size][0]


def test_choices_that_no_protocol_has_are_not_written(eye, tmp_path):
    with pytest.raises(ValueError, match="a head may choose"):
        save_bundle(Bundle("x", random_heads(eye), "glance", choices={"hue": 1}), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_an_unknown_head_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(ValueError, match="phyprobe"):
        load_bundle(tmp_path / "nowhere")
    for name in bundled():
        assert load_bundle(name).name


def test_untrained_heads_are_the_same_each_time_and_say_what_they_are():
    one, two = load_bundle("untrained"), load_bundle("untrained")
    assert one.sha256 == two.sha256
    assert len(one.fitted.heads) == 3
    assert "never trained" in one.about["note"]


def test_familiar_tells_near_from_far_in_every_direction():
    dice = np.random.default_rng(1)
    spread = np.linspace(0.1, 3, 30)
    rows = dice.normal(size=(400, 30)) * spread
    known = learn(rows)
    near = known.distance(dice.normal(size=(200, 30)) * spread)
    assert (near <= known.edge).mean() >= 0.97
    for axis in range(30):
        far = np.zeros((1, 30))
        far[0, axis] = 14 * spread[axis]
        assert known.distance(far)[0] > known.edge, axis


def test_familiar_keeps_groups_on_one_side():
    dice = np.random.default_rng(2)
    groups = np.repeat(np.arange(20), 10)
    rows = np.repeat(dice.normal(size=(20, 8)) * 5, 10, 0) + dice.normal(size=(200, 8)) * 0.1
    assert learn(rows, groups=groups).edge > 1.5 * learn(rows).edge
    with pytest.raises(ValueError, match="one group"):
        learn(rows, groups=np.zeros(200))


def test_familiar_needs_enough_clips_and_sound_numbers():
    with pytest.raises(ValueError, match="learnt from"):
        learn(np.zeros((3, 4)))
    assert isinstance(learn(np.ones((20, 4))), Familiar)
