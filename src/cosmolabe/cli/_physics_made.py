"""Verbs of `physics` that make and measure the bundled judge: fit, certificate, bench."""

import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tyro.conf import FlagCreatePairsOff

from cosmolabe.cli._verb import Answer, Table, Verb
from cosmolabe.core.figures import figure, with_span

KINDS = ("pairwise", "rho", "leakage")


@dataclass(frozen=True, kw_only=True)
class PhysicsFit(Verb):
    """Train a physics judge like the bundled one: twins, eye, heads, certificate.

    Goes on where it was stopped. WORK/package is laid out as the package holds its own.

    On labelled videos of yours (--clips) heads alone are fitted: WORK/head is the judge.
    """

    work: Path
    """Folder for clips, maps, training states and the result; about 1 GB."""
    clips: Path | None = None
    """Folder of labelled videos to fit heads on, in place of twins; those of the split `test` are
    kept back, and the judge is held against their labels."""
    corpus: str = "manifest"
    """With --clips: how the folder is read; `check corpus NAME FOLDER` says what is in it."""
    encoder: str = ""
    """With --clips: the eye, NAME or NAME:SIZE; the bundled one where none is given."""
    seed: int = 42
    """Of everything."""
    groups: int | None = None
    """Groups of twins to train on; as many as the bundled judge's where none are given."""
    test_groups: int | None = None
    """Groups of twins for the certificate."""
    steps: int | None = None
    """Steps of the eye's training; with --clips, of the heads'."""
    mujoco: FlagCreatePairsOff[bool] = True
    """Use scenes of MuJoCo beside the games (needs the extra `mujoco`)."""

    def run(self) -> Answer:
        """Every stage that is not done."""
        if self.clips is not None:
            return self._on_clips(self.clips)
        if self.encoder or self.corpus != "manifest":
            raise ValueError("--corpus and --encoder go with --clips FOLDER")

        from cosmolabe.bench.physics.making import JudgeRecipe, bytes_of, make_judge

        recipe = recipe_of(self, JudgeRecipe())
        found = make_judge(self.work, recipe, _tell)
        package = self.work / "package"
        data = {"work": self.work, "bytes": bytes_of(package), **_brief(found)}
        return Answer(data, [*told_of(found), f"written to {package}"])

    def _on_clips(self, folder: Path) -> Answer:
        if self.groups is not None or self.test_groups is not None or not self.mujoco:
            raise ValueError("--groups, --test-groups and --no-mujoco are of twins, not of --clips")
        from cosmolabe.bench.physics.own_clips import fit_own

        found = fit_own(self.work, folder, self.corpus, self.encoder, self.seed, self.steps, _tell)
        readings = [] if found.evaluation is None else found.evaluation.readings
        data = {
            "head": found.head,
            "trained": found.trained,
            "tested": found.tested,
            "failed": found.failed,
            "readings": [asdict(reading) for reading in readings],
        }
        rows = [(r.game or "all", r.metric, r.value, r.low, r.high, r.n) for r in readings]
        columns = ("set", "on the test split", "value", "low", "high", "n")
        text: list[Any] = [Table(columns, rows)] if rows else []
        text += [f"not seen: {name}: {why}" for name, why in found.failed.items()]
        text.append(
            f"fitted on {found.trained} clips, {found.tested} kept back; use it with "
            f"--head {found.head}"
        )
        return Answer(data, text)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def recipe_of(asked: PhysicsFit, recipe: Any) -> Any:  # noqa: ANN401 - making.JudgeRecipe
    """The bundled judge's recipe with what the flags change."""
    twins, eye = recipe.twins, recipe.eye
    groups = dict(twins.groups)
    if asked.groups is not None:
        groups |= {"train": asked.groups}
    if asked.test_groups is not None:
        groups |= {"test": asked.test_groups}
    shares, more_shares = dict(twins.shares), dict(recipe.more_shares)
    if not asked.mujoco:
        shares.pop("mujoco", None)
        more_shares.pop("mujoco", None)
    twins = replace(twins, groups=groups, shares=shares)
    if asked.steps is not None:
        eye = replace(eye, steps=asked.steps)
    more = recipe.more if asked.groups is None else asked.groups // 2
    return replace(
        recipe, twins=twins, eye=eye, seed=asked.seed, more=more, more_shares=more_shares
    )


