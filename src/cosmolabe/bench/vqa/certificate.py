"""What a vqa judge can and cannot see, measured on clips whose truth is known.

Clips of held-out themes are asked about as they are, and with less than there is to see: grey
pictures, shuffled ones, a single one, other option orders. Then they are hurt on purpose: another
action is said to have been commanded, somebody changes, the clip freezes or runs backwards.
Sensitivity and specificity of each game stand here too, for `judges.vqa` corrects by them.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cosmolabe.core import bootstrap, parts
from cosmolabe.core.question import NO, YES, AskedClip, Question
from cosmolabe.core.seeds import generator
from cosmolabe.core.vlm import Vlm
from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions.building import PAPER_TASKS, questions_of
from cosmolabe.data.questions.playing import game_clips
from cosmolabe.data.questions.wording import our_game
from cosmolabe.judges.vqa.asking import Said, ask
from cosmolabe.judges.vqa.commanded import obedience_questions
from cosmolabe.judges.vqa.corrected import Rate, rates_of
from cosmolabe.judges.vqa.protocol import PROTOCOLS, VqaProtocol
from cosmolabe.judges.vqa.views import CONTROLS, motion
from cosmolabe.metrics.auc import auc
from cosmolabe.metrics.expected_calibration_error import expected_calibration_error

SCHEMA = 1
RESAMPLES = 1000
SAME = "character_recognition/same"
UNSEEN = "character_recognition/unseen"
TARGETS = {
    "action_recognition": {"binary": 0.8, "multiple_choice": 0.6, "open_ended": 0.6},
    "character_recognition": {"binary": 0.95, "multiple_choice": 0.95, "open_ended": 0.95},
    "auc": {"wrong_action": 0.9, "swapped_character": 0.9},
}
"""Of issue 5."""
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Sizes:
    """How much a certificate rests on."""

    clips: int = 96
    """Of each game, in held-out themes with characters that may be trained on."""
    unseen: int = 24
    """Of each game, with characters that no training has seen."""
    swapped: float = 0.34
    """Share of them in which somebody changes midway."""
    side: int = 128
    """Of the pictures, pixels."""
    seed: int = 1_000_003
    """Far from those of trainings."""


@dataclass(frozen=True)
class Found:
    """Answers of one game."""

    plain: list[Said]
    controls: Mapping[str, list[Said]]
    """The same questions with less to see; `rotated` holds the multiple choices alone."""
    damage: list[dict[str, Any]]
    """One row a clip and damage: kind, score, violates, clip, format, still."""
    obeyed: list[tuple[bool, bool, str, str]]
    """(said so, is so, clip, format) of what was or was not commanded."""
    same: list[tuple[bool, bool, str, str]]
    """(said the same, is the same, clip, binary)."""


def certify(
    vlm: Vlm,
    games: Sequence[str] = (),
    sizes: Sizes | None = None,
    protocol: VqaProtocol | None = None,
    tasks: Sequence[str] = PAPER_TASKS,
    tell: Tell = lambda done, total: None,
) -> dict[str, Any]:
    """The certificate of a model, ready for JSON; `games` are all where none is named."""
    sizes, began = sizes or Sizes(), time.process_time()
    games = tuple(games) or parts.names("games")
    bound = (protocol or PROTOCOLS["vqa/1"]).bound(vlm.key)
    found: dict[str, Found] = {}
    for number, game in enumerate(games):
        tell(number, len(games))
        found[game] = examined(vlm, game, sizes, bound, tasks)
    tell(len(games), len(games))
    everything = list(found.values())
    return {
        "schema": SCHEMA,
        "vlm": vlm.name,
        "vlm_key": vlm.key,
        "protocol": bound.name,
        "fingerprint": bound.fingerprint,
        "held_out": held_out().fingerprint,
        "sizes": asdict(sizes),
        "games": list(games),
        "targets": TARGETS,
        "rows": cells_of(found),
        "rows_by_game": [
            {"game": game, **row} for game in games for row in cells_of({game: found[game]})
        ],
        "auc": aucs_of(everything),
        "auc_by_game": [{"game": game, **row} for game in games for row in aucs_of([found[game]])],
        "rates": {game: rates_by(found[game]) for game in games},
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def examined(
    vlm: Vlm, game: str, sizes: Sizes, protocol: VqaProtocol, tasks: Sequence[str]
) -> Found:
    """Everything that is asked about one game."""
    clips = _clips(game, sizes.clips, sizes.seed, sizes.swapped, protocol, sizes.side)
    questions = [_named(one) for one in questions_of(clips, sizes.seed, tasks)]
    asked = [one for one in questions if one.format in protocol.formats or one.task == SAME]
    plain = ask(vlm, clips, asked, protocol)
    controls: dict[str, list[Said]] = {
        name: ask(vlm, clips, asked, protocol, name) for name in CONTROLS
    }
    choices = [one for one in asked if one.options]
    controls["rotated"] = ask(vlm, clips, choices, protocol, rotate=1) if choices else []
    unseen, rows = _unseen(vlm, game, sizes, protocol)
    hurt, obeyed = _hurt(vlm, clips, protocol, sizes.seed)
    same = [one for one in plain if one.question.task == SAME]
    rows += [_swap_row(one, "swapped_character") for one in same]
    told = [
        (one.label == YES, one.question.answer == YES, one.question.clip, "binary") for one in same
    ]
    return Found(plain + unseen, controls, rows + hurt, obeyed, told)


def _unseen(
    vlm: Vlm, game: str, sizes: Sizes, protocol: VqaProtocol
) -> tuple[list[Said], list[dict[str, Any]]]:
    """Of characters no training has seen, one thing is asked: is it the same as in the first?"""
    ours = our_game(game)
    assert ours is not None
    known = held_out().trainable_characters(ours)
    characters = tuple(name for name in ours.characters if name not in known)
    if not characters or not sizes.unseen:
        return [], []
    clips = _clips(game, sizes.unseen, sizes.seed + 1, 0.5, protocol, sizes.side, characters)
    questions = [
        replace(one, task=UNSEEN)
        for one in questions_of(clips, sizes.seed, ("character_recognition",), formats=("binary",))
        if _named(one).task == SAME
    ]
    said = ask(vlm, clips, questions, protocol)
    return said, [_swap_row(one, "swapped_character_unseen") for one in said]


def _clips(
    game: str,
    count: int,
    seed: int,
    swapped: float,
    protocol: VqaProtocol,
    side: int,
    characters: Sequence[str] = (),
) -> list[AskedClip]:
    """Clips of held-out themes as the protocol cuts them."""
    return game_clips(
        game,
        count,
        seed,
        size=side,
        stride=protocol.clip.stride,
        length=protocol.clip.length,
        held_out=True,
        characters=characters,
        swapped=swapped,
    )


def _named(question: Question) -> Question:
    """Whether somebody is "the same as in the first frame" is a task with rows of its own."""
    same = question.template.partition("/")[0].endswith(".same")
    return replace(question, task=SAME) if same else question


def _swap_row(said: Said, kind: str) -> dict[str, Any]:
    return {
        "kind": kind, "format": "binary", "score": said.share(NO), "clip": said.question.clip,
        "violates": said.question.answer == NO, "still": False,
    }  # fmt: skip


def _hurt(
    vlm: Vlm, clips: Sequence[AskedClip], protocol: VqaProtocol, seed: int
) -> tuple[list[dict[str, Any]], list[tuple[bool, bool, str, str]]]:
    """What is said of the commanded action: of true clips, of wrong ones, frozen and reversed."""
    told = [clip for clip in clips if clip.about["label"]]
    wrong = {clip.id: _another(clip, seed) for clip in told}
    right = {clip.id: clip.about["label"] for clip in told}
    rows: list[dict[str, Any]] = []
    obeyed: list[tuple[bool, bool, str, str]] = []
    for kind, commanded, shown, is_so in (
        ("true", right, told, True),
        ("wrong_action", wrong, told, False),
        ("frozen", right, [_frozen(clip) for clip in told], False),
        ("reversed", right, [_reversed(clip) for clip in _that_move(told)], False),
    ):
        questions = [
            one
            for clip in shown
            for one in obedience_questions(clip, commanded[clip.id], protocol.formats, seed)
        ]
        moves = {clip.id: motion(clip.frames, clip.fps, protocol.motion_ignored) for clip in shown}
        still = {name: not moved >= protocol.motion_floor for name, moved in moves.items()}
        for one in ask(vlm, shown, questions, protocol):
            clip = one.question.clip
            rows.append(
                {
                    "kind": kind, "format": one.question.format, "clip": clip,
                    "score": 1.0 - one.share(one.question.answer), "violates": not is_so,
                    "still": still[clip],
                }
            )  # fmt: skip
            if kind in ("true", "wrong_action"):
                hit = one.label == one.question.answer
                obeyed.append((hit, is_so, clip, one.question.format))
    return rows, obeyed


def _another(clip: AskedClip, seed: int) -> str:
    """Another of the game's actions, by the clip's name."""
    game = our_game(clip.about["game"])
    assert game is not None
    others = [game.words[word] for word in game.actions if word != clip.about["action"]]
    return others[int(generator("wrong action", seed, clip.id).integers(len(others)))]


def _frozen(clip: AskedClip) -> AskedClip:
    return replace(clip, frames=np.repeat(clip.frames[:1], len(clip.frames), 0))


def _reversed(clip: AskedClip) -> AskedClip:
    return replace(clip, frames=np.ascontiguousarray(clip.frames[::-1]))


def _that_move(clips: Iterable[AskedClip]) -> list[AskedClip]:
    """Without those in which nothing is done: backwards they show the same."""
    found = []
    for clip in clips:
        game = our_game(clip.about["game"])
        if game is not None and clip.about["action"] != game.actions[0]:
            found.append(clip)
    return found


def cells_of(found: Mapping[str, Found]) -> list[dict[str, Any]]:
    """A row for each task and format: exact match beside majority and controls."""
    plain: dict[tuple[str, str], list[tuple[str, Said]]] = {}
    other: dict[tuple[str, str, str], list[Said]] = {}
    for game, mine in found.items():
        for one in mine.plain:
            key = (one.question.task, one.question.format)
            plain.setdefault(key, []).append((game, one))
        for control, told in mine.controls.items():
            for one in told:
                key = (one.question.task, one.question.format)
                other.setdefault((*key, control), []).append(one)
    rows = []
    for (task, form), told in sorted(plain.items()):
        right = np.array([_right(one) for _, one in told])
        weights = bootstrap.resamples(np.array([one.question.clip for _, one in told]), RESAMPLES)
        low, high = bootstrap.interval(bootstrap.weighted_mean(right, weights))
        shares = np.array([one.answered.probability for _, one in told])
        controls = {
            name: _mean_right(other.get((task, form, name), [])) for name in (*CONTROLS, "rotated")
        }
        rows.append(
            {
                "task": task, "format": form, "em": float(right.mean()), "low": float(low),
                "high": float(high), "n": len(right), "majority": _majority(told), **controls,
                "ece": float(expected_calibration_error(shares, right > 0.5)),
                "read": float(np.mean([one.label is not None for _, one in told])),
            }
        )  # fmt: skip
    return rows


def _right(said: Said) -> float:
    return float(said.label == said.question.answer)


def _mean_right(told: Sequence[Said]) -> float:
    return float(np.mean([_right(one) for one in told])) if told else float("nan")


def _majority(told: Sequence[tuple[str, Said]]) -> float:
    """What always giving each game's commonest answer would score."""
    counts: dict[str, dict[str, int]] = {}
    for game, one in told:
        mine = counts.setdefault(game, {})
        mine[one.question.answer] = mine.get(one.question.answer, 0) + 1
    return sum(max(mine.values()) for mine in counts.values()) / len(told)


