"""The bundled judge's certificate, measured again: twins drawn anew, scored by the weights."""

import shutil

import pytest

from cosmolabe.bench.physics.certificate import read_certificate
from cosmolabe.bench.physics.making import HEAD, PACKAGE
from cosmolabe.bench.physics.remeasuring import remeasure
from cosmolabe.core.record import write_json


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("again")


def test_the_certificate_is_what_the_weights_say(work):
    told = remeasure(work=work, groups=2, families=("games",), tell=lambda line: None)
    assert told["groups"] == 2
    assert told["compared"] == told["clips"] >= 4
    assert told["agrees"], f"a raw score is off by {told['largest']}"


def test_a_certificate_that_the_weights_do_not_bear_out_is_not_agreed_to(work, tmp_path):
    folder = shutil.copytree(PACKAGE / HEAD, tmp_path / "small")
    told = read_certificate()
    raised = {name: raw + 0.1 for name, raw in told["raw"].items()}
    write_json(folder / "certificate.json", {**told, "raw": raised})
    found = remeasure(folder, work=work, groups=2, families=("games",), tell=lambda line: None)
    assert not found["agrees"]
    assert found["largest"] == pytest.approx(0.1, abs=0.01)
