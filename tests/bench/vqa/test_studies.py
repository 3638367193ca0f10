import math
from dataclasses import replace

import numpy as np
import pytest
from scripts import script

pytest.importorskip("transformers")
pytest.importorskip("peft")

from cosmolabe.bench.vqa.choosing import Grids, mix_of, search_mixture, search_rate
from cosmolabe.bench.vqa.domain import Domain, draw, exchange, sides
from cosmolabe.bench.vqa.studies import TINY, TINY_DOMAIN
from cosmolabe.bench.vqa.study_cell import Bench, Cell, Result, difference, pooled
from cosmolabe.core.record import read_json
from cosmolabe.data.questions.mixing import PAPER, Mix
from cosmolabe.data.questions.wording import with_options
from cosmolabe.nets.adaptation import Adaptation


@pytest.fixture(scope="module")
def recipe_file():
    return script("recipes/vqa_studies.py")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("studies")


def test_a_study_stores_its_recipe_before_it_runs_and_its_table_after(recipe_file, work):
    name = "sampling"  # the others run in tests/slow
    recipe_file.main(name, work=work, tiny=True, store_only=True)
    stored = read_json(work / "tables" / "recipes" / f"vqa_{name}.json")
    assert not (work / "tables" / f"vqa_{name}.json").exists()
    recipe_file.main(name, work=work, tiny=True)
    found = read_json(work / "tables" / f"vqa_{name}.json")
    assert found["recipe"] == stored["hash"]
    assert found["rows"]
    for row in found["rows"]:
        for score in row["scores"]:
            assert 0 <= score["low"] <= score["em"] <= score["high"] <= 1
            assert score["n"] == 8
            assert len(score["seeds"]) == row["num_seeds"]
    assert found["rows"][-1]["num_seeds"] == 2


def test_a_study_that_was_stopped_trains_no_cell_twice(tmp_path, recipe_file, monkeypatch):
    real, done = Bench._trained, []

    def stopping(self, vlm, recipe):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(recipe)
        return real(self, vlm, recipe)

    monkeypatch.setattr(Bench, "_trained", stopping)
    with pytest.raises(KeyboardInterrupt):
        recipe_file.main("resolution", work=tmp_path, tiny=True)
    first = list(done)
    monkeypatch.setattr(Bench, "_trained", lambda s, v, r: done.append(r) or real(s, v, r))
    recipe_file.main("resolution", work=tmp_path, tiny=True)
    assert len(list((tmp_path / "adapted").iterdir())) == len(TINY.seeds)
    assert len(done) == len(TINY.seeds) * (1 + len(TINY.sizes))
    assert done[:2] == first


def test_the_three_stages_search_one_share_after_another():
    def score(recipe):
        mix = recipe.mix
        return -(
            abs(mix.tasks["action_recognition"] - 0.8)
            + abs(mix.formats.get("open_ended", 0) - 0.8)
            + abs(mix.formats.get("binary", 0) - 0.15)
        )

    mix, tried = search_mixture(score, Adaptation(), Grids())
    assert mix.tasks == pytest.approx(PAPER[0])
    assert mix.formats == pytest.approx(PAPER[1])
    assert [one.stage for one in tried if one.best] == ["action", "open_ended", "binary"]
    assert len(tried) == 5 + 4 + 5
    first = tried[0].mix["formats"]
    assert list(first.values()) == pytest.approx([1 / 3] * 3)
    assert mix_of(1.0, 0.5, 1.0) == Mix(
        {"action_recognition": 1.0}, {"binary": 0.5, "open_ended": 0.5}
    )


def test_a_rate_at_which_the_loss_is_no_number_loses_to_any_other():
    def score(recipe):
        if recipe.rate > 0.1:
            raise ValueError("the loss is nan at step 3; a lower rate than the recipe's?")
        return recipe.rate

    rate, tried = search_rate(score, Adaptation(), (1e-3, 1e-2, 0.5))
    assert rate == 1e-2
    assert [one.score for one in tried] == [1e-3, 1e-2, -1.0]
    with pytest.raises(ValueError, match="no rate"):
        search_rate(score, Adaptation(), ())


@pytest.fixture(scope="module")
def drawn():
    return draw(TINY_DOMAIN, "test", 32)


