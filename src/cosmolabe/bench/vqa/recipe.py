"""All that decides the bundled vision-language model's numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cosmolabe.core.protocol import fingerprint

SCHEMA = 1


@dataclass(frozen=True)
class SightRecipe:
    """The tower learns to see from true states."""

    steps: int = 3000
    batch: int = 64
    """Pictures of a step, of all games."""
    rate: float = 2e-3
    warmup: float = 0.03
    weight_decay: float = 0.01
    leg: Literal["tokens", "sharp", "projected"] = "tokens"
    """What is read: the tower's tokens; the same, the player counting most; what the projector
    makes of them, the projector learning with the tower."""
    drawn: int = 0
    """Another number draws other pictures."""


@dataclass(frozen=True)
class WordsRecipe:
    """Projector and language learn to answer, the tower held still."""

    steps: int = 2000
    clips: int = 24
    """New clips of a step, of one game each."""
    rows: int = 64
    """Questions of a step."""
    rate: float = 1.5e-3
    warmup: float = 0.05
    weight_decay: float = 0.01
    drills: Mapping[str, float] = field(default_factory=lambda: {"path": 1.0})
    """Of the drills, by kind (`lessons.DRILLS`)."""
    long_weight: float = 2.0
    """Of a long answer's mean over its tokens; other answers count with their sum, or paths
    would drown them."""
    yes_weight: float = 1.5
    """Of a binary question."""
    swapped: float = 0.15
    """Share of clips in which somebody changes midway."""
    shares: Mapping[str, float] = field(
        default_factory=lambda: {
            "drill": 0.35,
            "action_recognition": 0.4,
            "character_recognition": 0.25,
        }
    )
    """Of a step's questions; Without drills, which say where somebody is and how
    they move, motion is never learnt."""
    formats: Mapping[str, float] = field(
        default_factory=lambda: {"binary": 0.4, "multiple_choice": 0.15, "open_ended": 0.45}
    )
    """Of the questions of a task; under 35 % binary ones stay at chance (reference/universe §7)."""


@dataclass(frozen=True)
class TinyRecipe:
    """How the bundled model is built and trained."""

    image: int = 128
    patch: int = 16
    fold: int = 4
    frames: int = 8
    """Uniformly of a clip's 14; so many learnt marks say which is which."""
    turned: float = 0.6
    """Share of looks whose theme has its colours turned."""
    vision: Mapping[str, int] = field(
        default_factory=lambda: {"hidden": 128, "mlp": 256, "layers": 3, "heads": 4}
    )
    language: Mapping[str, int] = field(
        default_factory=lambda: {"hidden": 128, "mlp": 256, "layers": 3, "heads": 4}
    )
    sight: SightRecipe = field(default_factory=SightRecipe)
    sharpen: SightRecipe = field(
        default_factory=lambda: SightRecipe(steps=2500, rate=1.5e-3, leg="sharp")
    )
    project: SightRecipe = field(
        default_factory=lambda: SightRecipe(steps=1500, rate=1.5e-3, leg="projected")
    )
    words: WordsRecipe = field(default_factory=WordsRecipe)
    again: WordsRecipe = field(
        default_factory=lambda: WordsRecipe(
            steps=1800,
            rate=1.2e-3,
            drills={"path": 0.4, "moves": 0.6},
            shares={"drill": 0.3, "action_recognition": 0.5, "character_recognition": 0.2},
            formats={"binary": 0.45, "multiple_choice": 0.15, "open_ended": 0.4},
        )
    )
    """A second leg: by now it knows where everybody is, and learns how they move."""
    third: WordsRecipe = field(
        default_factory=lambda: WordsRecipe(
            steps=2000,
            rate=1.2e-3,
            drills={"path": 0.15, "moves": 0.2, "action": 0.4, "who": 0.25},
            shares={"drill": 0.35, "action_recognition": 0.4, "character_recognition": 0.25},
            formats={"binary": 0.5, "multiple_choice": 0.15, "open_ended": 0.35},
        )
    )
    """A third: actions and characters by number, for yes and no."""
    fourth: WordsRecipe = field(
        default_factory=lambda: WordsRecipe(
            steps=900,
            rate=1e-3,
            drills={
                "path": 0.05,
                "moves": 0.15,
                "action": 0.3,
                "who": 0.1,
                "is_action": 0.2,
                "is_who": 0.2,
            },
            shares={"drill": 0.3, "action_recognition": 0.45, "character_recognition": 0.25},
            formats={"binary": 0.5, "multiple_choice": 0.15, "open_ended": 0.35},
        )
    )
    """A fourth: by then yes and no have begun to be learnt, in the last 400 steps of the third."""
    look: SightRecipe = field(
        default_factory=lambda: SightRecipe(
            steps=1200, rate=1e-3, warmup=0.1, leg="projected", drawn=1
        )
    )
    """Tower and projector look once more, by now at rivals that are all dressed alike: before, who
    of four cars was the player's could not be seen."""
    fifth: WordsRecipe = field(
        default_factory=lambda: WordsRecipe(
            steps=5000,
            rate=1.2e-3,
            drills={
                "path": 0.05,
                "moves": 0.15,
                "action": 0.2,
                "who": 0.1,
                "is_action": 0.15,
                "is_who": 0.15,
                "stays": 0.2,
            },
            swapped=0.25,
            shares={"drill": 0.3, "action_recognition": 0.4, "character_recognition": 0.3},
            formats={"binary": 0.6, "multiple_choice": 0.15, "open_ended": 0.25},
        )
    )
    """A fifth, long: yes and no, which every shorter leg broke off as they began to be learnt, and
    whether somebody stays who they were, frame by frame."""
    sixth: WordsRecipe = field(
        default_factory=lambda: WordsRecipe(
            steps=2000,
            rate=7e-4,
            drills={"moves": 0.2, "action": 0.25, "is_action": 0.25, "is_who": 0.1, "stays": 0.2},
            swapped=0.25,
            shares={"drill": 0.25, "action_recognition": 0.5, "character_recognition": 0.25},
            formats={"binary": 0.5, "multiple_choice": 0.2, "open_ended": 0.3},
        )
    )
    """A sixth, at a lower rate, so that nothing is undone: more of actions than before."""
    seed: int = 42
    schema: int = SCHEMA

    @property
    def hash(self) -> str:
        """16 hex digits of every choice."""
        return fingerprint(self)

    def told(self, part: Any) -> dict[str, Any]:  # noqa: ANN401 - SightRecipe or WordsRecipe
        """What a resumed training must agree with."""
        return {"recipe": self.hash, "part": fingerprint(part), "seed": self.seed}
