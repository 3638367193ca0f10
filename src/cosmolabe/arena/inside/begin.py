"""Runs a session's train.py as it stands: `python -I -B begin.py FOLDER DATA SEED LIMIT`."""

import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    """The slim package first, then the session's file, as if it had been started itself."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    folder = Path(sys.argv[1]).resolve()
    os.chdir(folder)
    sys.argv[0] = str(folder / "train.py")
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
