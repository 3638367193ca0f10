"""The sandboxes of the verifier: one that answers questions, one that trains again."""

import os
import sys
from pathlib import Path

from cosmolabe.arena.sandbox import Box, Limits, python_root
from cosmolabe.arena.tasks.slim import covering
from cosmolabe.arena.verifier import predict

SUBMISSION, PACKAGE = "/submission", "/package"
MANIFEST, PREDICT = "/asking/manifest.json", "/asking/predict.py"
WORK, DATA = "/work", "/data"
CALM = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
"""One thread, as everywhere here: sums of floats then come out the same."""
KERNELS = (
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS",
    "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "NPY_DISABLE_CPU_FEATURES",
)  # fmt: skip
"""Variables that choose how libraries multiply: of the whole environment these alone go into a box,
for with other kernels the last bit of a score differs from what `judge` gives out here."""
ANSWERING = Limits(wall=1800.0, memory=8 << 30, processes=64, file_bytes=64 << 20, disk=64 << 20)
"""What a submission may use to answer; it has no folder to write into but /tmp, in memory."""


def answering(
    submission: Path, package: Path, manifest: Path, limits: Limits = ANSWERING, gpu: bool = False
) -> tuple[Box, list[str]]:
    """A box that sees the copied submission, the slim package and the manifest; and its command."""
    box = Box(
        readable=(
            *python_root(),
            *covering(package),
            (submission, SUBMISSION),
            (package, PACKAGE),
            (manifest, MANIFEST),
            (Path(str(predict.__file__)), PREDICT),
        ),
        limits=limits,
        env=environment(),
        gpu=gpu,
        cwd=SUBMISSION,
    )
    command = [sys.executable, "-I", "-B", PREDICT, SUBMISSION, PACKAGE, MANIFEST]
    return box, command


def training(
    work: Path,
    package: Path,
    data: Path,
    seed: int,
    limits: Limits,
    gpu: bool = False,
) -> tuple[Box, list[str]]:
    """A box that trains the code in `work` on a session's data; and its command."""
    box = Box(
        readable=(*python_root(), *covering(package), (package, PACKAGE), (data, DATA)),
        writable=((work, WORK),),
        limits=limits,
        env=environment(),
        gpu=gpu,
        cwd=WORK,
    )
    words = [WORK, DATA, str(seed), f"{limits.wall:g}"]
    return box, [sys.executable, "-I", "-B", f"{PACKAGE}/begin.py", *words]


def environment() -> dict[str, str]:
    """What a box gets of variables."""
    found = {name: os.environ[name] for name in KERNELS if name in os.environ}
    return {**CALM, **found}