def aucs_of(found: Sequence[Found]) -> list[dict[str, Any]]:
    """How often a hurt clip scores above a true one, by kind of damage and format.

    `all` takes the mean over the formats of each clip; `abstained` is the share of hurt clips that
    hardly move, which a judge refuses whatever it is asked.
    """
    rows = [row for one in found for row in one.damage]
    true = [row for row in rows if row["kind"] == "true"]
    table = []
    for kind in ("wrong_action", "frozen", "reversed"):
        hurt = [row for row in rows if row["kind"] == kind]
        clips = {row["clip"] for row in hurt}
        mine = [*(row for row in true if row["clip"] in clips), *hurt]
        forms = sorted({row["format"] for row in hurt})
        table += [_auc_row(kind, form, [r for r in mine if r["format"] == form]) for form in forms]
        if len(forms) > 1:
            table.append(_auc_row(kind, "all", _by_clip(mine)))
    for kind in ("swapped_character", "swapped_character_unseen"):
        mine = [row for row in rows if row["kind"] == kind]
        table += [_auc_row(kind, "binary", mine)] if mine else []
    return table


def _by_clip(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["kind"], row["clip"]), []).append(row)
    return [
        {**mine[0], "score": float(np.mean([row["score"] for row in mine]))}
        for mine in groups.values()
    ]


