import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")
pytest.importorskip("peft")

from vlm_toys import toy_clips, toy_questions, toy_vlm

from cosmolabe.core.record import read_json
from cosmolabe.data.questions.mixing import Mix
from cosmolabe.nets.adaptation import Adaptation, drawn, order_of
from cosmolabe.nets.adapted import merged, put_adapted
from cosmolabe.nets.adapting import adapt
from cosmolabe.nets.vlm_features import Features

SHORT = Adaptation(strategy="P", rate=5e-3, batch=8, steps=4, frames="uniform:2", mix=None)
STRATEGIES = ("V", "P", "L", "VP", "VL", "PL", "VPL", "lora(r=2)", "lora(r=2,on=VL,+P)")


@pytest.fixture(scope="module")
def asked():
    clips = toy_clips(12)
    return clips, toy_questions(clips)


def weights(vlm):
    return {name: p.detach().clone() for name, p in vlm.module.named_parameters()}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_a_strategy_names_moves_and_nothing_else(strategy, asked, tmp_path):
    vlm = toy_vlm()
    before = weights(vlm)
    found = adapt(vlm, *asked, replace(SHORT, strategy=strategy), tmp_path)
    after = weights(vlm)
    moved = {vlm.family.group(n) for n in before if n in after and not before[n].equal(after[n])}
    named = {"V": "vision", "P": "projector", "L": "language"}
    if strategy.startswith("lora"):
        assert moved == ({"projector"} if "+P" in strategy else set())
        added = [name for name in after if "lora_B" in name]
        assert all(after[name].abs().sum() > 0 for name in added)
        assert any(vlm.family.group(name) == "language" for name in added)
    else:
        assert moved == {named[letter] for letter in strategy}
    assert found.samples == 32
    assert len(found.losses) == 4
    assert found.trains > 0


@pytest.mark.parametrize("strategy", ["P", "VPL", "lora(r=2)"])
def test_the_trainer_and_the_plain_loop_give_the_same_losses_and_weights(strategy, asked, tmp_path):
    told = {}
    for loop in ("trainer", "steps"):
        vlm = toy_vlm()
        found = adapt(vlm, *asked, replace(SHORT, strategy=strategy), tmp_path / loop, loop=loop)
        told[loop] = np.array(found.losses), weights(vlm)
    assert np.abs(told["trainer"][0] - told["steps"][0]).max() < 1e-6
    for name, tensor in told["trainer"][1].items():
        assert torch.allclose(tensor, told["steps"][1][name], atol=1e-6)


def test_a_batch_in_parts_teaches_what_the_whole_batch_teaches(asked, tmp_path):
    told = {}
    for micro in (0, 2):
        vlm = toy_vlm()
        recipe = replace(SHORT, strategy="PL", micro=micro)
        losses = np.array(adapt(vlm, *asked, recipe, tmp_path / str(micro)).losses)
        told[micro] = losses, weights(vlm)
    assert np.abs(told[0][0] - told[2][0]).max() < 1e-5
    for name, tensor in told[0][1].items():
        assert torch.allclose(tensor, told[2][1][name], atol=2e-4), name


def test_the_loss_falls_and_the_same_recipe_gives_the_same_weights(asked, tmp_path):
    recipe = replace(SHORT, strategy="PL", steps=30, rate=1e-2)
    vlms = [toy_vlm(), toy_vlm()]
    state = torch.random.get_rng_state()
    first, second = (adapt(v, *asked, recipe, tmp_path / str(k)) for k, v in enumerate(vlms))
    assert torch.equal(state, torch.random.get_rng_state())
    assert first.losses == second.losses
    assert first.losses[-1][1] < 0.6 * first.losses[0][1]
    assert weights(vlms[0]).keys() == weights(vlms[1]).keys()
    assert all(t.equal(weights(vlms[1])[n]) for n, t in weights(vlms[0]).items())


@pytest.mark.parametrize(("strategy", "looks"), [("P", 12), ("L", 12), ("lora(r=2)", 12)])
def test_a_tower_that_stands_still_looks_at_each_clip_once(
    strategy, looks, asked, tmp_path, monkeypatch
):
    seen = []
    tower = type(toy_vlm()).tower
    monkeypatch.setattr(
        "cosmolabe.vlms.tiny.TinyVlm.tower",
        lambda self, pixels: seen.append(len(pixels)) or tower(self, pixels),
    )
    vlm, recipe = toy_vlm(), replace(SHORT, strategy=strategy, steps=18)
    features = Features(vlm, tmp_path / "seen")
    assert adapt(vlm, *asked, recipe, tmp_path / "a", features=features).looks == looks
    assert sum(seen) == looks * 2  # two frames a clip, once, for six questions and three epochs
    seen.clear()
    again = toy_vlm()
    kept = Features(again, tmp_path / "seen")
    adapt(again, *asked, replace(recipe, seed=1), tmp_path / "b", features=kept)
    assert not seen  # nor in another run
    assert kept.looked == 0