def test_characters_are_renamed_one_to_one_and_none_keeps_its_name(drawn):
    _, plain = draw(replace(TINY_DOMAIN, renamed=False), "test", 32)
    told: dict[tuple, dict[str, str]] = {}
    for old, new in zip(plain, drawn[1], strict=True):
        assert old.id == new.id
        if old.task == "action_recognition":
            assert old == new
            continue
        key = (old.about["game"],)
        assert told.setdefault(key, {}).setdefault(old.truth, new.truth) == new.truth
        assert new.truth != old.truth
        assert sorted(new.labels) == sorted(old.labels)
        if old.format == "binary":
            assert new.answer == old.answer
            assert new.asked in new.text
            assert (new.asked == new.truth) == (new.answer == "yes")
        elif old.options:
            assert with_options(new.options) in new.text
            assert new.options.index(new.answer) == old.options.index(old.answer)
    assert all(len(set(names.values())) == len(names) for names in told.values())
    assert exchange(("b", "a", "c"), 1) == exchange(("c", "b", "a"), 1)


def test_the_domain_shows_held_out_themes_every_frame_and_the_same_moments_in_any_size(drawn):
    from cosmolabe.data.held_out import held_out

    clips, questions = drawn
    assert len(clips) == 8
    assert len(questions) == 8 * 6
    for clip in clips:
        assert f"{clip.about['game']}/{clip.about['theme']}" in held_out().themes
        assert clip.fps == 60.0
    large, same = draw(TINY_DOMAIN, "test", "40x24")
    assert same == questions
    assert large[0].frames.shape == (14, 24, 40, 3)
    assert all(
        np.array_equal(a.about["states"], b.about["states"])
        for a, b in zip(clips, large, strict=True)
    )
    assert not {clip.id for clip in clips} & {clip.id for clip in draw(TINY_DOMAIN, "val", 32)[0]}
    with pytest.raises(ValueError, match="WIDTHxHEIGHT"):
        sides("big")
    with pytest.raises(ValueError, match="no split"):
        draw(Domain(), "exam", 32)


def result(right, seed=0):
    names = [f"q{k}" for k in range(len(right))]
    score = {
        "control": "", "task": "t", "format": "binary", "em": float(np.mean(right)),
        "em_normalised": None, "majority": 0.5,
    }  # fmt: skip
    hits = {"t.binary": dict(zip(names, map(bool, right), strict=True))}
    return Result({}, str(seed), 0, 0, 0, 0.0, 0.0, [score], hits, {n: n for n in names})


def test_intervals_hold_clips_and_seeds_and_a_difference_is_taken_question_by_question():
    dice = np.random.default_rng(0)
    truth = dice.random(200) < 0.7
    one = [result(truth), result(truth)]
    (row,) = pooled(one)
    assert row["em"] == pytest.approx(truth.mean())
    half = 1.96 * math.sqrt(truth.mean() * (1 - truth.mean()) / 200)
    assert row["high"] - row["low"] == pytest.approx(2 * half, rel=0.15)
    apart = [result(np.ones(200)), result(np.zeros(200))]
    (wide,) = pooled(apart)
    assert (wide["low"], wide["high"]) == (0.0, 1.0)
    better = truth.copy()
    better[np.flatnonzero(~truth)[:20]] = True
    (gap,) = difference([result(better)], [result(truth)])
    assert gap["difference"] == pytest.approx(0.1)
    assert 0.05 < gap["low"] < 0.1 < gap["high"] < 0.15


def test_one_clip_has_no_interval_however_many_seeds_looked_at_it():
    for seeds in (1, 3):
        (row,) = pooled([result(np.ones(1), seed) for seed in range(seeds)])
        assert row["em"] == 1
        assert math.isnan(row["low"])
        assert math.isnan(row["high"])


def test_a_cell_is_known_by_all_that_decides_it_and_not_by_its_name(tmp_path):
    from cosmolabe.bench.vqa.vocabulary import vocabulary
    from cosmolabe.vlms.tiny import build_tiny

    small = {"hidden": 16, "mlp": 16, "layers": 1, "heads": 2}
    told = []
    bench = Bench(
        lambda: build_tiny(vocabulary(), image=32, vision=small, language=small),
        TINY_DOMAIN, tmp_path, told.append,
    )  # fmt: skip
    first = bench.run(Cell("one", None, "uniform:2"))
    assert bench.run(Cell("another name", None, "uniform:2")) == first
    assert len(told) == 1
    assert bench.run(Cell("one", None, "uniform:1")).key != first.key
    assert first.mean == pytest.approx(np.mean(list(first.em.values())))
