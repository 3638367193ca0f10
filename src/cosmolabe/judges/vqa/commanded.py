"""Questions about what was commanded and who was shown first, whatever a clip really shows."""

from collections.abc import Sequence

from cosmolabe.core.question import FORMATS, YES, AskedClip, Format, Question
from cosmolabe.core.seeds import generator
from cosmolabe.data.questions.asking import Found
from cosmolabe.data.questions.building import question, shuffled
from cosmolabe.data.questions.tasks.character_recognition import find_same
from cosmolabe.data.questions.wording import our_game

ACTION, SAME = "action_recognition", "character_recognition"


def obedience_questions(
    clip: AskedClip,
    commanded: str,
    formats: Sequence[Format] = FORMATS,
    seed: int = 0,
    labels: Sequence[str] = (),
    who: str = "the character",
) -> list[Question]:
    """Was this action done? "Yes" or its own words is what an obedient clip is answered by.

    `labels` are the words there are, where the clip is of no game of ours.
    """
    found = _found(clip, commanded, labels, who)
    made = []
    for form in formats:
        if form == "binary":
            made.append(question(clip, found, ACTION, form, YES, ("yes", "no"), (), found.label))
            continue
        draw = generator("commanded", seed, clip.id, form)
        shown = shuffled(found, 0, draw) if form == "multiple_choice" else ()
        made.append(question(clip, found, ACTION, form, found.label, found.labels, shown))
    return made


def identity_question(clip: AskedClip) -> Question | None:
    """Is the character the one shown first? None where nobody can be pointed out."""
    found = find_same(clip)
    if found is None:
        return None
    return question(clip, found, SAME, "binary", YES, ("yes", "no"), (), YES)


def _found(clip: AskedClip, commanded: str, labels: Sequence[str], who: str) -> Found:
    game = our_game(clip.about.get("game", ""))
    if game is not None:
        words = tuple(game.words[word] for word in game.actions)
        if commanded in words:
            return Found(f"{ACTION}.game", commanded, words, {"who": game.words["player"]})
    if commanded not in labels or len(set(labels)) < 2:
        raise ValueError(
            f"clip {clip.id}: '{commanded}' is none of the actions there are: {list(labels)[:20]}"
        )
    return Found(f"{ACTION}.plain", commanded, tuple(labels), {"who": who})
