"""Check a game, an envelope, a store, scenarios, alignment or a corpus; exit code 1 on failure."""

import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import FlagCreatePairsOff, Positional, subcommand

from cosmolabe.cli._verb import Answer, Table, Verb, progress


@dataclass(frozen=True, kw_only=True)
class CheckGame(Verb):
    """Does a game keep its promises? Any game, ours or an outside one, by name."""

    game: Positional[str]
    """Name of the game."""

    def run(self) -> Answer:
        """Run every check of `data/conformance`."""
        from cosmolabe.core import parts  # lazily, as all below
        from cosmolabe.data.conformance import check_game

        checks = check_game(parts.load("games", self.game))
        failed = [check.name for check in checks if not check.ok]
        data = {"game": self.game, "failed": failed, "checks": [asdict(c) for c in checks]}
        rows = [("ok" if check.ok else "FAILED", check.name, check.detail) for check in checks]
        summary = f"{self.game}: {len(checks) - len(failed)} of {len(checks)} promises kept"
        return Answer(data, [Table(("", "promise", "seen"), rows), summary], ok=not failed)


@dataclass(frozen=True, kw_only=True)
class CheckEnvelope(Verb):
    """Do frame envelopes (JSON lines) fit their manifest? What `import` would say, kept nowhere."""

    path: Positional[Path]
    """A .jsonl file, or a folder of them."""
    manifest: Path | None = None
    """The manifest; manifest.json beside the envelopes where none is given."""

    def run(self) -> Answer:
        """Import into a folder that is thrown away."""
        from cosmolabe.data.envelopes import import_envelopes

        with tempfile.TemporaryDirectory() as scratch:
            try:
                store = import_envelopes(self.path, Path(scratch) / "store", manifest=self.manifest)
            except ValueError as error:
                return Answer({"path": self.path, "error": str(error)}, str(error), ok=False)
            episodes, frames = len(store), int(store.lengths.sum())
        text = f"{self.path}: {episodes} episodes, {frames} frames, all sound"
        return Answer({"path": self.path, "episodes": episodes, "frames": frames}, text)


@dataclass(frozen=True, kw_only=True)
class CheckStore(Verb):
    """Is every byte and every state of a store what it was?"""

    store: Positional[Path]
    """Folder of the store."""

    def run(self) -> Answer:
        """Hash every file, play every episode again."""
        from cosmolabe.data.store import open_store

        store = open_store(self.store)
        try:
            episodes = store.verify()
        except ValueError as error:
            return Answer({"store": self.store, "error": str(error)}, str(error), ok=False)
        text = f"{self.store}: {episodes} episodes, every byte and state as recorded"
        return Answer({"store": self.store, "episodes": episodes}, text)


@dataclass(frozen=True, kw_only=True)
class CheckScenarios(Verb):
    """Do scenarios test what they say? Each rule is tried on the truth and on planted changes."""

    game: Positional[str] = ""
    """Name of the game; all games with scenarios where none is given."""
    seeds: int = 200
    """Worlds each scenario starts from."""

    def run(self) -> Answer:
        """One row per predicate."""
        from cosmolabe.bench.scenario_check import check_scenarios
        from cosmolabe.core import parts

        if self.game:
            parts.load("games", self.game)  # an unknown game is refused with the names there are
        games = [self.game] if self.game else list(parts.names("scenarios"))
        checks = []
        with progress("checking") as tell:
            for done, game in enumerate(games):
                tell(done, len(games))
                checks += check_scenarios(game, self.seeds)
        failed = [check for check in checks if not check.ok]
        rows = [asdict(check) | {"why": check.why} for check in checks]
        shown = [
            (
                check.game, check.scenario, check.predicate, check.true_pass, check.planted_fail,
                check.survives_pass, check.trembling_pass, check.reacts, check.why,
            )
            for check in checks
        ]  # fmt: skip
        columns = (
            "game", "scenario", "predicate", "true", "planted fails", "survives", "trembling",
            "reacts", "what is wrong",
        )  # fmt: skip
        summary = f"{len(checks) - len(failed)} of {len(checks)} predicates test what they say"
        data = {"seeds": self.seeds, "failed": len(failed), "rows": rows}
        return Answer(data, [Table(columns, shown), summary], ok=bool(checks) and not failed)


