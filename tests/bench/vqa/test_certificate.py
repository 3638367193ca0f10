"""What a certificate must say of judges that see everything, nothing, or always say yes."""

import json

import numpy as np
import pytest

from cosmolabe.bench.vqa.certificate import Sizes, certify
from cosmolabe.bench.vqa.vocabulary import vocabulary
from cosmolabe.cli.main import run
from cosmolabe.judges.vqa.corrected import Rate, corrected
from cosmolabe.judges.vqa.measured import Measured, find_certificate, told_by_game
from cosmolabe.vlms.tiny import build_tiny

SMALL = Sizes(clips=24, unseen=8, side=32)


class YesSayer:
    """Says yes, and the first of any options."""

    name, family, module, key = "yes", None, None, "yes-key"

    def see(self, clips):
        return [clip.mean() for clip in clips]

    def loss(self, seen, prompts, answers):
        raise NotImplementedError

    def likelihood(self, seen, prompts, labels):
        return [np.array([-0.1 if label == "yes" else -3.0 for label in row]) for row in labels]

    def generate(self, seen, prompts, tokens=16):
        return ["yes" for _ in prompts]


@pytest.fixture(scope="module")
def of_yes():
    return certify(YesSayer(), ["pong"], SMALL)


def test_who_always_says_yes_is_right_in_half_of_the_binary_questions_and_blind_alike(of_yes):
    row = next(
        r for r in of_yes["rows"] if r["task"] == "action_recognition" and r["format"] == "binary"
    )
    assert row["em"] == row["blind"] == row["majority"] == 0.5


def test_who_always_says_yes_cannot_be_corrected_for(of_yes):
    rates = of_yes["rates"]["pong"]["by_format"]["binary"]
    assert rates["sensitivity"]["share"] == 1.0
    assert rates["specificity"]["share"] == 0.0
    told = corrected(Rate(1.0, 20.0), *(Rate(**rates[k]) for k in ("sensitivity", "specificity")))
    assert np.isnan(told.value)
    assert "at chance" in told.why


def test_frozen_clips_are_not_seen_by_who_says_yes_but_all_are_refused_for_not_moving(of_yes):
    row = next(r for r in of_yes["auc"] if r["damage"] == "frozen" and r["format"] == "binary")
    assert row["auc"] == 0.5
    assert row["abstained"] == 1.0


def test_each_damage_stands_beside_as_many_true_clips_as_were_hurt(of_yes):
    told = {(r["damage"], r["format"]): r for r in of_yes["auc"]}
    wrong, reversed_ = told["wrong_action", "all"], told["reversed", "all"]
    assert wrong["n"] == wrong["n_true"] > reversed_["n"] == reversed_["n_true"] > 0


def test_the_certificate_verb_measures_writes_and_is_found_by_the_judge(tmp_path, capsys):
    folder = tmp_path / "model"
    vlm = build_tiny(vocabulary(), image=32)
    vlm.save(folder)
    asked = [
        "vqa", "certificate", "--source", str(folder), "--games", "pong", "--clips", "12",
        "--unseen", "0", "--size", "32", "--json",
    ]  # fmt: skip
    assert run(asked) == 2
    assert "--recompute" in json.loads(capsys.readouterr().out)["error"]
    assert run([*asked, "--recompute", "--out", str(folder / "certificate.json")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["format"] for row in told["rows"]} == {"binary", "multiple_choice", "open_ended"}
    found = find_certificate(vlm.key, folder)
    assert found.rates == told["rates"]
    assert run(asked) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rows"] == told["rows"]
    assert again["told_by_game"] == told["told_by_game"]
    assert [(row["game"], row["of"]) for row in again["told_by_game"]] == [
        ("pong", "obedience"), ("pong", "identity"),
    ]  # fmt: skip
    assert run(asked[:-1]) == 0
    assert "at chance" in capsys.readouterr().out  # untrained, it sees nothing


def test_where_a_judge_guesses_its_certificate_says_so():
    def rates(sensitivity, specificity, n=50):
        return {
            "sensitivity": {"share": sensitivity, "n": n},
            "specificity": {"share": specificity, "n": n},
        }

    told = told_by_game(
        Measured({"pong": {"obedience": rates(0.9, 0.8), "identity": rates(0.3, 0.8)}}, "a")
    )
    assert [row["at_chance"] for row in told] == [False, True]
    assert told[0]["told"] == pytest.approx(0.7)
    assert told[0]["low"] < 0.7 < told[0]["high"]
    assert told[1]["low"] < 0 < told[1]["told"]
    never = told_by_game(Measured({"pong": {"obedience": rates(0, 0, 0)}}, "a"))[0]
    assert np.isnan(never["told"])
    assert not never["at_chance"]  # nobody knows


RATE = {"share": 0.9, "n": 40}
GOOD = {"sensitivity": RATE, "specificity": RATE}


@pytest.mark.parametrize(
    "mine",
    [
        [], None, "0.9", {}, {"obedience": GOOD}, {"obedience": GOOD, "identity": 3},
        {"obedience": GOOD, "identity": GOOD, "by_format": [GOOD]},
        {"obedience": GOOD, "identity": GOOD, "by_format": {"binary": None}},
        {"obedience": GOOD, "identity": {**GOOD, "sensitivity": {**RATE, "share": 1.5}}},
        {"obedience": GOOD, "identity": {**GOOD, "sensitivity": {**RATE, "share": True}}},
        {"obedience": GOOD, "identity": {**GOOD, "sensitivity": {**RATE, "n": 10**200}}},
        {"obedience": GOOD, "identity": {**GOOD, "sensitivity": {**RATE, "n": -1}}},
        {"obedience": GOOD, "identity": {**GOOD, "sensitivity": {**RATE, "n": "40"}}},
    ],
    ids=map(str, range(13)),
)  # fmt: skip
def test_rates_of_a_kind_that_cannot_be_are_refused_by_game(tmp_path, mine):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps({"schema": 1, "vlm_key": "two", "rates": {"pong": mine}}))
    with pytest.raises(ValueError, match="the rates of 'pong' lack"):
        find_certificate("two", path=path)


def test_a_certificate_without_its_rows_is_refused_in_words(tmp_path, capsys):
    vlm = build_tiny(vocabulary(), image=32)
    vlm.save(tmp_path)
    told = {"schema": 1, "vlm_key": vlm.key, "rates": {}, "rows": [{"task": 3}]}
    (tmp_path / "certificate.json").write_text(json.dumps(told))
    assert run(["vqa", "certificate", "--source", str(tmp_path)]) == 2
    assert "a row of the certificate does not fit" in capsys.readouterr().err


def test_a_certificate_of_another_model_is_refused(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps({"schema": 1, "vlm_key": "one", "rates": {}}))
    with pytest.raises(ValueError, match="made for the model one, not for this one, two"):
        find_certificate("two", path=path)
    assert find_certificate("two", source=tmp_path).path is None
