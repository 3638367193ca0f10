"""Every ablation of the bundled physics judge can be fitted on what its eye gives."""

import pytest
import torch

from cosmolabe.bench.physics.ablations import VARIANTS
from cosmolabe.bench.physics.making import JudgeRecipe
from cosmolabe.core import parts
from cosmolabe.nets.head import build_head


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variants_head_fits_the_bundled_eyes_width(name: str) -> None:
    width = parts.load("encoders", "tiny").load().width
    head = build_head(width, VARIANTS[name].change(JudgeRecipe().head))
    assert torch.isfinite(
        head(torch.zeros(2, 20, width), torch.ones(2, 20, dtype=torch.bool))
    ).all()
