"""Makes the bundled vision-language model: eye, projector, words, certificate; offline, resumable.

Each stage leaves its files in the working folder and is not done again: the folders called as the
stages (`STAGES`) hold the states of trainings, WORK/tower to WORK/tiny the models after them.
`WORK/package` is laid out as the package holds it.
"""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from cosmolabe.bench.vqa.certificate import Sizes, certify
from cosmolabe.bench.vqa.recipe import SightRecipe, TinyRecipe
from cosmolabe.bench.vqa.seeing import teach_to_see
from cosmolabe.bench.vqa.sights import characters
from cosmolabe.bench.vqa.speaking import teach_to_speak
from cosmolabe.bench.vqa.vocabulary import vocabulary
from cosmolabe.core.record import plain, read_json, versions, write_json
from cosmolabe.data.held_out import held_out
from cosmolabe.vlms.tiny import BUNDLED, WEIGHTS, TinyVlm, build_tiny, load_tiny

COMMAND = "python recipes/vqa_tiny.py"
LICENCE = "Apache-2.0"
RECORD, CERTIFICATE = "record.json", "certificate.json"
STAGES = (
    ("sight", "tower"),
    ("sharpen", "sharp"),
    ("project", "projected"),
    ("words", "spoken"),
    ("again", "moving"),
    ("third", "telling"),
    ("fourth", "asked"),
    ("look", "looked"),
    ("fifth", "staying"),
    ("sixth", "tiny"),
)
"""What each stage is called, and the folder of the model after it."""
Tell = Callable[[str], None]


def make_tiny(
    work: Path,
    recipe: TinyRecipe | None = None,
    tell: Tell = print,
    games: Sequence[str] = (),
    sizes: Sizes | None = None,
) -> dict[str, Any]:
    """Every stage that is not done yet; gives the certificate, of `games` or of all."""
    recipe = recipe or TinyRecipe()
    vlm = build(recipe)
    for stage, after in STAGES:
        vlm = _staged(work, stage, after, vlm, recipe, tell)
    return package(work, vlm, recipe, tell, games, sizes)


def build(recipe: TinyRecipe) -> TinyVlm:
    """The untrained model of a recipe."""
    return build_tiny(
        vocabulary(), image=recipe.image, patch=recipe.patch, vision=dict(recipe.vision),
        language=dict(recipe.language), fold=recipe.fold, marks=recipe.frames, seed=recipe.seed,
    )  # fmt: skip


def _staged(
    work: Path, stage: str, after: str, vlm: TinyVlm, recipe: TinyRecipe, tell: Tell
) -> TinyVlm:
    if (work / after / WEIGHTS).exists():
        return load_tiny(work / after)
    part = getattr(recipe, stage)
    if isinstance(part, SightRecipe):
        teach_to_see(vlm, recipe, part, work / stage, tell)
    else:
        teach_to_speak(vlm, recipe, part, work / stage, tell)
    vlm.save(work / after)
    return vlm


def package(
    work: Path,
    vlm: TinyVlm,
    recipe: TinyRecipe,
    tell: Tell,
    games: Sequence[str] = (),
    sizes: Sizes | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The model with its record and certificate, as it ships; `notes` go into the record."""
    out = work / "package"
    vlm.save(out)
    weights = out / WEIGHTS
    write_json(out / RECORD, {
        "schema": 1,
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "command": COMMAND,
        "licence": LICENCE,
        "recipe": plain(asdict(recipe)),
        "recipe_hash": recipe.hash,
        "held_out": held_out().fingerprint,
        "characters": list(characters()),
        "notes": list(notes),
        "versions": versions(),
    })  # fmt: skip
    with torch.inference_mode():
        found = certify(vlm, games, sizes, tell=lambda n, of: tell(f"asked {n}/{of}"))
    found = plain(found)
    write_json(out / CERTIFICATE, found)
    return found


def install(work: Path, into: Path = BUNDLED) -> None:
    """What `package` left, into the package."""
    read_json(work / "package" / CERTIFICATE)
    shutil.copytree(work / "package", into, dirs_exist_ok=True)
