"""Where a vision-language model of `transformers` comes from: folder, pinned revision, nowhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from cosmolabe.core.errors import in_words
from cosmolabe.core.record import read_json
from cosmolabe.core.vlm import Family
from cosmolabe.nets.eyes import untrained
from cosmolabe.nets.pretrained import (
    HubWeights,
    find_weights,
    from_folder,
    missing,
    require,
    size_of,
)
from cosmolabe.nets.vlm_tokens import HubTokens, byte_tokens

FILES = ("*.safetensors", "*.json", "*.model", "*.txt", "*.jinja")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
Model = TypeVar("Model")


@dataclass(frozen=True)
class Size:
    """One size of a family."""

    repo: str
    revision: str = "main"
    """The commit; 'main' where none is known to us: a key holds the hash of the weights."""
    kind: str = ""
    """Where a family is several classes: which."""


@dataclass(frozen=True)
class Source:
    """The sizes of a family, the first the default, and how its nets are built."""

    name: str
    kinds: Mapping[str, str]
    """`model_type` in a config.json, and the class in transformers."""
    sizes: Mapping[str, Size]
    special: tuple[str, ...]
    """Special tokens of an untrained model: padding, end of text, and the family's own."""
    ends: tuple[str, ...]
    """What ends a turn."""
    small: Callable[[Any, str, HubTokens], Any]
    """small(transformers, model_type, tokens): the config of a small untrained net."""
    note: str = ""
    """What stands in the way of fetching."""

    def weights(self, size: str) -> HubWeights:
        """On the hub."""
        known = self.sizes[size or next(iter(self.sizes))]
        return HubWeights(known.repo, known.revision, FILES, self.note)

    def load(
        self,
        wrap: Callable[[nn.Module, HubTokens, str], Model],
        source: str | Path | None,
        size: str,
        random: bool,
        device: str,
        dtype: str,
    ) -> Model:
        """The model of a folder, of the hub's pinned revision, or a small untrained one.

        On the device "meta" no weights are read: a net of that shape, to be counted.
        """
        known = size_of(self.name, self.sizes, size)
        check_dtype(device, dtype)
        if random:
            kind = known.kind or next(iter(self.kinds))
            tokens = byte_tokens(self.special, self.ends)
            config = self.small(require("transformers", "vlm"), kind, tokens)
            net = untrained(lambda: self._maker(kind)._from_config(config))
        else:
            folder = find_weights(self.weights(size), source)
            kind, config = read_config(folder, self.kinds)
            tokens = read_tokens(folder, self.ends)
            if device == "meta":
                with torch.device("meta"):
                    net = self._maker(kind)._from_config(config)
            else:
                net = from_folder(self._maker(kind), folder, kind)
        net = net.to(DTYPES[dtype]).eval()
        return wrap(net if device == "meta" else net.to(device), tokens, kind)

    def loader(self, wrap: Callable[[nn.Module, HubTokens, str], Model]) -> Callable[..., Model]:
        """`load` as `core.vlm.VlmPart` describes it."""

        def load(
            source: str | Path | None = None,
            *,
            size: str = "",
            random: bool = False,
            device: str = "cpu",
            dtype: str = "float32",
        ) -> Model:
            return self.load(wrap, source, size, random, device, dtype)

        return load

    def _maker(self, kind: str) -> Any:  # noqa: ANN401 - a class of transformers
        return getattr(require("transformers", "vlm"), self.kinds[kind])

    @property
    def told(self) -> dict[str, Any]:
        """What a `VlmPart` says of sizes and weights."""
        return {
            "weights": str(self.weights("")),
            "sizes": tuple(self.sizes),
            "revisions": {name: str(self.weights(name)) for name in self.sizes},
            "missing": lambda size: missing(self.weights(size)),
        }


def check_dtype(device: str, dtype: str) -> None:
    """Refuse a dtype that is not known or would crawl."""
    if dtype not in DTYPES:
        raise ValueError(f"dtype is one of {list(DTYPES)}; got {dtype!r}")
    if dtype == "bfloat16" and device == "cpu":
        raise ValueError("bfloat16 on a CPU is about 200 times slower; leave dtype at 'float32'")


def read_config(folder: Path, kinds: Mapping[str, str]) -> tuple[str, Any]:
    """The `model_type` of a folder and its config; one of another family is refused."""
    raw = read_json(folder / "config.json")
    kind = raw.get("model_type") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"{folder / 'config.json'}: is of {kind!r}, expected {sorted(kinds)}")
    config = require("transformers", "vlm").AutoConfig.from_pretrained(
        str(folder), local_files_only=True, trust_remote_code=False
    )
    return kind, config


def read_tokens(folder: Path, ends: tuple[str, ...]) -> HubTokens:
    """The tokenizer of a folder; none of its code runs."""
    maker = require("transformers", "vlm").AutoTokenizer
    try:
        found = maker.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # a stranger's file can make the reader stumble in any way
        said = in_words(error).splitlines()[0]
        raise ValueError(f"{folder}: no tokenizer can be read ({said})") from None
    return HubTokens(found, ends)


def family_of(projector: str, vision: str, language: str) -> Family:
    """Patterns of names, the head with the language model."""
    return Family(projector, vision, rf"{language}|lm_head\.")
