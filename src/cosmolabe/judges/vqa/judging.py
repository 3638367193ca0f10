"""The vqa judge, loaded: what it says of films, a row each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.core import parts
from cosmolabe.core.question import AskedClip, Question
from cosmolabe.core.vlm import Vlm
from cosmolabe.judges.vqa.asking import Said, ask
from cosmolabe.judges.vqa.commanded import identity_question, obedience_questions
from cosmolabe.judges.vqa.films import DRAWN, Film, Piece, clip_of, pieces_of
from cosmolabe.judges.vqa.measured import Measured, find_certificate
from cosmolabe.judges.vqa.protocol import VqaProtocol, protocol_named
from cosmolabe.judges.vqa.views import CONTROLS, Control, motion

FILMS_AT_ONCE = 8
ASKED, FROZEN, SKIPPED = "asked", "frozen", "skipped"
NO_ANSWER = "the model could not be asked: a call failed"
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Vqa:
    """The judge, ready to look at films."""

    vlm: Vlm
    protocol: VqaProtocol
    """With the model's key in it."""
    measured: Measured
    """What is known of the model's own errors."""

    @classmethod
    def load(
        cls,
        vlm: str = "tiny",
        source: str | Path | None = None,
        *,
        protocol: str = "",
        certificate: str | Path | None = None,
        choices: Mapping[str, Any] | None = None,
        **more: Any,  # noqa: ANN401 - device and dtype
    ) -> "Vqa":
        """A model by name with its weights and its certificate."""
        model = parts.load("vlms", vlm).load(source, **more)
        return cls.of(model, protocol, find_certificate(model.key, source, certificate), choices)

    @classmethod
    def of(
        cls,
        vlm: Vlm,
        protocol: str = "",
        measured: Measured | None = None,
        choices: Mapping[str, Any] | None = None,
    ) -> "Vqa":
        """Of a model that is already there."""
        found = measured or Measured()
        bound = protocol_named(protocol or "vqa/1").bound(
            vlm.key, found.fingerprint, **(choices or {})
        )
        return cls(vlm, bound, found)

    def judge(
        self,
        films: Sequence[Film],
        controls: Sequence[Control] = CONTROLS,
        tell: Tell = lambda done, total: None,
    ) -> list[dict[str, Any]]:
        """A row for each film, in their order; each film is judged by itself.

        A film that fails costs its own row and nothing else. Where a true film of the same id
        stands still in a clip, that clip counts for nobody.
        """
        rows: list[dict[str, Any]] = []
        for start in range(0, len(films), FILMS_AT_ONCE):
            tell(start, len(films))
            rows += self._some(films[start : start + FILMS_AT_ONCE], controls)
        tell(len(films), len(films))
        return _excused(rows)

    def _some(self, films: Sequence[Film], controls: Sequence[Control]) -> list[dict[str, Any]]:
        cut = [self._cut(film) for film in films]
        clips = [clip for one in cut for clip in one.asked]
        told = self._answers(films, cut, clips, controls)
        return [self._row(film, one, told) for film, one in zip(films, cut, strict=True)]

    def _cut(self, film: Film) -> "_Cut":
        """Clips of a film, and which of them are asked about."""
        try:
            pieces, why = pieces_of(film, self.protocol.clip)
            clips = [clip_of(piece, self.protocol.clip) for piece in pieces]
        except (ValueError, OSError) as error:
            return _Cut([], [], [], [], str(error), True)
        moved = [motion(clip.frames, clip.fps, self.protocol.motion_ignored) for clip in clips]
        asked = [
            clip
            for clip, piece, speed in zip(clips, pieces, moved, strict=True)
            if not piece.why and speed >= self.protocol.motion_floor
        ]
        return _Cut(pieces, clips, moved, asked, why, False)

    def _answers(
        self,
        films: Sequence[Film],
        cut: "Sequence[_Cut]",
        clips: Sequence[AskedClip],
        controls: Sequence[Control],
    ) -> "dict[str, dict[str, list[Said]]]":
        """By what was shown ("", a control, rotated, identity), the answers about each clip."""
        questions = [one for clip in clips for one in self._questions(clip)]
        found = {"": ask(self.vlm, clips, questions, self.protocol)}
        imagined = {clip.id for film, c in zip(films, cut, strict=True) for clip in c.asked
                    if film.role == "imagined"}  # fmt: skip
        mine = [one for one in questions if one.clip in imagined]
        seen = [clip for clip in clips if clip.id in imagined]
        for control in controls if mine else ():
            found[control] = ask(self.vlm, seen, mine, self.protocol, control)
        choices = [one for one in mine if one.options]
        if choices and controls:
            found["rotated"] = ask(self.vlm, seen, choices, self.protocol, rotate=1)
        own = [piece for film, c in zip(films, cut, strict=True) if film.own_characters
               for piece in c.pieces if piece.id in {clip.id for clip in c.asked}]  # fmt: skip
        found["identity"] = self._identity(own)
        return {name: _by_clip(said) for name, said in found.items()}

    def _identity(self, pieces: Iterable[Piece]) -> list[Said]:
        clips = [clip_of(piece, self.protocol.clip, from_start=True) for piece in pieces]
        asked = [one for clip in clips if (one := identity_question(clip)) is not None]
        return ask(self.vlm, clips, asked, self.protocol) if asked else []

    def _questions(self, clip: AskedClip) -> list[Question]:
        return obedience_questions(clip, clip.about["label"], self.protocol.formats)

    def _row(
        self, film: Film, cut: "_Cut", told: "Mapping[str, Mapping[str, list[Said]]]"
    ) -> dict[str, Any]:
        pieces = [
            self._piece(piece, moved, told)
            for piece, moved in zip(cut.pieces, cut.moved, strict=True)
        ]
        counted = [one for one in pieces if one["status"] != SKIPPED]
        status, why = _status(cut, pieces)
        return {
            "input": f"{film.id} {film.model or film.role}",
            "id": film.id, "game": film.game, "model": film.model, "role": film.role,
            "status": status, "why": why, "clips": len(counted),
            "value": _mean(np.mean(one["hits"]) for one in counted),
            "share": _mean(one["share"] for one in counted),
            "same": _mean(one["same"] for one in counted),
            "identity_why": "" if film.own_characters else DRAWN,
            "motion": _mean(one["motion"] for one in pieces),
            "frozen": sum(one["status"] == FROZEN for one in pieces),
            "pieces": pieces,
        }  # fmt: skip

    def _piece(
        self, piece: Piece, moved: float, told: "Mapping[str, Mapping[str, list[Said]]]"
    ) -> dict[str, Any]:
        replies = told[""].get(piece.id, [])
        said = replies if all(map(_came, replies)) else []
        same = [one.label == "yes" for one in told["identity"].get(piece.id, []) if _came(one)]
        formats = self.protocol.formats
        why = piece.why or ("" if len(said) == len(replies) else NO_ANSWER)
        status = SKIPPED if why else ASKED if said else FROZEN
        if status == FROZEN:
            why = f"hardly moves: {moved:.4f} a second, below {self.protocol.motion_floor}"
        return {
            "clip": piece.id, "first": piece.first, "seconds": piece.first / piece.film.fps,
            "commanded": piece.label, "status": status, "why": why, "motion": moved,
            "hits": [one.label == one.question.answer for one in said]
            or ([False] * len(formats) if status == FROZEN else []),
            "answers": {one.question.format: one.label or one.answered.parsed.status
                        for one in replies},
            "shares": {one.question.format: one.share(one.question.answer) for one in said},
            "share": _mean(one.share(one.question.answer) for one in said)
            if said else (0.0 if status == FROZEN else float("nan")),
            "same": float(np.mean(same)) if same else float("nan"),
            "controls": {
                name: hits
                for name, mine in told.items()
                if name not in ("", "identity", "rotated")
                and (hits := [one.label == one.question.answer
                              for one in mine.get(piece.id, []) if _came(one)])
            },
            "rotated": [
                one.label == next(s.label for s in said if s.question.id == one.question.id)
                for one in (told.get("rotated", {}).get(piece.id, []) if said else [])
                if _came(one)
            ],
        }  # fmt: skip