def test_a_tower_that_trains_looks_every_time(asked, tmp_path, monkeypatch):
    seen = []
    tower = type(toy_vlm()).tower
    monkeypatch.setattr(
        "cosmolabe.vlms.tiny.TinyVlm.tower",
        lambda self, pixels: seen.append(len(pixels)) or tower(self, pixels),
    )
    adapt(toy_vlm(), *asked, replace(SHORT, strategy="V"), tmp_path)
    assert len(seen) == 4


def test_features_are_those_of_the_pixels_shown_and_of_this_tower(tmp_path):
    vlm, clips = toy_vlm(), toy_clips(3)
    pictures = [clip.frames[:2] for clip in clips]
    features = Features(vlm, tmp_path, memory=1)
    found = features.see([*pictures, pictures[0]])
    assert found[3] is found[0]
    with torch.no_grad():
        true = vlm.see(pictures)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(found, true, strict=False))
    other = features.see([pictures[0][::-1].copy()])[0]
    assert not torch.allclose(other, found[0])
    assert features.looked == 4
    kept = Features(toy_vlm(), tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(kept.see(pictures), found, strict=False))
    assert kept.looked == 0
    another = Features(toy_vlm(seed=1), tmp_path)
    assert not torch.allclose(another.see(pictures)[0], found[0])


def test_what_was_learnt_is_put_into_the_same_base_and_no_other(asked, tmp_path):
    vlm = toy_vlm()
    adapt(vlm, *asked, replace(SHORT, strategy="lora(r=2,on=L,+P)"), tmp_path)
    again = toy_vlm()
    about = put_adapted(again, tmp_path)
    assert about["strategy"] == "lora(r=2,on=L,+P)"
    assert all(t.equal(weights(again)[n]) for n, t in weights(vlm).items())
    with pytest.raises(ValueError, match="another base"):
        put_adapted(toy_vlm(seed=3), tmp_path)


def test_merged_lora_answers_alike_and_saves_as_a_plain_model(asked, tmp_path):
    from cosmolabe.vlms.tiny import load_tiny

    clips, questions = asked
    vlm = toy_vlm()
    adapt(vlm, clips, questions, replace(SHORT, strategy="lora(r=2)"), tmp_path / "a")
    seen = vlm.see([clips[0].frames[:2]])
    labels = [["left", "right"]]
    before = vlm.likelihood(seen, ["Which way?"], labels)[0]
    merged(vlm.module)
    vlm.save(tmp_path / "plain")
    after = load_tiny(tmp_path / "plain").likelihood(seen, ["Which way?"], labels)[0]
    assert np.abs(before - after).max() < 1e-5
    assert not any("lora" in name for name, _ in vlm.module.named_parameters())


def test_a_folder_of_another_recipe_or_other_questions_is_refused(asked, tmp_path):
    clips, questions = asked
    adapt(toy_vlm(), clips, questions, SHORT, tmp_path)
    assert adapt(toy_vlm(), clips, questions, SHORT, tmp_path).steps == 4  # read, not trained
    for other, said in (
        ((clips, questions, replace(SHORT, rate=1e-3)), "another recipe"),
        ((clips, questions[:-6], SHORT), "another data"),
    ):
        with pytest.raises(ValueError, match=said):
            adapt(toy_vlm(), *other, tmp_path)
    with pytest.raises(ValueError, match="another base"):
        adapt(toy_vlm(seed=1), clips, questions, SHORT, tmp_path)


