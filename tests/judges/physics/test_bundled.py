"""The judge that comes with the package: whole, honest about what it saw, and as certified."""

import shutil

import numpy as np
import pytest
from PIL import Image

from cosmolabe.bench.physics.certificate import meets, read_certificate, rows_of, scores_of
from cosmolabe.bench.physics.ladder import ladder
from cosmolabe.bench.physics.making import EYE, HEAD, MOST_BYTES, PACKAGE, bytes_of
from cosmolabe.core import parts
from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.clip_damage import KINDS as CLIP_KINDS
from cosmolabe.data.collect import collect
from cosmolabe.data.held_out import held_out
from cosmolabe.data.video import write_video
from cosmolabe.encoders import tiny
from cosmolabe.engine.render import draw_frames
from cosmolabe.judges.physics import Physics, load_bundle


@pytest.fixture(scope="module")
def judge():
    return Physics.load()


@pytest.fixture(scope="module")
def certificate():
    return read_certificate()


def ball(times=40, jump=False, rows=96, seed=0):
    """A ball that crosses a textured floor, and may be elsewhere from the middle on."""
    dice = np.random.default_rng(seed)
    frames = np.repeat(dice.integers(60, 90, (1, rows, rows, 3), np.uint8), times, 0)
    for time in range(times):
        top = 20 if jump and time >= times // 2 else 60
        left = 4 + 2 * time
        frames[time, top : top + 8, left : left + 8] = 230
    return frames


def test_it_is_the_default_and_fits_in_eight_megabytes(judge):
    assert judge.bundle.name == "small"
    assert judge.encoder.name == "tiny"
    assert 10_000 < bytes_of(PACKAGE) <= MOST_BYTES


def test_nothing_it_saw_is_held_out():
    kept = held_out()
    for record in (read_json(tiny.RECORD), load_bundle().about):
        seen = record["seen"]
        assert record["held_out"] == kept.fingerprint
        assert seen["kinds"]
        assert seen["scenes"]
        assert seen["characters"]
        assert not set(seen["kinds"]) & set(kept.damages)
        assert not set(seen["scenes"]) & set(kept.scenes)
        assert not set(seen["themes"]) & set(kept.themes)
        assert not set(seen["characters"]) & set(kept.characters)


def test_what_it_was_certified_on_is_the_list_that_was_frozen(certificate):
    assert certificate["held_out"] == held_out().fingerprint
    rows = rows_of(certificate)
    assert {row.split for row in rows} == {"test"}
    tested = {row.kind for row in rows if row.role == "damage" and "kind" in row.held_out}
    assert tested <= set(held_out().damages)
    assert tested >= set(held_out().damages) - set(certificate["not_measurable"]) - set(CLIP_KINDS)


def test_the_certificates_numbers_follow_from_its_scores(certificate):
    rows, scores = rows_of(certificate), scores_of(certificate)
    shown = [r for r in rows if r.role == "damage" and not r.sub_threshold]
    right = np.mean([np.sign(scores[r.damaged].raw - scores[r.true].raw) / 2 + 0.5 for r in shown])
    assert certificate["parts"]["all"]["pairwise"]["value"] == pytest.approx(right, abs=1e-4)
    assert certificate["meets"] == meets(certificate)
    assert sum(r["n"] for r in ladder(rows, scores, num=2) if r["kind"] == "all") > len(shown)


def test_altered_weights_are_refused(tmp_path, monkeypatch):
    for file in (tiny.WEIGHTS, tiny.RECORD):
        shutil.copy(file, tmp_path / file.name)
    weights = bytearray(tiny.WEIGHTS.read_bytes())
    weights[-3] ^= 1
    (tmp_path / tiny.WEIGHTS.name).write_bytes(bytes(weights))
    monkeypatch.setattr(tiny, "WEIGHTS", tmp_path / tiny.WEIGHTS.name)
    monkeypatch.setattr(tiny, "RECORD", tmp_path / tiny.RECORD.name)
    with pytest.raises(ValueError, match="sha256"):
        tiny.load()


