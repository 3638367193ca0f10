"""Action recognition: which action the clip shows (UNIVERSE, section 3)."""

from collections.abc import Mapping, Sequence

from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.asking import Found, Task
from cosmolabe.data.questions.wording import our_game

OWN = "action_recognition"


def find(clip: AskedClip, space: Mapping[str, Sequence[str]]) -> Found | None:
    """The clip's action word; None where none covers it or its effect cannot be seen."""
    label = clip.about.get("label", "")
    if not label or clip.about.get("visible_effect") is False:
        return None
    game = our_game(clip.about.get("game", ""))
    if game is not None:
        labels = tuple(game.words[word] for word in game.actions)
        return Found(f"{OWN}.game", label, labels, {"who": game.words["player"]})
    labels = tuple(space[OWN])
    if len(labels) < 2:
        return None
    return Found(f"{OWN}.plain", label, labels, {"who": clip.about.get("who", "the character")})


def space(clip: AskedClip) -> tuple[str, str] | None:
    """A clip of no game of ours adds its own word."""
    label = clip.about.get("label", "")
    return (OWN, label) if label and our_game(clip.about.get("game", "")) is None else None


TASK = Task(OWN, "which action the clip shows", find, space)
