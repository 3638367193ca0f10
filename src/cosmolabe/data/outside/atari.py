"""Atari games: the Arcade Learning Environment plays, OCAtari reads the objects out of its memory.

ale-py is GPL-2.0 and heavy, so both are imported when a game is opened and never before. OCAtari
declares numpy<2, which is more than it needs: its detection is handed whole numbers here instead of
the memory's bytes, for which newer numpy refuses the arithmetic it does. Only that detection is
used, not its environment, whose `step` gives `truncated` and `terminated` in each other's place.
"""

import difflib
import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from types import ModuleType
from typing import Any

import numpy as np

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data.outside.game import REACH, Family, Moment, OutsideGame, Thing

OCATARI = "ocatari==2.2.1"
WIDTH, HEIGHT = 160, 210  # pixels
FPS = 60.0  # frames of the console a second
NONE = (0, 0)  # where OCAtari leaves an object it has made and never placed
VERSION = 1  # of how this file reads the games
NEAR = 26.0  # pixels a tick: still the same one
SEEDS = 1 << 31  # ALE takes 31 bits

KINDS = (
    ("missile", "projectile", "projectile"), ("bullet", "projectile", "projectile"),
    ("laser", "projectile", "projectile"), ("torpedo", "projectile", "projectile"),
    ("ball", "ball", "projectile"), ("puck", "ball", "projectile"), ("block", "brick", "solid"),
    ("ladder", "ladder", "one_way"), ("rope", "ladder", "one_way"), ("log", "platform", "one_way"),
    ("turtle", "platform", "one_way"), ("platform", "platform", "one_way"),
    ("key", "pickup", "pickup"), ("fruit", "pickup", "pickup"), ("pellet", "pickup", "pickup"),
    ("pill", "pickup", "pickup"), ("fly", "pickup", "pickup"), ("diver", "pickup", "pickup"),
    ("flag", "goal", "pickup"), ("goal", "goal", "pickup"), ("home", "goal", "pickup"),
    ("car", "hazard", "hazard"), ("truck", "hazard", "hazard"), ("barrel", "hazard", "hazard"),
    ("asteroid", "hazard", "hazard"), ("meteor", "hazard", "hazard"), ("fire", "hazard", "hazard"),
    ("shield", "brick", "solid"), ("wall", "platform", "solid"), ("child", "goal", "pickup"),
)  # fmt: skip
"""(part of a category's name, kind, layer); what fits none is an enemy."""
TWINS = {"player": ("opponent", "enemy"), "enemy": ("opponent", "enemy")}
MOVES = {"UP": ("move_y", -1.0), "DOWN": ("move_y", 1.0), "LEFT": ("move_x", -1.0),
         "RIGHT": ("move_x", 1.0), "FIRE": ("fire", 1.0)}  # fmt: skip
"""What each word of ALE's action names means, unless a game says otherwise."""

Number = int | float
Box = tuple[Number, Number, Number, Number]
"""Left, top, width, height in pixels, as OCAtari has it."""


@dataclass(frozen=True)
class Reading:
    """How one game is read where the general way is not enough."""

    moves: Mapping[str, tuple[str, float]] = field(default_factory=lambda: MOVES)
    area: Box = (0, 0, WIDTH, HEIGHT)
    """The part of the screen that counts as the world."""
    wraps: bool = False
    """Both axes: what leaves on one side comes back on the other."""
    sizes: Mapping[str, tuple[Number, Number]] = field(default_factory=dict)
    """Width and height in pixels by category, where OCAtari's own first guess is none."""
    fields: tuple[str, ...] = ()
    fields_of: Callable[[Any, Box], dict[str, float]] = lambda thing, box: {}
    counts: Mapping[str, int] = field(default_factory=dict)
    """Slots by category where OCAtari's table has more than it ever fills; 0 leaves it out."""
    skip: int = 0
    """Frames of the title screen, passed over with no action before the first moment."""
    bricks: tuple[str, int, int, Box] | None = None
    """(category, rows, columns, area) of a wall that OCAtari gives in runs of unbroken bricks."""


