"""The bundled vision-language model made from start to end, at a size that takes seconds."""

from dataclasses import replace

import pytest
import torch

from cosmolabe.bench.vqa.certificate import Sizes
from cosmolabe.bench.vqa.lessons import DRILLS
from cosmolabe.bench.vqa.making import CERTIFICATE, RECORD, STAGES, install, make_tiny
from cosmolabe.bench.vqa.recipe import SightRecipe, TinyRecipe, WordsRecipe
from cosmolabe.core.record import read_json
from cosmolabe.vlms.tiny import load_tiny

PART = {"hidden": 16, "mlp": 16, "layers": 1, "heads": 2}
SIGHT = SightRecipe(steps=2, batch=16)
WORDS = replace(WordsRecipe(), steps=2, clips=8, rows=16)
SMALL = TinyRecipe(
    image=32, patch=8, fold=2, frames=2, vision=PART, language=PART, sight=SIGHT,
    sharpen=replace(SIGHT, leg="sharp"), project=replace(SIGHT, leg="projected"), words=WORDS,
    again=replace(WORDS, drills={"moves": 1.0}),
    third=replace(WORDS, drills={"action": 0.5, "who": 0.5}),
    fourth=replace(WORDS, drills=dict.fromkeys(DRILLS, 1.0)),
    look=replace(SIGHT, leg="projected", drawn=1),
    fifth=replace(WORDS, drills={"stays": 1.0}),
    sixth=replace(WORDS, drills={"is_action": 0.5, "path": 0.25, "moves": 0.25}),
)  # fmt: skip
FEW = Sizes(clips=4, unseen=2, side=32)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    torch.set_num_threads(1)
    work = tmp_path_factory.mktemp("tiny")
    said: list[str] = []
    return work, make_tiny(work, SMALL, said.append, ("pong",), FEW), said


def test_every_stage_changes_the_model_and_the_last_one_ships(made):
    work, found, said = made
    folders = [after for _, after in STAGES] + ["package"]
    keys = [load_tiny(work / folder).key for folder in folders]
    assert len(set(keys)) == len(keys) - 1
    assert keys[-1] == keys[-2] == found["vlm_key"]
    assert [line.split()[0] for line in said] == [
        *["sight"] * 3, *["words"] * 4, "sight", *["words"] * 2, "asked", "asked"
    ]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [("projected", "asked"), ("looked", "tiny")])
def test_a_tower_learns_in_its_own_legs_alone(made, before, after):
    work, _, _ = made
    one, other = (
        dict(load_tiny(work / name).module.named_parameters()) for name in (before, after)
    )
    moved = {name for name in one if not torch.equal(one[name], other[name])}
    assert not any("vision_tower" in name for name in moved)
    assert any("multi_modal_projector" in name for name in moved)
    assert any("language_model" in name for name in moved)


def test_what_is_done_is_not_done_again(made):
    work, found, _ = made
    said: list[str] = []
    again = make_tiny(work, SMALL, said.append, ("pong",), FEW)
    assert {line.split()[0] for line in said} == {"asked"}
    assert again["rows"] == found["rows"]


def test_record_and_certificate_stand_beside_the_weights(made, tmp_path):
    work, found, _ = made
    install(work, tmp_path / "in")
    record = read_json(tmp_path / "in" / RECORD)
    assert record["recipe_hash"] == SMALL.hash
    assert read_json(tmp_path / "in" / CERTIFICATE)["vlm_key"] == found["vlm_key"]
    assert {row["task"] for row in found["rows"]} >= {"action_recognition"}
    assert load_tiny(tmp_path / "in").key == found["vlm_key"]
