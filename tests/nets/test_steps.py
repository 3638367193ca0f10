"""A training that stops and goes on ends where an uninterrupted one does."""

import pytest
import torch
from torch import nn

from cosmolabe.nets.steps import Steps, slope


def training(seed=0, steps=12, **more):
    torch.manual_seed(seed)
    net = nn.Linear(3, 1)

    def loss(step):
        dice = torch.Generator().manual_seed(step)
        x = torch.randn(8, 3, generator=dice)
        return (net(x) - x.sum(1, keepdim=True)).square().mean(), {"twice": 2.0 * step}

    made = {"steps": steps, "rate": 0.05, "facts": {"recipe": "a"}, **more}
    return net, Steps(dict(net.named_parameters()), loss, **made)


def test_a_resumed_training_ends_with_the_very_weights_of_an_uninterrupted_one(tmp_path) -> None:
    whole, steps = training()
    told = list(steps.run())
    part, steps = training()
    for _ in range(5):
        steps.learn()
    steps.save(tmp_path)
    other, steps = training(seed=1)
    list(steps.run(tmp_path))
    assert torch.equal(whole.weight, other.weight)
    assert not torch.equal(whole.weight, part.weight)
    assert told[-1]["step"] == 12
    assert told[-1]["twice"] == pytest.approx(11.0)


def test_a_finished_training_is_not_done_again(tmp_path) -> None:
    _, steps = training()
    list(steps.run(tmp_path))
    _, again = training(seed=1)
    assert list(again.run(tmp_path)) == []


def test_another_recipe_in_the_same_folder_is_refused(tmp_path) -> None:
    _, steps = training()
    list(steps.run(tmp_path))
    _, other = training(facts={"recipe": "b"})
    with pytest.raises(ValueError, match="the recipe changed"):
        list(other.run(tmp_path))


def test_a_loss_that_is_no_number_is_refused_with_its_step() -> None:
    net, steps = training()
    with torch.no_grad():
        net.weight.fill_(torch.inf)
    with pytest.raises(ValueError, match="at step 0"):
        steps.learn()


def test_nothing_to_train_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to train"):
        Steps({}, lambda step: (torch.zeros(()), {}), steps=1, rate=1.0)


def test_the_rate_climbs_to_its_height_and_falls_to_nothing() -> None:
    assert slope(0.05, 0.1) == pytest.approx(0.5)
    assert slope(0.1, 0.1) == pytest.approx(1.0)
    assert slope(1.0, 0.1) == pytest.approx(0.0, abs=1e-9)
    assert slope(1.0, 0.0) == pytest.approx(0.0, abs=1e-9)
