"""Character recognition: who it is, and whether it stays who it was (UNIVERSE, section 3)."""

from collections.abc import Mapping, Sequence

from cosmolabe.core.question import NO, YES, AskedClip
from cosmolabe.core.seeds import generator
from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions.asking import Found, Task
from cosmolabe.data.questions.wording import character_words, our_game, role_words
from cosmolabe.engine.game import Game

OWN = "character_recognition"
SAME = f"{OWN}.same"


def role_of(clip: AskedClip, game: Game) -> str:
    """The role asked about: the one that changes, else one that can be pointed out, by the id."""
    if clip.about.get("swapped_at"):
        return clip.about["swapped_role"]
    roles = [role for role in game.roles if role_words(game, role)]
    return roles[generator("asked role", clip.id).integers(len(roles))]


def find(clip: AskedClip, space: Mapping[str, Sequence[str]]) -> Found | None:
    """The character's name; None for one that no training has seen, or that changes midway."""
    if clip.about.get("swapped_at"):
        return None
    game = our_game(clip.about.get("game", ""))
    if game is not None:
        if not isinstance(clip.about.get("characters"), Mapping):
            return None
        role = role_of(clip, game)
        seen = held_out().trainable_characters(game)
        name = clip.about["characters"][role]
        if name not in seen:
            return None
        labels = tuple(character_words(each) for each in seen)
        fill = {"who": role_words(game, role)}
        return Found(f"{OWN}.game", character_words(name), labels, fill)
    name, labels = clip.about.get("character", ""), tuple(space.get(OWN, ()))
    return Found(f"{OWN}.plain", name, labels) if name and len(labels) > 1 else None


def find_same(clip: AskedClip) -> Found | None:
    """Whether the character of the last frame is that of the first; games alone know."""
    game = our_game(clip.about.get("game", ""))
    if game is None or "swapped_at" not in clip.about:
        return None
    role = role_of(clip, game)
    who = role_words(game, role)
    if not who:
        return None
    return Found(SAME, NO if clip.about["swapped_at"] else YES, (YES, NO), {"who": who})


def space(clip: AskedClip) -> tuple[str, str] | None:
    """A clip of no game of ours adds its own character."""
    name = clip.about.get("character", "")
    return (OWN, name) if name and our_game(clip.about.get("game", "")) is None else None


TASK = Task(OWN, "who is seen, and whether it stays the same", find, space)
