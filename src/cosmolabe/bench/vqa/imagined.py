"""The vqa judge held against the truth of our own games: what models make of held actions.

The same lines draw what a model imagines, what trivial models do and what truly happens, so the
judge's reading of the true film is the ceiling, and that of standing still the floor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.bench.dense import MOST, dense_states
from cosmolabe.bench.driving import imagine
from cosmolabe.bench.physics.imagined import state_errors
from cosmolabe.bench.vqa.held_play import WINDOW, HeldPlay, held_play, imagine_held
from cosmolabe.core import parts
from cosmolabe.core.episode import Windows
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import Prediction, WorldModel
from cosmolabe.data.rollouts import Rollout, name_of
from cosmolabe.data.video import Limits, Worker
from cosmolabe.engine.game import Appearance, Game
from cosmolabe.engine.render import draw_frames
from cosmolabe.judges.state import FLOORS, digest_of
from cosmolabe.judges.vqa.films import Film, Pictures, stride_of
from cosmolabe.judges.vqa.finished import data_of, judge
from cosmolabe.judges.vqa.finished import films_of as films_of_video
from cosmolabe.judges.vqa.judging import ASKED, FROZEN, Tell, Vqa
from cosmolabe.judges.vqa.readings import readings_of

SIDE = 128  # pixels in height, as the certificate's
SHOWN = 6  # failures whose pictures are kept
Imagining = tuple[Prediction, tuple[str, ...]]
"""What a model imagined, and per window why it cannot be used."""


@dataclass(frozen=True)
class Failure:
    """A clip in which what was commanded was not seen."""

    input: str
    caption: str
    imagined: UInt8[np.ndarray, "time height width 3"]
    true: UInt8[np.ndarray, "time height width 3"] | None
    fps: float
    share: float
    """How far the judge says it was done, 0..1."""


@dataclass(frozen=True)
class Obeyed:
    """What the judge said of films."""

    readings: list[Reading] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def __add__(self, other: "Obeyed") -> "Obeyed":
        return Obeyed(
            self.readings + other.readings, self.rows + other.rows, self.failures + other.failures
        )


def judge_obedience(
    models: Sequence[WorldModel],
    game: str,
    vqa: Vqa,
    num: int = 16,
    seed: int = 0,
    tell: Tell = lambda done, total: None,
) -> Obeyed:
    """Do models do what was commanded? `num` rollouts of held actions for each."""
    held = held_play(game, num, seed, vqa.protocol.clip)
    told = {model.name: imagine_held(model, held, seed) for model in models}
    return judge_held(held, told, vqa, tell)


def judge_held(
    held: HeldPlay,
    predictions: Mapping[str, Imagining],
    vqa: Vqa,
    tell: Tell = lambda done, total: None,
) -> Obeyed:
    """The same of what was imagined already."""
    films = films_of(held, predictions)
    rows = vqa.judge(films, tell=tell)
    _with_errors(rows, held, predictions)
    data = fingerprint(digest_of(held.windows), [[s.label for s in each] for each in held.spans])
    readings = readings_of(rows, vqa.protocol, vqa.measured, data)
    return Obeyed(readings, rows, failures_of(films, rows, vqa))


def films_of(held: HeldPlay, predictions: Mapping[str, Imagining]) -> list[Film]:
    """True, trivial and imagined films of every rollout."""
    game = parts.load("games", held.game)
    told: dict[str, Imagining] = dict(predictions)
    context = held.windows.context(WINDOW)
    for floor in FLOORS:
        told.setdefault(floor.name, imagine(floor, context))
    films = []
    for row in range(len(held.windows)):
        common: dict[str, Any] = {
            "id": name_of(held.game, held.windows, row), "length": held.windows.states.shape[1],
            "fps": float(game.manifest.fps), "actions": held.windows.actions[row],
            "game": held.game, "context": WINDOW, "spans": held.spans[row],
        }  # fmt: skip
        states, numbers = held.windows.states[row], held.windows.globals[row]
        films.append(
            Film(
                pictures=drawing(game, states, numbers, held.looks[row]), model="true",
                role="true", **common,
            )
        )  # fmt: skip
        for name, (prediction, why) in told.items():
            shown = imagined_states(held.windows, prediction, row)
            films.append(
                Film(
                    pictures=drawing(game, *shown, held.looks[row]), model=name, why=why[row],
                    role="imagined" if name in predictions else "floor", **common,
                )
            )  # fmt: skip
    return films


def imagined_states(
    windows: Windows, prediction: Prediction, row: int, given: int = WINDOW
) -> tuple[np.ndarray, np.ndarray]:
    """States and globals of one rollout: the given ones, then the imagined."""
    one = slice(row, row + 1)
    mine, part = windows.take(one), prediction.take(one)
    dense = dense_states(mine, part, given)[0]
    numbers = np.clip(np.nan_to_num(part.globals[0], posinf=MOST, neginf=-MOST), -MOST, MOST)
    return (
        np.concatenate([windows.states[row, :given], dense]),
        np.concatenate([windows.globals[row, :given], numbers.astype(np.float32)]),
    )


def drawing(
    game: Game, states: np.ndarray, numbers: np.ndarray, look: Appearance, side: int = SIDE
) -> Pictures:
    """Pictures of states, drawn only when they are looked at."""
    return lambda wanted: draw_frames(game, states[wanted], numbers[wanted], look, side)


def _with_errors(
    rows: Sequence[dict[str, Any]], held: HeldPlay, predictions: Mapping[str, Imagining]
) -> None:
    """Beside each row how wrong the rollout truly was, for what is known of it."""
    names = [name_of(held.game, held.windows, row) for row in range(len(held.windows))]
    known = {("true", name): 0.0 for name in names}
    for model, (prediction, why) in predictions.items():
        errors = state_errors(held.windows, prediction, why)
        known |= {(model, name): float(e) for name, e in zip(names, errors, strict=True)}
    for row in rows:
        row["state_error"] = known.get((row["model"], row["id"]), float("nan"))


def judge_finished(rollouts: Sequence[Rollout], vqa: Vqa, limits: Limits) -> Obeyed:
    """Finished videos with their actions; of the clearest failures the videos are read again."""
    readings, rows = judge(rollouts, vqa.protocol.name, vqa, limits)
    worst = {(row["game"], row["id"]) for _, row, _ in _disobedient(rows)[:SHOWN]}
    worker = Worker()
    try:
        films = [
            film
            for one in rollouts
            if (one.game, one.id) in worst
            for film in films_of_video(one, limits, worker)
        ]
    finally:
        worker.kill()
    mine = [row for row in rows if (row["game"], row["id"]) in worst]
    return Obeyed(readings, rows, failures_of(films, mine, vqa))


def failures_of(
    films: Sequence[Film], rows: Sequence[Mapping[str, Any]], vqa: Vqa, most: int = SHOWN
) -> list[Failure]:
    """Imagined clips the judge is surest of that the command was not done, the surest first."""
    by_name = {(film.id, film.model): film for film in films}
    return [
        _failure(by_name[row["id"], row["model"]], by_name.get((row["id"], "true")), piece, vqa)
        for _, row, piece in _disobedient(rows)[:most]
    ]


def _disobedient(
    rows: Sequence[Mapping[str, Any]],
) -> list[tuple[float, Mapping[str, Any], Mapping[str, Any]]]:
    """(how far it was done, row, piece) of imagined clips that no answer says was done."""
    found = [
        (piece["share"], row, piece)
        for row in rows
        if row["role"] == "imagined"
        for piece in row["pieces"]
        if piece["status"] in (ASKED, FROZEN) and not any(piece["hits"])
    ]
    return sorted(found, key=lambda one: (one[0], one[2]["clip"]))


def _failure(film: Film, true: Film | None, piece: Mapping[str, Any], vqa: Vqa) -> Failure:
    clip = vqa.protocol.clip
    stride = stride_of(film, clip)
    numbers = piece["first"] + stride * np.arange(clip.length)
    said = piece["answers"].get("open_ended") or piece["answers"].get("multiple_choice")
    if piece["status"] == FROZEN:
        said = piece["why"]
    return Failure(
        input=piece["clip"],
        caption=f"commanded: {piece['commanded']} · seen: {said or 'no'}",
        imagined=film.pictures(numbers),
        true=None if true is None else true.pictures(numbers),
        fps=film.fps / stride,
        share=float(piece["share"]),
    )


def judge_states(rollouts: Sequence[Rollout], vqa: Vqa) -> Obeyed:
    """Finished rollouts of states, drawn as plainly as their game draws.

    Nobody knows whether the effect of what was commanded could be seen, so all is asked about that
    lasts.
    """
    films: list[Film] = []
    true: set[tuple[str, str]] = set()
    for rollout in rollouts:
        if rollout.window is None or rollout.prediction is None:
            raise ValueError(f"rollout '{rollout.id}' has no states to draw, nor a video")
        if rollout.game not in parts.names("games"):
            raise ValueError(f"'{rollout.game}' has no drawing here; give videos instead")
        films += _of_states(rollout, with_true=(rollout.game, rollout.id) not in true)
        true.add((rollout.game, rollout.id))
    rows = vqa.judge(films)
    readings = readings_of(rows, vqa.protocol, vqa.measured, data_of(rollouts))
    return Obeyed(readings, rows, failures_of(films, rows, vqa))


def _of_states(rollout: Rollout, with_true: bool) -> list[Film]:
    assert rollout.window is not None
    assert rollout.prediction is not None
    game, window = parts.load("games", rollout.game), rollout.window
    given = window.states.shape[1] - rollout.prediction.states.shape[1]
    look = Appearance()
    common: dict[str, Any] = {
        "id": rollout.id, "length": window.states.shape[1], "fps": rollout.fps,
        "actions": window.actions[0], "game": rollout.game, "context": given,
    }  # fmt: skip
    shown = imagined_states(window, rollout.prediction, 0, given)
    films = [Film(pictures=drawing(game, *shown, look), model=rollout.model, **common)]
    if with_true:
        true = drawing(game, window.states[0], window.globals[0], look)
        films.append(Film(pictures=true, model="true", role="true", **common))
    return films
