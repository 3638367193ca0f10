"""Let judges take the measure of a world model, of rollouts already made, or of videos."""

from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import FlagCreatePairsOff, Positional, UseAppendAction, arg

from cosmolabe.cli import _physics, _vqa
from cosmolabe.cli._verb import Answer, Engine, Table, Verb, progress
from cosmolabe.core.figures import span

JUDGES = ("state", "vqa", "physics")


@dataclass(frozen=True, kw_only=True)
class Judge(Verb):
    """Let judges take the measure of a world model, of rollouts already made, or of videos.

    Stores need `--model`; folders of rollouts hold what was imagined already. The physics judge
    takes any videos: files, folders, patterns, tables (CSV, JSON lines, Parquet).
    """

    paths: Positional[tuple[Path, ...]]
    """Stores, folders of rollouts, or videos."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Run folder to write."""
    model: Annotated[UseAppendAction[tuple[str, ...]], arg(aliases=["-m"])] = ()
    """A model's name, a checkpoint folder ({game} stands for the game), or FILE.py:NAME; may be
    given several times."""
    judges: str = "state"
    """Judges by name, with commas between: state, vqa, physics. Where vqa and physics look at a
    model, both look at the same rollouts, of actions that are held."""
    split: str = "test"
    """Split the windows are drawn from."""
    protocol: str = "state/1"
    """Protocol of the state judge: state/1, state/awm-1, or one that corrupts what the model is
    shown: state/1+noise, +masked, +missing, +skip2, +partial. Of the vqa judge: vqa/1,
    vqa/universe-1. Of the physics judge: physics/1, physics/phyprobe-1. One of each, with a comma
    between."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 256
    """Episodes drawn, at most."""
    per_episode: int = 1
    """Windows of each."""
    seed: int = 0
    """Seed of the windows drawn and of the model's own luck."""
    curve_horizon: int = 0
    """Adds a curve that looks further ahead, to 100 say."""
    gap: str = ""
    """Adds how much better the model is on this other split (val, say)."""
    clips: int = 6
    """Clips to show in the report."""
    scenarios: int = 8
    """Starts of each scenario, where the game has any; 0 leaves scenarios out."""
    plan: int = 0
    """True games played by plans made inside the model (8, say; minutes a model); 0 leaves this
    out."""
    robust: FlagCreatePairsOff[bool] = False
    """Adds what the model loses under each robustness protocol."""
    head: str = ""
    """Physics: a head by name, or its folder; the bundled one where none is given."""
    encoder: str = ""
    """Physics: the eye, NAME or NAME:SIZE; otherwise the one the head was trained with."""
    weights: Path | None = None
    """Physics: file or folder of the eye's weights."""
    vlm: str = "tiny"
    """Vqa: the vision-language model, NAME or NAME:SIZE."""
    vlm_weights: str = ""
    """Vqa: its weights, a folder or hub id; the bundled or pinned ones where none are named."""
    certificate: Path | None = None
    """Vqa: the model's certificate; otherwise the one that lies beside its weights."""
    device: str = ""
    """Physics and vqa: cpu or cuda."""
    features: Path | None = None
    """Physics: folder in which what the eye saw is kept, for another head, say."""
    timeout: float = 300.0
    """Physics: seconds that decoding one video may take."""
    imagined: Annotated[int, arg(aliases=["--physics-episodes"])] = 32
    """Physics and vqa, with --model: rollouts of 3 s that are drawn and judged, for each model."""
    workers: int = 1
    """Processes that share the pairs of store and model, or the videos."""
    engine: Engine = "local"
    """Who judges them: processes here, or a Ray cluster (docs/scale.md; extra `ray`)."""
    trust: FlagCreatePairsOff[bool] = False
    """Run the user's own Python named by --model."""
    report: bool = True
    """Draw report.html."""

    def run(self) -> Answer:
        """Judge, write the run folder, draw the report."""
        wanted = [name for name in self.judges.split(",") if name]
        unknown = [name for name in wanted if name not in JUDGES]
        if unknown or not wanted:
            raise ValueError(f"no judge {unknown}; have {list(JUDGES)}")
        if not self.paths:
            raise ValueError("judge what? give stores, folders of rollouts, or videos")
        if wanted == ["physics"] and not self.model and not _physics.states_alone(self.paths):
            return self._judge_videos()
        finished = [path for path in self.paths if (path / "rollouts.jsonl").is_file()]
        if finished and (len(finished) < len(self.paths) or self.model):
            raise ValueError("rollouts are judged as they are: without --model, apart from stores")
        refuse_foreign(self.out)
        if "state" not in wanted and not finished and not self.model:
            raise ValueError("which world model? say --model NAME or --model FOLDER")
        readings: list[Any] = []
        if "state" in wanted:
            readings = self._judge_rollouts() if finished else self._judge_models()
        if "vqa" in wanted:
            readings = self._judge_asked(readings, bool(finished), "physics" in wanted)
        elif "physics" in wanted:
            readings = self._judge_imagined(readings, bool(finished))
        data: dict[str, Any] = {"run": self.out, "readings": readings}
        text: list[Any] = [readings_table(readings), *_vqa.remarks(readings)]
        if self.report:
            from cosmolabe.report.page import write_report

            data["report"] = write_report(self.out)
            text.append(f"wrote {data['report']}")
        else:
            text.append(f"wrote {self.out}")
        asked = [r.n for r in readings if (r.judge, r.metric) == ("vqa", "obedience")]
        return Answer(data, text, ok=not asked or sum(asked) > 0)  # a script must notice

    def _judge_videos(self) -> Answer:
        """Videos as they are, by the physics judge."""
        _physics.refuse_stores(self.paths)
        refuse_foreign(self.out, also=(*_physics.ROWS, "media"))
        readings = _physics.judge_into(self, _physics.videos_of(self.paths))
        told, text = _physics.told_of(self.out)
        data: dict[str, Any] = {"run": self.out, "readings": readings, **told}
        if self.report:
            from cosmolabe.report.page import write_report

            data["report"] = write_report(self.out)
        counts = told["counts"]
        return Answer(
            data,
            [*text, f"wrote {data.get('report', self.out)}"],
            ok=counts["failed"] < counts["videos"],  # a script must notice that all is unreadable
        )

    def _judge_imagined(self, others: list[Any], finished: bool) -> list[Any]:
        """What was imagined, drawn and looked at; its readings follow those of the others."""
        from cosmolabe.bench.physics import imagined, many

        settings = _physics.settings_of(self)
        physics = many.loaded(settings)
        if finished:
            from cosmolabe.data.rollout_folder import read_rollouts

            rollouts = [item for path in self.paths for item in read_rollouts(path)]
            if any(item.video for item in rollouts):
                readings, rows = imagined.judge_videos(rollouts, physics, settings.limits)
                links: list[Any] = []
                shown: list[Any] = []
            else:
                told = imagined.judge_states(rollouts, physics)
                readings, rows, links, shown = told.readings, told.rows, told.links, told.shown
        else:
            readings, rows, links, shown = self._imagined_of_stores(physics)
        if not others:
            self._begin(readings)
        told = imagined.Imagined(readings, rows, links, shown)
        _physics.keep_imagined(self.out, others, told, physics)
        return [*others, *readings]

    def _judge_asked(self, others: list[Any], finished: bool, looks: bool) -> list[Any]:
        """What was commanded, asked about; the physics judge looks at the same rollouts."""
        from cosmolabe.bench.physics import many
        from cosmolabe.bench.vqa.together import agreement
        from cosmolabe.core.record import read_jsonl
        from cosmolabe.data.rollout_folder import read_rollouts

        if finished:
            rollouts = [item for path in self.paths for item in read_rollouts(path)]
            vqa, told = _vqa.obeyed_of_rollouts(self, rollouts)
            agree: list[Any] = []
            if looks:
                others = self._judge_imagined(others, finished)
                seen = [row for _, row in read_jsonl(self.out / "videos.jsonl")]
                agree = agreement(told.rows, seen)
            elif not others:
                self._begin(told.readings)
            return _vqa.keep(self.out, others, told, vqa, agree)
        physics = many.loaded(_physics.settings_of(self)) if looks else None
        (vqa, told), looked, agree = _vqa.obeyed_of_stores(self, physics)
        if not others:
            self._begin([*told.readings, *(looked.readings if looked else [])])
        if looked is not None:
            _physics.keep_imagined(self.out, others, looked, physics)
            others = [*others, *looked.readings]
        return _vqa.keep(self.out, others, told, vqa, agree)

    def _begin(self, readings: list[Any]) -> None:
        """An empty run folder with its record, where the state judge did not make one."""
        from cosmolabe.core.record import Record, write_json

        clear(self.out)
        protocols, data = (
            " ".join(sorted({getattr(reading, name) for reading in readings}))
            for name in ("protocol", "data")
        )
        config = {
            "paths": list(self.paths), "models": list(self.model), "imagined": self.imagined,
            "judges": self.judges,
        }  # fmt: skip
        write_json(self.out / "record.json", Record("judge", self.seed, config, protocols, data))

    def _imagined_of_stores(self, physics: Any) -> tuple[list[Any], ...]:  # noqa: ANN401
        from cosmolabe.bench.physics.imagined import judge_imagined
        from cosmolabe.cli._models import open_model
        from cosmolabe.data.store import open_store

        readings, rows, links, shown = [], [], [], []
        for path in self.paths:
            store = open_store(path)
            models = [open_model(name, store, self.seed, self.trust) for name in self.model]
            with progress(f"looking at {store.game}") as tell:
                told = judge_imagined(
                    models, store, physics, self.split, self.imagined, seed=self.seed, tell=tell
                )
            readings += told.readings
            rows += told.rows
            links += told.links
            shown += told.shown
        return readings, rows, links, shown

    @property
    def state_protocol(self) -> str:
        """The protocol of the state judge among those named."""
        others = ("physics/", "vqa/")
        named = [name for name in self.protocol.split(",") if not name.startswith(others)]
        return named[0] if named else "state/1"

    def _judge_models(self) -> list[Any]:
        from cosmolabe.bench.evaluate import write_runs
        from cosmolabe.core.spread import spread

        if not self.model:
            raise ValueError("which world model? say --model NAME or --model FOLDER")
        cells = [(self, path, number) for path in self.paths for number in range(len(self.model))]
        judgements: list[Any] = [None] * len(cells)
        with (
            progress("judging") as tell,
            closing(spread(judge_cell, cells, self.workers, self.engine)) as finished,
        ):
            tell(0, len(cells))
            for done, (place, judgement) in enumerate(finished, 1):
                judgements[place] = judgement
                tell(done, len(cells))
        _laid_out.cache_clear()
        clear(self.out)
        write_runs(judgements, self.out)
        return [reading for judgement in judgements for reading in judgement.readings]

    def _judge_rollouts(self) -> list[Any]:
        from cosmolabe.core.record import (
            Record,
            write_json,
            write_jsonl,
            write_readings,
        )
        from cosmolabe.data.rollout_folder import read_rollouts
        from cosmolabe.judges.state import judge

        rollouts = [item for path in self.paths for item in read_rollouts(path)]
        readings, rows = judge(rollouts, self.state_protocol)
        clear(self.out)
        write_readings(self.out / "readings.json", readings)
        write_jsonl(self.out / "clips.jsonl", rows)
        fingerprints = (
            sorted({getattr(r, name) for r in readings}) for name in ("protocol", "data")
        )
        protocol, data = (" ".join(found) for found in fingerprints)
        config = {
            "paths": list(self.paths),
            "protocol": self.state_protocol,
            "rollouts": len(rollouts),
        }
        write_json(self.out / "record.json", Record("judge", self.seed, config, protocol, data))
        return readings


