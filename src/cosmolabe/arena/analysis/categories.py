"""The classes of an edit, the same for both raters."""

ARCHITECTURE = "architecture"
OBJECTIVE = "objective"
ROLLOUT = "rollout curriculum"
STATE = "state representation"
INFERENCE = "inference"
AUGMENTATION = "data augmentation"
SCHEDULE = "optimisation schedule"
HYPER = "hyper-parameter only"
BUG_FIX = "bug fix"
NONE = "no change"

CATEGORIES = {
    ARCHITECTURE: "layers, connections or how the network computes a frame",
    OBJECTIVE: "what the loss measures and how its terms weigh, beyond a number",
    ROLLOUT: "how many imagined frames training sees, when, and where gradients stop",
    STATE: "how states, actions or targets are written as numbers or words",
    INFERENCE: "what happens only when predicting: decoding, sampling, clamping, ensembles",
    AUGMENTATION: "which windows are trained on and how they are disturbed",
    SCHEDULE: "optimiser, learning rate over time, clipping, averaging of weights",
    HYPER: "numbers alone, in the code or in the config",
    BUG_FIX: "a repair: an index, a sign, a mask, a guard, a forgotten mode",
    NONE: "the program is the same: comments, formatting, names",
}
"""Each class and what belongs to it (ours; the paper names nine, of which five are published)."""
TRIVIAL = frozenset({HYPER, NONE})
"""Classes that are no research: AutoWorldModel-Bench's binary question."""
