"""Real footage, mildly hurt: does the score move the right way? Too few clips to say more.

Nothing real was trained on, so every clip and every kind of damage is new to the judge.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.physics.certificate import Scores, leakage, pairwise
from cosmolabe.bench.physics.twin_scores import Twofold, score_rows
from cosmolabe.core.record import plain
from cosmolabe.data.twin_rows import TwinRecipe, TwinRow
from cosmolabe.data.twin_set import write_twin_set
from cosmolabe.judges.physics.physics import Physics

ENDINGS = (".mp4", ".avi", ".mov", ".webm", ".mkv")
GROUPS = 24
NUM = 1000  # resamples
Tell = Callable[[str], None]


def check_real(
    head: str | Path, clips: Path, work: Path | None = None, groups: int = GROUPS,
    seed: int = 42, tell: Tell = print,
) -> dict[str, Any]:  # fmt: skip
    """Twins of real clips in a folder, scored; one row a clip and kind, and all together."""
    files = tuple(str(p) for p in sorted(clips.iterdir()) if p.suffix.lower() in ENDINGS)
    if not files:
        raise ValueError(f"no videos ({', '.join(ENDINGS)}) in {clips}")
    if work is None:
        with tempfile.TemporaryDirectory() as folder:
            return _check(head, files, Path(folder), groups, seed, tell)
    return _check(head, files, work, groups, seed, tell)


def _check(
    head: str | Path, files: tuple[str, ...], work: Path, groups: int, seed: int, tell: Tell
) -> dict[str, Any]:
    recipe = TwinRecipe(groups={"test": groups}, shares={"real": 1.0}, real=files)
    rows = write_twin_set(
        work / "real", recipe, seed, progress=lambda done, total: tell(f"drawn {done}/{total}")
    )
    judge = Physics.load(head)
    scores = score_rows(
        work / "real",
        rows,
        Twofold.of(judge).score,
        work / f"real-{judge.protocol.fingerprint}.jsonl",
        attacks=False,
        progress=lambda done, total: tell(f"scored {done}/{total}"),
    )
    shown = [row for row in rows if row.role == "damage" and not row.sub_threshold]
    cells = sorted({(row.scene, row.kind) for row in shown})
    found = {
        "clips": len({row.scene for row in rows}),
        "groups": len({row.group for row in rows}),
        "pairwise": pairwise(shown, scores, NUM, 0),
        "leakage": leakage(rows, scores, NUM, 0),
        "abstained": float(np.mean([bool(scores[row.true].why) for row in rows])),
        "rows": [_cell(shown, scores, *cell) for cell in cells],
        "fingerprint": judge.protocol.fingerprint,
    }
    told = plain(found)
    assert isinstance(told, dict)
    return told


def _cell(rows: list[TwinRow], scores: Scores, scene: str, kind: str) -> dict[str, Any]:
    mine = [row for row in rows if (row.scene, row.kind) == (scene, kind)]
    moved = np.array([scores[row.damaged].raw - scores[row.true].raw for row in mine])
    return {
        "scene": scene,
        "kind": kind,
        "up": float((moved > 0).mean()),
        "moved": float(moved.mean()),
        "true": float(np.mean([scores[row.true].raw for row in mine])),
        "pairs": len(mine),
    }
