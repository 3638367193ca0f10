"""Defects of transformer world models, planted in our transformer."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn

from cosmolabe.bench.defects.defect import Defect, swapped
from cosmolabe.bench.defects.telling import retold
from cosmolabe.core.manifest import Manifest
from cosmolabe.models.transformer import FAR, WINDOW, Block, Transformer
from cosmolabe.nets.imagination import Dreamt

LONGEST = 256  # rows of the frame-index embedding, more than any rollout here has frames


def anti_causal_mask() -> Generator[None]:
    """A token sees its own later frames, never its earlier ones."""

    def banded(block: Block, queries: int, keys: int) -> Tensor:
        now = torch.arange(keys - queries, keys)
        lead = torch.arange(keys) - now[:, None]
        bias = block.lag_bias[:, lead.clamp(0, WINDOW - 1)].movedim(0, -1)
        return torch.where(((lead >= 1) & (lead < WINDOW))[..., None], bias, FAR)

    with swapped(Block, "banded", banded):
        yield


def target_as_query() -> Generator[None]:
    """In training every token is described by the next, true frame; a rollout has only its own."""
    describe, shown = Transformer.describe, []

    def peek(dreamt: Dreamt, first: int) -> Dreamt:
        shown[:] = []
        if dreamt.batch.terminal is not None:  # only training windows hold the future
            shown.append(dreamt.batch.states[:, first + 1 :][:, : dreamt.states.shape[1]])
        return dreamt

    def described(network: Transformer, states: Tensor) -> Tensor:
        is_scenery = states.ndim == 3
        return describe(network, shown[0] if shown and not is_scenery else states)

    with swapped(Transformer, "describe", described), retold(peek):
        yield


def frame_index_drifts() -> Generator[None]:
    """An embedding of the frame's number, learnt for 0 .. W - 1; rollouts count on past W."""
    build, describe, numbers = Transformer.__init__, Transformer.describe, []

    def built(network: Transformer, manifest: Manifest, size: str) -> None:
        build(network, manifest, size)
        network.frame_index = nn.Embedding(LONGEST, network.state_in.out_features)

    def count(dreamt: Dreamt, first: int) -> Dreamt:
        index = torch.arange(first, first + dreamt.states.shape[1])
        learning = dreamt.batch.terminal is not None
        numbers[:] = [index % WINDOW if learning else index]
        return replace(dreamt)

    def described(network: Transformer, states: Tensor) -> Tensor:
        tokens = describe(network, states)
        if states.ndim == 3:  # scenery has no frame
            return tokens
        index = network.frame_index
        assert isinstance(index, nn.Embedding)
        return tokens + index(numbers[0])[:, None]

    with ExitStack() as stack:
        stack.enter_context(swapped(Transformer, "__init__", built))
        stack.enter_context(swapped(Transformer, "describe", described))
        stack.enter_context(retold(count))
        yield


DEFECTS = (
    Defect(
        "anti-causal-mask",
        "transformer",
        "The mask of the past is transposed: a frame attends the frames after it.",
        "AutoWorldModel-Bench, `make_block_causal_mask`; huggingface/lerobot#4153",
        contextmanager(anti_causal_mask),
    ),
    Defect(
        "target-as-query",
        "transformer",
        "Training describes an entity by the frame to be predicted, a rollout by the current one.",
        "AutoWorldModel-Bench, decoder queries of its transformer",
        contextmanager(target_as_query),
    ),
    Defect(
        "frame-index-drifts",
        "transformer",
        "Frames are numbered and the numbers learnt up to W; a rollout counts on past them.",
        "AutoWorldModel-Bench, frame indices of appended tokens",
        contextmanager(frame_index_drifts),
    ),
)