def judge_cell(asked: Judge, path: Path, number: int) -> Any:  # noqa: ANN401 - a Judgement
    """One of the models on one of the stores."""
    from cosmolabe.bench.evaluate import judge_model

    store, models, bed, beds = _laid_out(asked, path)
    return judge_model(
        models[number],
        store,
        num_episodes=asked.episodes,
        seed=asked.seed,
        curve_horizon=asked.curve_horizon,
        gap_split=asked.gap,
        num_clips=asked.clips,
        scenarios=asked.scenarios,
        plan=asked.plan,
        bed=bed,
        robust=beds,
    )


@lru_cache(maxsize=1)  # the cells of one store follow each other
def _laid_out(asked: Judge, path: Path) -> tuple[Any, list[Any], Any, Any]:
    """A store, its models, all opened before any is judged, and the windows they are judged on."""
    from cosmolabe.bench.bed import lay_out
    from cosmolabe.bench.robust import variant_beds
    from cosmolabe.cli._models import open_model
    from cosmolabe.data.store import open_store

    store = open_store(path)
    models = [open_model(name, store, asked.seed, asked.trust) for name in asked.model]
    drawn = {"num_episodes": asked.episodes, "per_episode": asked.per_episode, "seed": asked.seed}
    bed = lay_out(store, asked.split, asked.state_protocol, **drawn)
    return store, models, bed, variant_beds(bed, **drawn) if asked.robust else []


