"""Two processes adapt as one does; needs gloo, which torch brings along on Linux."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from cosmolabe.core.record import read_json

PROGRAM = textwrap.dedent("""
    import sys
    sys.path.insert(0, {tests!r})
    import torch
    torch.set_num_threads(1)
    from pathlib import Path
    from vlm_toys import toy_clips, toy_questions, toy_vlm
    from cosmolabe.nets.adaptation import Adaptation
    from cosmolabe.nets.adapting import adapt
    recipe = Adaptation(
        strategy="PL", rate=5e-3, batch=8, micro=int(sys.argv[2]), steps=6, frames="uniform:2",
        mix=None,
    )
    clips = toy_clips(12)
    adapt(toy_vlm(), clips, toy_questions(clips), recipe, Path(sys.argv[1]))
""")


def test_two_processes_learn_what_one_learns(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(tests=str(Path(__file__).parents[1])))
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
    for name, command in (("one", [sys.executable]), ("two", launch)):
        micro = "0" if name == "one" else "2"
        subprocess.run(
            [*command, str(program), str(tmp_path / name), micro], check=True, timeout=600
        )
    one, two = (
        np.array(read_json(tmp_path / name / "adapter.json")["losses"]) for name in ("one", "two")
    )
    assert np.abs(one - two).max() < 1e-5
