"""What meta/info.json of a LeRobot folder says, believed once it is checked.

Paths stay inside the folder: a template holds nothing but the places of LeRobot's own, and no step
to a file is a link.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmolabe.data.arrays import refuse_link
from cosmolabe.data.folder import SPLITS
from cosmolabe.data.lerobot import layout
from cosmolabe.data.manifests import parse_json

MAX_JSON = 1 << 24  # bytes
MOST = 1 << 40  # of any whole number: rows, files, episodes
SLOT = re.compile(r"\{(chunk_index|file_index):0?(\d)d\}|\{(video_key)\}")
SPLIT_NAMES = {"validation": "val", **{name: name for name in SPLITS}}


@dataclass(frozen=True)
class Info:
    """What meta/info.json says, once checked."""

    path: Path
    fps: int
    episodes: int
    frames: int
    features: dict[str, dict[str, Any]]
    splits: dict[str, tuple[int, int]]
    data_path: str
    video_path: str | None


def is_lerobot(folder: Path) -> bool:
    """Whether a folder looks like a LeRobot dataset of any version."""
    return (folder / layout.INFO).is_file()


def read_info(folder: Path) -> Info:
    """meta/info.json, each entry of its kind and sensible."""
    path = folder / layout.INFO
    content = read_json(path)
    version = content.get("codebase_version")
    if not isinstance(version, str) or not version.startswith("v3."):
        raise ValueError(
            f"{path}, codebase_version: {version!r}, this reads v3.0; LeRobot's own "
            f"convert_dataset_v21_to_v30 brings older ones up"
        )

    def whole(name: str, least: int, most: int = MOST) -> int:
        value = content.get(name)
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"{path}, {name}: {value!r}, expected a whole number from {least}")
        return value

    features = content.get("features")
    if not isinstance(features, dict) or not all(map(_is_feature, features.values())):
        raise ValueError(f"{path}, features: each needs a dtype and a shape of whole numbers")
    return Info(
        path=path,
        fps=whole("fps", 1, 9999),
        episodes=whole("total_episodes", 1),
        frames=whole("total_frames", 2),
        features=features,
        splits=_splits(content.get("splits"), path),
        data_path=_template(content.get("data_path", layout.DATA_PATH), path, "data_path"),
        video_path=None
        if content.get("video_path") is None
        else _template(content["video_path"], path, "video_path"),
    )


def read_json(path: Path) -> dict[str, Any]:
    """A plain file's JSON object."""
    refuse_link(path)
    with path.open("rb") as file:
        content = parse_json(file.read(MAX_JSON + 1), str(path), MAX_JSON)
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected an object, got {type(content).__name__}")
    return content


def _is_feature(what: Any) -> bool:  # noqa: ANN401 - any JSON
    return (
        isinstance(what, dict)
        and isinstance(what.get("dtype"), str)
        and isinstance(what.get("shape"), list)
        and all(type(size) is int and 0 < size < 1 << 20 for size in what["shape"])
    )


def _splits(content: Any, path: Path) -> dict[str, tuple[int, int]]:  # noqa: ANN401 - any JSON
    """Ranges of episodes by split; what is no range of ours is left to the hash of a name."""
    found = {}
    for name, text in (content if isinstance(content, dict) else {}).items():
        range_ = re.fullmatch(r"(\d{1,12}):(\d{1,12})", str(text))
        if range_ is None:
            raise ValueError(f"{path}, splits, {name}: {str(text)[:40]!r}, expected FIRST:END")
        if name in SPLIT_NAMES:
            found[SPLIT_NAMES[name]] = (int(range_[1]), int(range_[2]))
    return found


def _template(text: Any, path: Path, name: str) -> str:  # noqa: ANN401 - any JSON
    """A path with places for numbers and nothing else that a formatter would obey."""
    bare = SLOT.sub("", text) if isinstance(text, str) else "{"
    steps = Path(text).parts if isinstance(text, str) else ()
    if set(bare) & set("{}\\:\0") or Path(bare).is_absolute() or ".." in steps:
        raise ValueError(
            f"{path}, {name}: {str(text)[:80]!r} is no path inside the folder; LeRobot's own is "
            f"{layout.DATA_PATH if name == 'data_path' else layout.VIDEO_PATH}"
        )
    return text


def fill(template: str, chunk: int, file: int, key: str = "") -> str:
    """The path that a checked template stands for."""
    values = {"chunk_index": chunk, "file_index": file}
    return SLOT.sub(lambda found: key if found[3] else f"{values[found[1]]:0{found[2]}d}", template)


def inside(folder: Path, relative: str, where: str) -> Path:
    """A plain file below the folder, no link on the way to it."""
    path = folder / relative
    for step in (path, *path.parents):
        if step == folder:
            break
        if step.is_symlink():
            raise ValueError(f"{where}: {step} is a symbolic link; put the file itself there")
    if not path.is_file():
        raise ValueError(f"{where}: no file {path}; was the folder copied whole?")
    return path
