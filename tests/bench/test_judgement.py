"""A judgement travels between processes without the windows it was measured on."""

import pickle

import pytest

from cosmolabe.bench.evaluate import judge_model, write_run


def test_what_is_written_survives_the_way_to_another_process(pong, noisy, tmp_path):
    judged = judge_model(noisy(0.05), pong, num_episodes=6, num_pictures=2, num_clips=2)
    sent = pickle.dumps(judged)
    arrived = pickle.loads(sent)
    write_run(judged, tmp_path / "here")
    write_run(arrived, tmp_path / "there")
    files = [path.relative_to(tmp_path / "here") for path in (tmp_path / "here").glob("*.json*")]
    assert len(files) >= 5
    for path in files:
        assert (tmp_path / "here" / path).read_bytes() == (tmp_path / "there" / path).read_bytes()
    assert arrived.media.keys() == judged.media.keys()
    assert arrived.final == judged.final
    with pytest.raises(AttributeError):
        _ = arrived.bed
