import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

from cosmolabe.core.clip import Clip
from cosmolabe.encoders.pe_core import (
    RELEASED,
    TOWERS,
    Tower,
    Turning,
    Vision,
    in_metas_names,
    load,
    turned,
    weights_of,
)
from cosmolabe.nets.eyes import untrained

TOY = TOWERS["toy"]
WITHOUT_CLASS = Tower(32, 8, 32, 2, 4, 64, 16, has_class=False, pool_heads=2)
SIZES = {  # numbers of timm 1.0.31's models, whose head has a bias more
    "G14-448": 1_882_032_640,
    "L14-336": 317_151_232,
    "B16-224": 93_672_960,
    "S16-384": 23_782_656,
    "T16-384": 6_140_544,
}
# What timm 1.0.31 (torch 2.14.1) gives for the towers above with the numbers of `by_formula`.
TIMM_WITH_CLASS = [
    0.17959, -0.26981, -0.13394, 0.09864, -2.53638, -2.43789, -0.56859, -0.93074,
    0.19254, -1.29435, -0.82373, -0.89068, -2.25538, -0.53985, 1.2374, 0.49197,
]  # fmt: skip
TIMM_WITHOUT_CLASS = [
    0.03804, -3.55877, -2.89697, 0.00627, 0.44901, -2.80004, -0.08805, -2.0204,
    0.49861, 0.87274, -1.77946, 2.35059, -0.07772, 1.75129, -0.10461, -1.63513,
]  # fmt: skip


def timm_shapes(tower):
    """Names and shapes of a timm tower."""
    wide, hidden, tokens = tower.width, tower.hidden, tower.grid**2 + tower.has_class
    shapes = {
        "patch_embed.proj.weight": (wide, 3, tower.patch, tower.patch),
        "pos_embed": (1, tokens, wide),
        "head.weight": (tower.out, wide),
        "head.bias": (tower.out,),
        "attn_pool.latent": (1, 1, wide),
        "attn_pool.q.weight": (wide, wide),
        "attn_pool.q.bias": (wide,),
        "attn_pool.kv.weight": (2 * wide, wide),
        "attn_pool.kv.bias": (2 * wide,),
        "attn_pool.proj.weight": (wide, wide),
        "attn_pool.proj.bias": (wide,),
        "attn_pool.mlp.fc1.weight": (4 * wide, wide),
        "attn_pool.mlp.fc1.bias": (4 * wide,),
        "attn_pool.mlp.fc2.weight": (wide, 4 * wide),
        "attn_pool.mlp.fc2.bias": (wide,),
    }
    norms = ["norm_pre", "norm", "attn_pool.norm"]
    for number in range(tower.layers):
        block = f"blocks.{number}"
        norms += [f"{block}.norm1", f"{block}.norm2"]
        shapes |= {
            f"{block}.attn.qkv.weight": (3 * wide, wide),
            f"{block}.attn.qkv.bias": (3 * wide,),
            f"{block}.attn.proj.weight": (wide, wide),
            f"{block}.attn.proj.bias": (wide,),
            f"{block}.mlp.fc1.weight": (hidden, wide),
            f"{block}.mlp.fc1.bias": (hidden,),
            f"{block}.mlp.fc2.weight": (wide, hidden),
            f"{block}.mlp.fc2.bias": (wide,),
        }
    for name in norms:
        shapes |= {f"{name}.weight": (wide,), f"{name}.bias": (wide,)}
    return shapes | ({"cls_token": (1, 1, wide)} if tower.has_class else {})


def by_formula(shapes):
    """The same numbers wherever they are made."""
    found = {}
    for number, name in enumerate(sorted(shapes)):
        drawn = np.random.default_rng(number).normal(size=shapes[name]).astype(np.float32)
        scaled = 0.2 * drawn
        if name == "head.bias":
            scaled = 0 * drawn
        elif "norm" in name and name.endswith("weight"):
            scaled = 1 + 0.1 * drawn
        found[name] = torch.from_numpy(scaled)
    return found


def in_timms_names(tower):
    return by_formula(timm_shapes(tower))


@pytest.mark.parametrize(
    ("tower", "expected"), [(TOY, TIMM_WITH_CLASS), (WITHOUT_CLASS, TIMM_WITHOUT_CLASS)]
)
def test_the_tower_computes_what_timm_computes(tower, expected):
    net = Vision(tower).eval()
    net.load_state_dict(in_metas_names(in_timms_names(tower)))
    drawn = np.random.default_rng(99).normal(size=(1, 3, 32, 32)).astype(np.float32)
    with torch.no_grad():
        found = net(torch.from_numpy(drawn))[0]
    np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize(("size", "count"), SIZES.items())
