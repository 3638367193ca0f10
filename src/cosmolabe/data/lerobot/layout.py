"""Names, places and types of a LeRobotDataset v3.0 folder.

    meta/info.json                            what there is, and what each column is called
    meta/stats.json, meta/tasks.parquet
    meta/episodes/chunk-000/file-000.parquet  one row an episode: where its rows and frames lie
    data/chunk-000/file-000.parquet           one row a frame, many episodes a file
    videos/KEY/chunk-000/file-000.mp4         the same episodes, one after another

Ours adds meta/manifest.json, for LeRobot names columns but not slots, kinds or units, and
meta/cosmolabe.json, which says what an action belongs to.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

VERSION = "v3.0"
INFO, STATS, TASKS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
EPISODES, DATA, VIDEOS = "meta/episodes", "data", "videos"
MANIFEST, OURS = "meta/manifest.json", "meta/cosmolabe.json"
FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
DATA_PATH = f"{DATA}/{FILE}.parquet"
VIDEO_PATH = f"{VIDEOS}/{{video_key}}/{FILE}.mp4"
EPISODES_PATH = f"{EPISODES}/{FILE}.parquet"
FILES_A_CHUNK = 1000
DATA_MEGABYTES, VIDEO_MEGABYTES = 100, 200

STATE, GLOBALS, ACTION = "observation.state", "observation.environment_state", "action"
REWARD, TERMINATED, TRUNCATED = "next.reward", "terminated", "truncated"
SCREEN = "observation.images.screen"
CLOCK = {
    "timestamp": np.float32,
    "frame_index": np.int64,
    "episode_index": np.int64,
    "index": np.int64,
    "task_index": np.int64,
}
"""Columns that every such dataset has."""
FOLLOW, LEAD = "follow", "lead"
ACTIONS = (FOLLOW, LEAD)
"""The action of a row was chosen after seeing its state, or led to its state."""


def place(number: int) -> tuple[int, int]:
    """Chunk and file of the n-th file."""
    return divmod(number, FILES_A_CHUNK)


def feature(dtype: type, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """A column as info.json has it; one number a row where it has no names."""
    return {
        "dtype": np.dtype(dtype).name,
        "shape": [1 if names is None else len(names)],
        "names": None if names is None else list(names),
    }


def schema_of(features: Mapping[str, Mapping[str, Any]]) -> pa.Schema:
    """The Parquet columns of `features`; what is a video lies elsewhere."""
    fields = []
    for name, what in features.items():
        if what["dtype"] == "video":
            continue
        kind = pa.from_numpy_dtype(np.dtype(what["dtype"]))
        size = what["shape"][0]
        fields.append(pa.field(name, kind if size == 1 else pa.list_(kind, size)))
    return pa.schema(fields)


def table_of(columns: Mapping[str, np.ndarray], schema: pa.Schema) -> pa.Table:
    """Arrays of shape (row,) or (row, size) as a table of that schema."""
    arrays = []
    for name in schema.names:
        flat = pa.array(np.ascontiguousarray(columns[name]).reshape(-1))
        kind = schema.field(name).type
        if isinstance(kind, pa.FixedSizeListType):
            flat = pa.FixedSizeListArray.from_arrays(flat, kind.list_size)
        arrays.append(flat.cast(kind))
    return pa.Table.from_arrays(arrays, schema=schema)
