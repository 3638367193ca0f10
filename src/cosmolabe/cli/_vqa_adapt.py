"""`vqa adapt`: a vision-language model learns a set of questions."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import FlagCreatePairsOff, arg

from cosmolabe.cli._verb import Answer, Table, Verb, progress

VAL_SHARE = 10
"""Every tenth session is kept back where no --val is given and something must be chosen."""


@dataclass(frozen=True, kw_only=True)
class VqaAdapt(Verb):
    """Train any part of a vision-language model on a set of questions, and measure it.

    OUT holds recipe.json (written first), adapter.safetensors and adapter.json (what was learnt),
    scores.json and rows.jsonl (on --val, with controls), record.json; of the small model also
    model/, ready for --weights.
    """

    data: tuple[Path, ...]
    """Sets of questions to learn (`vqa build`)."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder to write; an unfinished one is finished."""
    vlm: str = "tiny"
    """Model, NAME or NAME:SIZE."""
    weights: Path | None = None
    """Its weights: a local folder; the pinned or bundled ones where none is given."""
    strategy: str = "P"
    """What trains: letters of V, P and L (as P or VP), or lora(r=8, alpha=8, on=L|V|VL[, +P])."""
    lr: float = 5e-5
    """The paper's single rate; each strategy has another best one, see --sweep."""
    sweep: tuple[float, ...] = ()
    """Try these rates, keep the best on --val."""
    search_mixture: FlagCreatePairsOff[bool] = False
    """Search the mix as the paper did, in three stages, keep the best on --val."""
    frames: str = "uniform:8"
    """Pictures of a clip that are shown: uniform:K or first:K."""
    mix: Literal["paper", "all"] = "paper"
    """One question of every clip an epoch by the paper's shares, or every question there is."""
    epochs: float = 1.0
    """Rounds through the questions; may be a part of one."""
    steps: int = 0
    """Steps, in place of epochs."""
    batch: int = 32
    """Questions of a step, over all devices."""
    micro: int = 0
    """Questions at once on a device; all of a step where 0."""
    seed: int = 0
    """Of mix, order and LoRA's first numbers."""
    val: tuple[Path, ...] = ()
    """Sets of questions to measure on; where none is given and something is searched, every tenth
    session of --data."""
    features: Path | None = None
    """Where a still tower's features are kept; OUT/features."""
    precision: Literal["float32", "bf16"] = "float32"
    """bf16 on GPUs only."""
    device: str = "cpu"
    """cpu or cuda."""
    loop: Literal["trainer", "steps"] = "trainer"
    """transformers' Trainer, or a plain loop on one device with the same losses."""

    stopped = "what was learnt up to the last half minute is kept; the same command goes on"

    def run(self) -> Answer:
        """Adapt, measure, record."""
        recipe = self._recipe()
        train, val = self._sets()
        features = self._features()
        tried: list[dict[str, Any]] = []
        folder = self.out
        with progress("adapting") as tell:
            score = _Score(self, train, val, features, tell)
            if self.search_mixture or self.sweep:
                recipe, tried = score.search(recipe)
                _take(score.folder(recipe), folder)
            vlm, adapted = score.adapt(recipe, folder)
            rows = score.answer(vlm, recipe, val) if val is not None else []
        return self._tell(vlm, recipe, adapted, rows, tried)

    def _recipe(self) -> Any:  # noqa: ANN401 - an Adaptation
        from cosmolabe.data.questions.mixing import Mix
        from cosmolabe.nets.adaptation import Adaptation

        return Adaptation(
            strategy=self.strategy, rate=self.lr, batch=self.batch, micro=self.micro,
            epochs=self.epochs, steps=self.steps, frames=self.frames, seed=self.seed,
            mix=Mix() if self.mix == "paper" else None, precision=self.precision,
        )  # fmt: skip

    def load(self) -> Any:  # noqa: ANN401 - a Vlm
        """The base, anew."""
        from cosmolabe.core import parts

        name, _, size = self.vlm.partition(":")
        return parts.load("vlms", name).load(self.weights, size=size, device=self.device)

    def _features(self) -> Path:
        return self.features or self.out / "features"

    def _sets(self) -> tuple[Any, Any]:
        """(train, val), each (clips by name, questions); val is None where nobody wants one."""
        from cosmolabe.core.seeds import seed_of
        from cosmolabe.data.clip_folder import ClipFolder
        from cosmolabe.data.questions.folder import read_questions

        def read(folders: Sequence[Path]) -> tuple[Any, list[Any]]:
            return ClipFolder(folders), [one for path in folders for one in read_questions(path)]

        train = read(self.data)
        if self.val:
            return train, read(self.val)
        if not (self.sweep or self.search_mixture):
            return train, None
        clips, questions = train
        kept = {n for n in clips if seed_of("val", clips.session(n)) % VAL_SHARE == 0}
        if not kept or len(kept) == len(clips):
            raise ValueError("too few sessions to keep a tenth of them back; give --val")
        parts = [
            (clips.only(names), [one for one in questions if one.clip in names])
            for names in (set(clips) - kept, kept)
        ]
        return parts[0], parts[1]

    def _tell(
        self,
        vlm: Any,  # noqa: ANN401
        recipe: Any,  # noqa: ANN401
        adapted: Any,  # noqa: ANN401
        rows: list[Any],
        tried: list[dict[str, Any]],
    ) -> Answer:
        from cosmolabe.core.record import Record, plain, write_json, write_jsonl
        from cosmolabe.judges.vqa.evaluation import position_bias, summary
        from cosmolabe.nets.adapted import merged

        scores = [asdict(score) for score in summary(rows)]
        bias = position_bias(rows)
        data = {
            "out": self.out, **plain(asdict(adapted)), "lr": recipe.rate, "scores": scores,
            "position_bias": None if bias is None else asdict(bias), "tried": tried,
        }  # fmt: skip
        data.pop("losses"), data.pop("versions")
        data["loss"] = [loss for _, loss in adapted.losses][-1]
        if rows:
            write_jsonl(self.out / "rows.jsonl", [asdict(row) for row in rows])
            write_json(self.out / "scores.json", {k: data[k] for k in ("scores", "position_bias")})
        if hasattr(vlm, "save"):
            merged(vlm.module)
            vlm.save(self.out / "model")
        record = Record(
            "vqa adapt", self.seed, plain({"vlm": self.vlm, "recipe": recipe, "tried": tried}),
            protocol=recipe.hash, data=adapted.data,
        )  # fmt: skip
        write_json(self.out / "record.json", record)
        shown = [
            (
                s["control"] or "–",
                s["task"],
                s["format"],
                s["em"],
                s["low"],
                s["high"],
                s["majority"],
            )
            for s in scores
        ]
        columns = ("control", "task", "format", "right", "low", "high", "majority")
        text = (
            f"{adapted.strategy}: {adapted.trains} numbers trained, {adapted.steps} steps, "
            f"{adapted.samples} questions, rate {recipe.rate:g}, last loss {data['loss']:.4f}; "
            f"{self.out}"
        )
        return Answer(data, [text, Table(columns, shown)] if shown else text)