def test_altered_heads_are_refused(tmp_path):
    folder = shutil.copytree(PACKAGE / HEAD, tmp_path / "small")
    content = bytearray((folder / "head.safetensors").read_bytes())
    content[-3] ^= 1
    (folder / "head.safetensors").write_bytes(bytes(content))
    with pytest.raises(ValueError, match="sha256 differs"):
        load_bundle(folder)


def test_a_certificate_of_other_heads_is_refused(tmp_path):
    folder = shutil.copytree(PACKAGE / HEAD, tmp_path / "small")
    told = read_json(folder / "certificate.json")
    write_json(folder / "certificate.json", {**told, "head": "0" * 64})
    with pytest.raises(ValueError, match="written for another head"):
        read_certificate(folder)


def test_the_order_of_the_pictures_moves_the_score(judge):
    frames = ball(jump=True)
    bold = Physics.of(judge.encoder, judge.bundle, choices={"unlike": False, "motion_floor": 0.0})
    forward = bold.judge_frames(frames, 16.0).raw
    backward = bold.judge_frames(np.ascontiguousarray(frames[::-1]), 16.0).raw
    assert abs(forward - backward) > 1e-4


def test_a_frozen_clip_gets_no_score(judge):
    frozen = np.repeat(ball()[:1], 40, 0)
    verdict = judge.judge_frames(frozen, 16.0)
    assert verdict.status == "abstained"
    assert "hardly moves" in verdict.why


def test_company_and_order_change_no_score(judge):
    clips = [ball(seed=n, jump=bool(n % 2)) for n in range(3)]
    alone = [judge.judge_frames(clip, 16.0).raw for clip in clips]
    again = [judge.judge_frames(clip, 16.0).raw for clip in clips[::-1]][::-1]
    np.testing.assert_array_equal(alone, again)


def test_pixels_have_a_gradient_through_eye_and_heads(judge):
    import torch

    pixels = torch.from_numpy(ball(times=18)).permute(0, 3, 1, 2)[None].float() / 255
    pixels.requires_grad_()
    judge.violation(pixels).sum().backward()
    assert torch.isfinite(pixels.grad).all()
    assert pixels.grad.abs().sum() > 0


def test_the_eye_has_one_size_and_its_weights_may_lie_elsewhere(tmp_path):
    with pytest.raises(ValueError, match="one size"):
        tiny.load(size="large")
    copy = shutil.copy(PACKAGE / EYE, tmp_path / "eye.safetensors")
    assert tiny.load(copy).key == parts.load("encoders", "tiny").load().key


@pytest.mark.parametrize("game", ["kong", "asteroids"])
def test_one_rollout_scores_alike_as_arrays_mp4_and_gif(judge, game, tmp_path):
    store = collect(game, tmp_path / "store", 1, split="test", max_ticks=240)
    episode = store.episode(0)
    states, numbers = episode.states[::4], episode.globals[::4]
    frames = draw_frames(store.part, states, numbers, store.appearance(0), 224)
    np.savez(tmp_path / "a.npz", frames=frames, fps=15.0)
    write_video(tmp_path / "a.mp4", iter([frames]), 15.0)
    first, *others = [Image.fromarray(frame) for frame in frames]
    # A GIF counts hundredths of a second, and holds a picture that stays instead of repeating it.
    first.save(tmp_path / "a.gif", save_all=True, append_images=others, duration=70, loop=0)
    arrays, mp4, gif = judge.score([tmp_path / f"a.{kind}" for kind in ("npz", "mp4", "gif")])
    assert arrays["status"] == mp4["status"] == gif["status"] == "scored"
    assert abs(mp4["raw"] - arrays["raw"]) < 0.04
    assert abs(gif["raw"] - arrays["raw"]) < 0.1