def _asteroids_fields(thing: Any, box: Box) -> dict[str, float]:  # noqa: ANN401 - OCAtari's
    if thing.category == "Player":  # sixteenths of a turn, counter-clockwise from up
        return {"rotation": (-int(thing.orientation) % 16) / 16}
    if thing.category == "Asteroid":
        return {"size_class": float((box[2] > 4 or box[3] > 8) + (box[2] > 8 or box[3] > 15))}
    return {}


UNREAD = ("Log", "Alligator", "Turtle", "LadyFrog", "Fly", "AlligatorHead", "HappyFrog", "Snake")
READINGS = {
    "Pong": Reading(
        moves={"RIGHT": ("move_y", -1.0), "LEFT": ("move_y", 1.0), "FIRE": ("fire", 1.0)},
        sizes={"Player": (4, 15), "Enemy": (4, 15)},
    ),
    "Breakout": Reading(bricks=("Block", 6, 18, (8, 57, 144, 36))),
    "Asteroids": Reading(
        moves={"UP": ("thrust", 1.0), "LEFT": ("turn", -1.0), "RIGHT": ("turn", 1.0),
               "FIRE": ("fire", 1.0), "DOWN": ("jump", 1.0)},
        area=(4, 24, 162, 178),  # left tops run over 4..165 and 24..200 in steps of two, measured
        wraps=True,
        counts={"Asteroid": 15},
        fields=("rotation", "size_class"),
        fields_of=_asteroids_fields,
    ),
    "Frogger": Reading(
        sizes={"Car": (8, 7)},
        # Of its table OCAtari 2.2.1 reads the frog and the road; the river stays unread.
        counts={"Frog": 1, "Car": 12} | dict.fromkeys(UNREAD, 0),
        skip=442,
    ),
}  # fmt: skip
"""Games looked at closely; all others are read the general way."""


def game(name: str, frameskip: int, max_ticks: int) -> OutsideGame:
    """One Atari game; its manifest follows from OCAtari's table of categories."""
    rules = _rules(name)
    reading = READINGS.get(name, Reading())
    moves = _meanings(name)
    families = tuple(_families(name, rules, reading))
    actions = tuple(_action(meaning, reading.moves) for meaning in moves)
    manifest = Manifest(
        game=f"atari-{name.lower()}",
        version=VERSION,
        slots=tuple(slot for family in families for slot in family.slots()),
        fields=reading.fields,
        globals=("score", "reward", "lives", "phase", "tick_share"),
        actions=tuple(dict.fromkeys(key for action in actions for key in action)),
        wrap_x=reading.wraps,
        wrap_y=reading.wraps,
        fps=FPS / frameskip,
        aspect=reading.area[2] / reading.area[3],
        max_ticks=max_ticks,
    )
    return OutsideGame(
        name=f"atari/{name}",
        manifest=manifest,
        families=families,
        actions=actions,
        action_names=tuple(meaning.lower() for meaning in moves),
        open=lambda: AtariSession(name, frameskip, reading, families),
        world=(
            reading.area[0] / WIDTH,
            reading.area[1] / HEIGHT,
            reading.area[2] / WIDTH,
            reading.area[3] / HEIGHT,
        ),
        reach=min(REACH * frameskip, 0.3),
        libraries={each: metadata.version(each) for each in ("ale-py", "ocatari")},
    )