class _Score:
    """Adapts by recipes and scores them on val."""

    def __init__(self, verb: VqaAdapt, train: Any, val: Any, features: Path, tell: Any) -> None:  # noqa: ANN401
        self.verb, self.train, self.val, self.tell = verb, train, val, tell
        self.features = features

    def folder(self, recipe: Any) -> Path:  # noqa: ANN401
        """Where a recipe that is tried keeps what it learnt."""
        return self.verb.out / "tried" / recipe.hash

    def search(self, recipe: Any) -> tuple[Any, list[dict[str, Any]]]:  # noqa: ANN401
        """The best mix, then the best rate; and all that was tried."""
        from cosmolabe.bench.vqa.choosing import search_mixture, search_rate

        tried = []
        if self.verb.search_mixture:
            mix, told = search_mixture(self._score, recipe)
            recipe, tried = replace(recipe, mix=mix), [asdict(one) for one in told]
        if self.verb.sweep:
            rate, told = search_rate(self._score, recipe, self.verb.sweep)
            recipe, tried = replace(recipe, rate=rate), tried + [asdict(one) for one in told]
        return recipe, tried

    def _score(self, recipe: Any) -> float:  # noqa: ANN401
        from cosmolabe.judges.vqa.evaluation import summary

        vlm, _ = self.adapt(recipe, self.folder(recipe))
        rows = self.answer(vlm, recipe, self.val, controls=())
        ems = [score.em for score in summary(rows)]
        return sum(ems) / len(ems)

    def adapt(self, recipe: Any, folder: Path) -> tuple[Any, Any]:  # noqa: ANN401
        """(model, Adapted)."""
        from cosmolabe.nets.adapting import adapt

        vlm = self.verb.load()
        return vlm, adapt(
            vlm, *self.train, recipe, folder, features=self._kept(vlm), loop=self.verb.loop,
            tell=lambda what, done, total, loss: self.tell(done, total),
        )  # fmt: skip

    def answer(
        self,
        vlm: Any,  # noqa: ANN401
        recipe: Any,  # noqa: ANN401
        asked: tuple[Mapping[str, Any], Sequence[Any]],
        **more: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Rows of a set, with all controls unless told otherwise."""
        from cosmolabe.judges.vqa.evaluation import evaluate

        return evaluate(vlm, *asked, recipe.frames, see=self._kept(vlm).see, **more)

    def _kept(self, vlm: Any) -> Any:  # noqa: ANN401
        """Features on disk, unless the tower is one that trains."""
        from cosmolabe.nets.strategies import parse_strategy
        from cosmolabe.nets.vlm_features import Features

        still = "vision" not in parse_strategy(self.verb.strategy).touches
        keeps = still and bool(getattr(vlm, "seen_key", ""))
        return Features(vlm, self.features if keeps else None)


def _take(found: Path, folder: Path) -> None:
    """What the best recipe learnt becomes what is learnt."""
    from cosmolabe.nets.adapted import ABOUT, WEIGHTS
    from cosmolabe.nets.adapting import RECIPE

    for name in (RECIPE, WEIGHTS, ABOUT):
        shutil.copy(found / name, folder / name)