@dataclass(frozen=True, kw_only=True)
class PhysicsCertificate(Verb):
    """What a physics judge can and cannot see, measured on twins it never met.

    Reads the certificate that came with the judge; with --recompute it is measured again from the
    weights. Exit code 1 where a recomputed number is not the one that was written.
    """

    head: str = ""
    """A head by name, or its folder; the bundled one where none is given."""
    recompute: FlagCreatePairsOff[bool] = False
    """Draw the test twins again and score them: about half an hour on one core."""
    groups: int | None = None
    """With --recompute: only the first so many groups of twins."""
    work: Path | None = None
    """With --recompute: where the twins lie or are written; a temporary folder otherwise."""
    real: Path | None = None
    """Folder of real clips: mild damage is done to them and judged, as a check of the sign."""

    def run(self) -> Answer:
        """Read it, or measure it."""
        from cosmolabe.bench.physics.certificate import read_certificate

        found = read_certificate(self.head)
        if self.real is not None:
            from cosmolabe.bench.physics.real_clips import check_real

            real = check_real(self.head, self.real, self.work, tell=_tell)
            return Answer(real, told_of_real(real))
        if not self.recompute:
            return Answer(found, told_of(found))

        from cosmolabe.bench.physics.remeasuring import remeasure

        told = remeasure(self.head, self.work, self.groups, tell=_tell)
        text = (
            f"{told['groups']} groups drawn again ({told['left_out']} left out), {told['clips']} "
            f"clips scored, {told['compared']} of them stand in the certificate; "
            f"largest difference of a raw score {told['largest']:.2g} (bound {told['bound']:.2g})"
        )
        return Answer(told, [*told_of(told["certificate"]), text], ok=told["agrees"])


@dataclass(frozen=True, kw_only=True)
class PhysicsBench(Verb):
    """The ladder: how far the score moves with damage of each kind and size, and with quality.

    From the scores in the certificate; `physics certificate --recompute` measures them again.
    """

    head: str = ""
    """A head by name, or its folder; the bundled one where none is given."""
    kinds: FlagCreatePairsOff[bool] = False
    """Show every kind of damage, not only all together."""

    def run(self) -> Answer:
        """Draw the ladder."""
        from cosmolabe.bench.physics.certificate import read_certificate, rows_of, scores_of
        from cosmolabe.bench.physics.ladder import ladder

        found = read_certificate(self.head)
        rungs = ladder(rows_of(found), scores_of(found))
        shown = [
            (r["what"], r["kind"], r["rung"], r["moved"], r["absolute"], r["up"], r["n"])
            for r in rungs
            if self.kinds or r["kind"] == "all" or r["what"] == "quality"
        ]
        columns = ("what", "kind", "size", "moved", "mean |moved|", "up", "pairs")
        return Answer({"rungs": rungs, "fingerprint": found["fingerprint"]}, Table(columns, shown))


def told_of(found: dict[str, Any]) -> list[Any]:
    """A certificate for people."""
    rows = []
    for name, part in found["parts"].items():
        pair, rho = part["pairwise"], part["rho"]
        rows.append(
            (name, _with_ends(pair), pair["n"], _with_ends(rho["mean"]), _with_ends(rho["fisher"]),
             rho["strata"])
        )  # fmt: skip
    columns = ("held out", "pairwise", "pairs", "mean rho", "Fisher rho", "strata")
    kinds = [
        (name, "yes" if kind["held_out"] else "no", _with_ends(kind["pairwise"]),
         kind["pairwise"]["n"], _with_ends(kind["rho"]["mean"]))
        for name, kind in found["kinds"].items()
    ]  # fmt: skip
    leaks = [
        (name, _with_ends(kind["ratio"]), kind["ratio"]["n"])
        for name, kind in found["leakage"]["kinds"].items()
    ]
    alarm, met = found["false_alarm"], found["meets"]
    said = [
        f"leakage {figure(found['leakage']['value'])} ({found['leakage']['worst']})",
        f"false alarms (raw of {alarm['alarm']} and more): rare lawful motion "
        f"{_with_ends(alarm['rare'])} of {alarm['rare']['n']}, true clips "
        f"{_with_ends(alarm['true'])} of {alarm['true']['n']}; found {_with_ends(alarm['found'])}",
        "targets: " + ", ".join(f"{k} {'met' if met[k] else 'MISSED'}" for k in KINDS),
        "not measurable: " + "; ".join(f"{k}: {why}" for k, why in found["not_measurable"].items()),
    ]
    return [
        Table(columns, rows),
        Table(("damage", "held out", "pairwise", "pairs", "mean rho"), kinds),
        Table(("change of quality", "leakage", "clips"), leaks),
        "\n".join(said),
    ]


def told_of_real(found: dict[str, Any]) -> list[Any]:
    """What was seen on real clips, for people."""
    rows = [
        (r["scene"], r["kind"], r["up"], r["moved"], r["pairs"], r["true"]) for r in found["rows"]
    ]
    said = (
        f"pairwise {_with_ends(found['pairwise'])} of {found['pairwise']['n']} pairs of "
        f"{found['clips']} clips: a check of the sign, too few for a correlation; leakage "
        f"{figure(found['leakage']['value'])} ({found['leakage']['worst']})"
    )
    columns = ("clip", "damage", "up", "moved", "pairs", "raw of the true clip")
    return [Table(columns, rows), said]


def _brief(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in ("rows", "raw")}


def _with_ends(found: dict[str, Any]) -> str:
    return with_span(found["value"], found["low"], found["high"])