def _auc_row(kind: str, form: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    scores = np.array([row["score"] for row in rows], float)
    violates = np.array([row["violates"] for row in rows], bool)
    weights = bootstrap.resamples(np.array([row["clip"] for row in rows]), RESAMPLES)
    low, high = bootstrap.interval(auc(scores, violates, weights))
    still = [bool(row["still"]) for row in rows if row["violates"]]
    return {
        "damage": kind, "format": form, "auc": float(auc(scores, violates)), "low": float(low),
        "high": float(high), "n": int(violates.sum()), "n_true": int((~violates).sum()),
        "abstained": float(np.mean(still)) if still else float("nan"),
    }  # fmt: skip


def rates_by(found: Found) -> dict[str, Any]:
    """Sensitivity and specificity: of what was commanded, pooled and by format; of "the same"."""
    told = {"obedience": _rates(found.obeyed), "identity": _rates(found.same)}
    told["by_format"] = {
        form: _rates([row for row in found.obeyed if row[3] == form])
        for form in sorted({row[3] for row in found.obeyed})
    }
    return told


def _rates(rows: Sequence[tuple[bool, bool, str, str]]) -> dict[str, Any]:
    said = np.array([row[0] for row in rows], bool)
    truth = np.array([row[1] for row in rows], bool)
    sensitivity, specificity = rates_of(said, truth, np.array([row[2] for row in rows]))
    return {"sensitivity": _rate(sensitivity), "specificity": _rate(specificity)}


def _rate(rate: Rate) -> dict[str, float]:
    return {"share": rate.share, "n": rate.n}
