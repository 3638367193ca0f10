"""A projector between frozen, real parts learns to say what moves in games nobody here wrote.

For each game: clips of episodes played for training and of others for the test, questions about
them, the model's answers before, during and after only its projector has learnt, under all
controls, and what a linear probe reads from the same frozen features.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from cosmolabe.bench.vqa.frame_probe import fitted
from cosmolabe.core.proportion import effective_number, wilson
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain, read_json, write_json, write_jsonl
from cosmolabe.core.vlm import Vlm
from cosmolabe.data.clip_folder import ClipFolder
from cosmolabe.data.frame_choice import frame_choice
from cosmolabe.data.outside import outside_game
from cosmolabe.data.outside.game import OutsideGame
from cosmolabe.data.questions import effects
from cosmolabe.data.questions.building import questions_of
from cosmolabe.data.questions.folder import (
    CLIPS,
    RECORD,
    clip_rows,
    keep_clip,
    read_clip,
    read_questions,
    write_questions,
)
from cosmolabe.data.questions.outside import WORDS, Cutting, Wanted, outside_clips
from cosmolabe.data.questions.wording import templates_hash
from cosmolabe.judges.vqa.evaluation import EVERY, Row, evaluate, summary
from cosmolabe.judges.vqa.views import CONTROLS
from cosmolabe.nets.adaptation import Adaptation
from cosmolabe.nets.adapted import fill_weights, write_weights
from cosmolabe.nets.adapting import adapt
from cosmolabe.nets.feature_store import clip_hash
from cosmolabe.nets.vlm_features import Features

SPLITS = ("train", "test")
TASK = "action_recognition"
RESULT = "result.json"
SCHEMA = 1
Tell = Callable[[str], None]


@dataclass(frozen=True)
class OutsideStudy:
    """What is done; the defaults cost about 10 core-minutes a game."""

    games: tuple[str, ...] = ("atari/Pong", "atari/Breakout", "atari/Freeway")
    train: int = 240
    """Clips of each label to learn from; as many of each, so that the commonest says nothing."""
    test: int = 40
    """Of each label, of episodes no training clip is from."""
    frameskip: int = 2
    """Frames of the console a tick: a clip of 14 frames lasts 0.47 s."""
    cutting: Cutting = field(default_factory=Cutting)
    recipe: Adaptation = field(
        default_factory=lambda: Adaptation(rate=1e-3, batch=8, steps=300, mix=None)
    )
    """All three questions about each clip, as often as each other."""
    curve: tuple[int, ...] = (100, 200)
    """Steps of the same training at which it answers too."""
    seed: int = 5

    def __post_init__(self) -> None:
        strange = sorted(set(self.games) - set(WORDS))
        if strange or not self.games:
            raise ValueError(f"games are some of {sorted(WORDS)}; got {strange or 'none'}")
        if self.recipe.strategy != "P" or not self.recipe.steps:
            raise ValueError("the study trains the projector, for a number of steps")

    @property
    def hash(self) -> str:
        """16 hex digits of every choice but the games; wording and the rule of labels included."""
        rule = [effects.FAR, effects.FRAMES, effects.STILL]
        choices = {name: value for name, value in vars(self).items() if name != "games"}
        return fingerprint(choices, WORDS, rule, templates_hash(), SCHEMA)


class FrameByFrame(Features):
    """What a tower that looks at each frame by itself saw, kept by frame.

    A clip in another order, or one picture held, costs no look. Only for such towers.
    """

    def see(self, clips: Sequence[UInt8[np.ndarray, "frame height width 3"]]) -> list[Any]:
        """As `Features.see`; equal clips give the very same tensor."""
        names = [clip_hash(clip) for clip in clips]
        once = dict(zip(names, clips, strict=True))
        frames = [clip[k : k + 1] for clip in once.values() for k in range(len(clip))]
        seen = iter(super().see(frames))
        whole = {n: torch.cat([next(seen) for _ in clip]) for n, clip in once.items()}
        return [whole[name] for name in names]

    def recall(self, name: str, frames: int) -> Any:  # noqa: ANN401 - what `see` gives
        """Of single frames alone."""
        return super().recall(name, frames) if frames == 1 else None


def run_game(
    study: OutsideStudy,
    name: str,
    vlm: Vlm,
    work: Path,
    tell: Tell = lambda line: None,
    game: OutsideGame | None = None,
) -> dict[str, Any]:
    """One game's part of the table, found in `work` or made; the model is left as it came."""
    start = _projector(vlm)
    own = work / name.replace("/", "-").lower()
    key = fingerprint(study.hash, name, vlm.key)
    if (own / RESULT).exists() and read_json(own / RESULT).get("key") == key:
        return read_json(own / RESULT)
    game = game or outside_game(name, study.frameskip, study.cutting.ticks)
    gather(study, game, own, tell)
    features = FrameByFrame(vlm, work / "features")
    try:
        found = _learn(study, vlm, own, key, features, tell)
    finally:
        _put(vlm, start)
    found |= {"probe": _probe(study, own, features), "libraries": dict(game.libraries)}
    found = plain({"schema": SCHEMA, "key": key, "game": name, **_told_of(own), **found})
    write_json(own / RESULT, found)
    return found