OURS = (
    "readings.json", "record.json", "clips.jsonl", "curves.json", "kinds.json",
    "scenarios.json", "robust.json", "planning.json",
    "report.html", "report.json", "report.parquet", "readings.parquet", *_physics.VIDEO_OURS,
    *_vqa.VQA_OURS,
)  # fmt: skip
"""What a run folder holds, besides media/."""


def refuse_foreign(folder: Path, also: tuple[str, ...] = ()) -> None:
    """Refuse a folder that is neither empty nor a run's; `also` names what may lie in it too."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; --out takes a folder")
    found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if found - set(also) and "readings.json" not in found:
        raise ValueError(f"{folder} holds other things ({sorted(found)[:3]}); choose a new folder")


def clear(folder: Path, also: tuple[str, ...] = ()) -> None:
    """Remove what an earlier run left; refuse a folder that holds something else."""
    refuse_foreign(folder, also)
    for name in OURS:
        (folder / name).unlink(missing_ok=True)
    for path in (folder / "media").rglob("*.npz"):
        path.unlink()


def readings_table(readings: list[Any]) -> Table:
    """The readings with a floor or a ceiling; all others are in readings.json."""
    known = [r for r in readings if r.floor == r.floor or r.ceiling == r.ceiling] or readings
    known = [r for r in known if r.horizon is None or r.metric == "composite"]
    rows = [
        (
            r.judge,
            r.game,
            r.model,
            f"{r.metric} at {r.horizon}" if r.horizon else r.metric,
            r.value,
            span(r.low, r.high),
            r.floor,
            r.ceiling,
            r.n,
            r.skipped,
        )
        for r in known
    ]
    columns = (
        "judge", "game", "model", "metric", "value", "95 % interval", "floor", "ceiling", "n",
        "skipped",
    )  # fmt: skip
    return Table(columns, rows)


VERB = Judge
