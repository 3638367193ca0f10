"""How a network's heads are read: as changes of a constant velocity, of fields and of globals.

All heads at zero give `constant_velocity`. What that gets right stays exactly right, for small
corrections are none.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY, VX
from cosmolabe.nets.imagination import Dreamt, Imagination, Likely

QUIET = 0.05  # corrections of motion below this are none, shares of the velocity or mean speed
MOTION = 8  # heads before the fields: gain 2, push 2, spot 2, jump, alive


def read_heads(network: Imagination, dreamt: Dreamt, entity: Tensor, frame: Tensor) -> Likely:
    """The heads' outputs, entities' (MOTION + fields) and frames' (globals + 1), as likelihoods."""
    states, num_fields = dreamt.states, entity.shape[-1] - MOTION
    gain, push, spot, jump, alive, fields = entity.split([2, 2, 2, 1, 1, num_fields], -1)
    gain, push = quiet(gain), quiet(push)
    was_alive = states[..., ALIVE : ALIVE + 1] > 0.5
    moved = states[..., :2] + states[..., VX : VX + 2] * (1 + gain) + push * network.speed
    # 8: a gate that leaks 2 % a frame would pull every brick towards the middle of the screen
    leap = (10 * jump - torch.where(was_alive, 8.0, 0.0)).sigmoid()
    return Likely(
        positions=moved + leap * (spot + 0.5 - moved),
        alive=10 * alive[..., 0] + torch.where(was_alive[..., 0], 4.0, -4.0),
        fields=states[..., FIELDS_START:-NUM_HISTORY] + fields * network.field_scale,
        globals=dreamt.globals + frame[..., :-1] * network.global_step,
        terminal=10 * frame[..., -1] - 6,
    )


def quiet(values: Tensor) -> Tensor:
    """Exactly zero below `QUIET`, less by it above; the gradient passes as if it were not."""
    return values + (F.softshrink(values, QUIET) - values).detach()
