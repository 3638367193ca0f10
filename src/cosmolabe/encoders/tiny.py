"""The bundled eye: sees motion, runs offline, ships with the package.

What moved between pictures, and what no motion explains, judged place by place by a net trained on
twins that differ in physics alone (`recipes/physics_judge.py`). It looks at small pictures: what is
under three of 96 pixels wide it hardly sees.
"""

import hashlib
from pathlib import Path

from cosmolabe.core.encoder import EncoderPart
from cosmolabe.core.record import read_json
from cosmolabe.nets.eyes import MotionEye, untrained
from cosmolabe.nets.motion_maps import SIDE
from cosmolabe.nets.pixels import AS_THEY_ARE, Look
from cosmolabe.nets.pretrained import fill, read_tensors
from cosmolabe.nets.tiny_net import WIDTH, TinyNet

WEIGHTS = Path(__file__).with_suffix(".safetensors")
RECORD = Path(__file__).with_suffix(".json")
"""How the weights came to be, and their sha256."""
REMAKE = "reinstall cosmolabe, or train it anew: python recipes/physics_judge.py"


def load(
    source: str | Path | None = None, *, size: str = "", random: bool = False, device: str = ""
) -> MotionEye:
    """The eye; `source` is another safetensors file of it, None the weights of the package."""
    if size:
        raise ValueError(f"the tiny eye has one size; got {size!r}")
    net = untrained(TinyNet)
    if not random:
        path = WEIGHTS if source is None else Path(source)
        if source is None:
            _check()
        fill(net, read_tensors(path), path)
    return MotionEye("tiny", net, Look(SIDE, *AS_THEY_ARE), WIDTH, device)


def _check() -> None:
    if not WEIGHTS.is_file() or not RECORD.is_file():
        raise ValueError(f"the weights of the tiny eye are missing: {REMAKE}")
    found = hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()
    if found != read_json(RECORD).get("sha256"):
        raise ValueError(f"{WEIGHTS} is not what {RECORD.name} was written for (sha256): {REMAKE}")


def _missing(size: str) -> str:
    return "" if WEIGHTS.is_file() else f"weights not here: {REMAKE}"


ENCODER = EncoderPart(
    "tiny",
    "Ours: what moved and what no motion explains, judged place by place; ships with the package.",
    load,
    licence="Apache-2.0",
    sees="motion",
    canvas=SIDE,
    width=WIDTH,
    weights="cosmolabe",
    extra="torch",
    normalisation="brightness in spreads of the clip",
    frames="any number at once, one row a time",
    missing=_missing,
    notes=("A picture that repeats the one before is left out and shares its features.",),
)