class AtariSession:
    """One console with one cartridge."""

    def __init__(
        self, name: str, frameskip: int, reading: Reading, families: Sequence[Family]
    ) -> None:
        self.name, self.reading, self.families = name, reading, families
        self.rules, self.frameskip = _rules(name), frameskip
        self.env = _environment(name, frameskip)
        self.console = self.env.unwrapped.ale
        self.objects: list[Any] = []
        self.full: dict[int, Box] = {}
        self.score = 0.0

    def reset(self, seed: int) -> Moment:
        """A new game; what OCAtari's modules remember of the last one is forgotten."""
        self.rules = importlib.reload(self.rules)
        self.env.reset(seed=seed % SEEDS)
        self.objects = self.rules._init_objects_ram(False)
        self.full = {}
        self.score = 0.0
        for _ in range(self.reading.skip // self.frameskip):
            self.env.step(0)
        return self._moment(0.0)

    def step(self, action: int) -> Moment:
        """One tick, `frameskip` frames of the console."""
        _, reward, terminated, truncated, _ = self.env.step(action)
        self.score += float(reward)
        return self._moment(float(reward), bool(terminated), bool(truncated))

    def frame(self) -> np.ndarray:
        """The screen, 210 x 160."""
        return self.console.getScreenRGB()

    def close(self) -> None:
        """Switch off."""
        self.env.close()

    def _moment(self, reward: float, terminated: bool = False, truncated: bool = False) -> Moment:
        for thing in self.objects:
            if thing:
                thing._save_prev()
        self.rules._detect_objects_ram(self.objects, self.console.getRAM().astype(int), False)
        things: dict[str, list[Thing | None]] = {}
        for family in self.families:
            category = family.slot.name
            boxes = [(place, thing, _box(thing)) for place, thing in enumerate(self.objects)
                     if _is_there(thing) and thing.category == category]  # fmt: skip
            if self.reading.bricks and category == self.reading.bricks[0]:
                things[family.slot.name] = _bricks([box for *_, box in boxes], self.reading)
            else:
                things[family.slot.name] = [
                    self._thing(thing, self._whole(place, box)) for place, thing, box in boxes
                ]
        numbers = {"score": self.score, "reward": reward, "lives": float(self.console.lives()),
                   "phase": 4.0 if terminated else 1.0}  # fmt: skip
        return Moment(things, numbers, terminated, truncated)

    def _whole(self, place: int, box: Box) -> Box:
        """In a world that wraps, what the edge cuts keeps the size it had, and its corner."""
        if not self.reading.wraps:
            return box
        left, top, width, height = self.full.get(place, box)
        if abs(left - box[0]) + abs(top - box[1]) < NEAR:
            box = (box[0], box[1], max(box[2], width), max(box[3], height))
        self.full[place] = box
        return box

    def _thing(self, thing: Any, box: Box) -> Thing:  # noqa: ANN401 - OCAtari's
        left, top, width, height = self.reading.area
        x = (box[0] + box[2] / 2 - left) / width
        y = (box[1] + box[3] / 2 - top) / height
        if self.reading.wraps:
            x, y = x % 1.0, y % 1.0
        return Thing(x, y, self.reading.fields_of(thing, box))


def _bricks(runs: Sequence[Box], reading: Reading) -> list[Thing | None]:
    """Each brick of the wall by itself: alive where an unbroken run covers its centre."""
    assert reading.bricks is not None
    _, rows, columns, (left, top, width, height) = reading.bricks
    row, column = np.divmod(np.arange(rows * columns), columns)
    x = left + (column + 0.5) * width / columns
    y = top + (row + 0.5) * height / rows
    edges = np.array(runs).reshape(-1, 4, 1)
    inside = (edges[:, 0] <= x) & (x < edges[:, 0] + edges[:, 2])
    whole = (inside & (edges[:, 1] <= y) & (y < edges[:, 1] + edges[:, 3])).any(0)
    places = zip((x / WIDTH).tolist(), (y / HEIGHT).tolist(), whole.tolist(), strict=True)
    return [Thing(a, b) if there else None for a, b, there in places]


def _is_there(thing: Any) -> bool:  # noqa: ANN401 - OCAtari's object, NoObject or None
    if not thing or thing.category == "NoObject" or getattr(thing, "hud", False):
        return False
    left, top, width, height = _box(thing)
    return width > 0 and height > 0 and (left, top) != NONE


def _box(thing: Any) -> Box:  # noqa: ANN401 - OCAtari's
    left, top, width, height = (float(value) for value in thing.xywh)
    return left, top, width, height


def _families(name: str, rules: ModuleType, reading: Reading) -> list[Family]:
    families = []
    _, _, _, height = reading.area
    for place, (category, count) in enumerate(rules.MAX_NB_OBJECTS.items()):
        count = reading.counts.get(category, count)
        if not count:
            continue
        kind, layer = ("player", "player") if place == 0 else _kind_of(category)
        made = getattr(rules, category)()
        wide, high = reading.sizes.get(category, made.wh)
        slots, tracked = count, True
        if reading.bricks and category == reading.bricks[0]:
            _, rows, columns, area = reading.bricks
            wide, high = area[2] / columns, area[3] / rows
            slots, tracked = rows * columns, False
        slot = Slot(
            name=category,
            kind=kind,
            layer=layer,
            half_width=max(float(wide), 1.0) / 2 / height,
            half_height=max(float(high), 1.0) / 2 / height,
            controllable=place == 0,
            wraps=reading.wraps,
        )
        families.append(Family(slot, slots, tracked))
    if not families:
        raise ValueError(f"atari/{name}: OCAtari names no objects of it")
    return families


def _kind_of(category: str) -> tuple[str, str]:
    low = category.lower()
    if low in TWINS:
        return TWINS[low]
    for part, kind, layer in KINDS:
        if part in low:
            return kind, layer
    return "enemy", "enemy"


def _action(meaning: str, moves: Mapping[str, tuple[str, float]]) -> dict[str, float]:
    """`UPRIGHTFIRE` as fields: its words one after the other."""
    found, rest = {}, meaning
    while rest and rest != "NOOP":
        word = next((word for word in MOVES if rest.startswith(word)), None)
        if word is None:
            raise ValueError(f"no action field for the Atari action '{meaning}'")
        rest = rest.removeprefix(word)
        if word in moves:
            key, value = moves[word]
            found[key] = value
    return found


def _meanings(name: str) -> tuple[str, ...]:
    env = _environment(name, 1)
    try:
        return tuple(env.unwrapped.get_action_meanings())
    finally:
        env.close()


def _environment(name: str, frameskip: int) -> Any:  # noqa: ANN401 - a Gymnasium environment
    """The game without luck of its own, giving its memory; no frame is missed by a stack."""
    import gymnasium

    try:
        ale_py = importlib.import_module("ale_py")
    except ImportError:
        raise ValueError(_advice("ale-py")) from None
    if hasattr(ale_py, "LoggerMode"):
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    gymnasium.register_envs(ale_py)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return gymnasium.make(
                f"ALE/{name}-v5", obs_type="ram", frameskip=frameskip,
                repeat_action_probability=0.0, max_episode_steps=-1,
            )  # fmt: skip
        except gymnasium.error.Error as error:
            raise ValueError(
                f"the Arcade Learning Environment has no game '{name}': {error}"
            ) from None


def _rules(name: str) -> ModuleType:
    """OCAtari's module for a game: how its memory is read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ram = importlib.import_module("ocatari.ram")
    except ImportError as error:
        raise ValueError(_advice(error.name or "ocatari")) from None
    known = {low: low for low in vars(ram) if hasattr(getattr(ram, low), "MAX_NB_OBJECTS")}
    if name.lower() not in known or not name[:1].isupper():
        near = difflib.get_close_matches(name.lower(), known, 3)
        hint = f"; the nearest in small letters: {', '.join(near)}" if near else ""
        raise ValueError(
            f"no game '{name[:40]}' among the {len(known)} that OCAtari reads; write it as the "
            f"Arcade Learning Environment does (Pong, SpaceInvaders){hint}"
        )
    return importlib.import_module(f"ocatari.ram.{name.lower()}")


def _advice(missing: str) -> str:
    return (
        f"Atari games need '{missing}'; install the extra and then OCAtari, which asks for an "
        f"older numpy than it needs: pip install 'cosmolabe[atari]' && pip install --no-deps "
        f"{OCATARI}"
    )
