"""Which scenes there are and how their physics can be hurt; names alone, no MuJoCo needed.

A kind that games have too (`data.damage`) means the same here, so that a kind held out of training
is held out everywhere.
"""

SCENES = (
    "falling_shapes", "bouncing_ball", "projectile", "ball_pit", "rolling_ramp", "sliding_box",
    "pendulum", "double_pendulum", "newton_cradle", "rope", "spring_mass", "collision_pair",
    "billiard", "tower_topple", "domino", "seesaw", "spinning_top",
)  # fmt: skip
"""Every scene, by the name that `held_out.json` writes as mujoco/NAME."""
PHYSICS = (
    "gravity", "gravity_turned", "restitution", "friction", "mass", "levitate", "kick", "freeze",
    "speed_jump", "ghosting",
)  # fmt: skip
"""Kinds that change the laws or the forces while MuJoCo goes on."""
SHOWN = (
    "teleport", "vanish", "appear", "duplicate", "size_change", "identity_swap", "stutter", "drift",
    "jitter", "smooth_noise", "lag", "reversed_time",
)  # fmt: skip
"""Kinds that change where, when or how bodies are shown while the laws hold."""
KINDS = (*PHYSICS, *SHOWN)