def gather(study: OutsideStudy, game: OutsideGame, own: Path, tell: Tell) -> None:
    """Both splits' clips and questions, each in a folder of its own; no picture is in two."""
    key = fingerprint(study.hash, game.name, game.manifest)
    pictures: set[str] = set()
    done = [(own / split / RECORD).exists() for split in SPLITS]
    for split in SPLITS if not all(done) else ():
        folder = own / split
        wanted = Wanted(getattr(study, split), pictures=pictures)
        rows, dropped = [], Counter()
        for clip, told in outside_clips(game, split, wanted, study.cutting):
            if clip is None:
                dropped[told["why"]] += 1
            else:
                rows.append(keep_clip(folder, clip))
        write_jsonl(folder / CLIPS, rows)
        bare = [read_clip(folder, row, pictures=False) for row in rows]
        write_questions(folder, questions_of(bare, study.seed, (TASK,), same=False))
        counts = {"labels": dict(wanted.taken), "dropped": dict(dropped)}
        write_json(folder / RECORD, {"schema": 1, "key": key, "clips": len(rows), **counts})
        tell(f"{game.name} {split}: {len(rows)} clips, dropped {dict(dropped)}")
    for split in SPLITS:
        if read_json(own / split / RECORD).get("key") != key:
            raise ValueError(f"{own / split} holds clips of another study; use another folder")


def _told_of(own: Path) -> dict[str, Any]:
    """What lies in the two folders."""
    found: dict[str, Any] = {}
    for split in SPLITS:
        told = read_json(own / split / RECORD)
        episodes = {row["about"]["session"] for row in clip_rows(own / split)}
        found[split] = {
            "clips": told["clips"], "episodes": len(episodes), "labels": told["labels"],
            "dropped": told["dropped"],
        }  # fmt: skip
    return found


