"""A small bed, a slim package, and submissions of a few lines."""

import json
from dataclasses import dataclass

import pytest

from cosmolabe.arena.tasks.slim import write_slim
from cosmolabe.arena.verifier.verify import Verifier

MOVES_ON = """
import numpy as np
from cosmolabe.core.rollout import Prediction

{before}

class World:
    def rollout(self, context, seed=0):
        last = context.states[:, -1:]
        states = np.repeat(np.concatenate([last[..., :3], last[..., 5:-4]], -1), context.horizon, 1)
        numbers = np.repeat(context.globals[:, -1:], context.horizon, 1)
        terminal = np.full((len(context), context.horizon), -10.0, np.float32)
        {meanwhile}
        return Prediction(states, numbers, terminal)


class MODEL:
    load = staticmethod(lambda folder, manifest: World())
"""


@pytest.fixture(scope="session")
def bed(store):
    """Windows of the small store of pong, one an episode."""
    from cosmolabe.bench.bed import lay_out

    return lay_out(store, "train")


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    return write_slim(tmp_path_factory.mktemp("slim") / "package")


@pytest.fixture(scope="session")
def verifier(package):
    return Verifier(package)


@pytest.fixture
def submit(tmp_path):
    """Writes a submission that keeps everything where it is, but for what is given."""

    def write(meanwhile="pass", before="", train=None, name="submission", **files):
        folder = tmp_path / name
        folder.mkdir()
        text = train or MOVES_ON.format(before=before, meanwhile=meanwhile)
        (folder / "train.py").write_text(text)
        (folder / "config.json").write_text(json.dumps({"size": "laptop", "recipe": {}}))
        for other, content in files.items():
            (folder / other.replace("_py", ".py")).write_bytes(content)
        return folder

    return write


@dataclass
class Loopback:
    """Answers questions in this process, as a sandboxed one would, and keeps what it was asked."""

    model: object
    asked: list = None
    more: bool = False

    def exchange(self, data, size, seconds):
        import io

        from cosmolabe.arena.verifier.predict import reply

        self.asked = [*(self.asked or []), bytes(data)]
        line, _, rest = bytes(data).partition(b"\n")
        answer = bytearray(reply(self.model, json.loads(line), io.BytesIO(rest)))
        assert len(answer) == size
        return answer

    def close_stdin(self):
        pass

    def more_than_asked(self, seconds):
        return self.more


@pytest.fixture
def loopback():
    return Loopback
