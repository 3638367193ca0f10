"""The Atari recipe on small untrained parts, with the real games; needs ale-py and OCAtari."""

import pytest
from scripts import script

from cosmolabe.core.record import read_json

# Importing these libraries warns of their own, older ways.
pytestmark = pytest.mark.filterwarnings("ignore")


def recipe():
    return script("recipes/vqa_atari.py")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    pytest.importorskip("ocatari")
    work = tmp_path_factory.mktemp("atari")
    recipe().main(games=("pong", "frogger"), work=work, tiny=True)
    return work


def test_one_command_makes_clips_adapts_and_leaves_a_table(work):
    stored = read_json(work / "tables" / "recipes" / "vqa_atari.json")
    table = read_json(work / "tables" / "vqa_atari.json")
    assert table["recipe"] == stored["hash"]
    assert [one["game"] for one in table["games"]] == ["atari/Pong", "atari/Frogger"]
    pong, frogger = table["games"]
    assert pong["test"]["labels"] == dict.fromkeys(pong["test"]["labels"], 3)
    assert len(frogger["test"]["labels"]) == 5
    for one in table["games"]:
        assert [point["step"] for point in one["curve"]] == [0, 2, 4, 6]
        assert {row["format"] for row in one["after"]} == {
            "binary", "multiple_choice", "open_ended",
        }  # fmt: skip


def test_the_same_command_again_finds_everything_and_writes_the_same_table(work):
    before = (work / "tables" / "vqa_atari.json").read_bytes()
    recipe().main(games=("pong", "frogger"), work=work, tiny=True)
    assert (work / "tables" / "vqa_atari.json").read_bytes() == before


def test_no_episode_is_in_both_splits(work):
    for game in ("atari-pong", "atari-frogger"):
        names = [{p.name for p in (work / game / s / "clips").iterdir()} for s in ("train", "test")]
        assert names[0]
        assert not names[0] & names[1]


def test_a_game_without_words_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no game 'tennis' here"):
        recipe().main(games=("tennis",), work=tmp_path, tiny=True)
