"""PE-Core as timm computes it, on equal random weights of every size that fits a small machine.

timm needs torchvision, and that a torch of its own: `make slow-timm` sets up an environment.
"""

import numpy as np
import pytest
import torch

timm = pytest.importorskip("timm", reason="make slow-timm")

from cosmolabe.encoders.pe_core import TOWERS, Vision, in_metas_names

NAMES = {
    "G14-448": "vit_pe_core_gigantic_patch14_448",
    "L14-336": "vit_pe_core_large_patch14_336",
    "B16-224": "vit_pe_core_base_patch16_224",
    "S16-384": "vit_pe_core_small_patch16_384",
    "T16-384": "vit_pe_core_tiny_patch16_384",
}


def shaken(net):
    """Every number moved, so that no part of the net can hide behind a zero or a one."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))
        net.head.bias.zero_()
    return net.eval()


@pytest.mark.parametrize("size", NAMES)
def test_every_name_and_shape_of_timms_tower_has_its_place(size):
    with torch.device("meta"):
        theirs = timm.create_model(f"{NAMES[size]}.fb", pretrained=False).state_dict()
        ours = Vision(TOWERS[size]).state_dict()
    theirs["head.bias"] = torch.zeros(theirs["head.bias"].shape)
    found = in_metas_names(theirs)
    assert {n: t.shape for n, t in found.items()} == {n: t.shape for n, t in ours.items()}


@pytest.mark.parametrize("size", ["T16-384", "S16-384", "B16-224"])
def test_a_tower_of_full_size_gives_what_timms_gives(size):
    theirs = shaken(timm.create_model(f"{NAMES[size]}.fb", pretrained=False))
    ours = Vision(TOWERS[size]).eval()
    ours.load_state_dict(in_metas_names(theirs.state_dict()))
    canvas = TOWERS[size].canvas
    drawn = np.random.default_rng(1).normal(size=(2, 3, canvas, canvas)).astype(np.float32)
    pixels = torch.from_numpy(drawn)
    with torch.no_grad():
        wanted, found = theirs(pixels), ours(pixels)
    assert wanted.std() > 0.1
    torch.testing.assert_close(found, wanted, atol=2e-5, rtol=2e-5)


def test_a_tower_without_a_class_token_gives_what_timms_gives():
    tower = TOWERS["G14-448"]
    small = {"embed_dim": 96, "depth": 2, "num_heads": 4, "num_classes": 24, "mlp_ratio": 2.0}
    theirs = shaken(timm.create_model(NAMES["G14-448"], attn_pool_num_heads=8, **small))
    like = type(tower)(448, 14, 96, 2, 4, 192, 24, has_class=False)
    ours = Vision(like).eval()
    ours.load_state_dict(in_metas_names(theirs.state_dict()))
    pixels = torch.from_numpy(np.random.default_rng(1).normal(size=(1, 3, 448, 448))).float()
    with torch.no_grad():
        torch.testing.assert_close(ours(pixels), theirs(pixels), atol=2e-5, rtol=2e-5)


def test_the_real_loader_reads_a_checkpoint_that_timm_writes(tmp_path):
    from safetensors.torch import save_file

    from cosmolabe.encoders.pe_core import load

    theirs = shaken(timm.create_model(f"{NAMES['T16-384']}.fb", pretrained=False))
    save_file(theirs.state_dict(), tmp_path / "model.safetensors")
    eye = load(tmp_path, size="T16-384")
    pixels = torch.rand(1, 1, 3, 384, 384, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        wanted = theirs(pixels[0] * 2 - 1)
        torch.testing.assert_close(eye.features(pixels)[0], wanted, atol=2e-5, rtol=2e-5)
