"""Changes of windows and contexts that show how a world model is wired."""

from dataclasses import replace

import numpy as np
import torch

from cosmolabe.core.rollout import Context


def stir(network, amount):
    """Heads that say something: every weight moves a little, the same way each time."""
    dice = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in network.parameters():
            weight += torch.randn(weight.shape, generator=dice) * amount


def changed_from(windows, start):
    """The same windows with states, globals and actions from frame `start` on replaced."""
    dice = np.random.default_rng(0)

    def other(array):
        array = array.copy()
        array[:, start:] = dice.random(array[:, start:].shape, np.float32)
        return array

    return replace(
        windows,
        states=other(windows.states),
        globals=other(windows.globals),
        actions=other(windows.actions),
    )


def first_step_changed_by(model, context, action):
    """The first predicted step that a change of one action changes, counted from 1."""
    actions = context.actions.copy()
    actions[:, action] = 1 - actions[:, action]
    other = replace(context, actions=actions)
    before, after = model.rollout(context), model.rollout(other)
    differs = np.abs(before.states - after.states).max((0, 2, 3)) > 0
    return int(differs.argmax()) + 1 if differs.any() else None


def permuted(context, order):
    """The same context with its slots in another order."""
    return Context(
        context.registry[:, order],
        context.states[:, :, order],
        context.globals,
        context.actions,
        replace(
            context.masks, valid=context.masks.valid[order], mutable=context.masks.mutable[order]
        ),
    )


def padded(context, num, fill):
    """The same context with `num` more slots that are not valid, filled with `fill`."""

    def more(array, axis):
        shape = list(array.shape)
        shape[axis] = num
        return np.concatenate([array, np.full(shape, fill, array.dtype)], axis)

    masks = replace(
        context.masks,
        valid=np.append(context.masks.valid, np.zeros(num, bool)),
        mutable=np.append(context.masks.mutable, np.ones(num, bool)),
    )
    return replace(
        context, registry=more(context.registry, 1), states=more(context.states, 2), masks=masks
    )