def _learn(
    study: OutsideStudy, vlm: Vlm, own: Path, key: str, features: Features, tell: Tell
) -> dict[str, Any]:
    """Answers before, training, answers on the way and after."""
    train, test = ClipFolder([own / "train"]), ClipFolder([own / "test"])
    asked = read_questions(own / "test")
    steps = study.recipe.steps

    def answers(step: int) -> dict[str, Any]:
        path = own / "answers" / f"{step}.json"
        if path.exists() and read_json(path).get("key") == key:
            return read_json(path)
        began = time.process_time()
        controls = {0: CONTROLS, steps: EVERY}.get(step, ())
        rows = evaluate(
            vlm, test, asked, study.recipe.frames, controls=controls, see=features.see, batch=24
        )
        write_jsonl(path.with_suffix(".jsonl"), [asdict(row) for row in rows])
        seconds = round(time.process_time() - began, 1)
        told = {"key": key, "step": step, "rows": _rows(rows, test), "cpu_seconds": seconds}
        write_json(path, plain(told))
        ems = " ".join(f"{row['format']} {row['em']:.3f}" for row in told["rows"])
        tell(f"{own.name}, step {step}: {ems} ({seconds} cpu s)")
        return read_json(path)

    found = [answers(0)]
    folder = own / "adapted"
    at = {step: own / "adapted" / f"step-{step}.safetensors" for step in study.curve}

    def heard(what: str, step: int, total: int, loss: float) -> None:
        if what == "training" and step in at:
            write_weights(vlm.module, at[step])
        if step % 25 == 0 or step == total:
            tell(f"{own.name}: {what} {step} of {total}, loss {loss:.3f}")

    adapted = adapt(
        vlm, train, read_questions(own / "train"), study.recipe, folder, features=features,
        loop="steps", tell=heard,
    )  # fmt: skip
    last = answers(steps)
    for step, path in at.items():
        if not path.exists():
            raise ValueError(f"{path} is not there; remove {folder} and run again")
        fill_weights(vlm.module, path)
        found.append(answers(step))
    found.append(last)
    return {
        "before": found[0]["rows"],
        "after": last["rows"],
        "curve": [_point(one, study.recipe.batch) for one in found],
        "trains": adapted.trains,
        "samples": adapted.samples,
        "training_cpu_seconds": adapted.cpu_seconds,
        "answering_cpu_seconds": [one["cpu_seconds"] for one in found],
    }


def _rows(rows: Sequence[Row], clips: ClipFolder) -> list[dict[str, Any]]:
    """The certificate: a row a format, controls beside; intervals over episodes.

    Clips of one episode count as the fewer they are worth.
    """
    scores = summary(replace(row, clip=clips.session(row.clip)) for row in rows)
    plainly = [score for score in scores if not score.control]
    return [
        {
            "task": one.task, "format": one.format, "em": one.em, "low": one.low, "high": one.high,
            "n": one.n, "majority": one.majority, "yes_rate": one.yes_rate, "ece": one.ece,
            **{s.control: s.em for s in scores if s.control and s.format == one.format},
        }
        for one in plainly
    ]  # fmt: skip


def _point(told: Mapping[str, Any], batch: int) -> dict[str, Any]:
    ems = {row["format"]: row["em"] for row in told["rows"]}
    return {"step": told["step"], "samples": told["step"] * batch, **ems}


def _probe(study: OutsideStudy, own: Path, features: Features) -> dict[str, Any]:
    """The labels, read by a linear probe from the frozen features the projector is given."""
    sides = {}
    for split in SPLITS:
        clips = ClipFolder([own / split])
        seen, labels = [], []
        for name in clips:
            clip = clips[name]
            seen += features.see([frame_choice(study.recipe.frames).of(clip.frames)])
            labels.append(clip.about["label"])
        sides[split] = (torch.stack(seen).flatten(2), labels, [clips.session(n) for n in clips])
    probe, told = fitted(*sides["train"])
    seen, labels, sessions = sides["test"]
    right = np.array([a == b for a, b in zip(probe(seen), labels, strict=True)])
    worth = effective_number(right.astype(float), np.array(sessions))
    low, high = wilson(float(right.mean()) * worth, worth)
    return {"accuracy": float(right.mean()), "low": low, "high": high, "n": len(right), **told}


def _projector(vlm: Vlm) -> dict[str, Tensor]:
    """The projector's weights, to be put back."""
    assert vlm.family is not None
    return {
        name: parameter.detach().clone()
        for name, parameter in vlm.module.named_parameters()
        if vlm.family.group(name) == "projector"
    }


def _put(vlm: Vlm, weights: Mapping[str, Tensor]) -> None:
    own = dict(vlm.module.named_parameters())
    with torch.no_grad():
        for name, tensor in weights.items():
            own[name].copy_(tensor)
