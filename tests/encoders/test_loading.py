"""Weights of strangers: from folders, files and the hub's cache, loaded as real ones are."""

import json
import pickle
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from cosmolabe.core import parts
from cosmolabe.core.clip import Clip
from cosmolabe.nets.eyes import MotionEye, PictureEye, weights_hash
from cosmolabe.nets.pixels import HALVES, Look
from cosmolabe.nets.pretrained import HubWeights, cached, find_weights, read_tensors

LIBRARIES = ("dinov2", "dinov3", "videomae", "vjepa2", "wan_vae")  # of transformers and diffusers
FILES = {"wan_vae": "diffusion_pytorch_model.safetensors"}


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    import huggingface_hub

    def refuse(*_, **__):
        raise OSError("no network here")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def a_part(name):
    return parts.load("encoders", name)


def toy_of(eye):
    """The net of the library inside an eye, with numbers that are not the seed's."""
    net = eye.net.net
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(1.25)
    return net


def saved(name, folder):
    """A random checkpoint as its library writes it; gives the eye it came from."""
    if name == "wan_vae":
        from diffusers import AutoencoderKLWan

        from cosmolabe.encoders.wan_vae import SIZES, Latents

        torch.manual_seed(3)
        net = AutoencoderKLWan(**SIZES["toy"])
        net.save_pretrained(folder)
        look = Look(32, *HALVES)
        return MotionEye("wan_vae", Latents(net), look, 16)
    eye = a_part(name).load(size="toy", random=True)
    toy_of(eye).save_pretrained(folder)
    return eye


def file_of(name, folder):
    return folder / FILES.get(name, "model.safetensors")


def clip_of(eye, times=5):
    shape = (times, eye.canvas, eye.canvas, 3)
    frames = np.random.default_rng(0).integers(0, 255, shape, dtype=np.uint8)
    return Clip(frames, np.arange(times), np.arange(times) / 16, 16.0, 16.0)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_folder_as_its_library_writes_it_loads_to_the_bit(name, tmp_path):
    saved_eye = saved(name, tmp_path)
    eye = a_part(name).load(tmp_path, size="toy" if name == "wan_vae" else "")
    assert eye.width == saved_eye.width
    assert eye.canvas == saved_eye.canvas
    assert weights_hash(eye.net) == weights_hash(saved_eye.net)
    clip = clip_of(eye)
    np.testing.assert_array_equal(eye.encode(clip), saved_eye.encode(clip))


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_key_changes_with_the_weights(name, tmp_path):
    saved(name, tmp_path)
    other = a_part(name).load(size="toy", random=True)
    assert a_part(name).load(tmp_path, size="toy").key != other.key


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_tensor_is_an_error_and_not_a_random_number(name, tmp_path):
    saved(name, tmp_path)
    path = file_of(name, tmp_path)
    tensors = load_file(path)
    lost = sorted(key for key in tensors if "decoder" not in key and "predictor" not in key)[0]
    del tensors[lost]
    save_file(tensors, path, {"format": "pt"})
    with pytest.raises(ValueError, match="1 missing"):
        a_part(name).load(tmp_path)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_tensor_too_many_is_an_error(name, tmp_path):
    saved(name, tmp_path)
    path = file_of(name, tmp_path)
    save_file(load_file(path) | {"strange.weight": torch.zeros(2)}, path, {"format": "pt"})
    with pytest.raises(ValueError, match=r"1 not known \['strange.weight'\]"):
        a_part(name).load(tmp_path)


@pytest.mark.parametrize("name", LIBRARIES)
def test_numbers_that_are_none_are_an_error(name, tmp_path):
    saved(name, tmp_path)
    path = file_of(name, tmp_path)
    tensors = load_file(path)
    seen = sorted(key for key in tensors if "decoder" not in key and tensors[key].ndim > 1)[0]
    tensors[seen].view(-1)[0] = float("nan")
    save_file(tensors, path, {"format": "pt"})
    with pytest.raises(ValueError, match="NaN or infinity"):
        a_part(name).load(tmp_path)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_file_cut_short_is_named(name, tmp_path):
    saved(name, tmp_path)
    path = file_of(name, tmp_path)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ValueError, match=tmp_path.name):
        a_part(name).load(tmp_path)


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_folder_of_another_kind_of_net_is_refused(name, tmp_path):
    other = "dinov3" if name == "dinov2" else "dinov2"
    saved(other, tmp_path)
    with pytest.raises(ValueError, match="is of 'dinov"):
        a_part(name).load(tmp_path)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_pickle_is_never_opened(name, tmp_path):
    saved(name, tmp_path)
    path = file_of(name, tmp_path)
    torch.save(load_file(path), path.with_name("pytorch_model.bin"))
    path.unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        a_part(name).load(tmp_path)


