"""Questions from clips: three formats a task, options shuffled and yes balanced by the seed."""

from collections.abc import Iterable, Mapping, Sequence

from cosmolabe.core.question import FORMATS, NO, YES, AskedClip, Format, Question
from cosmolabe.core.seeds import generator
from cosmolabe.data.questions.asking import Found
from cosmolabe.data.questions.tasks import task_named
from cosmolabe.data.questions.tasks.character_recognition import find_same
from cosmolabe.data.questions.wording import template, with_options

PAPER_TASKS = ("action_recognition", "character_recognition")
KEPT = (
    "game", "theme", "characters", "action", "visible_effect", "swapped_at", "session", "source",
)  # fmt: skip
"""Of a clip's `about`, what its questions repeat."""


def questions_of(
    clips: Iterable[AskedClip],
    seed: int,
    tasks: Sequence[str] = PAPER_TASKS,
    *,
    options: int = 0,
    formats: Sequence[Format] = FORMATS,
    same: bool = True,
) -> list[Question]:
    """All questions: per clip and task one binary, one multiple choice, one open ended.

    What a clip does not decide is not asked. Of two binary questions of one task and game, one
    asks for the true label and one for another, drawn evenly; which comes first is the seed's. A
    multiple choice shows every label, or `options` of them (0: all), the true one among them.

    `same` adds "the same as in the first frame?" for every clip in which somebody changes, and for
    as many others, those whose character no training has seen before all.
    """
    clips = list(clips)
    spaces = answer_spaces(clips, tasks)
    made: list[Question] = []
    turns: dict[tuple, int] = {}
    for clip in clips:
        for task in tasks:
            found = task_named(task).find(clip, spaces)
            if found is None:
                continue
            made += _of_clip(clip, found, task, seed, formats, options, turns)
    if same and "character_recognition" in tasks and "binary" in formats:
        made += _same(clips, seed)
    return made


def answer_spaces(clips: Iterable[AskedClip], tasks: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The labels that the clips of tables have, sorted, by task; a game's labels are its own."""
    found: dict[str, set[str]] = {}
    parts_of = [task_named(task) for task in tasks]
    for clip in clips:
        for task in parts_of:
            added = task.space(clip)
            if added:
                found.setdefault(added[0], set()).add(added[1])
    return {name: tuple(sorted(labels)) for name, labels in found.items()}


def _of_clip(
    clip: AskedClip,
    found: Found,
    task: str,
    seed: int,
    formats: Sequence[Format],
    options: int,
    turns: dict[tuple, int],
) -> list[Question]:
    made = []
    for form in formats:
        draw = generator("question", seed, clip.id, task, form)
        if form == "binary":
            key = (found.template, clip.about.get("game", ""))
            turn = turns[key] = turns.get(key, -1) + 1
            asked = _asked(found, _positive(seed, key, turn), draw)
            answer, labels, shown = YES if asked == found.label else NO, (YES, NO), ()
        else:
            asked, answer, labels = "", found.label, found.labels
            shown = shuffled(found, options, draw) if form == "multiple_choice" else ()
        made.append(question(clip, found, task, form, answer, labels, shown, asked))
    return made


def question(
    clip: AskedClip,
    found: Found,
    task: str,
    form: Format,
    answer: str,
    labels: tuple[str, ...],
    options: tuple[str, ...] = (),
    asked: str = "",
) -> Question:
    """The question in words."""
    text, name = template(found.template, form)
    variant = found.template.partition(".")[2]
    mark = f"/{variant}" if variant == "same" else ""
    return Question(
        id=f"{clip.id}/{task}{mark}/{form}",
        clip=clip.id,
        task=task,
        format=form,
        text=text.format(label=asked, options=with_options(options), **found.fill),
        answer=answer,
        labels=labels,
        options=options,
        truth=found.label,
        asked=asked,
        template=name,
        about={key: clip.about[key] for key in KEPT if key in clip.about},
    )


def shuffled(found: Found, options: int, draw) -> tuple[str, ...]:  # noqa: ANN001 - a Generator
    """The options in an order of the draw's: all labels, or some, never without the true one."""
    others = [label for label in found.labels if label != found.label]
    if options:
        if options < 2:
            raise ValueError(f"a multiple choice has 2 options or more; got {options}")
        others = [others[k] for k in draw.permutation(len(others))[: options - 1]]
    shown = [found.label, *others]
    return tuple(shown[k] for k in draw.permutation(len(shown)))


def _asked(found: Found, positive: bool, draw) -> str:  # noqa: ANN001 - a Generator
    others = [label for label in found.labels if label != found.label]
    return found.label if positive else others[draw.integers(len(others))]


def _positive(seed: int, key: tuple, turn: int) -> bool:
    """Of each pair of turns one is positive; the coin says which."""
    coin = generator("balance", seed, *key, turn // 2).random() < 0.5
    return coin == (turn % 2 == 0)


def _same(clips: Sequence[AskedClip], seed: int) -> list[Question]:
    """As many questions with yes as with no, unseen characters first among the yes."""
    found = [(clip, each) for clip in clips if (each := find_same(clip)) is not None]
    task = task_named("character_recognition")
    no = [pair for pair in found if pair[1].label == NO]
    yes = [pair for pair in found if pair[1].label == YES]
    order = generator("same", seed, len(yes)).permutation(len(yes))
    first_unseen = sorted(order, key=lambda k: task.find(yes[k][0], {}) is not None)
    chosen = [yes[k] for k in sorted(first_unseen[: len(no)])]
    return [
        question(clip, each, task.name, "binary", each.label, (YES, NO), (), YES)
        for clip, each in [*no, *chosen]
    ]


def counts_of(questions: Iterable[Question]) -> Mapping[str, Mapping[str, int]]:
    """How many questions of each task and format."""
    counts: dict[str, dict[str, int]] = {}
    for each in questions:
        row = counts.setdefault(each.task, dict.fromkeys(FORMATS, 0))
        row[each.format] += 1
    return counts
