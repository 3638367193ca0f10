"""What games share: random numbers, motion, canvas, sprites and the kernels that run them.

Compiled code is cached in a folder named after the engine's source, because numba notices a change
in the file of a function but not in the files of the functions it calls.
"""

import hashlib
import os
import sys
from pathlib import Path


def _cache_folder() -> Path:
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(here.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "cosmolabe" / f"numba-{digest.hexdigest()[:16]}"


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(_cache_folder())
    if "numba" in sys.modules:  # somebody imported it first: it has read the environment already
        sys.modules["numba"].config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
