"""Heads fitted on somebody's labelled videos: a corpus in a folder, an eye, a judge out.

Clips whose split is `test` are not trained on; the judge is held against their labels. What the eye
saw is kept in WORK/features, so an interrupted run goes on; WORK/head is what `--head` takes.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.physics.evaluation import Evaluation, evaluate
from cosmolabe.bench.physics.making import JudgeRecipe
from cosmolabe.core import parts
from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.core.encoder import Encoder
from cosmolabe.core.record import plain, write_json
from cosmolabe.data.video import Input
from cosmolabe.judges.physics.bundle import Bundle, save_bundle
from cosmolabe.judges.physics.familiar import LEAST, Familiar, learn
from cosmolabe.judges.physics.inputs import watch_inputs
from cosmolabe.judges.physics.physics import Physics
from cosmolabe.judges.physics.scoring import judge_watched, pooled
from cosmolabe.judges.physics.watching import Watched
from cosmolabe.nets.fitted_head import FittedHead
from cosmolabe.nets.head_recipe import HeadRecipe
from cosmolabe.nets.head_training import fit_head

TEST = "test"
MOST_PAIRS = 20_000
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Fitted:
    """What came of it."""

    head: Path
    trained: int
    tested: int
    failed: dict[str, str]
    """Why a clip could not be looked at, by id."""
    evaluation: Evaluation | None
    """On the test split; None where no clip belongs to it."""


def fit_own(
    work: Path,
    folder: Path,
    corpus: str = "manifest",
    encoder: str = "",
    seed: int = 42,
    steps: int | None = None,
    tell: Tell = print,
) -> Fitted:
    """Look at every clip, fit heads on those that may be trained on, and write the judge."""
    part: CorpusPart = parts.load("corpora", corpus)
    if part.use == "evaluate":
        raise ValueError(f"{corpus} is for evaluation; heads are not fitted on it")
    found = part.read(folder)
    name, _, size = (encoder or "tiny").partition(":")
    eye: Encoder = parts.load("encoders", name).load(size=size)
    recipe = JudgeRecipe().head
    recipe = replace(recipe, weights=(), steps=steps or recipe.steps)
    blank = Bundle("none", FittedHead([], recipe, eye.width), name, size)
    seen, failed = _look(work, folder, found.present(), Physics.of(eye, blank), tell)
    train = _only(found, [c for c in found.present() if c.id in seen and c.split != TEST])
    held = _only(found, [c for c in found.present() if c.id in seen and c.split == TEST])
    fitted = _fit(part, train, seen, recipe, seed, eye.key, tell)
    about = {
        "corpus": corpus, "licence": part.licence, "seed": seed, "recipe": plain(asdict(recipe)),
        "clips": [clip.id for clip in train.clips], "failed": failed,
    }  # fmt: skip
    familiar = _familiar(train.clips, seen, tell)
    bundle = Bundle(
        "own", fitted, name, size, familiar, choices={"short_weight": 0.25}, about=about
    )
    head = save_bundle(bundle, work / "head")
    told = _evaluated(part, held, seen, Physics.of(eye, bundle), seed)
    if told is not None:
        write_json(work / "evaluation.json", plain(asdict(told)))
    return Fitted(head, len(train.clips), len(held.clips), failed, told)


def _look(
    work: Path, folder: Path, clips: Sequence[ClipRow], judge: Physics, tell: Tell
) -> tuple[dict[str, Watched], dict[str, str]]:
    """What the eye saw of each clip, looked up where it is kept; and why it saw nothing."""
    seen: dict[str, Watched] = {}
    failed: dict[str, str] = {}
    inputs = [Input(clip.id, folder / clip.path) for clip in clips]
    for about, found in watch_inputs(judge, inputs, features=work / "features"):
        if isinstance(found, str):
            failed[about["input"]] = found
        else:
            seen[about["input"]] = found
        tell(f"seen {len(seen) + len(failed)}/{len(inputs)}")
    return seen, failed


def _only(corpus: Corpus, clips: Sequence[ClipRow]) -> Corpus:
    """The corpus with these clips alone, and the stated pairs among them."""
    ids = {clip.id for clip in clips}
    pairs = tuple(p for p in corpus.stated_pairs if p.first in ids and p.second in ids)
    return replace(corpus, clips=tuple(clips), missing=(), stated_pairs=pairs)


def _fit(
    part: CorpusPart,
    corpus: Corpus,
    seen: dict[str, Watched],
    recipe: HeadRecipe,
    seed: int,
    key: str,
    tell: Tell,
) -> FittedHead:
    if not part.pairs(corpus, 1, seed):
        raise ValueError(
            f"{len(corpus.clips)} clips to train on give no pair of which one is the worse; label "
            "two or more of one group with different violations, or state pairs"
        )

    def draw(seed: int) -> tuple[PairRow, ...]:
        return part.pairs(corpus, MOST_PAIRS, seed)

    def said(progress: Any) -> None:  # noqa: ANN401 - nets.progress.Progress
        if progress.step % 500 == 0 or progress.finished:
            tell(f"head {progress.step}/{recipe.steps} loss {progress.loss:.4f}")

    features = {clip.id: seen[clip.id].features for clip in corpus.clips}
    return fit_head(features, corpus.clips, draw, recipe, seed, encoder=key, on_progress=said)


def _familiar(clips: Sequence[ClipRow], seen: dict[str, Watched], tell: Tell) -> Familiar | None:
    """What the training clips look like; too few say nothing of what is unlike them."""
    groups = np.array([clip.group or clip.id for clip in clips])
    if len(clips) < LEAST or len(set(groups)) < 2:
        tell(f"{len(clips)} clips are too few to tell what is unlike them: no video is refused so")
        return None
    return learn(np.stack([pooled(seen[clip.id].features) for clip in clips]), groups=groups)


def _evaluated(
    part: CorpusPart, held: Corpus, seen: dict[str, Watched], judge: Physics, seed: int
) -> Evaluation | None:
    """The judge on the test split: raw scores, missing where it abstains."""
    if not held.clips:
        return None
    raw = {c.id: judge_watched(seen[c.id], judge.bundle, judge.protocol).raw for c in held.clips}
    pairs = part.pairs(held, MOST_PAIRS, seed)
    return evaluate(raw, held.clips, pairs, model="own", protocol=judge.protocol.fingerprint)
