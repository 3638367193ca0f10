"""What the vqa judge said, in a run folder, as the report reads it.

vqa.jsonl (clips.jsonl where no other judge looked) has one row a film, vqa.json the judge and how
the judges agree, media/vqa/NN.npz the pictures of clips in which a command was not seen done.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.vqa.imagined import Failure, Obeyed
from cosmolabe.core.record import escaped, write_json, write_jsonl
from cosmolabe.judges.vqa import Vqa

ROWS, ABOUT, MEDIA = "vqa.jsonl", "vqa.json", "media/vqa"
MOST = 6


def keep_obeyed(
    folder: Path,
    told: Obeyed,
    vqa: Vqa,
    agreement: Sequence[Mapping[str, Any]] = (),
    explained: Sequence[Mapping[str, Any]] = (),
    alone: bool = False,
) -> None:
    """Rows, judge and the clearest failures, whatever lay there before gone."""
    (folder / ROWS).unlink(missing_ok=True)
    write_jsonl(folder / ("clips.jsonl" if alone else ROWS), told.rows)
    about = {
        "protocol": vqa.protocol, "fingerprint": vqa.protocol.fingerprint, "vlm": vqa.vlm.name,
        "vlm_key": vqa.vlm.key, "certified": bool(vqa.measured.rates),
        "agreement": list(agreement), "explained": list(explained),
    }  # fmt: skip
    if answered := who_answered(vqa):
        about["answered_by"] = answered
    write_json(folder / ABOUT, about)
    for old in (folder / MEDIA).glob("*.npz"):
        old.unlink()
    worst = sorted(told.failures, key=lambda one: (one.share, one.input))[:MOST]
    for rank, one in enumerate(worst):
        _keep(folder / MEDIA / f"{rank:02d}.npz", one)


def who_answered(vqa: Vqa) -> list[dict[str, Any]]:
    """Model and build of every reply of a served model, the most frequent first; else none.

    More than one: what stands behind the address was changed midway.
    """
    found = getattr(vqa.vlm, "answered_by", None) or Counter()
    return [
        {"model": model, "build": build, "replies": count}
        for (model, build), count in found.most_common()
    ]


def _keep(path: Path, one: Failure) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    true = one.imagined if one.true is None else one.true
    np.savez_compressed(
        path,
        true=true,
        imagined=one.imagined,
        fps=np.float64(one.fps),
        caption=np.array(escaped(f"{one.caption} · {one.input}")),
    )
