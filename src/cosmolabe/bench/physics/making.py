"""Makes the bundled physics judge: twins, an eye, heads, a certificate; offline and resumable.

Each stage leaves its files in the working folder and is not done again: WORK/twins (clips),
WORK/maps (what moved in them), WORK/eye (the training's state), WORK/head, WORK/scores.jsonl.
`WORK/package` is laid out as the package holds it.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

import cosmolabe
from cosmolabe.bench.physics.certificate import certify, meets
from cosmolabe.bench.physics.twin_scores import Scored, Twofold, score_rows
from cosmolabe.bench.scenario_episodes import ScenarioEpisodes
from cosmolabe.core import parts
from cosmolabe.core.corpus import ClipRow, PairRow
from cosmolabe.core.encoder import EncoderPart
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain, read_json, versions, write_json
from cosmolabe.data.held_out import held_out
from cosmolabe.data.twin_rows import TwinRecipe, TwinRow
from cosmolabe.data.twin_set import read_twin_set, write_twin_set
from cosmolabe.judges.physics.bundle import CERTIFICATE, Bundle, save_bundle
from cosmolabe.judges.physics.familiar import learn
from cosmolabe.judges.physics.physics import Physics
from cosmolabe.judges.physics.scoring import pooled
from cosmolabe.nets.checkpoints import write_tensors
from cosmolabe.nets.fitted_head import FittedHead
from cosmolabe.nets.head_recipe import HeadRecipe
from cosmolabe.nets.head_training import fit_head
from cosmolabe.nets.tiny_net import TinyNet
from cosmolabe.nets.tiny_training import EyeDescent, EyeRecipe, fit_eye
from cosmolabe.nets.twin_maps import SeenClip, refuse_held_out, see_all

SCHEMA = 1
NAME = "small"
MORE = "more"
"""Folder of the second set of twins."""
PACKAGE = Path(cosmolabe.__file__).parent
EYE = Path("encoders") / "tiny.safetensors"
EYE_RECORD = EYE.with_suffix(".json")
HEAD = Path("judges") / "physics" / "heads" / NAME
COMMAND = "python recipes/physics_judge.py"
LICENCE = "Apache-2.0"
MOST_BYTES = 8 << 20
"""Of all that ships."""
Tell = Callable[[str], None]


def _twins() -> TwinRecipe:
    return TwinRecipe(
        groups={"train": 480, "val": 48, "test": 160},
        shares={"games": 0.6, "mujoco": 0.4},
        fps=(16.0, 16.0, 16.0, 12.0, 24.0),
    )


def _head() -> HeadRecipe:
    return HeadRecipe(
        kind="events",
        window=16,
        stride=4,
        quantile=0.9,
        hidden=16,
        differences=1,
        standardise=True,
        weight_decay=0.1,
        rank_weight=5.0,
        anchor_weight=10.0,
        steps=1200,
        warmup=100,
        ema=0.999,
        batch=16,
        weights=(("twins", 0.5), ("sizes", 0.3), ("quality", 0.2)),
        members=4,
    )


@dataclass(frozen=True)
class JudgeRecipe:
    """All that decides the judge's numbers."""

    twins: TwinRecipe = field(default_factory=_twins)
    eye: EyeRecipe = field(default_factory=EyeRecipe)
    head: HeadRecipe = field(default_factory=_head)
    more: int = 416
    """Further groups to train on, of a set of their own with the next seed."""
    apart: int = 128
    """The last so many of them the eye never sees: there heads learn how far to trust it."""
    more_shares: Mapping[str, float] = field(
        default_factory=lambda: {"games": 0.75, "mujoco": 0.25}
    )
    choices: Mapping[str, Any] = field(
        default_factory=lambda: {"short_weight": 0.25, "unlike": True}
    )
    """Of the protocol `physics/1`."""
    seed: int = 42
    schema: int = SCHEMA

    @property
    def hash(self) -> str:
        """16 hex digits of every choice."""
        return fingerprint(self)


def make_judge(work: Path, recipe: JudgeRecipe | None = None, tell: Tell = print) -> dict[str, Any]:
    """Every stage that is not done yet; gives the certificate."""
    recipe = recipe or JudgeRecipe()
    rows = make_twins(work, recipe, tell)
    eye_file = train_eye(work, rows, recipe, tell)
    fit_heads(work, rows, recipe, eye_file, tell)
    return certify_judge(work, rows, recipe, tell)


def make_twins(work: Path, recipe: JudgeRecipe, tell: Tell) -> list[TwinRow]:
    """The set of twins, and more groups to train on beside it."""
    games = recipe.twins.games or parts.names("games")
    starts = {game: ScenarioEpisodes(game) for game in games}
    rows = write_twin_set(
        work / "twins", recipe.twins, recipe.seed, starts=starts, progress=_said("twins", tell)
    )
    if recipe.more:
        more = replace(recipe.twins, groups={"train": recipe.more}, shares=dict(recipe.more_shares))
        extra = write_twin_set(
            work / MORE, more, recipe.seed + 1, progress=_said("more twins", tell)
        )
        rows += [_renamed(row) for row in extra]
    return rows


