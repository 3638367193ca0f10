"""The physics judge, loaded: an eye, heads, a protocol with both in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core import parts
from cosmolabe.core.clip import Clip
from cosmolabe.core.encoder import Encoder
from cosmolabe.data.video import find_inputs
from cosmolabe.judges.physics.bundle import Bundle, load_bundle
from cosmolabe.judges.physics.frames import clips_of
from cosmolabe.judges.physics.inputs import score_inputs
from cosmolabe.judges.physics.protocol import PhysicsProtocol
from cosmolabe.judges.physics.scoring import Verdict, judge_watched, violation
from cosmolabe.judges.physics.watching import Watched, watch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Physics:
    """The judge, ready to look at videos."""

    encoder: Encoder
    bundle: Bundle
    protocol: PhysicsProtocol
    """With the eye's key and the heads' hash in it."""

    @classmethod
    def load(
        cls,
        head: str | Path = "",
        *,
        protocol: str = "",
        weights: str | Path | None = None,
        encoder: str = "",
        choices: Mapping[str, Any] | None = None,
        **more: Any,  # noqa: ANN401 - device and precision of the eye
    ) -> "Physics":
        """A head by name or folder with the eye it reads; `weights` says where the eye's lie.

        `encoder` ("name" or "name:size") is refused unless it gives the very features the head was
        trained on; `choices` change the protocol (`motion_floor=0`, say) and so its fingerprint.
        """
        bundle = load_bundle(head)
        name, _, size = encoder.partition(":") if encoder else (bundle.encoder, "", bundle.size)
        part = parts.load("encoders", name)
        return cls.of(part.load(weights, size=size, **more), bundle, protocol, choices)

    @classmethod
    def of(
        cls,
        encoder: Encoder,
        bundle: Bundle,
        protocol: str = "",
        choices: Mapping[str, Any] | None = None,
    ) -> "Physics":
        """Of an eye and heads that are already there; they must belong together."""
        trained = bundle.fitted.encoder
        if bundle.fitted.width != encoder.width or trained not in ("", encoder.name, encoder.key):
            raise ValueError(
                f"the head '{bundle.name}' reads {bundle.fitted.width} features of "
                f"{bundle.encoder} (key {trained or 'unknown'}), not the {encoder.width} of "
                f"{encoder.name} (key {encoder.key}); fit a head for this eye, or give the eye it "
                "was made for"
            )
        bound = bundle.bound(protocol, encoder.key, encoder.canvas)
        return cls(
            encoder, bundle, bound.bound(encoder.key, encoder.canvas, bound.head, **(choices or {}))
        )

    def watch(self, clips: Iterable[Clip]) -> Watched:
        """Features and motion of one video's windows."""
        return watch(clips, self.encoder, self.protocol)

    def judge(self, clips: Iterable[Clip]) -> Verdict:
        """The verdict on one video, given as windows of the protocol's sampling and canvas."""
        return judge_watched(self.watch(clips), self.bundle, self.protocol)

    def judge_frames(
        self, frames: UInt8[np.ndarray, "time height width 3"], fps: float | int
    ) -> Verdict:
        """The verdict on RGB frames in memory, shown at `fps`."""
        return self.judge(clips_of(frames, fps, self.protocol))

    def score(
        self,
        paths: Sequence[Path | str] | Path | str,
        **more: Any,  # noqa: ANN401 - as `score_inputs`
    ) -> list[dict[str, Any]]:
        """One row for each video of files, folders, patterns and manifests."""
        given = [paths] if isinstance(paths, (str, Path)) else list(paths)
        found = find_inputs(given)
        rows: dict[int, dict[str, Any]] = dict(score_inputs(self, found, **more))
        return [rows[place] for place in range(len(found))]

    def violation(self, pixels: "Tensor") -> "Tensor":
        """Raw scores (batch,) of pixels (batch, time, 3, height, width) in 0..1 on the grid's rate.

        The gradient goes through heads and eye to the pixels. Nothing abstains here: see
        `bench.physics.reward` for a reward that standing still cannot raise.
        """
        features = self.encoder.features(pixels)
        seconds = pixels.shape[1] / self.protocol.sampling.fps / features.shape[1]
        return violation(features, self.bundle, self.protocol, seconds)