@dataclass(frozen=True, kw_only=True)
class CheckAlignment(Verb):
    """Does each row of a store hold the action that leads to the next, and each video its frames?

    Exit code 1 where another lag than 0 explains best what happens.
    """

    store: Positional[Path]
    """Folder of the store, of any kind."""
    episodes: int = 48
    """Episodes to look at, at most."""
    seed: int = 0
    """Which episodes, and the resamples."""

    def run(self) -> Answer:
        """Regress every step on the actions around it; hold frames against what moved."""
        from cosmolabe.data.alignment import LAGS, align, verdict
        from cosmolabe.data.frame_alignment import align_frames, videos_of
        from cosmolabe.data.store import open_store

        store = open_store(self.store)
        found = align(store, self.episodes, self.seed)
        said = [verdict(found)]
        videos = videos_of(store)
        if videos:
            said.append(align_frames(store, videos, seed=self.seed))
            found.append(said[-1])
        rows = [
            (one.what, *(lag.explained for lag in one.lags), _best(one.best), one.why)
            for one in found
        ]
        columns = ("gain at lag", *(f"{lag:+d}" for lag in LAGS), "best", "")
        text = [Table(columns, rows), *(_told(self.store, one) for one in said)]
        data = {"store": self.store, "found": [asdict(one) | {"ok": one.ok} for one in found]}
        best = {one.what.split(",")[0]: one.best for one in said}
        return Answer(data | {"best": best}, text, ok=all(one.ok for one in said))


@dataclass(frozen=True, kw_only=True)
class CheckCorpus(Verb):
    """What does a folder hold of a labelled video set? Exit code 1 where it holds none."""

    corpus: Positional[str]
    """Name of the corpus (docs/corpora.md lists them; `manifest` reads your own table)."""
    folder: Positional[Path]
    """Where its tables and videos lie."""
    most: int = 1000
    """Pairs to draw, at most."""
    seed: int = 0
    """Which pairs."""
    prepare: FlagCreatePairsOff[bool] = False
    """Do first what the corpus needs once (BrokenVideos: measure its masks)."""
    against: tuple[str, ...] = ()
    """Other corpora, each NAME=FOLDER: what they share by video, id, prompt and generator."""
    out: Path | None = None
    """Write clips and the pairs drawn there, as JSON lines."""
    show: int = 10
    """Missing videos and bad rows to name, at most."""

    def run(self) -> Answer:
        """Read, count, draw."""
        from cosmolabe.bench.physics.corpora import inspect_corpus
        from cosmolabe.core import parts
        from cosmolabe.data.corpus_rows import export_corpus

        part = parts.load("corpora", self.corpus)
        others = [_named_folder(text) for text in self.against]
        prepared = part.prepare(self.folder) if self.prepare and part.prepare else None
        found = inspect_corpus(part, self.folder, self.most, self.seed)
        shared = _shared(found.corpus, self.folder, others)
        if self.out is not None:
            export_corpus(found.corpus, self.out, pairs=found.pairs)
        corpus, counts = found.corpus, found.counts
        data = {
            "corpus": part.name,
            "folder": self.folder,
            "licence": part.licence,
            "use": part.use,
            "source": part.source,
            "schema": part.schema,
            "prepared": prepared,
            **counts,
            **{field: found.by(field) for field in ("kind", "split", "generator", "anchor")},
            "levels": [asdict(level) for level in found.levels],
            "missing_videos": corpus.missing[: self.show],
            "bad_rows": corpus.bad[: self.show],
            "overlaps": [
                asdict(one) | {"share_first": one.share_first, "share_second": one.share_second}
                for one in shared
            ],
        }
        return Answer(data, self._told(part, found, shared), ok=counts["present"] > 0)

    def _told(self, part: Any, found: Any, shared: Any) -> list[Any]:  # noqa: ANN401 - lazy types
        from cosmolabe.data.tables import said

        counts, corpus = found.counts, found.corpus
        levels = [(one.violation, one.clips, one.told) for one in found.levels]
        text: list[Any] = [
            f"{part.name}: {part.summary} {part.licence}; {part.use}.",
            f"{counts['present']} of {counts['clips']} videos are there, {counts['bad']} bad rows; "
            f"{counts['pairs']} pairs drawn (at most {self.most}), {counts['ties']} of them ties",
            Table(("violation", "clips", "the set's own label"), levels),
        ]
        for what, names in (("missing", corpus.missing), ("bad", corpus.bad)):
            text += [f"{what}: {said(name)}" for name in names[: self.show]]
            if len(names) > self.show:
                text.append(f"{what}: {len(names) - self.show} more")
        if shared:
            rows = [
                (one.first, one.second, one.by, one.shared, one.share_first, one.share_second)
                for one in shared
            ]
            columns = ("first", "second", "by", "shared", "share of first", "share of second")
            text.append(Table(columns, rows))
        if not counts["present"]:
            text.append(f"no video of {part.name} in {self.folder}; it has {part.schema}")
        return text