def _is_apart(row: TwinRow, recipe: JudgeRecipe) -> bool:
    """Whether a group is kept from the eye, for the heads alone."""
    return row.group.startswith(MORE) and _number(row) >= recipe.more - recipe.apart


def _number(row: TwinRow) -> int:
    return int(row.group.rpartition("-")[2])


def _renamed(row: TwinRow) -> TwinRow:
    """A row of the second set: its files and its group lie and are called apart."""
    return replace(
        row,
        id=f"{MORE}-{row.id}",
        group=f"{MORE}-{row.group}",
        true=f"../{MORE}/{row.true}",
        damaged=row.damaged and f"../{MORE}/{row.damaged}",
    )


def train_eye(work: Path, rows: Sequence[TwinRow], recipe: JudgeRecipe, tell: Tell) -> Path:
    """The eye's weights, trained on the train split."""
    out = work / "package" / EYE
    if _made(out, recipe):
        return out
    mine = [row for row in rows if row.split == "train" and not _is_apart(row, recipe)]
    clips = see_all(work / "twins", mine, work / "maps", _said("maps", tell))
    descent = None
    for descent in fit_eye(clips, recipe.eye, recipe.seed, work / "eye"):
        tell(f"eye {descent.step}/{recipe.eye.steps} {_losses(descent)}")
    assert descent is not None
    write_tensors(out, {k: v.numpy() for k, v in descent.net.state_dict().items()})
    write_json(out.with_suffix(".json"), {
        "schema": SCHEMA,
        "sha256": hashlib.sha256(out.read_bytes()).hexdigest(),
        "command": COMMAND,
        "licence": LICENCE,
        "recipe": plain(asdict(recipe)),
        "recipe_hash": recipe.hash,
        "data": descent.data,
        "seen": seen(mine),
        "held_out": held_out().fingerprint,
        "versions": versions(),
    })  # fmt: skip
    return out


def _losses(descent: EyeDescent) -> str:
    names = descent.losses[0] if descent.losses else {}
    means = {name: np.mean([row[name] for row in descent.losses]) for name in names}
    return " ".join(f"{name} {value:.3f}" for name, value in means.items())


def seen(rows: Sequence[TwinRow]) -> dict[str, list[str]]:
    """Every name a training met, to be held against the list of what it must not."""
    refuse_held_out(rows)
    return {
        "kinds": sorted({row.kind for row in rows if row.role == "damage"}),
        "quality": sorted({row.kind for row in rows if row.role == "quality"}),
        "scenes": sorted({row.scene for row in rows}),
        "themes": sorted({f"{row.scene.split('/')[0]}/{row.theme}" for row in rows if row.theme}),
        "characters": sorted({name for row in rows for name in row.characters}),
    }


def features_of(clips: Sequence[SeenClip], net: TinyNet) -> dict[str, Float[np.ndarray, "time f"]]:
    """What the eye's net makes of clips that were looked at before: as `encode` gives it."""
    net.eval()
    found = {}
    with torch.inference_mode():
        for clip in clips:
            maps = torch.from_numpy(clip.maps.astype(np.float32))[None]
            found[clip.id] = net.pooled(*net.judged(maps))[0].numpy()[clip.place]
    return found


def labelled(clips: Sequence[SeenClip]) -> tuple[list[ClipRow], list[PairRow]]:
    """Clips with labels, and pairs: twins, sizes of one damage, and one clip in two qualities.

    A true clip in any quality, and lawful rare motion, are anchored at 0. A double's violation is
    its size; a pair of sizes differs by their difference.
    """
    rows, pairs = [], []
    groups: dict[str, list[SeenClip]] = {}
    for clip in clips:
        groups.setdefault(clip.row.group, []).append(clip)
        hurt = clip.role in ("damage", "worse")
        rows.append(
            ClipRow(
                clip.id, "twins", group=clip.row.family, generator=clip.row.scene,
                kind="simulated", violation=clip.row.size if hurt else 0.0,
                anchor=None if hurt else 0,
            )
        )  # fmt: skip
    for mine in groups.values():
        calm = [c for c in mine if c.role in ("true", "quality")]
        hurt = [c for c in mine if c.role in ("damage", "worse")]
        for worse in hurt:
            pairs += [
                PairRow(worse.id, other.id, 1.0, worse.row.size, "twins", "scene") for other in calm
            ]
            pairs += [
                PairRow(worse.id, other.id, 1.0, worse.row.size - other.row.size, "sizes", "scene")
                for other in hurt
                if worse.row.size > other.row.size
            ]
        pairs += [PairRow(calm[0].id, other.id, 0.5, 0.0, "quality", "scene") for other in calm[1:]]
    return rows, pairs


