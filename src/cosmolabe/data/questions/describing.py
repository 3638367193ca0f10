"""Stage two: what each clip shows, in structured words."""

from collections.abc import Mapping, Sequence
from typing import Any

from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.tasks import task_named
from cosmolabe.data.questions.truth import events_of, truth_of
from cosmolabe.data.questions.wording import character_words, our_game, role_words


def description_of(
    clip: AskedClip, tasks: Sequence[str], spaces: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Who, what, and what each task finds: {task: [label, whom it is about]}.

    From controls and metadata, and for games from the true state; nothing of it is guessed from
    the pictures.
    """
    about, game = clip.about, our_game(clip.about.get("game", ""))
    found = {task: task_named(task).find(clip, spaces) for task in tasks}
    row: dict[str, Any] = {
        "clip": clip.id,
        "game": about.get("game", ""),
        "source": about.get("source", ""),
        "action": about.get("label", ""),
        "why": about.get("why", ""),
        "visible_effect": about.get("visible_effect"),
        "character": about.get("character", ""),
        "found": {
            task: {"label": each.label, "about": dict(each.fill)}
            for task, each in found.items()
            if each is not None
        },
    }
    if game is not None:
        row |= {
            "player": game.words["player"],
            "goal": game.words["goal"],
            "theme": about.get("theme", ""),
            "characters": {
                role_words(game, role) or role: character_words(name)
                for role, name in about.get("characters", {}).items()
            },
        }
    if about.get("swapped_at"):
        row["swapped"] = {
            "frame": about["swapped_at"],
            "who": about["swapped_role"],
            "to": character_words(about["swapped_to"]),
        }
    truth = truth_of(clip)
    if truth is not None:
        row["events"] = {words: frames for words, frames in events_of(truth).items() if frames}
    return row
