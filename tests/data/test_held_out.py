"""What is held out exists, leaves enough to train on, stays as it is, and trains nothing."""

import ast
from pathlib import Path

import pytest

from cosmolabe.core import parts
from cosmolabe.data import held_out as module
from cosmolabe.data.appearances import seeded_appearance
from cosmolabe.data.clip_damage import KINDS as CLIP_KINDS
from cosmolabe.data.damage import DYNAMICS, KINDS, ROLLOUT
from cosmolabe.data.held_out import held_out
from cosmolabe.data.scene_names import KINDS as SCENE_KINDS
from cosmolabe.data.scene_names import SCENES
from cosmolabe.engine.game import Appearance

GAMES = parts.names("games")
SOURCE = Path(module.__file__).parents[1]
FROZEN = "464cf1d68d971b5d"
"""Of the list as it stood before the first training of a judge of pictures; scenes of MuJoCo and
real clips were added before it as well."""
TRAINABLE = ("nets", "models")
"""Floors where something is learned."""
LOOKS = (
    "cosmolabe.data.damage", "cosmolabe.data.twins", "cosmolabe.data.appearances",
    "cosmolabe.data.held_out", "cosmolabe.data.scene", "cosmolabe.data.clip_damage",
    "cosmolabe.data.twin_set", "cosmolabe.engine.render", "cosmolabe.scenarios",
)  # fmt: skip
"""Modules through which a training could meet a look, a damage or a scene."""


def test_the_list_is_frozen():
    assert held_out().fingerprint == FROZEN


def test_held_out_scenes_are_scenarios_there_are():
    for scene in held_out().scenes:
        game, name = scene.split("/")
        if game in ("mujoco", "real"):
            continue
        assert name in {scenario.name for scenario in parts.load("scenarios", game)}, scene


@pytest.mark.parametrize("name", GAMES)
def test_every_game_keeps_something_back_and_most_to_train_on(name):
    game, kept = parts.load("games", name), held_out()
    themes, characters = kept.trainable_themes(game), kept.trainable_characters(game)
    assert len(game.themes) - 2 <= len(themes) < len(game.themes)
    assert len(game.characters) - 2 <= len(characters) < len(game.characters)
    assert sum(scene.startswith(f"{name}/") for scene in kept.scenes) == 2


def test_both_families_of_damage_keep_something_back():
    kept = set(held_out().damages)
    assert kept & set(DYNAMICS)
    assert kept & set(ROLLOUT)
    assert set(held_out().trainable_damages()).isdisjoint(kept)


def test_what_is_held_out_of_both_families_can_be_seen_in_both():
    kept = set(held_out().damages)
    unseen = {"action_delay"}  # nobody sees it without the actions
    clips_alone = set(CLIP_KINDS) - set(KINDS)
    assert kept - unseen - clips_alone <= set(SCENE_KINDS) & set(KINDS)
    assert kept & clips_alone


def test_a_quarter_of_the_scenes_of_mujoco_is_kept_back():
    kept = [scene for scene in held_out().scenes if scene.startswith("mujoco/")]
    assert len(SCENES) / 5 < len(kept) < len(SCENES) / 3
    assert len(held_out().trainable_scenes()) == len(SCENES) - len(kept)


def test_an_episode_with_a_held_out_look_is_no_training_data():
    kept, game = held_out(), parts.load("games", "pong")
    assert kept.may_train_on("pong", Appearance(("bat_wood", "bat_gold"), "classic"))
    assert not kept.may_train_on("pong", Appearance(("bat_wood", "bat_ice"), "classic"))
    assert not kept.may_train_on("pong", Appearance(("bat_wood", "bat_gold"), "paper"))
    looks = [seeded_appearance(game, "public", "train", index) for index in range(200)]
    share = sum(kept.may_train_on("pong", look) for look in looks) / len(looks)
    assert 0.3 < share < 0.8


@pytest.mark.parametrize(
    ("name", "typo"),
    [("pong/paper", "pong/papyrus"), ("mujoco/billiard", "mujoco/biliard"), ("panda", "pandda")],
)
def test_a_name_that_means_nothing_is_refused(tmp_path, monkeypatch, name, typo):
    file = tmp_path / "held_out.json"
    file.write_text(module.FILE.read_text().replace(name, typo))
    monkeypatch.setattr(module, "FILE", file)
    with pytest.raises(ValueError, match=typo):
        held_out.__wrapped__()


@pytest.mark.parametrize("content", ["[]", "{}", '{"themes": "pong/paper"}', '{"schema": 2}'])
def test_a_list_of_another_shape_is_refused(tmp_path, monkeypatch, content):
    file = tmp_path / "held_out.json"
    file.write_text(content)
    monkeypatch.setattr(module, "FILE", file)
    with pytest.raises(ValueError, match="holds the lists"):
        held_out.__wrapped__()


@pytest.mark.parametrize("floor", TRAINABLE)
def test_nothing_that_learns_meets_a_look_a_damage_or_a_scene(floor):
    files = sorted((SOURCE / floor).rglob("*.py"))
    assert files
    for file in files:
        tree = ast.parse(file.read_text())
        names = {
            node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and not _only_reads_clips(node)
        }
        names |= {
            n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names
        }
        met = [name for name in names if name and name.startswith(LOOKS)]
        assert not met, f"{file.name} imports {met}"


def _only_reads_clips(node):
    """A clip by its path tells no look: whoever learns from twins is handed rows that may train."""
    names = {alias.name for alias in node.names}
    return node.module == "cosmolabe.data.twin_set" and names == {"read_frames"}