def fit_heads(
    work: Path, rows: Sequence[TwinRow], recipe: JudgeRecipe, eye_file: Path, tell: Tell
) -> Path:
    """The bundle of heads, fitted on the train split's features."""
    out = work / "package" / HEAD
    if _made(out / "recipe.json", recipe):
        return out
    mine = [row for row in rows if row.split == "train"]
    clips = see_all(work / "twins", mine, work / "maps")
    part: EncoderPart = parts.load("encoders", "tiny")
    eye = part.load(eye_file)
    features = features_of(clips, eye.net)  # ty: ignore[missing-attribute]
    fitted = head_of(clips, features, recipe, eye.key, tell)
    tables = np.stack([pooled(features[clip.id]) for clip in clips])
    bundle = Bundle(
        NAME,
        fitted,
        "tiny",
        familiar=learn(tables, groups=np.array([clip.row.group for clip in clips])),
        choices=recipe.choices,
        about={
            "command": COMMAND,
            "licence": LICENCE,
            "recipe": plain(asdict(recipe)),
            "recipe_hash": recipe.hash,
            "seen": seen(mine),
            "held_out": held_out().fingerprint,
            "eye_sha256": hashlib.sha256(eye_file.read_bytes()).hexdigest(),
        },
    )
    return save_bundle(bundle, out)


def head_of(
    clips: Sequence[SeenClip],
    features: Mapping[str, np.ndarray],
    recipe: JudgeRecipe,
    key: str,
    tell: Tell,
) -> FittedHead:
    """Heads for these features."""
    rows, pairs = labelled(clips)

    def said(progress: Any) -> None:  # noqa: ANN401 - nets.progress.Progress
        if progress.step % 500 == 0 or progress.finished:
            tell(f"head {progress.step}/{recipe.head.steps} loss {progress.loss:.4f}")

    return fit_head(features, rows, pairs, recipe.head, recipe.seed, encoder=key, on_progress=said)


def judge_of(package: Path) -> Physics:
    """The judge whose eye and head lie below a folder laid out as the package."""
    return Physics.load(package / HEAD, weights=package / EYE)


def certify_judge(
    work: Path, rows: Sequence[TwinRow], recipe: JudgeRecipe, tell: Tell
) -> dict[str, Any]:
    """The test split scored, once, and the certificate written beside the head."""
    package = work / "package"
    mine = [row for row in rows if row.split == "test"]
    judge = judge_of(package)
    scores = score_test(work, mine, judge, tell)
    found = plain(certificate_of(mine, scores, judge, recipe))
    write_json(package / HEAD / CERTIFICATE, found)
    return found


def score_test(
    work: Path, rows: Sequence[TwinRow], judge: Physics, tell: Tell
) -> dict[str, Scored]:
    """Scores of the test split, kept by the judge's fingerprint."""
    both = Twofold.of(judge)
    out = work / f"scores-{both.used.protocol.fingerprint}.jsonl"
    return score_rows(work / "twins", rows, both.score, out, progress=_said("scored", tell))


def certificate_of(
    rows: Sequence[TwinRow], scores: Mapping[str, Scored], judge: Physics, recipe: JudgeRecipe
) -> dict[str, Any]:
    """The numbers, what they were measured with and on, and the scores they follow from."""
    found = certify(rows, scores)
    return {
        **found,
        "meets": meets(found),
        "protocol": judge.protocol.name,
        "fingerprint": judge.protocol.fingerprint,
        "encoder": judge.encoder.key,
        "head": judge.bundle.sha256,
        "recipe_hash": recipe.hash,
        "twins": {"recipe": plain(asdict(recipe.twins)), "seed": recipe.seed, "split": "test"},
        "command": COMMAND,
        "versions": versions(),
        "rows": [asdict(row) for row in rows],
        "raw": {name: round(told.raw, 6) for name, told in scores.items()},
    }


def bytes_of(package: Path) -> int:
    """Size of all that ships with the judge."""
    files = [package / EYE, package / EYE_RECORD, *(package / HEAD).glob("*")]
    return sum(path.stat().st_size for path in files if path.is_file())


def read_judged(work: Path) -> list[TwinRow]:
    """The rows of both sets of twins in a working folder."""
    rows = read_twin_set(work / "twins")
    more = (work / MORE).is_dir()
    return rows + [_renamed(row) for row in read_twin_set(work / MORE)] if more else rows


def _made(path: Path, recipe: JudgeRecipe) -> bool:
    """Whether a stage's last file is there, made by this recipe; by another it is refused."""
    if not path.exists():
        return False
    record = path if path.suffix == ".json" else path.with_suffix(".json")
    if not record.exists():
        return False
    found = read_json(record)
    told = found.get("recipe_hash") or found.get("about", {}).get("recipe_hash")
    if told != recipe.hash:
        raise ValueError(f"{path} was made by another recipe; choose a new working folder")
    return True


def _said(what: str, tell: Tell) -> Callable[[int, int], None]:
    def said(done: int, total: int) -> None:
        if done == total or done % max(1, total // 20) == 0:
            tell(f"{what} {done}/{total}")

    return said
