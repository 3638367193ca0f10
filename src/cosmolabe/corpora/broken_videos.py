"""BrokenVideos: generated videos with a mask of what is broken in every frame.

Schema: the project's site shows NAME.mp4 beside tracked_NAME.mp4, the video with its mask drawn
over it; the data set itself (Baidu) was not at hand, so its layout is NOT VERIFIED. Read are masks
for a video NAME: tracked_NAME.*, or in a folder whose name holds mask or annotation NAME.mp4,
NAME.npy, NAME.npz or a folder NAME of PNGs.

There is no table of labels. How broken a video is follows from its masks:
0.6 area + 0.3 centre + 0.1 presence (`data.labels.mask_composite`), which is mapped to
0.5 .. 0.9. `prepare` measures all masks once and keeps the figures in composites.jsonl.

Pairs: composites that differ by 0.4 or more, gap = difference. Areas are far below 1 as a rule, so
few pairs reach that: `normalise` stretches composites to 0..1 by rank or by least and most.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.core.errors import in_words
from cosmolabe.core.record import write_jsonl
from cosmolabe.data.gathering import FRAMES, VIDEOS, Gathering
from cosmolabe.data.labels import mask_composite, violation_of_composite
from cosmolabe.data.pairing import pairs_by_label
from cosmolabe.data.tables import number_of, text_of

NAME = "broken_videos"
SCHEMA = "videos with masks (tracked_NAME.mp4, or masks/NAME), composites.jsonl (not verified)"
COMPOSITES = "composites.jsonl"
TRACKED = "tracked_"
FIELDS = ("area", "centre", "presence", "composite")
LEAST_GAP = 0.4  # of composites (reference 4.3)
DRAWN = 32  # of 255: an overlay changes a pixel by at least so much; our choice
HALF = 127  # of 255: above it, a pixel of a mask video is masked
SIDE = 512  # pixels; masks are thinned to it
MOST_PIXELS = 1 << 32  # of all masks of one video; our choice, as the next two
MOST_PICTURE = 1 << 26
MOST_FRAMES = 20_000
GENERATORS = (
    "luma", "cogvideox", "easyanimate", "kling", "qingying", "vidu", "minimax", "opensora", "gen-3",
    "gen3", "tongyi",
)  # fmt: skip


def read(folder: Path) -> Corpus:
    """Every video, with its mask and its composite where that has been measured."""
    found = Gathering(NAME, folder)
    composites = _composites(found)
    videos = list(_videos(found))
    if not any(mask for _, mask in videos):
        videos = []  # not this set at all
    for path, mask in videos:
        stem = PurePosixPath(path).stem
        label = composites.get(path, {})
        clip = ClipRow(
            path,
            NAME,
            generator=next((g for g in GENERATORS if g in path.lower()), "unknown"),
            group=re.sub(r"[_-]?\d+$", "", stem),
            violation=violation_of_composite(label["composite"]) if label else None,
            label=label,
            mask=mask,
        )
        found.add(path, clip, path)
        if not mask:
            found.note(path, "no mask")
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int, normalise: str = "none") -> tuple[PairRow, ...]:
    """Composites that differ by 0.4 or more; the higher is worse, gap = difference.

    `normalise` is none, minmax or rank.
    """
    rows = [row for row in corpus.present() if "composite" in row.label]
    values = np.array([row.label["composite"] for row in rows], np.float64)
    if normalise == "rank" and len(values) > 1:
        values = np.searchsorted(np.sort(values), values) / (len(values) - 1)
    elif normalise == "minmax" and len(values) and np.ptp(values) > 0:
        values = (values - values.min()) / np.ptp(values)
    elif normalise not in ("none", "minmax", "rank"):
        raise ValueError(f"normalise is none, minmax or rank; got {normalise!r}")
    known = {row.id: float(value) for row, value in zip(rows, values, strict=True)}
    return pairs_by_label(
        corpus, most, seed, badness=lambda row: known.get(row.id), span=1.0, least=LEAST_GAP
    )


def prepare(folder: Path) -> int:
    """Measure every mask that is not in composites.jsonl yet; killed at any time, it goes on there.

    Gives the number of masks read. A mask that cannot be read is written down with the reason and
    not tried again.
    """
    found = Gathering(NAME, folder)
    rows, count = list(_measured(found)), 0
    write_jsonl(found.folder / COMPOSITES, rows)  # without the line a kill cut short
    done = {text_of(row, "id") for row in rows}
    with (found.folder / COMPOSITES).open("a", encoding="utf-8") as file:
        for path, mask in _videos(found):
            if not mask or path in done:
                continue
            try:
                row = {"id": path, **mask_composite(read_masks(found.folder, path, mask))}
            except (OSError, ValueError) as error:
                row = {"id": path, "why": in_words(error)}
            file.write(json.dumps(row) + "\n")
            file.flush()
            count += 1
    return count


def read_masks(folder: Path, video: str, mask: str) -> Bool[np.ndarray, "time height width"]:
    """The masks of one video, one a frame.

    Raises:
        ValueError: They cannot be read, or are no masks.
    """
    path = folder / mask
    if PurePosixPath(mask).name.startswith(TRACKED):
        both = zip(_frames(path), _frames(folder / video), strict=False)
        return np.stack([_drawn_over(plain, drawn) for drawn, plain in both])
    if path.suffix == ".png":
        return _stills(sorted(path.parent.glob("*.png")))
    if path.suffix in (".npy", ".npz"):
        return _arrays(path)
    return np.stack([frame.max(-1) > HALF for frame in _frames(path)])


def _frames(path: Path) -> Iterator[UInt8[np.ndarray, "height width 3"]]:
    """Frames of a video one by one, thinned to a side of 512 or less: shares stay what they are."""
    from cosmolabe.data.video.writing import pyav  # an extra

    av, count = pyav(), 0
    try:
        with av.open(str(path)) as container:
            for frame in container.decode(video=0):
                count += 1
                if count > MOST_FRAMES or frame.width * frame.height > MOST_PICTURE:
                    raise ValueError(f"{path}: more than {MOST_FRAMES} frames, or too large ones")
                step = max(1, -(-max(frame.width, frame.height) // SIDE))
                yield frame.to_ndarray(format="rgb24")[::step, ::step]
    except (av.FFmpegError, IndexError) as error:
        raise ValueError(f"{path} is no video that can be read ({error})") from None
    if not count:
        raise ValueError(f"{path} holds no frames")


def _drawn_over(
    plain: UInt8[np.ndarray, "height width 3"], drawn: UInt8[np.ndarray, "height width 3"]
) -> Bool[np.ndarray, "height width"]:
    """Where a frame was painted over."""
    return np.abs(drawn.astype(np.int16) - plain).max(-1) > DRAWN


def _stills(paths: list[Path]) -> Bool[np.ndarray, "time height width"]:
    pictures = []
    for path in paths:
        with Image.open(path) as picture:
            if picture.width * picture.height * len(paths) > MOST_PIXELS:
                raise ValueError(f"{path}: {len(paths)} masks of {picture.size} are too large")
            pictures.append(np.asarray(picture.convert("L")) > 0)
    if len({picture.shape for picture in pictures}) != 1:
        raise ValueError(f"{paths[0].parent}: masks of several sizes")
    return np.stack(pictures)


def _arrays(path: Path) -> Bool[np.ndarray, "time height width"]:
    if path.stat().st_size > MOST_PIXELS:
        raise ValueError(f"{path}: more than {MOST_PIXELS} bytes")
    loaded = np.load(path, allow_pickle=False, mmap_mode="r" if path.suffix == ".npy" else None)
    array = loaded if path.suffix == ".npy" else loaded[loaded.files[0]]
    if array.ndim != 3 or array.dtype.kind not in "biu" or array.size > MOST_PIXELS:
        raise ValueError(f"{path}: {array.shape} of {array.dtype}; masks are (time, height, width)")
    return np.asarray(array) > 0


def _videos(found: Gathering) -> Iterator[tuple[str, str]]:
    """Every video that is no mask, with its mask or ""."""
    masks: dict[str, str] = {}
    videos = []
    for path in found.files(*VIDEOS, *FRAMES):
        file = PurePosixPath(path)
        folders = [part.lower() for part in file.parts[:-1]]
        if file.name.startswith(TRACKED):
            masks.setdefault(file.stem.removeprefix(TRACKED), path)
        elif any("mask" in part or "annotation" in part for part in folders):
            masks.setdefault(file.parent.name if file.suffix == ".png" else file.stem, path)
        elif file.suffix not in FRAMES:
            videos.append(path)
    for path in videos:
        yield path, masks.get(PurePosixPath(path).stem, "")


def _measured(found: Gathering) -> Iterator[Mapping[str, Any]]:
    """Rows of the folder's own composites.jsonl."""
    if (found.folder / COMPOSITES).is_file():
        yield from (row for _, row in found.rows(COMPOSITES))


def _composites(found: Gathering) -> dict[str, dict[str, float]]:
    composites = {}
    for table in found.tables(COMPOSITES):
        for where, row in found.rows(table):
            try:
                if text_of(row, "why"):
                    raise ValueError(f"{text_of(row, 'id')}: {text_of(row, 'why')}")
                label = {name: number_of(row, name, 0, 1) for name in FIELDS}
                if any(value != value for value in label.values()):
                    raise ValueError(f"{[*FIELDS]} are numbers, all of them")
            except ValueError as error:
                found.note(where, str(error))
                continue
            composites[text_of(row, "id")] = label
    return composites


CORPUS = CorpusPart(
    NAME,
    "Generated videos with masks of what is broken; the mask says how much.",
    read,
    pairs,
    licence="unknown (site CC-BY-SA)",
    source="arXiv 2506.20103; broken-video-detection-datetsets.github.io",
    use="train",
    schema=SCHEMA,
    prepare=prepare,
)