def test_every_size_has_as_many_numbers_as_the_published_one(size, count):
    with torch.device("meta"):
        net = Vision(TOWERS[size])
    assert sum(p.numel() for p in net.state_dict().values()) == count


def as_meta(net):
    """The net's numbers as Meta's own files hold them: beside a text tower."""
    visual = {f"visual.{name}": tensor for name, tensor in net.state_dict().items()}
    return visual | {"logit_scale": torch.zeros(()), "token_embedding.weight": torch.zeros(2, 2)}


def clip():
    frames = np.random.default_rng(0).integers(0, 255, (3, 32, 32, 3), dtype=np.uint8)
    return Clip(frames, np.arange(3), np.arange(3) / 16, 16.0, 16.0)


@pytest.mark.parametrize("file", ["toy.pt", "toy.safetensors"])
@pytest.mark.parametrize("folder", [False, True])
def test_metas_own_checkpoint_loads_from_its_file_and_from_its_folder(tmp_path, file, folder):
    net = untrained(lambda: Vision(TOY), seed=7)
    path = tmp_path / file
    write = torch.save if file.endswith("pt") else save_file
    write(as_meta(net), path)
    eye = load(tmp_path if folder else path, size="toy")
    for name, tensor in net.state_dict().items():
        assert torch.equal(eye.net.state_dict()[name], tensor)
    assert np.isfinite(eye.encode(clip())).all()


def test_timms_checkpoint_loads_as_well(tmp_path):
    save_file(in_timms_names(TOY), tmp_path / "model.safetensors")
    eye = load(tmp_path, size="toy")
    net = Vision(TOY)
    net.load_state_dict(in_metas_names(in_timms_names(TOY)))
    with torch.no_grad():
        expected = net(torch.from_numpy(clip().frames).permute(0, 3, 1, 2) / 127.5 - 1)
    np.testing.assert_allclose(eye.encode(clip()), expected, atol=1e-5)


def test_a_bias_that_metas_tower_cannot_hold_is_refused(tmp_path):
    state = in_timms_names(TOY) | {"head.bias": torch.ones(TOY.out)}
    with pytest.raises(ValueError, match="bias that is not zero"):
        in_metas_names(state)


def test_another_size_is_named(tmp_path):
    torch.save(as_meta(Vision(WITHOUT_CLASS)), tmp_path / "toy.pt")
    with pytest.raises(ValueError, match=r"1 missing \['class_embedding'\]"):
        load(tmp_path, size="toy")


def test_the_releaseds_eye_is_the_giant_at_480_pixels_as_they_are(monkeypatch):
    from cosmolabe.encoders import pe_core

    monkeypatch.setattr(pe_core, "GIANT", WITHOUT_CLASS)
    eye = load(size=RELEASED, random=True)
    assert eye.canvas == 480
    pixels = torch.rand(1, 3, 480, 480)
    assert torch.equal(eye.look(pixels), pixels)
    assert eye.encode(clip()).shape == (3, 16)
    assert weights_of(RELEASED) == weights_of("G14-448")


@given(st.integers(1, 9))
def test_learnt_places_stretch_to_any_grid_and_keep_what_is_constant(grid):
    net = untrained(lambda: Vision(TOY))
    net.positional_embedding.data[1:] = 0.5
    stretched = net.places(grid)
    assert stretched.shape == (1 + grid**2, TOY.width)
    torch.testing.assert_close(stretched[1:], torch.full((grid**2, TOY.width), 0.5))
    torch.testing.assert_close(stretched[0], net.positional_embedding[0])


@given(st.integers(0, 2**31), st.integers(0, 2), st.integers(0, 2))
def test_attention_depends_on_how_far_apart_two_patches_are_and_not_on_where(seed, down, right):
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 8, generator=generator, dtype=torch.float64)
    grid = 6
    turn = Turning(WITHOUT_CLASS)(grid, torch.zeros(1, dtype=torch.float64))
    same = q.expand(1, 1, grid**2, 8), k.expand(1, 1, grid**2, 8)
    query, key = (turned(x, *turn)[0, 0].unflatten(0, (grid, grid)) for x in same)
    here = query[0, 0] @ key[down, right]
    there = query[3, 2] @ key[3 + down, 2 + right]
    assert here.item() == pytest.approx(there.item(), abs=1e-5)


def test_the_class_token_is_not_turned_and_shares_its_place_with_no_patch():
    cosine, sine = Turning(TOY)(4, torch.zeros(1))
    assert torch.equal(cosine[0], torch.ones(8))
    assert torch.equal(sine[0], torch.zeros(8))
    assert (sine[1:].abs().sum(-1) > 0).all()