def test_the_vae_of_wan_2_2_is_known_by_its_config(tmp_path):
    from diffusers import AutoencoderKLWan

    from cosmolabe.encoders.wan_vae import SIZES

    torch.manual_seed(3)
    AutoencoderKLWan(**SIZES["toy-2.2"]).save_pretrained(tmp_path / "vae")
    eye = a_part("wan_vae").load(tmp_path, size="toy-2.2")
    assert eye.width == 48
    assert eye.encode(clip_of(eye)).shape == (2, 48)


def test_the_eye_of_a_painter_is_found_among_its_other_parts(tmp_path):
    from transformers import VideoMAEConfig, VideoMAEForPreTraining

    from cosmolabe.encoders import videomae

    torch.manual_seed(0)
    config = VideoMAEConfig(
        image_size=32, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, decoder_hidden_size=16, decoder_num_hidden_layers=1,
        decoder_num_attention_heads=2, decoder_intermediate_size=32,
    )  # fmt: skip
    painter = VideoMAEForPreTraining(config)
    painter.save_pretrained(tmp_path)
    eye = videomae.load(tmp_path)
    theirs = painter.videomae.state_dict()
    assert theirs
    assert all(torch.equal(eye.net.net.state_dict()[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize("by", ["commit", "branch"])
def test_the_hubs_cache_is_read_at_the_pinned_revision_without_a_network(by, tmp_path):
    from cosmolabe.encoders import dinov2

    weights = dinov2.FAMILY.weights_of("small")
    repo = tmp_path / "hub" / "models--facebook--dinov2-small"
    if by == "branch":
        weights = HubWeights(weights.repo, "main", weights.files)
        (repo / "refs").mkdir(parents=True)
        (repo / "refs" / "main").write_text("0123abcd")
    folder = repo / "snapshots" / ("0123abcd" if by == "branch" else weights.revision)
    saved("dinov2", folder)
    assert cached(weights) == folder
    assert find_weights(weights, None) == folder
    if by == "commit":
        assert a_part("dinov2").load().width == 16
        assert a_part("dinov2").find() == ""


def test_what_is_not_in_the_cache_is_fetched_at_the_pinned_revision(tmp_path, monkeypatch):
    import huggingface_hub

    asked = {}

    def fetch(repo, *, revision, allow_patterns):
        asked.update(repo=repo, revision=revision, files=allow_patterns)
        saved("dinov2", tmp_path / "fetched")
        return str(tmp_path / "fetched")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert a_part("dinov2").load().width == 16
    assert asked == {
        "repo": "facebook/dinov2-small",
        "revision": "ed25f3a31f01632728cabb09d1542f84ab7b0056",
        "files": ["model.safetensors", "config.json"],
    }


def test_another_revision_in_the_cache_is_not_taken(tmp_path):
    repo = tmp_path / "hub" / "models--facebook--dinov2-small"
    saved("dinov2", repo / "snapshots" / "another")
    assert "ed25f3a31f01632728cabb09d1542f84ab7b0056" in a_part("dinov2").find()


@pytest.mark.parametrize("name", [*LIBRARIES, "pe_core"])
def test_weights_that_cannot_be_fetched_are_named_with_the_exact_command(name):
    with pytest.raises(ValueError, match=r"could not be fetched .*no network here") as error:
        a_part(name).load()
    repo, revision = a_part(name).weights.split("@")
    assert f"hf download {repo} --revision {revision} --include '" in str(error.value)
    assert f"hf download {repo} --revision {revision}" in a_part(name).find()


@pytest.mark.parametrize("name", [*LIBRARIES, "pe_core"])
def test_a_toy_without_a_folder_says_that_nobody_trained_it(name):
    with pytest.raises(ValueError, match="no weights of its own"):
        a_part(name).load(size="toy")


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_not_here_is_named_with_what_installs_it(name, monkeypatch):
    part = a_part(name)
    library = "diffusers" if name == "wan_vae" else "transformers"
    monkeypatch.setitem(sys.modules, library, None)  # importing it fails now
    monkeypatch.setattr("importlib.util.find_spec", lambda found: found != library or None)
    with pytest.raises(ValueError, match=library) as error:
        part.load(random=True)
    for said in (part.find(), str(error.value)):
        assert said.startswith(f"needs {library}")
        assert said.endswith("pip install 'cosmolabe[encoders]'")


def test_a_licence_to_accept_is_part_of_the_command():
    assert "accept Meta's DINOv3 licence" in a_part("dinov3").find()


class Evil:
    def __reduce__(self):
        return (print, ("run",))


@pytest.mark.parametrize("content", ["pickle", "torch", "text", "empty"])
def test_a_file_that_holds_more_than_tensors_is_refused_unrun(tmp_path, content, capsys):
    path = tmp_path / "weights.pt"
    if content == "pickle":
        path.write_bytes(pickle.dumps(Evil()))
    elif content == "torch":
        torch.save({"a": Evil()}, path)
    else:
        path.write_bytes(b"hello, world" if content == "text" else b"")
    with pytest.raises(ValueError, match="holds more than tensors, or is cut short"):
        read_tensors(path)
    assert "run" not in capsys.readouterr().out


def test_tensors_among_other_things_are_refused(tmp_path):
    torch.save([1, 2], tmp_path / "w.pt")
    with pytest.raises(ValueError, match="expected names and their tensors, got list"):
        read_tensors(tmp_path / "w.pt")


@pytest.mark.parametrize("around", ["", "state_dict", "model", "weights"])
def test_tensors_are_found_in_the_wrappings_that_people_use(tmp_path, around):
    tensors = {"a": torch.ones(2)}
    torch.save({around: tensors, "epoch": 3} if around else tensors, tmp_path / "w.pt")
    assert torch.equal(read_tensors(tmp_path)["a"], tensors["a"])


def test_a_folder_of_several_models_must_be_told_which(tmp_path):
    for name in ("a", "b"):
        save_file({"x": torch.ones(1)}, tmp_path / f"{name}.safetensors")
    with pytest.raises(ValueError, match=r"\['a.safetensors', 'b.safetensors'\]; name the file"):
        read_tensors(tmp_path)
    assert list(read_tensors(tmp_path / "b.safetensors")) == ["x"]


def index(folder, **places):
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


def test_a_model_in_several_files_is_put_together(tmp_path):
    for name in ("a", "b"):
        save_file({name: torch.ones(1)}, tmp_path / f"{name}.safetensors")
    index(tmp_path, a="a.safetensors", b="b.safetensors")
    assert sorted(read_tensors(tmp_path)) == ["a", "b"]


def test_an_index_cannot_point_out_of_its_folder(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    save_file({"a": torch.ones(1)}, tmp_path / "a.safetensors")
    index(inside, a="../a.safetensors")
    with pytest.raises(ValueError, match="names a file outside its folder"):
        read_tensors(inside)


def test_an_unknown_kind_of_file_is_refused(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"read from .safetensors, .pt, .pth, .bin"):
        read_tensors(tmp_path / "model.onnx")


def toy_eye(**given):
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 2))
    return PictureEye("toy", net, Look(4, *HALVES), 2, **given)


def test_bf16_on_a_cpu_is_refused():
    with pytest.raises(ValueError, match="bf16 on a CPU is about 200 times slower"):
        toy_eye(device="cpu", precision="bf16")


def test_an_unknown_precision_is_refused():
    with pytest.raises(ValueError, match=r"precision is one of .*; got 'int3'"):
        toy_eye(precision="int3")


def test_an_eye_that_gives_no_numbers_says_so():
    eye = toy_eye()
    eye.net[1].bias.data[:] = float("inf")
    with pytest.raises(ValueError, match="encoder 'toy' gave NaN or infinity"):
        eye.encode(clip_of(eye))


@pytest.mark.parametrize("chunk", [1, 3, 4, 16])
def test_a_net_always_runs_on_as_many_pictures_at_once(chunk, monkeypatch):
    eye = toy_eye(chunk=chunk)
    sizes = []
    monkeypatch.setattr(
        eye.net, "forward", lambda x, run=eye.net.forward: sizes.append(len(x)) or run(x)
    )
    clip = clip_of(eye, 7)
    found = eye.encode(clip)
    assert set(sizes) == {chunk}
    np.testing.assert_allclose(found, toy_eye_like(eye).encode(clip), atol=1e-6)


def toy_eye_like(eye):
    other = toy_eye(chunk=1)
    other.net.load_state_dict(eye.net.state_dict())
    return other


def test_a_picture_that_is_shown_again_and_again_is_seen_once(monkeypatch):
    eye = toy_eye(chunk=1)
    seen = []
    monkeypatch.setattr(eye.net, "forward", lambda x, run=eye.net.forward: seen.append(x) or run(x))
    clip = clip_of(eye, 3)
    slow = Clip(clip.frames, np.array([0, 0, 0, 2, 2, 2]), np.arange(6) / 16, 16.0, 16.0)
    assert eye.encode(slow).shape == (6, 2)
    assert len(seen) == 2


def test_no_weight_of_an_eye_can_learn():
    eye = toy_eye()
    assert not any(p.requires_grad for p in eye.net.parameters())
    assert not eye.net.training