@dataclass(frozen=True)
class _Cut:
    pieces: list[Piece]
    clips: list[AskedClip]
    moved: list[float]
    asked: list[AskedClip]
    why: str
    failed: bool


def _excused(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    still = {
        (row["game"], row["id"], piece["first"])
        for row in rows
        if row["role"] == "true"
        for piece in row["pieces"]
        if piece["status"] == FROZEN
    }
    for row in rows:
        for piece in row["pieces"]:
            if (row["game"], row["id"], piece["first"]) in still:
                piece |= {"status": SKIPPED, "why": "the true clip hardly moves", "hits": []}
    return rows


def _came(said: Said) -> bool:
    """Whether an answer came at all: a call that failed says nothing of what was shown."""
    return said.answered.parsed.status != "error"


def _by_clip(said: Sequence[Said]) -> dict[str, list[Said]]:
    found: dict[str, list[Said]] = {}
    for one in said:
        found.setdefault(one.question.clip, []).append(one)
    return found


def _status(cut: _Cut, pieces: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Of a film: scored where any clip was asked about, abstained where all stood still."""
    states = [one["status"] for one in pieces]
    if ASKED in states:
        return "scored", ""
    if FROZEN in states:
        return "abstained", next(one["why"] for one in pieces if one["status"] == FROZEN)
    if cut.failed:
        return "failed", cut.why
    return "skipped", cut.why or next((one["why"] for one in pieces), "")


def _mean(values: Iterable[Any]) -> float:
    known = [float(value) for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")
