"""A word for what is wrong where the physics judge sees the most: one question, many damages.

The physics judge says how badly and when. What went wrong is asked of a vision-language model, out
of the kinds of damage that we can make ourselves; where we made it, the answer is right or wrong.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.core.proportion import wilson
from cosmolabe.core.question import AskedClip, Question
from cosmolabe.core.record import read_json, read_jsonl, write_json
from cosmolabe.core.seeds import generator
from cosmolabe.core.vlm import Vlm
from cosmolabe.data.arrays import read_npz
from cosmolabe.data.questions.wording import with_options
from cosmolabe.judges.vqa.asking import ask
from cosmolabe.judges.vqa.protocol import PROTOCOLS, VqaProtocol

FILE = Path(__file__).with_name("damages.toml")
TASK = "explanation"
TEXT = "Something is wrong in this clip. What goes wrong? {options}"
MEDIA, ABOUT = "media/physics", "vqa.json"
LARGEST = 512 * 2**20  # bytes of a kept window, unpacked
TRUTHS = ("damage", "kind")
"""Columns of a table of videos that name the damage."""


@cache
def damage_words() -> Mapping[str, str]:
    """What each kind of damage is called."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))["words"]


def explanation_question(clip: AskedClip, kinds: Sequence[str] = (), seed: int = 0) -> Question:
    """What goes wrong? All kinds of damage as options, shuffled by the clip's name.

    The answer is the clip's own kind, `about["damage"]`; where nobody knows it, the first option
    stands in its place and means nothing.
    """
    words = damage_words()
    unknown = sorted(set(kinds) - set(words))
    if unknown or len(kinds) == 1:
        raise ValueError(f"kinds of damage are two or more of {sorted(words)}; got {list(kinds)}")
    labels = tuple(words[kind] for kind in kinds or words)
    order = generator("explanation", seed, clip.id).permutation(len(labels))
    options = tuple(labels[place] for place in order)
    truth = words.get(str(clip.about.get("damage", "")), "")
    if truth and truth not in options:
        raise ValueError(f"clip {clip.id}: '{truth}' is not among the kinds that are asked about")
    return Question(
        id=f"{clip.id}/{TASK}", clip=clip.id, task=TASK, format="multiple_choice",
        text=TEXT.format(options=with_options(options)), answer=truth or options[0],
        labels=labels, options=options, truth=truth,
    )  # fmt: skip


def explain(
    vlm: Vlm,
    clips: Sequence[AskedClip],
    kinds: Sequence[str] = (),
    protocol: VqaProtocol | None = None,
) -> list[dict[str, Any]]:
    """What a model says of each clip: input, said, share, truth, right, status.

    Raises:
        ValueError: The model does not know the words (the bundled one may not).
    """
    questions = [explanation_question(clip, kinds) for clip in clips]
    told = ask(vlm, clips, questions, protocol or PROTOCOLS["vqa/1"])
    return [
        {
            "input": one.question.clip, "said": one.label or "",
            "status": one.answered.parsed.status, "share": one.answered.probability,
            "truth": one.question.truth,
            "right": bool(one.label == one.question.truth) if one.question.truth else None,
        }
        for one in told
    ]  # fmt: skip


def score_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Share of right answers where the truth is known, beside the commonest kind's share."""
    known = [row for row in rows if row["right"] is not None]
    hits = sum(bool(row["right"]) for row in known)
    low, high = wilson(float(hits), float(len(known)))
    counts: dict[str, int] = {}
    for row in known:
        counts[row["truth"]] = counts.get(row["truth"], 0) + 1
    nan = float("nan")
    return {
        "n": len(known), "right": hits / len(known) if known else nan, "low": low, "high": high,
        "majority": max(counts.values()) / len(known) if known else nan,
    }  # fmt: skip


def explain_run(
    folder: Path | str,
    vlm: Vlm,
    truths: Mapping[str, str] | None = None,
    protocol: VqaProtocol | None = None,
) -> list[dict[str, Any]]:
    """The worst windows that the physics judge kept in a run folder, explained and noted there."""
    folder = Path(folder)
    clips = worst_windows(folder, truths or {})
    if not clips:
        raise ValueError(
            f"{folder} keeps no worst windows; `cosmolabe judge --judges physics` leaves them"
        )
    rows = explain(vlm, clips, protocol=protocol)
    path = folder / ABOUT
    about = read_json(path) if path.exists() else {}
    about |= {"explained": rows, "explainer": {"vlm": vlm.name, "key": vlm.key, **score_of(rows)}}
    write_json(path, about)
    return rows


def worst_windows(folder: Path, truths: Mapping[str, str]) -> list[AskedClip]:
    """Their pictures alone, without the half second on either side."""
    found = []
    for path in sorted((folder / MEDIA).glob("*.npz")):
        names = ("frames", "input", "fps", "first", "start", "end")
        kept = read_npz(path, names, LARGEST)
        times = float(kept["first"]) + np.arange(len(kept["frames"])) / float(kept["fps"])
        inside = (times >= float(kept["start"]) - 1e-6) & (times < float(kept["end"]) - 1e-6)
        frames = kept["frames"][inside] if inside.sum() > 1 else kept["frames"]
        name = str(kept["input"])
        about = {"damage": truths.get(name, "")}
        found.append(AskedClip(name, frames, float(kept["fps"]), None, about))
    return found


def truths_of(table: Path) -> dict[str, str]:
    """Input (or id) to kind of damage, out of a table in JSON lines; unknown kinds are refused."""
    found = {}
    for where, row in read_jsonl(table):
        name = row.get("input") or row.get("id") or row.get("video")
        kind = next((row[key] for key in TRUTHS if isinstance(row.get(key), str)), "")
        if not isinstance(name, str) or not name:
            raise ValueError(f"{where}: a row names its video as `input`, `id` or `video`")
        if kind and kind not in damage_words():
            raise ValueError(f"{where}: no damage '{kind}'; have {sorted(damage_words())}")
        found[name] = kind
    return found
