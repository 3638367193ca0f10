"""`cosmolabe vqa params`: what would train, before anything does."""

import json

import pytest

from cosmolabe.cli.main import run
from cosmolabe.core import parts


def params(capsys, *more):
    code = run(["vqa", "params", *more, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_papers_model_has_the_papers_numbers(capsys):
    code, found = params(capsys, "--vlm", "paligemma2", "--strategy", "P")
    assert code == 0
    counts = {letter: row["parameters"] for letter, row in found["groups"].items()}
    assert counts == {"V": 412_442_352, "P": 2_656_512, "L": 2_617_143_552}
    assert found["trains"] == 2_656_512
    assert found["tied"] == 592_625_664
    assert found["total"] + found["tied"] == 3_624_868_080
    assert round(100 * found["share"], 3) == 0.088
    assert round(100 * found["share_tied_twice"], 3) == 0.073
    assert sorted(found["names"]) == [
        "model.multi_modal_projector.linear.bias",
        "model.multi_modal_projector.linear.weight",
    ]


def test_lora_on_the_papers_model_touches_the_language_alone(capsys):
    _, found = params(capsys, "--vlm", "paligemma2", "--strategy", "lora(r=8,on=L)")
    # 26 layers: q and o 2304 <-> 2048, k and v 2304 <-> 1024, three of the mlp 2304 <-> 9216
    layer = 2 * (2304 + 2048) + 2 * (2304 + 1024) + 3 * (2304 + 9216)
    assert found["added"] == found["trains"] == 26 * 8 * layer
    assert all("language_model" in name and "lora_" in name for name in found["names"])


def test_the_model_out_of_pip_is_counted_without_its_packages(capsys):
    _, found = params(capsys, "--vlm", "efficientnet_smollm", "--strategy", "P")
    counts = {letter: row["parameters"] for letter, row in found["groups"].items()}
    assert counts == {"V": 3_371_008, "P": 2_949_696, "L": 134_515_008}


def test_a_folder_with_a_config_is_enough_to_count(capsys, tmp_path):
    vlm = parts.load("vlms", "smolvlm").load(random=True)
    vlm.module.config.save_pretrained(tmp_path)
    vlm.tokens.tokenizer.save_pretrained(tmp_path)
    _, found = params(capsys, "--vlm", "smolvlm", "--weights", str(tmp_path), "--strategy", "VPL")
    assert found["trains"] == sum(p.numel() for p in vlm.module.parameters())
    assert found["share"] == 1


@pytest.mark.parametrize("name", [n for n in parts.names("vlms") if n != "endpoint"])
@pytest.mark.parametrize("strategy", ["zero", "VP", "lora(r=4,on=VL,+P)"])
def test_every_model_that_runs_here_can_be_counted(capsys, name, strategy):
    code, found = params(capsys, "--vlm", name, "--random", "--strategy", strategy)
    assert code == 0
    assert found["trains"] <= found["total"]
    assert (found["trains"] == 0) == (strategy == "zero")


def test_what_cannot_be_counted_is_said_with_what_would_do(capsys):
    code, found = params(capsys, "--vlm", "smolvlm")
    assert code == 2
    assert "--weights" in found["error"]
    assert "--random" in found["error"]
    code, found = params(capsys, "--vlm", "endpoint")
    assert code == 2
    assert "elsewhere" in found["error"]
    code, found = params(capsys, "--vlm", "tiny", "--strategy", "Q")
    assert code == 2
    assert "lora(" in found["error"]


def test_people_are_shown_shares_and_names(capsys):
    assert run(["vqa", "params", "--vlm", "paligemma2"]) == 0
    said = capsys.readouterr().out
    assert "2,656,512" in said
    assert "0.088 %" in said
    assert "0.073 %" in said
    assert "multi_modal_projector.linear.weight" in said