def test_one_epoch_asks_one_question_of_every_clip_in_the_paper_s_shares():
    clips = toy_clips(200)
    recipe = Adaptation()
    found = drawn(toy_questions(clips), len(clips), recipe)
    cells = {}
    for one in found:
        cells[one.task[:1], one.format] = cells.get((one.task[:1], one.format), 0) + 1
    assert cells == {
        ("a", "binary"): 24, ("a", "multiple_choice"): 8, ("a", "open_ended"): 128,
        ("c", "binary"): 6, ("c", "multiple_choice"): 2, ("c", "open_ended"): 32,
    }  # fmt: skip
    assert len({one.clip for one in found}) == 200
    order = order_of(found, replace(recipe, epochs=2.0))
    assert len(order) == round(2 * 200 / 32) * 32
    assert sorted(order[:200]) == list(range(200))
    assert not np.array_equal(order[:100], order[200:300])
    assert recipe.num_steps(32_453) == 1014  # the paper's steps of an epoch
    assert replace(recipe, epochs=0.125).num_steps(32_453) == 127


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"strategy": "Q"}, "no strategy"), ({"rate": 0.0}, "rate"), ({"batch": 0}, "batch"),
        ({"batch": 32, "micro": 5}, "multiple of micro"), ({"epochs": 0.0}, "epochs above 0"),
        ({"frames": "every:8"}, "uniform or first"), ({"frames": "uniform"}, "colon"),
        ({"warmup": 1.0}, "warmup"), ({"precision": "fp8"}, "precision"),
    ],
)  # fmt: skip
def test_a_recipe_that_cannot_be_is_refused_in_words(changed, said):
    with pytest.raises(ValueError, match=said):
        Adaptation(**changed)


def test_what_cannot_train_is_refused(asked, tmp_path):
    clips, questions = asked
    with pytest.raises(ValueError, match="trains nothing"):
        adapt(toy_vlm(), clips, questions, replace(SHORT, strategy="zero"), tmp_path / "a")
    with pytest.raises(ValueError, match="no question"):
        adapt(toy_vlm(), clips, [], SHORT, tmp_path / "b")
    with pytest.raises(ValueError, match="clips that are not there"):
        adapt(toy_vlm(), clips[:3], questions, SHORT, tmp_path / "c")
    with pytest.raises(ValueError, match="float32"):
        adapt(toy_vlm(), clips, questions, replace(SHORT, precision="bf16"), tmp_path / "d")
    lacking = [q for q in questions if q.task == "character_recognition"]
    with pytest.raises(ValueError, match="there are none in the set"):
        adapt(toy_vlm(), clips, lacking, replace(SHORT, mix=Mix()), tmp_path / "e")


PROGRAM = textwrap.dedent("""
    import sys, time
    sys.path.insert(0, {tests!r})
    import torch
    torch.set_num_threads(1)
    from dataclasses import replace
    from pathlib import Path
    from vlm_toys import toy_clips, toy_questions, toy_vlm
    from cosmolabe.nets.adaptation import Adaptation
    from cosmolabe.nets.adapting import adapt
    recipe = Adaptation(strategy="PL", rate=5e-3, batch=8, steps=60, frames="uniform:2", mix=None)
    clips = toy_clips(12)
    def tell(what, done, total, loss):
        print(what, done, flush=True)
        if {slow} and what == "training":
            time.sleep(0.05)
    adapt(toy_vlm(), clips, toy_questions(clips), recipe, Path(sys.argv[1]), tell=tell,
          saved_every=0.3, loop={loop!r})
""")


def test_a_killed_adaptation_goes_on_to_the_very_same_weights(tmp_path, asked):
    from pathlib import Path

    tests = str(Path(__file__).parents[1])
    code = PROGRAM.format(tests=tests, slow=True, loop="trainer")
    folder = tmp_path / "killed"
    run = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 90
    while not list((folder / "training").glob("checkpoint-*/trainer_state.json")):
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    assert not (folder / "adapter.json").exists()
    torn = folder / "training" / "checkpoint-59"  # as a kill halfway through a checkpoint leaves
    torn.mkdir()
    steps = []
    recipe = Adaptation(strategy="PL", rate=5e-3, batch=8, steps=60, frames="uniform:2", mix=None)
    vlm, whole = toy_vlm(), toy_vlm()
    found = adapt(
        vlm, *asked, recipe, folder,
        tell=lambda what, done, total, loss: steps.append(done) if what == "training" else None,
    )  # fmt: skip
    assert 1 < steps[0] < 60
    true = adapt(whole, *asked, recipe, tmp_path / "whole")
    assert found.losses == true.losses
    assert all(t.equal(weights(whole)[n]) for n, t in weights(vlm).items())
    assert not (folder / "training").exists()
    assert read_json(folder / "recipe.json")["recipe"]["strategy"] == "PL"
