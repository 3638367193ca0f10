"""VideoFeedback2: 1-5 human ratings of physical and common-sense consistency, 22 generators.

Four forms, told apart by their keys and read together:
raw     the annotation platform's JSON (real: github.com/TIGER-AI-Lab/VideoScore2 data/anno_raw),
        scores in labels whose hash names them, "5-Very Good" or 5
sft     conversations and videos, scores in the answer's text (real: the script that writes it)
rl      problem, solution, path (real: the script that writes it)
bench   video_name, prompt, visual_score, t2v_score, phy_score (real: the scripts that read it)
The hub's final files were not at hand.

phy_score 5 = good. Pairs: any two videos whose physical scores differ by 1 or more; they share
nothing. The ~10^8 possible pairs are drawn from, never listed.
"""

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, stem_of
from cosmolabe.data.labels import violation_of_likert
from cosmolabe.data.pairing import lower_is_worse, pairs_by_label
from cosmolabe.data.tables import number_of, said, text_of

NAME = "videofeedback2"
SCHEMA = (
    "raw platform JSON (info, labels), SFT (conversations, videos), RL (problem, solution, path) "
    "or bench rows (video_name, phy_score)"
)
SCORES = {"视觉": "visual", "文本": "text", "物理": "phy"}
"""The platform's words for visual quality, text alignment, physical consistency."""
SCORE, COMMENT = "评分", "描述"
IN_TEXT = {
    "visual": r"visual quality:\s*([1-5])",
    "text": r"text-to-video alignment:\s*([1-5])",
    "phy": r"physical(?:/common-sense)? consistency:\s*([1-5])",
}


def read(folder: Path) -> Corpus:
    """Every form the folder holds; of a video that stands in several, the first form counts."""
    found = Gathering(NAME, folder)
    forms: tuple[tuple[tuple[str, ...], str, Callable[..., dict]], ...] = (
        (("video_name", "phy_score"), "test", _bench),
        (("info", "labels"), "", _raw),
        (("conversations", "videos"), "train", _sft),
        (("problem", "solution", "path"), "train", _rl),
    )
    for needs, split, form in forms:
        for table in found.tables(needs=needs):
            for where, row in found.rows(table):
                try:
                    said_of = form(row)
                    violation = violation_of_likert(said_of["label"].get("phy", math.nan))
                except ValueError as error:
                    found.note(where, str(error))
                    continue
                if math.isnan(violation):
                    found.note(where, "no physical score")
                    continue
                named = said_of.pop("named")
                clip = ClipRow(stem_of(named), NAME, split=split, violation=violation, **said_of)
                found.add(where, clip, named)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Any two whose scores differ by 1 or more; the lower is worse, gap = difference / 4."""
    return pairs_by_label(
        corpus,
        most,
        seed,
        badness=lower_is_worse("phy"),
        span=4.0,
        least=1.0,
    )


def _raw(row: Mapping[str, Any]) -> dict[str, Any]:
    info, labels = row.get("info"), row.get("labels")
    data = info.get("data") if isinstance(info, dict) else None
    if not isinstance(data, list) or not isinstance(labels, list):
        raise ValueError(f"no info.data and labels, but {said(row)}")
    contents = [d.get("content") for d in data if isinstance(d, dict)]
    texts = [c for c in contents if isinstance(c, str)]
    url = next((c for c in texts if re.match(r"https?://\S+\.\w{2,4}$", c.strip())), "").strip()
    prompt = next((c for c in texts if c.startswith("English Prompt")), "")
    prompt = prompt.removeprefix("English Prompt").split("\n")[0].strip(" .:")
    label: dict[str, Any] = {}
    for entry in labels:
        asked = entry.get("data") if isinstance(entry, dict) else None
        if not isinstance(asked, dict):
            continue
        words, value = str(asked.get("hash", ""))[:80], asked.get("value")
        name = next((name for word, name in SCORES.items() if word in words), "")
        if name and SCORE in words:
            label[name] = _digit(value, name)
        elif name and COMMENT in words and isinstance(value, str) and value.strip():
            label[f"{name}_comment"] = value.strip()
    parts = url.split("/")
    return {
        "named": url,
        "url": url,
        "generator": parts[-2] if len(parts) > 4 else "",
        "prompt": prompt,
        "label": label,
    }


def _digit(value: Any, name: str) -> float:  # noqa: ANN401 - a stranger's value
    """The score of "3-Medium" or 3; NaN where nothing was answered."""
    first = re.match(r"\s*(\d+)(?:\s*-|\s*$|\.0$)", str(value)[:40])
    if value is None or not str(value).strip():
        return math.nan
    if first is None or not 1 <= int(first[1]) <= 5:
        raise ValueError(f"{name} is {said(value)}, expected a score 1..5")
    return float(first[1])


def _sft(row: Mapping[str, Any]) -> dict[str, Any]:
    turns, videos = row.get("conversations"), row.get("videos")
    if not isinstance(turns, list) or not isinstance(videos, list) or len(videos) != 1:
        raise ValueError(f"expected conversations and one video, got {said(row)}")
    texts = {str(t.get("from"))[:9]: t.get("value") for t in turns if isinstance(t, dict)}
    answer, asked = texts.get("gpt"), texts.get("human")
    if not isinstance(answer, str) or not isinstance(videos[0], str):
        raise ValueError("no answer and video as text")
    prompt = asked.split("text prompt:")[-1] if isinstance(asked, str) else ""
    prompt = prompt.split("Based on the video content")[0].strip() if prompt != asked else ""
    return {"named": videos[0], "prompt": prompt, "label": _in_text(answer[-400:])}


def _rl(row: Mapping[str, Any]) -> dict[str, Any]:
    problem = text_of(row, "problem")
    prompt = problem.split("text prompt:")[-1] if "text prompt:" in problem else ""
    return {
        "named": text_of(row, "path"),
        "prompt": prompt.split("Based on the video content")[0].strip(),
        "label": _in_text(text_of(row, "solution")),
    }


def _in_text(text: str) -> dict[str, float]:
    """The last score of each kind that a text gives."""
    found = {name: re.findall(words, text, re.IGNORECASE) for name, words in IN_TEXT.items()}
    return {name: float(scores[-1]) for name, scores in found.items() if scores}


def _bench(row: Mapping[str, Any]) -> dict[str, Any]:
    names = {"visual": "visual_score", "text": "t2v_score", "phy": "phy_score"}
    label = {name: number_of(row, column, 1, 5) for name, column in names.items()}
    url, name = text_of(row, "video_url"), text_of(row, "video_name")
    return {
        "named": text_of(row, "path", "video_path") or url or (name and f"{name}.mp4"),
        "url": url,
        "prompt": text_of(row, "prompt"),
        "label": {name: value for name, value in label.items() if not math.isnan(value)},
    }


CORPUS = CorpusPart(
    NAME,
    "Videos of 22 generators with human 1-5 ratings of physical consistency.",
    read,
    pairs,
    licence="Apache-2.0 (card)",
    source="hf.co/datasets/TIGER-Lab/VideoFeedback2; raw: github.com/TIGER-AI-Lab/VideoScore2",
    weight=5 / 17,
    schema=SCHEMA,
)