def _named_folder(text: str) -> tuple[str, Path]:
    name, mark, folder = text.partition("=")
    if not mark or not name or not folder:
        raise ValueError(f"--against takes NAME=FOLDER, as in videophy2=data/vp2; got {text!r}")
    return name, Path(folder)


def _shared(corpus: Any, folder: Path, others: list[tuple[str, Path]]) -> list[Any]:  # noqa: ANN401
    """Splits of the corpus, then other corpora, two by two."""
    from cosmolabe.bench.physics.overlap import by_split, overlaps
    from cosmolabe.core import parts

    found = [(part, folder) for part in by_split(corpus)]
    for number, (name, path) in enumerate(others, 2):
        other = parts.load("corpora", name).read(path)
        if any(part.name.split("/")[0] == name for part, _ in found):
            other = replace(other, name=f"{name} ({number})")
        found += [(part, path) for part in by_split(other)]
    if len(found) < 2:
        return []
    return list(overlaps([c for c, _ in found], {c.name: home for c, home in found}))


def _best(lag: int | None) -> str:
    return "?" if lag is None else f"{lag:+d}"


def _told(store: Path, one: Any) -> str:  # noqa: ANN401 - an Alignment, loaded lazily
    what = one.what.split(",")[0]
    if one.best is None:
        return f"{store}, {what}: {one.why}"
    if one.best == 0:
        return f"{store}, {what}: aligned ({one.episodes} episodes)"
    side = "earlier" if one.best < 0 else "later"
    return (
        f"{store}, {what}: off by {abs(one.best)}: row t+1 follows best from what stands "
        f"{abs(one.best)} row(s) {side} than row t; shift the log, or the game itself answers late"
    )


@dataclass(frozen=True, kw_only=True)
class CheckFrames(Verb):
    """Does a frame model keep its promises: shapes, types, rows apart from each other, no luck?"""

    model: Positional[str]
    """A folder that `train --frames` wrote, or FILE.py:NAME (with --trust)."""
    game: str = "pong"
    """Game whose manifest an own model is made with."""
    trust: FlagCreatePairsOff[bool] = False
    """Run the user's own Python."""

    def run(self) -> Answer:
        """Run every check of `bench/frame_models/conformance`."""
        from cosmolabe.bench.frame_models.conformance import check_frames
        from cosmolabe.cli._models import open_frame_model
        from cosmolabe.core import parts

        manifest = parts.load("games", self.game).manifest
        model = open_frame_model(self.model, manifest, self.trust)
        if model is None:
            raise ValueError(
                f"'{self.model}' is no frame model: a folder that `cosmolabe train --frames` "
                "wrote, or FILE.py:NAME that gives an object with `step` and a `name`"
            )
        made = check_frames(model, len(manifest.profile.action_fields))
        failed = [one.name for one in made if not one.ok]
        data = {"model": self.model, "failed": failed, "checks": [asdict(one) for one in made]}
        rows = [("ok" if one.ok else "FAILED", one.name, one.detail) for one in made]
        text = f"{len(made) - len(failed)} of {len(made)} promises kept"
        return Answer(data, [Table(("", "promise", "seen"), rows), text], ok=not failed)


VERB = (
    Annotated[CheckGame, subcommand("game")]
    | Annotated[CheckEnvelope, subcommand("envelope")]
    | Annotated[CheckStore, subcommand("store")]
    | Annotated[CheckScenarios, subcommand("scenarios")]
    | Annotated[CheckAlignment, subcommand("alignment")]
    | Annotated[CheckCorpus, subcommand("corpus")]
    | Annotated[CheckFrames, subcommand("frames")]
)
