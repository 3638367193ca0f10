"""What a vision tower makes of pictures, computed once: in memory, and on disk if wanted.

Pictures are known by their pixels, so one clip asked about six times costs one call, and a choice
of other frames, grey frames or another size is another entry by itself. What is kept belongs to
the tower's weights (`seen_key`): a tower that has learnt since needs a new `Features`.
"""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from cosmolabe.core.vlm import Vlm
from cosmolabe.nets.feature_store import FeatureStore, clip_hash

TOGETHER = 16
"""Clips that the tower sees in one call."""
MEMORY = 1 << 30
"""Bytes kept in memory where the rest is on disk."""
SAMPLING = {"what": "vlm features", "version": 1}


class Features:
    """`see` of a model whose tower stands still."""

    def __init__(self, vlm: Vlm, folder: str | Path | None = None, memory: int = MEMORY) -> None:
        """`folder`: where features are kept over runs; without one all stay in memory."""
        key = getattr(vlm, "seen_key", "")
        if folder is not None and not key:
            raise ValueError(
                f"{vlm.name} says nothing about its tower: keep its features in memory"
            )
        self.vlm, self.memory = vlm, memory
        self.store = None if folder is None else FeatureStore(folder, key, SAMPLING)
        self.looked = 0
        """Clips that the tower has seen, all else came from what was kept."""
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._bytes = 0

    def see(self, clips: Sequence[UInt8[np.ndarray, "frame height width 3"]]) -> list[Any]:
        """As `Vlm.see`, without a gradient; equal pictures give the very same tensor."""
        names = [clip_hash(clip) for clip in clips]
        found: dict[str, Any] = {}
        lacking: dict[str, np.ndarray] = {}
        for name, clip in zip(names, clips, strict=True):
            if name in found or name in lacking:
                continue
            kept = self.recall(name, len(clip))
            if kept is None:
                lacking[name] = clip
            else:
                found[name] = kept
        for start in range(0, len(lacking), TOGETHER):
            some = list(lacking)[start : start + TOGETHER]
            with torch.no_grad():
                seen = self.vlm.see([lacking[name] for name in some])
            self.looked += len(some)
            for name, one in zip(some, seen, strict=True):
                found[name] = self._put(name, one)
        return [found[name] for name in names]

    def recall(self, name: str, frames: int) -> Any:  # noqa: ANN401 - what `see` gives
        """What was seen of so many frames with this `clip_hash`; None where nothing was."""
        if name in self._kept:
            self._kept.move_to_end(name)
            return self._kept[name]
        flat = None if self.store is None else self.store.get(name)
        if flat is None:
            return None
        return self._remember(name, torch.from_numpy(flat).unflatten(0, (frames, -1)))

    def _put(self, name: str, seen: Any) -> Any:  # noqa: ANN401
        if isinstance(seen, Tensor):
            seen = seen.detach().clone()  # not a view that would hold its neighbours
            if self.store is not None:
                self.store.put(name, seen.flatten(0, 1).float().cpu().numpy())
        return self._remember(name, seen)

    def _remember(self, name: str, seen: Any) -> Any:  # noqa: ANN401
        self._kept[name] = seen
        self._bytes += _size(seen)
        while self.store is not None and self._bytes > self.memory and len(self._kept) > 1:
            _, old = self._kept.popitem(last=False)
            self._bytes -= _size(old)
        return seen


def _size(seen: Any) -> int:  # noqa: ANN401
    return seen.nbytes if isinstance(seen, Tensor) else 0
