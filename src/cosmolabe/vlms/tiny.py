"""The small model: PaliGemma 2's own classes, a word a number, made to be trained on one core."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors.torch import save_file
from torch import Tensor, nn

from cosmolabe.core.record import read_json
from cosmolabe.core.vlm import VlmPart
from cosmolabe.nets.eyes import untrained
from cosmolabe.nets.pretrained import read_tensors
from cosmolabe.nets.vlm_paligemma import FAMILY, PaliGemma, build
from cosmolabe.nets.vlm_tokens import WordTokens, words_of
from cosmolabe.nets.vlm_torch import Seen

VISION = {"hidden": 96, "mlp": 192, "layers": 3, "heads": 4}
LANGUAGE = {"hidden": 128, "mlp": 256, "layers": 3, "heads": 4}
WEIGHTS, CONFIG, WORDS = "model.safetensors", "tiny.json", "words.json"
MARKS = "marks"
BUNDLED = Path(__file__).parent / "weights" / "tiny"
"""The trained model of the package, with its recipe and its certificate."""
SCHEMA = 1
SIZES = {
    "image": (8, 1024), "patch": (1, 256), "fold": (1, 16), "marks": (0, 4096),
    "seed": (0, (1 << 63) - 1),
}  # fmt: skip
"""Least and most of what a folder may say of its model; ours, far above what is small."""
PART_SIZES = {"hidden": (2, 4096), "mlp": (1, 16384), "layers": (1, 64), "heads": (1, 64)}


class TinyVlm(PaliGemma):
    """A PaliGemma that knows how it was built, so that it can be written down."""

    made: dict[str, Any]

    def __init__(self, name: str, module: nn.Module, tokens: Any, fold: int = 1) -> None:  # noqa: ANN401
        super().__init__(name, module, tokens)
        self.fold = fold
        patches, width, _ = self._per_frame
        self._per_frame = (patches, width, patches // fold**2)

    @property
    def told(self) -> dict[str, Any]:
        """As PaliGemma's, with how patches are folded."""
        return {**super().told, "fold": self.fold, "marks": self.marks is not None}

    @property
    def marks(self) -> Tensor | None:
        """What is added to each token of each frame, (frame, token, hidden), where anything is."""
        model: Any = self.module
        return getattr(model.model.multi_modal_projector, MARKS, None)

    def project(
        self, features: Float[Tensor, "frame token width"]
    ) -> Float[Tensor, "frame folded hidden"]:
        """`fold` x `fold` neighbouring patches as one wider one, then the linear layer."""
        if self.fold == 1:
            return super().project(features)
        return super().project(folded(features, self.fold))

    def _projected(self, seen: Seen) -> tuple[list[Tensor], list[int]]:
        """Each clip's projection once, marked with its frames' places in the clip."""
        projected, place = super()._projected(seen)
        if self.marks is None:
            return projected, place
        last = len(self.marks) - 1
        return [
            part + self.marks[torch.linspace(0, last, len(part)).round().long()]
            for part in projected
        ], place

    def save(self, folder: str | Path) -> None:
        """Weights as safetensors, sizes and words as JSON."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        weights = {
            name: p.detach().cpu().contiguous() for name, p in self.module.named_parameters()
        }
        save_file(weights, folder / WEIGHTS)
        self.tokens.write(folder / WORDS)
        (folder / CONFIG).write_text(json.dumps({"schema": SCHEMA, **self.made}, indent=1))


def folded(
    features: Float[Tensor, "frame token width"], fold: int
) -> Float[Tensor, "frame folded wider"]:
    """Squares of neighbouring patches side by side: fewer tokens, as in SmolVLM's connector."""
    side = round(features.shape[1] ** 0.5)
    rows = features.unflatten(1, (side // fold, fold, side // fold, fold))
    return rows.transpose(2, 3).flatten(1, 2).flatten(2)


def build_tiny(
    words: Sequence[str],
    *,
    image: int = 96,
    patch: int = 16,
    vision: dict[str, int] = VISION,
    language: dict[str, int] = LANGUAGE,
    fold: int = 1,
    marks: int = 0,
    seed: int = 0,
) -> TinyVlm:
    """An untrained model that knows these words and no others (`nets.vlm_tokens.words_of`).

    A word it was not given is refused by name wherever it comes up. `vision` and `language` hold
    hidden, mlp, layers and heads; `image` is the side of a frame in pixels; `fold` x `fold` patches
    become one token. `marks` frames get a learnt mark each on their tokens, without which a small
    model hardly learns which frame came first; fewer frames take marks evenly, 0 is as in
    PaliGemma.
    """
    return _made(
        WordTokens.of(words), image, patch, dict(vision), dict(language), fold, marks, seed
    )


def load_tiny(folder: str | Path) -> TinyVlm:
    """What `save` wrote; nothing is unpickled."""
    folder = Path(folder)
    for name in (CONFIG, WORDS, WEIGHTS):
        if not (folder / name).is_file():
            raise ValueError(f"no tiny model in {folder}: it lacks {name}")
    made = _told_sizes(folder / CONFIG)
    tokens, tensors = WordTokens.read(folder / WORDS), read_tensors(folder / WEIGHTS)
    with torch.device("meta"):  # what the file claims costs nothing until its weights say the same
        _check_weights(_made(tokens, **made), tensors, folder / WEIGHTS)
    vlm = _made(tokens, **made)
    own = dict(vlm.module.named_parameters())
    with torch.no_grad():
        for name, tensor in tensors.items():
            own[name].copy_(tensor)
    return vlm


def _told_sizes(path: Path) -> dict[str, Any]:
    """What `build_tiny` takes, out of a file that anyone may have written."""
    told = read_json(path)
    if not isinstance(told, dict) or told.pop("schema", None) != SCHEMA:
        raise ValueError(f"{path}: not a tiny model of schema {SCHEMA}")
    told: dict[str, Any] = {"fold": 1, "marks": 0, "seed": 0, **told}
    _check_sizes(told, {**SIZES, "vision": None, "language": None}, path)
    for part in ("vision", "language"):
        mine = told[part]
        _check_sizes(mine, PART_SIZES, f"{path}, {part}")
        if mine["hidden"] % (2 * mine["heads"]):
            raise ValueError(
                f"{path}, {part}: hidden is an even number for each of its heads; got "
                f"{mine['hidden']} and {mine['heads']}"
            )
    if told["patch"] > told["image"]:
        raise ValueError(f"{path}: a patch is no larger than the image; got {told['patch']}")
    return told


def _check_sizes(
    told: Any,  # noqa: ANN401 - any JSON
    sizes: Mapping[str, tuple[int, int] | None],
    where: str | Path,
) -> None:
    if not isinstance(told, dict) or set(told) != set(sizes):
        raise ValueError(f"{where}: expected {sorted(sizes)}; got {str(told)[:80]}")
    for name, limits in sizes.items():
        value = told[name]
        if limits is not None and not (type(value) is int and limits[0] <= value <= limits[1]):
            raise ValueError(
                f"{where}: {name} is a whole number, {limits[0]} to {limits[1]}; got {value!r:.60}"
            )


def _check_weights(vlm: TinyVlm, tensors: Mapping[str, Tensor], path: Path) -> None:
    own = dict(vlm.module.named_parameters())
    if set(own) != set(tensors) or any(own[n].shape != t.shape for n, t in tensors.items()):
        raise ValueError(f"{path}: weights of another net than {CONFIG} tells of")
    for name, tensor in tensors.items():
        if not tensor.is_floating_point() or not torch.isfinite(tensor).all():
            raise ValueError(f"{path}: '{name}' holds what is no finite number")


def _made(
    tokens: WordTokens,
    image: int,
    patch: int,
    vision: dict[str, int],
    language: dict[str, int],
    fold: int = 1,
    marks: int = 0,
    seed: int = 0,
) -> TinyVlm:
    if fold < 1 or image % (patch * fold):
        raise ValueError(
            f"a frame's side is a multiple of its folded patches; got {image}, {patch} x {fold}"
        )
    net = untrained(
        lambda: build(
            {"image_size": image, "patch_size": patch, **_sizes(vision)},
            {
                **_sizes(language),
                "num_key_value_heads": language["heads"],
                "head_dim": language["hidden"] // language["heads"],
                "query_pre_attn_scalar": language["hidden"] // language["heads"],
                "vocab_size": len(tokens),
                "pad_token_id": tokens.pad,
                "bos_token_id": tokens.bos,
                "eos_token_id": tokens.eos,
                "attn_logit_softcapping": None,  # tanh of every pair of tokens would cost the most
            },
            tokens.image,
        ),
        seed,
    )
    if fold > 1:
        wide = vision["hidden"] * fold**2
        model: Any = net.model
        model.multi_modal_projector.linear = untrained(
            lambda: nn.Linear(wide, language["hidden"]), seed
        )
    vlm = TinyVlm("tiny", net, tokens, fold)
    if marks:
        blank = torch.zeros(marks, vlm.per_frame[2], language["hidden"])
        model: Any = net.model
        model.multi_modal_projector.register_parameter(MARKS, nn.Parameter(blank))
    vlm.made = {
        "image": image,
        "patch": patch,
        "vision": dict(vision),
        "language": dict(language),
        "fold": fold,
        "marks": marks,
        "seed": seed,
    }
    return vlm


def _sizes(part: dict[str, int]) -> dict[str, int]:
    return {
        "hidden_size": part["hidden"],
        "intermediate_size": part["mlp"],
        "num_hidden_layers": part["layers"],
        "num_attention_heads": part["heads"],
    }


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "cpu",
    dtype: str = "float32",
) -> TinyVlm:
    """The bundled model, or that of a folder that `save` wrote; `random` an untrained one."""
    if size:
        raise ValueError(f"tiny has no sizes by name; got {size!r}. build_tiny takes sizes")
    if dtype != "float32":
        raise ValueError(f"tiny runs in float32; got {dtype!r}")
    vlm = build_tiny(FEW_WORDS) if random and source is None else load_tiny(source or BUNDLED)
    vlm.module.to(device)
    return vlm


FEW_WORDS = words_of(
    [
        "What is the character doing?",
        "Is the character moving right? Answer yes or no",
        "moving up, moving down, moving left, jumping, staying still",
    ]
)
"""Of an untrained model."""

VLM = VlmPart(
    "tiny",
    "PaliGemma 2's classes at a millionth of their size, trained here.",
    load,
    licence="Apache-2.0",
    family=FAMILY,
)
