"""What no training may see: themes, characters, damage kinds and scenes kept for testing.

A judge that reads pictures is asked about looks and damages it has never met. They are listed in
one file, `held_out.json`, frozen before the first training of any such judge; its fingerprint goes
into the record of every training that is bound by it.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cosmolabe.core import parts
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import read_json
from cosmolabe.data.clip_damage import KINDS as CLIP_KINDS
from cosmolabe.data.damage import KINDS
from cosmolabe.data.scene_names import KINDS as SCENE_KINDS
from cosmolabe.data.scene_names import SCENES
from cosmolabe.engine.game import Appearance, Game

FILE = Path(__file__).with_name("held_out.json")
LISTS = ("themes", "characters", "damages", "scenes")


@dataclass(frozen=True)
class HeldOut:
    """Names kept out of every training; looks and scenes of play alike."""

    themes: tuple[str, ...]
    """game/theme."""
    characters: tuple[str, ...]
    """A character is held out in every game that has it."""
    damages: tuple[str, ...]
    scenes: tuple[str, ...]
    """game/scenario, mujoco/scene, or real/file name without its ending."""
    schema: int = 1

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when any name changes."""
        return fingerprint(self)

    def may_train_on(self, game: str, look: Appearance) -> bool:
        """Whether an episode that looks like this may be trained on."""
        worn = set(look.characters) & set(self.characters)
        return not worn and f"{game}/{look.theme}" not in self.themes

    def trainable_themes(self, game: Game) -> tuple[str, ...]:
        """Themes of a game that may be trained on."""
        return tuple(
            theme.name for theme in game.themes if f"{game.name}/{theme.name}" not in self.themes
        )

    def trainable_characters(self, game: Game) -> tuple[str, ...]:
        """Characters of a game that may be trained on."""
        return tuple(name for name in game.characters if name not in self.characters)

    def trainable_scenes(self) -> tuple[str, ...]:
        """Scenes of MuJoCo that may be trained on, by their bare names."""
        return tuple(name for name in SCENES if f"mujoco/{name}" not in self.scenes)

    def trainable_damages(self) -> tuple[str, ...]:
        """Kinds of damage to games that may be trained on."""
        return tuple(kind for kind in KINDS if kind not in self.damages)


@cache
def held_out() -> HeldOut:
    """The list; refused where a name in it means nothing, since a typo would keep nothing out."""
    found = read_json(FILE)
    named = isinstance(found, dict) and all(isinstance(found.get(name), list) for name in LISTS)
    if not named or found.get("schema") != HeldOut.schema:
        raise ValueError(f"{FILE.name} holds the lists {LISTS} and schema {HeldOut.schema}")
    listed = HeldOut(**{name: tuple(found[name]) for name in LISTS}, schema=found["schema"])
    games: list[Game] = [parts.load("games", name) for name in parts.names("games")]
    known = {
        "themes": {f"{game.name}/{theme.name}" for game in games for theme in game.themes},
        "characters": {name for game in games for name in game.characters},
        "damages": {*KINDS, *SCENE_KINDS, *CLIP_KINDS},
        "scenes": {f"mujoco/{name}" for name in SCENES},
    }
    for what, names in known.items():
        unknown = sorted(set(getattr(listed, what)) - names)
        if what == "scenes":  # scenarios stand a floor up, real clips on the user's disk
            unknown = [name for name in unknown if name.startswith("mujoco/")]
        if unknown:
            raise ValueError(f"{FILE.name} holds out {what} that do not exist: {unknown}")
    return listed
