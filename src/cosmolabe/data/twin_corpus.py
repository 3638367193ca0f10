"""A set of twins as a corpus: true clips, doubles of known violation, and changes of quality.

The violation of a double is the size of its damage, that of everything lawful is 0. What lies under
the threshold has none, so it is in no pair.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from cosmolabe.core.corpus import ClipRow, Corpus, PairRow
from cosmolabe.data.gathering import Gathering
from cosmolabe.data.pairing import pairs_by_label, pairs_tied
from cosmolabe.data.tables import said, text_of

ROLES = ("damage", "quality", "lawful")
NEEDED = ("id", "group", "role", "family", "scene", "kind", "size", "true", "damaged", "split")
SCHEMA = "twins.jsonl as write_twin_set leaves it, and its clips"
TIES = 0.1  # share of the pairs: a true clip and itself in another quality


def read_twins(folder: Path, name: str, families: Collection[str]) -> Corpus:
    """Every clip of the rows of some families; rows that make no sense are listed."""
    found = Gathering(name, folder)
    for table in found.tables("twins.jsonl", needs=NEEDED):
        home = PurePosixPath(table).parent
        for where, row in found.rows(table):
            if text_of(row, "family") not in families:
                continue
            try:
                clips = _clips(row)
            except ValueError as error:
                found.note(where, str(error))
                continue
            for clip, file in clips:
                where_it_lies = (home / file).as_posix()
                found.add(where, replace(clip, id=(home / clip.id).as_posix()), where_it_lies)
    return found.corpus(SCHEMA)


def pairs_of_twins(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Within a group the larger damage is worse; another quality is a tie with the true clip."""
    worse = pairs_by_label(
        corpus, most, seed, badness=lambda row: row.violation, span=1.0,
        group=lambda row: row.group, corresponds="scene",
    )  # fmt: skip
    ties = pairs_tied(corpus, most, seed, group=lambda row: row.group, corresponds="scene")
    kept = min(len(ties), max(round(TIES * most), most - len(worse)))
    return (*worse[: most - kept], *ties[:kept])


def _clips(row: Mapping[str, Any]) -> list[tuple[ClipRow, str]]:
    """The true clip of a row and its double, each with its file."""
    role, size, sub = row.get("role"), row.get("size"), row.get("sub_threshold")
    if role not in ROLES:
        raise ValueError(f"role is {said(role)}; have {list(ROLES)}")
    if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 <= size <= 1:
        raise ValueError(f"size is {said(size)}; it is in 0..1")
    group, real = text_of(row, "group"), row.get("family") == "real"
    names = {name: text_of(row, name) for name in ("true", "damaged", "id", "scene", "split")}
    if not group or not names["true"] or not names["id"]:
        raise ValueError("names no group, no true clip or no id")
    facts = {
        name: row.get(name)
        for name in ("family", "scene", "theme", "kind", "size", "onset", "entity", "held_out",
                     "fps", "largest", "difference", "tags")
    }  # fmt: skip
    lawful = ClipRow(
        f"{group}-true", "", group=group, split=names["split"],
        kind="real" if real else "simulated", violation=0.0, anchor=0,
        label={"role": "true", **{k: facts[k] for k in ("family", "scene", "theme", "fps")}},
    )  # fmt: skip
    clips = [(lawful, names["true"])]
    if role == "quality":
        other = replace(lawful, id=names["id"], label={"role": role, **facts})
        clips.append((other, names["damaged"]))
    elif role == "damage":
        other = replace(
            lawful,
            id=names["id"],
            kind="generated" if real else "simulated",
            generator=f"damage/{row.get('kind')}",
            violation=None if sub else float(size),
            anchor=1 if size == 1 and not sub else None,
            label={"role": role, "sub_threshold": bool(sub), **facts},
        )
        clips.append((other, names["damaged"]))
    if len(clips) > 1 and not names["damaged"]:
        raise ValueError(f"a row of {role} names no second clip")
    return clips
