"""Every name a state can carry, once, with its unit: the 34 + 23 + 7 + 17 columns of `awm`.

The profile `awm` has the widths of AutoWorldModel-Bench (arXiv 2608.11216); what the paper leaves
unnamed is named here. A studio's manifest may declare its own names and so its own widths.

Lengths are shares of the world: x of its width, y of its height (both 0..1, x right, y down),
radius and half sizes of its height. Velocities are the same shares per tick (60 ticks a second).
"""

from dataclasses import dataclass

KINDS = (
    "player", "opponent", "enemy", "ball", "projectile", "brick",
    "pickup", "segment", "platform", "ladder", "hazard", "goal",
)  # fmt: skip
SHAPES = ("point", "circle", "box", "capsule")
LAYERS = ("player", "enemy", "projectile", "solid", "one_way", "pickup", "hazard", "decor")
SIZES = ("radius", "half_width", "half_height")  # world heights
FLAGS = ("mutable", "controllable", "solid", "wraps")
MATTER = ("mass", "restitution", "friction")  # unitless, 1 = the game's own unit

CORE_STATE = ("x", "y", "alive", "vx", "vy")
HISTORY = ("dx1", "dy1", "dx2", "dy2")  # newest step first, wrapped where the axis wraps

GAME_FIELDS = {
    "age": "share of the entity's life span, 0..1",
    "col": "column in the grid, count from 0",
    "direction": "0 up, 1 right, 2 down, 3 left",
    "hp": "hits left, count",
    "lane_type": "0 grass, 1 road, 2 river, 3 home",
    "on_ground": "1 standing, 0 in the air",
    "piece_type": "variant of the entity, count from 0",
    "reached": "1 filled or collected, 0 open",
    "rotation": "heading in turns, 0..1, 0 points up, clockwise",
    "row": "row in the grid, count from 0",
    "segment_index": "place in the body, 0 is next to the head",
    "size_class": "0 small, 1 medium, 2 large",
    "tagged": "1 in the marked state of the game (climbing, shielded, off the track), else 0",
    "tagged_count": "count belonging to the marked state (laps, charges)",
}
"""The 14 fields games may use, alphabetical as in the paper's release, with their units."""

GLOBAL_FIELDS = {
    "score": "points",
    "reward": "points of this tick, full precision",
    "lives": "lives left, count",
    "level": "level, count from 1",
    "phase": "0 ready, 1 playing, 2 life lost, 3 won, 4 over",
    "tick_share": "share of the longest episode played, 0..1",
    "time_left": "share of the level's clock left, 0..1",
    "remaining": "share of the level's targets left, 0..1",
    "done": "share of the level's targets done, 0..1",
    "progress": "share of the way, 0..1",
    "cooldown": "share of the waiting time left, 0..1",
    "shield": "share of the protection left, 0..1",
    "speed": "speed of the main body, shares of the world per tick",
    "combo": "successes in a row, count",
    "opponent_score": "points",
    "camera_x": "left edge of the view, world widths",
    "camera_y": "top edge of the view, world heights",
}
"""The 17 global fields with their units."""

ACTION_FIELDS = {
    "move_x": "-1 left .. 1 right",
    "move_y": "-1 up .. 1 down",
    "jump": "0 or 1",
    "fire": "0 or 1",
    "turn": "-1 counter-clockwise .. 1 clockwise",
    "thrust": "0 or 1",
    "brake": "0 or 1",
}
"""The union of all games' action fields; each game uses one to three."""

X, Y, ALIVE, VX, VY = range(5)
FIELDS_START = 5  # first game field in a state row
NUM_HISTORY = len(HISTORY)  # columns at the end of a state row, in every profile
HISTORY_START = FIELDS_START + len(GAME_FIELDS)  # in `awm`
PREDICTED = (X, Y, ALIVE, *range(FIELDS_START, HISTORY_START))
"""State columns a world model predicts: x, y, alive and the game fields (17 in `awm`)."""

REGISTRY_COLUMNS = (
    *(f"kind:{name}" for name in KINDS),
    *(f"shape:{name}" for name in SHAPES),
    *SIZES,
    *(f"layer:{name}" for name in LAYERS),
    *FLAGS,
    *MATTER,
)
CONTROLLABLE = FLAGS.index("controllable") - len(FLAGS) - len(MATTER)
"""Registry column, from the end and so in every profile, of who is moved by the actions."""
STATE_COLUMNS = (*CORE_STATE, *GAME_FIELDS, *HISTORY)


MAX_NAMES = 256
"""Of each list of a profile: wider tensors are a mistake, or meant to fill the memory."""


@dataclass(frozen=True)
class Profile:
    """The names, hence the widths, of one family of tensors."""

    kinds: tuple[str, ...] = KINDS
    layers: tuple[str, ...] = LAYERS
    game_fields: tuple[str, ...] = tuple(GAME_FIELDS)
    global_fields: tuple[str, ...] = tuple(GLOBAL_FIELDS)
    action_fields: tuple[str, ...] = tuple(ACTION_FIELDS)

    def __post_init__(self) -> None:
        lists = {
            "kinds": self.kinds,
            "layers": self.layers,
            "game_fields": self.state_columns,
            "global_fields": self.global_fields,
            "action_fields": self.action_fields,
        }
        for what, names in lists.items():
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"profile: {what} have a name twice or of a core column: {twice}")
            if len(names) > MAX_NAMES:
                raise ValueError(f"profile: {len(names)} {what}; at most {MAX_NAMES}")

    @property
    def num_registry(self) -> int:
        """Columns of a registry row (34 in `awm`)."""
        return (
            len(self.kinds) + len(SHAPES) + len(SIZES) + len(self.layers) + len(FLAGS) + len(MATTER)
        )

    @property
    def num_state(self) -> int:
        """Columns of a state row (23 in `awm`)."""
        return len(CORE_STATE) + len(self.game_fields) + NUM_HISTORY

    @property
    def state_columns(self) -> tuple[str, ...]:
        """Names of a state row in order."""
        return (*CORE_STATE, *self.game_fields, *HISTORY)

    @property
    def num_predicted(self) -> int:
        """Columns of a predicted row: x, y, alive and the game fields (17 in `awm`)."""
        return ALIVE + 1 + len(self.game_fields)


AWM = Profile()
