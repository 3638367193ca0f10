"""The physics judge's own work: certificate and ladder, best of N, drift, scores over HTTP, fit."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg, subcommand

from cosmolabe.cli import _physics
from cosmolabe.cli._physics_made import PhysicsBench, PhysicsCertificate, PhysicsFit
from cosmolabe.cli._verb import Answer, Engine, Table, Verb
from cosmolabe.core.figures import with_span


@dataclass(frozen=True, kw_only=True)
class Judged(Verb):
    """What every verb that loads the judge takes."""

    head: str = ""
    """A head by name, or its folder; the bundled one where none is given."""
    encoder: str = ""
    """The eye, NAME or NAME:SIZE; otherwise the one the head was trained with."""
    weights: Path | None = None
    """File or folder of the eye's weights."""
    protocol: str = ""
    """physics/1 or physics/phyprobe-1; the one the head was made for where none is given."""
    device: str = ""
    """cpu or cuda; cuda where there is one."""


@dataclass(frozen=True, kw_only=True)
class PhysicsBestOf(Judged):
    """Of several videos made for one prompt, which violates physics least?

    Frozen, too short and unreadable videos cannot win.
    """

    paths: Positional[tuple[Path, ...]]
    """Videos, folders, patterns or tables (CSV, JSON lines, Parquet)."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Run folder to write, as `judge --judges physics` does, with best.json."""
    by: str = "prompt"
    """What belongs together: prompt, group, another column of the table, or folder."""
    features: Path | None = None
    """Folder in which what the eye saw is kept."""
    timeout: float = 300.0
    """Seconds that decoding one video may take."""
    workers: int = 1
    """Processes that share the videos."""
    engine: Engine = "local"
    """Who judges them: processes here, or a Ray cluster."""

    def run(self) -> Answer:
        """Score all, choose in each group."""
        from cosmolabe.bench.physics.best_of import best_of, gain, group_of
        from cosmolabe.cli.judge import refuse_foreign
        from cosmolabe.core.record import read_jsonl, write_json
        from cosmolabe.data.video import find_inputs

        _physics.refuse_stores(self.paths)
        refuse_foreign(self.out, also=(*_physics.ROWS, "best.json", "media"))
        inputs = find_inputs(self.paths)
        for item in inputs:
            if not item.why:
                group_of({"input": item.name, **item.row}, self.by)  # before hours of judging
        _physics.judge_into(self, inputs, shown=0)
        rows = [
            {**{k: v for k, v in item.row.items() if isinstance(v, (str, int))}, **row}
            for item, (_, row) in zip(inputs, read_jsonl(self.out / "clips.jsonl"), strict=True)
        ]
        choices = best_of(rows, self.by)
        mean, low, high = gain(choices)
        data: dict[str, Any] = {
            "by": self.by,
            "choices": [asdict(choice) for choice in choices],
            "gain": {"value": mean, "low": low, "high": high},
        }
        write_json(self.out / "best.json", data)
        shown = [
            (c.group[:60], c.best or "–", c.raw, c.runner_up, c.told_apart, c.mean, c.n, c.unscored)
            for c in choices
        ]
        columns = (self.by, "best", "raw", "next", "told apart", "mean", "n", "not scored")
        if not choices:
            raise ValueError(f"no video belongs to any {self.by}; clips.jsonl says why of each")
        text = f"raw score lower than a random choice's by {with_span(mean, low, high)}"
        return Answer({"run": self.out, **data}, [Table(columns, shown), text])


@dataclass(frozen=True, kw_only=True)
class PhysicsDrift(Verb):
    """Have the scores of the same videos changed over dated runs?

    Exit code 1 where they have. Refuses runs judged under different protocols.
    """

    runs: Positional[tuple[Path, ...]]
    """Run folders of `judge --judges physics`; the dates in their records put them in order."""
    anchor: str = "input"
    """What makes two videos the same: `input`, their name (a generator's video of the same prompt),
    or `hash`, their bytes (is it still the same judge?)."""
    seed: int = 0
    """Of the permutations."""

    def run(self) -> Answer:
        """Compare over the videos that all runs scored."""
        from cosmolabe.bench.physics.drift import drift, read_run

        found = drift([read_run(run, self.anchor) for run in self.runs], self.seed)
        rows = list(zip(found.runs, found.dates, found.means, strict=True))
        said = [
            f"{found.anchors} videos in all runs"
            + (f", {len(found.lost)} not in all" if found.lost else ""),
            "last less first run: "
            f"{with_span(found.first_to_last, found.low, found.high, '.4f')}, "
            f"p = {found.p_pairs:.4f}; largest change of one video "
            f"{found.largest:.4f}",
            "change of level: too few runs to say"
            if found.p_change != found.p_change
            else f"change of level: p = {found.p_change:.4f}"
            + (f", from run {found.change_at + 1} on" if found.change_at is not None else ""),
            found.verdict,
        ]
        table = Table(("run", "date", "mean raw score"), rows)
        return Answer(asdict(found), [table, "\n".join(said)], ok=found.verdict != "drifted")


@dataclass(frozen=True, kw_only=True)
class PhysicsServe(Judged):
    """Score frames over HTTP, for reinforcement learning in another process.

    GET /health, POST /score, POST /gradient; docs/judges/physics.md shows a client. Ctrl-C ends it.
    """

    host: str = "127.0.0.1"
    """Address to answer at; one that others can reach needs --token-file."""
    port: int = 8321
    """0 takes any that is free."""
    megabytes: int = 256
    """Largest body."""
    seconds: float = 600.0
    """Of all videos in one body together, at most; each counts as 1 s or more."""
    waiting: int = 8
    """Requests at once; more are told to come back."""
    token_file: Path | None = None
    """File with the token that clients must send as `Authorization: Bearer …`."""

    stopped = "the server has ended"

    def run(self) -> Answer:
        """Answer until stopped."""
        import sys

        from cosmolabe.bench.physics.many import loaded
        from cosmolabe.bench.physics.serving import Server, Serving

        token = "" if self.token_file is None else self.token_file.read_text().strip()
        if self.token_file is not None and len(token) < 16:
            raise ValueError(f"{self.token_file}: a token has 16 characters or more")
        serving = Serving(
            host=self.host,
            port=self.port,
            bytes=self.megabytes << 20,
            seconds=self.seconds,
            waiting=self.waiting,
            token=token,
        )
        with Server(loaded(_physics.settings_of(self)), serving) as server:
            about = server.about()
            print(
                f"{about['head']} ({about['encoder']}, {about['protocol']} {about['fingerprint']}) "
                f"answers at {server.url}",
                file=sys.stderr,
                flush=True,
            )
            server.serve_forever()
        return Answer({"url": server.url})


VERB = (
    Annotated[PhysicsBestOf, subcommand("best-of")]
    | Annotated[PhysicsDrift, subcommand("drift")]
    | Annotated[PhysicsServe, subcommand("serve")]
    | Annotated[PhysicsCertificate, subcommand("certificate")]
    | Annotated[PhysicsBench, subcommand("bench")]
    | Annotated[PhysicsFit, subcommand("fit")]
)
