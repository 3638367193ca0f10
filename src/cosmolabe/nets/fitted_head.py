"""A trained physics head, or several of them: scores with an interval, and what lies on disk."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.stats import t as student
from torch import Tensor

from cosmolabe.core.record import read_json, versions, write_json
from cosmolabe.nets.checkpoints import check_tensors, read_tensors, write_tensors
from cosmolabe.nets.head import Head, build_head
from cosmolabe.nets.head_recipe import HeadRecipe

SCHEMA = 1
CONFIG, TENSORS = "head.json", "head.safetensors"
SMALL = 1 << 22
"""Numbers for which room is made, whatever lies in the file."""
CHUNK = 16
"""Clips scored in one go, padded to so many, so that company and order change nothing."""


@dataclass
class FittedHead:
    """Heads trained alike on features of one width; one is the usual case."""

    heads: Sequence[Head]
    recipe: HeadRecipe
    width: int
    seed: int = 42
    steps: int = 0
    encoder: str = ""
    """Key of the encoder whose features it reads."""
    data: str = ""
    """Fingerprint of the features and labels it learnt from."""
    versions: Mapping[str, str] = field(default_factory=versions)

    def __post_init__(self) -> None:
        for head in self.heads:
            head.eval().requires_grad_(False)

    def forward(
        self,
        features: Float[Tensor, "batch time width"],
        mask: Bool[Tensor, "batch time"] | None = None,
    ) -> Float[Tensor, "batch member"]:
        """Raw score of each member, with a gradient to the features."""
        return torch.stack([head(features, mask) for head in self.heads], -1)

    def score(self, clips: Sequence[np.ndarray]) -> Float[np.ndarray, " clip"]:
        """Raw scores, the mean over members; each clip is (time, width) and scored by itself."""
        return self.member_scores(clips).mean(-1)

    def member_scores(self, clips: Sequence[np.ndarray]) -> Float[np.ndarray, "clip member"]:
        """Raw score of each clip by each member; NaN where a feature is not a number."""
        out = np.full((len(clips), len(self.heads)), np.nan)
        prepared: dict[int, list[tuple[int, Tensor, Tensor]]] = {}
        for place, clip in enumerate(clips):
            rows, mask = self.heads[0].prepare(self._tensor(clip, place))
            prepared.setdefault(rows.shape[1], []).append((place, rows[0], mask[0]))
        with torch.inference_mode():
            for group in prepared.values():
                for start in range(0, len(group), CHUNK):
                    self._score_chunk(group[start : start + CHUNK], out)
        return out

    def interval(self, members: Float[np.ndarray, "clip member"]) -> Float[np.ndarray, "2 clip"]:
        """Where the score of one more head trained alike would fall, 95 of 100 times.

        Student's t over the members; NaN for fewer than two. It knows of chance in the training
        alone, not of what the features cannot show.
        """
        count = members.shape[1]
        if count < 2:
            return np.full((2, len(members)), np.nan)
        half = student.ppf(0.975, count - 1) * members.std(1, ddof=1) * np.sqrt(1 + 1 / count)
        return np.stack([members.mean(1) - half, members.mean(1) + half])

    def save(self, folder: Path | str) -> None:
        """Write `head.json` and `head.safetensors`, each whole or not at all."""
        folder = Path(folder)
        write_tensors(folder / TENSORS, self._tensors())
        config = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("heads", "recipe")
        }
        write_json(folder / CONFIG, {"schema": SCHEMA, "recipe": asdict(self.recipe), **config})

    @classmethod
    def load(cls, folder: Path | str) -> "FittedHead":
        """What `save` wrote; whatever does not fit is refused, and nothing is unpickled."""
        folder = Path(folder)
        content = read_json(folder / CONFIG)
        kinds = {"width": int, "seed": int, "steps": int, "encoder": str, "data": str}
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise ValueError(f"{folder / CONFIG}: not a physics head of schema {SCHEMA}")
        wrong = [k for k, kind in kinds.items() if type(content.get(k)) is not kind]
        wrong += [k for k in ("recipe", "versions") if not isinstance(content.get(k), dict)]
        if wrong or not 0 < content["width"] <= 1 << 16:
            raise ValueError(f"{folder / CONFIG}: missing or ill-typed entries {wrong or 'width'}")
        recipe = recipe_from(content["recipe"], folder / CONFIG)
        tensors = read_tensors(folder / TENSORS)
        _refuse_more_than_lies_there(folder / CONFIG, recipe, content["width"], tensors)
        with torch.random.fork_rng(devices=[]):  # a start that is overwritten; nobody's dice move
            heads = [build_head(content["width"], recipe) for _ in range(recipe.members)]
        fitted = cls(heads, recipe, versions=content["versions"], **{k: content[k] for k in kinds})
        check_tensors(folder / TENSORS, tensors, fitted._tensors())
        for number, head in enumerate(heads):
            mine = f"{number}."
            head.load_state_dict(
                {
                    k.removeprefix(mine): torch.from_numpy(v.copy())
                    for k, v in tensors.items()
                    if k.startswith(mine)
                }
            )
        return fitted

    def _tensors(self) -> dict[str, np.ndarray]:
        return {
            f"{number}.{name}": value.detach().cpu().numpy()
            for number, head in enumerate(self.heads)
            for name, value in head.state_dict().items()
        }

    def _tensor(self, clip: np.ndarray, place: int) -> Tensor:
        clip = np.asarray(clip)
        if clip.ndim != 2 or clip.shape[1] != self.width or not len(clip):
            raise ValueError(
                f"clip {place}: features are (time, {self.width}) with at least one time; got "
                f"{clip.shape}"
            )
        return torch.from_numpy(np.array(clip, np.float32, order="C"))[None]

    def _score_chunk(self, group: list[tuple[int, Tensor, Tensor]], out: np.ndarray) -> None:
        short = CHUNK - len(group)
        rows = torch.stack([row for _, row, _ in group] + [torch.zeros_like(group[0][1])] * short)
        mask = torch.stack([mask for _, _, mask in group] + [group[0][2]] * short)
        places = [place for place, _, _ in group]
        for number, head in enumerate(self.heads):
            out[places, number] = head.score(rows, mask)[: len(group)].double().numpy()


def _refuse_more_than_lies_there(
    path: Path, recipe: HeadRecipe, width: int, tensors: Mapping[str, np.ndarray]
) -> None:
    """A config must not make room for heads that its tensors do not fill."""
    held = sum(tensor.size for tensor in tensors.values())
    most = max(held, SMALL)
    wanted = most + 1
    if max(recipe.hidden, recipe.members) <= most:
        with torch.device("meta"):  # shapes alone, no memory
            one = build_head(width, recipe)
        wanted = sum(value.numel() for value in one.state_dict().values()) * recipe.members
    if wanted > most:
        raise ValueError(
            f"{path}: {recipe.members} heads of {recipe.hidden} hidden features on {width} need "
            f"more numbers than the {held} that lie beside it; fetch the head again"
        )


def recipe_from(content: Mapping[str, Any], path: Path) -> HeadRecipe:
    """A recipe as JSON holds it; unknown dials and impossible values are refused."""
    known = {f.name: f for f in fields(HeadRecipe)}
    unknown = sorted(set(content) - set(known))
    if unknown:
        raise ValueError(f"{path}: no dials of a head's recipe: {unknown}")
    like = asdict(HeadRecipe())
    given: dict[str, Any] = {}
    for name, value in content.items():
        kind = type(like[name])
        fits = isinstance(value, list) if kind is tuple else type(value) in (kind, *_whole(kind))
        if not fits:
            raise ValueError(f"{path}: '{name}' is {json.dumps(value)[:60]}, not {kind.__name__}")
        given[name] = _as_tuple(value)
    try:
        return HeadRecipe(**given)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _whole(kind: type) -> tuple[type, ...]:
    return (int,) if kind is float else ()


def _as_tuple(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return tuple(_as_tuple(item) for item in value) if isinstance(value, list) else value
