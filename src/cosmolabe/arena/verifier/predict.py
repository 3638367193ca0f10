"""Runs inside the sandbox: loads a submission and answers questions about windows.

    python -I -B predict.py SUBMISSION PACKAGE MANIFEST

SUBMISSION holds train.py, config.json and weights.safetensors; PACKAGE is the folder of the package
that it may import; MANIFEST is the game's manifest as JSON. Frames come in on stdin, bare float32
bytes go out on stdout (`wire.py` is the other end); what the submission prints goes to stderr. This
file trusts nobody and nobody trusts it: the verifier counts bytes and looks at the clock.
"""

import io
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer until there are no more questions."""
    folder, package, manifest = (Path(name).resolve() for name in sys.argv[1:4])
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # whatever prints from now on prints to stderr
    sys.path.insert(0, str(package))
    os.chdir(folder)
    part = runpy.run_path(str(folder / "train.py"), run_name="submission")["MODEL"]
    model = part.load(folder, manifest_of(json.loads(manifest.read_text(encoding="utf-8"))))
    while line := questions.readline():
        answers.write(reply(model, json.loads(line), questions))
        answers.flush()


def manifest_of(content: dict[str, Any]) -> Any:  # noqa: ANN401 - a Manifest of the package inside
    """A manifest from its JSON."""
    from cosmolabe.core.fields import Profile
    from cosmolabe.core.manifest import Manifest, Slot

    def fixed(value: Any) -> Any:  # noqa: ANN401 - any JSON
        return tuple(value) if isinstance(value, list) else value

    slots = tuple(Slot(**slot) for slot in content["slots"])
    profile = Profile(**{name: fixed(value) for name, value in content["profile"].items()})
    rest = {k: fixed(v) for k, v in content.items() if k not in ("slots", "profile")}
    return Manifest(slots=slots, profile=profile, **rest)


def reply(model: Any, head: dict[str, int], questions: io.BufferedIOBase) -> bytes:  # noqa: ANN401
    """The bytes of one prediction."""
    import numpy as np

    from cosmolabe.core.manifest import Masks
    from cosmolabe.core.rollout import Context

    batch, window, horizon, slots = head["B"], head["W"], head["H"], head["N"]
    rows = (head["masks"], slots) if head["masks"] else (slots,)

    def take(kind: str, *shape: int) -> Any:  # noqa: ANN401 - an array, numpy being imported late
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        return np.frombuffer(bytearray(questions.read(size)), kind).reshape(shape)

    arrays = (
        take("<f4", batch, slots, head["registry"]),
        take("<f4", batch, window, slots, head["state"]),
        take("<f4", batch, window, head["global"]),
        take("<f4", batch, window + horizon, head["action"]),
    )
    # Of a state's columns 3 stand before the game's fields but velocity, 2 + 4 are not predicted.
    lengths = (rows, rows, (head["state"] - 9,), (head["global"],), (head["action"],), (2,))
    masks = Masks(*(take("u1", *shape) > 0 for shape in lengths))
    found = model.rollout(Context(*arrays, masks), seed=head["seed"])
    parts = (found.states, found.globals, found.terminal)
    return b"".join(np.ascontiguousarray(part, "<f4").tobytes() for part in parts)


if __name__ == "__main__":
    main()
