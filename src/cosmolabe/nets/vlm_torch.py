"""What is the same for every vision-language model that runs here: rows, loss, likelihood, words.

A family says how its tower, its projector and its language model are called, how a prompt is laid
out and who sees whom in it; this file asks the questions. Sequences are filled up on the right,
with positions and masks of our own making, so padding, order and batch size change nothing.
"""

import contextlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.vlm import Family
from cosmolabe.nets.eyes import weights_hash
from cosmolabe.nets.pretrained import require
from cosmolabe.nets.vlm_rows import Batch, Row, batched

VERSION = 1
"""Of rows, prompts and pixels; part of every key."""
FRAMES_AT_ONCE = 32
ROWS_AT_ONCE = 32
IGNORED = -100
Seen = Sequence[Tensor] | Tensor
"""Of each clip what the tower made of it, (frames, tokens, width); one tensor where all have the
same number of frames."""


@dataclass(frozen=True)
class Layout:
    """A prompt as numbers, the answer left out."""

    pictures: list[int]
    """Up to the last picture; what all questions about a clip share."""
    question: list[int]


@dataclass(frozen=True)
class _Asked:
    rows: list[Row]
    clips: list[int]
    """Which clip a row is about."""
    where: list[tuple[int, list[list[int]]]]
    """Of each question: its row, and of each answer where in the row its tokens are asked for."""


class TorchVlm:
    """A model of `transformers` with a tower, a projector and a language model; see `core.vlm`."""

    bidirectional = False
    """Does every token before the answer see every other? Then questions cannot share a row."""

    def __init__(self, name: str, module: nn.Module, tokens: Any, family: Family) -> None:  # noqa: ANN401
        self.name, self.module, self.tokens = name, module, tokens
        self.family: Family | None = family
        self._group = family.group

    # What a family says.

    def pixels(self, frames: UInt8[np.ndarray, "frame height width 3"]) -> Tensor:
        """Frames as the tower takes them, one item a frame."""
        raise NotImplementedError

    def tower(self, pixels: Tensor) -> Float[Tensor, "frame token width"]:
        """What the tower makes of pixels."""
        raise NotImplementedError

    def project(self, features: Float[Tensor, "frame token width"]) -> Tensor:
        """Features as the language model takes them: (frame, picture token, hidden)."""
        raise NotImplementedError

    def lay_out(self, frames: int, prompt: str) -> Layout:
        """The prompt around so many frames."""
        raise NotImplementedError

    def embed(self, ids: Int[Tensor, "row place"]) -> Float[Tensor, "row place hidden"]:
        """Words as the language model takes them."""
        return self.module.get_input_embeddings()(ids)  # ty: ignore[not-callable]

    def read(
        self,
        embedded: Float[Tensor, "row place hidden"],
        batch: Batch,
        deep: Sequence[Tensor] = (),
        cache: Any = None,  # noqa: ANN401 - of transformers
    ) -> Float[Tensor, "row place hidden"]:
        """The language model's last states.

        `deep`: what is added at picture tokens after the first layers, (token, hidden) each, for
        families that do so. `cache` is read and grows.
        """
        raise NotImplementedError

    def logits(self, states: Float[Tensor, "*any hidden"]) -> Float[Tensor, "*any vocabulary"]:
        """What comes next, of states."""
        raise NotImplementedError

    @property
    def told(self) -> dict[str, Any]:
        """Every choice but the weights, for fingerprints."""
        return {}

    @property
    def picture(self) -> int:
        """The number that stands where a picture's tokens go."""
        raise NotImplementedError

    @property
    def per_frame(self) -> tuple[int, int, int]:
        """Tokens and width of what the tower gives a frame, and the tokens the words get of it."""
        raise NotImplementedError

    # What is the same for all.

    @property
    def key(self) -> str:
        """Changes with any weight and any choice."""
        return fingerprint(self.name, self.told, self._hash(self.module), VERSION)

    @property
    def seen_key(self) -> str:
        """Of what `see` gives: changes with the tower's weights and the pixels' choices alone."""
        tower = nn.ParameterDict(
            {
                name.replace(".", "/"): parameter
                for name, parameter in self.module.named_parameters()
                if self._group(name) == "vision"
            }
        )
        return fingerprint(self.name, self.told, self._hash(tower), VERSION)

    def _hash(self, net: nn.Module) -> str:
        """Of the weights; a net that is only there to be counted has none."""
        return "" if self.device.type == "meta" else weights_hash(net)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.module.parameters()).device

    def see(self, clips: Sequence[np.ndarray]) -> list[Tensor]:
        """Of each clip (frames, tokens, width); see `core.vlm`."""
        for number, clip in enumerate(clips):
            if clip.dtype != np.uint8 or clip.ndim != 4 or clip.shape[-1] != 3 or not len(clip):
                raise ValueError(
                    f"clip {number}: frames are uint8 (frame, height, width, 3), 0 to 255, at "
                    f"least one; got {clip.dtype} {clip.shape}"
                )
        pixels = [self.pixels(clip) for clip in clips]
        counts = [len(part) for part in pixels]
        with self._tower_gradient():
            parts = torch.cat(pixels).to(self.device).split(FRAMES_AT_ONCE)
            found = torch.cat([self.tower(part) for part in parts])
        return list(found.split(counts))

    def _tower_gradient(self) -> contextlib.AbstractContextManager[Any]:
        trains = any(
            p.requires_grad
            for name, p in self.module.named_parameters()
            if self._group(name) == "vision"
        )
        return torch.set_grad_enabled(torch.is_grad_enabled() and trains)

    def loss(self, seen: Seen, prompts: Sequence[str], answers: Sequence[str]) -> Tensor:
        """Mean of minus log p over the batch's answer tokens, the end included."""
        self._check(seen, prompts, answers)
        found, asked = self._ask(seen, prompts, [[answer] for answer in answers])
        wanted = [place for _, ways in asked for way in ways for place in way]
        return -found[torch.tensor(wanted, device=found.device)].mean()

    def log_likelihood(
        self, seen: Seen, prompts: Sequence[str], answers: Sequence[str]
    ) -> Float[Tensor, " question"]:
        """Log p of each answer, the end included, with a gradient.

        `loss` weighs tokens alike; with this a caller weighs questions.
        """
        self._check(seen, prompts, answers)
        found, asked = self._ask(seen, prompts, [[answer] for answer in answers])
        return torch.stack([found[way].sum() for _, ways in asked for way in ways])

    def likelihood(
        self, seen: Seen, prompts: Sequence[str], labels: Sequence[Sequence[str]]
    ) -> list[Float[np.ndarray, " label"]]:
        """Log p of each label as the whole answer, the end included."""
        self._check(seen, prompts, labels)
        with torch.no_grad():
            found, asked = self._ask(seen, prompts, labels)
        told = found.double().cpu().numpy()
        return [np.array([told[way].sum() for way in ways]) for _, ways in asked]

    def generate(self, seen: Seen, prompts: Sequence[str], tokens: int = 16) -> list[str]:
        """Greedy answers of at most `tokens` tokens, as text."""
        self._check(seen, prompts, prompts)
        said: list[list[int]] = []
        with torch.no_grad():
            pictures, place = self._projected(seen)
            for start in range(0, len(prompts), ROWS_AT_ONCE):
                some = range(start, min(start + ROWS_AT_ONCE, len(prompts)))
                laid = [self.lay_out(len(seen[i]), prompts[i]) for i in some]
                rows = [Row(part.pictures + part.question) for part in laid]
                said += self._say(rows, [pictures[place[i]] for i in some], tokens)
        return [self.tokens.text([t for t in ids if t not in self.ends]).strip() for ids in said]

    def _say(self, rows: list[Row], pictures: list[Tensor], tokens: int) -> list[list[int]]:
        """Greedy tokens after each row, up to the first that ends an answer."""
        batch = self.batch(rows).to(self.device)
        cache = require("transformers", "vlm").DynamicCache()
        row = torch.arange(len(rows), device=self.device)
        last = torch.tensor([len(r) - 1 for r in rows], device=self.device)
        state = self.states(batch, pictures, cache)[row, last]
        position, real, before = batch.positions[:, row, last], batch.real, batch.before
        said: list[list[int]] = [[] for _ in rows]
        for number in range(tokens):
            token = self.logits(state).argmax(-1)
            for own, one in zip(said, token.tolist(), strict=True):
                if not own or own[-1] not in self.ends:
                    own.append(one)
            if number + 1 == tokens or all(own[-1] in self.ends for own in said):
                break
            position = position + 1
            new = torch.ones_like(real[:, :1])
            real, before = torch.cat([real, new], 1), torch.cat([before, position[0, :, None]], 1)
            none = batch.asked[:0]
            step = Batch(token[:, None], real[:, None], position[..., None], before, new, new, none)
            state = self.read(self.embed(step.ids), step, (), cache)[:, 0]
        return said

    @property
    def ends(self) -> tuple[int, ...]:
        """Numbers that end an answer; the first is the one that is taught and asked for."""
        return (self.tokens.eos,)

    def answer_ids(self, answer: str) -> list[int]:
        """An answer as numbers, the end included."""
        return [*self.tokens.ids(self.tokens.said(answer)), self.ends[0]]

    def _check(self, seen: Seen, prompts: Sequence[str], others: Sequence[Any]) -> None:
        if not len(seen) == len(prompts) == len(others) or not len(prompts):
            raise ValueError(
                f"as many clips as prompts and answers, at least one; got {len(seen)}, "
                f"{len(prompts)} and {len(others)}"
            )
        tokens, width, _ = self.per_frame
        for number, clip in enumerate(seen):
            if clip.ndim != 3 or tuple(clip.shape[1:]) != (tokens, width) or not len(clip):
                raise ValueError(
                    f"clip {number}: what {self.name} saw of a frame is {tokens} tokens of {width} "
                    f"numbers; got {tuple(clip.shape)}. It is what `see` gives"
                )

    def _ask(
        self, seen: Seen, prompts: Sequence[str], answers: Sequence[Sequence[str]]
    ) -> tuple[Float[Tensor, " asked"], list[tuple[int, list[list[int]]]]]:
        """Log p of every token asked for, and of each question where its answers' tokens are."""
        asked = self._rows(seen, prompts, answers)
        projected, place = self._projected(seen)
        found, first = [], []
        for start in range(0, len(asked.rows), ROWS_AT_ONCE):
            rows = asked.rows[start : start + ROWS_AT_ONCE]
            clips = asked.clips[start : start + ROWS_AT_ONCE]
            batch = self.batch(rows).to(self.device)
            pictures = [projected[place[clip]] for clip in clips]
            found.append(self.log_p(batch, pictures))
        total = 0
        for row in asked.rows:
            first.append(total)
            total += len(row.asked)
        where = [
            (row, [[first[row] + at for at in way] for way in ways]) for row, ways in asked.where
        ]
        return torch.cat(found), where

    def _rows(self, seen: Seen, prompts: Sequence[str], answers: Sequence[Sequence[str]]) -> _Asked:
        rows: list[Row] = []
        clips: list[int] = []
        where, known = [], {}
        for number, (clip, prompt, ways) in enumerate(zip(seen, prompts, answers, strict=True)):
            laid = self.lay_out(len(clip), prompt)
            row = None if self.bidirectional else known.get(identity(clip))
            if row is None:
                row = known[identity(clip)] = len(rows)
                stem = laid.pictures + (laid.question if self.bidirectional else [])
                rows.append(Row(stem))
                clips.append(number)
            end = rows[row].end
            if not self.bidirectional:
                end = rows[row].follow(end, laid.question)
            asked = [rows[row].ask(end, self._answer(way)) for way in ways]
            where.append((row, asked))
        return _Asked(rows, clips, where)

    def _answer(self, answer: str) -> list[int]:
        found = self.answer_ids(answer)
        if not answer.strip() or len(found) < 2:
            raise ValueError(f"an answer is at least one token; {answer!r} is none")
        return found

    def batch(self, rows: Sequence[Row], left: bool = False) -> Batch:
        """Rows as tensors, filled up on the right, or on the left."""
        sights = [self.stem_sight(row.stem) for row in rows]
        stems = [self.stem_positions(row.stem) for row in rows]
        return batched(rows, sights, stems, self.tokens.pad, left)

    def stem_sight(self, stem: list[int]) -> Bool[Tensor, "stem stem"]:
        """Who sees whom in a stem."""
        whole = torch.ones(len(stem), len(stem), dtype=torch.bool)
        return whole if self.bidirectional else whole.tril()

    def stem_positions(self, stem: list[int]) -> Int[Tensor, "axis stem"]:
        """From 0 on; a family may count otherwise."""
        return torch.arange(len(stem))[None]

    def _projected(self, seen: Seen) -> tuple[list[Tensor], list[int]]:
        """Each clip's projection once, and which one belongs to each question."""
        known: dict[Any, int] = {}
        once: list[Tensor] = []
        place = []
        for clip in seen:
            if identity(clip) not in known:
                known[identity(clip)] = len(once)
                once.append(clip)
            place.append(known[identity(clip)])
        projected = self.project(torch.cat(once).to(self.device))
        return list(projected.split([len(clip) for clip in once])), place

    def log_p(self, batch: Batch, pictures: Sequence[Tensor]) -> Float[Tensor, " asked"]:
        """Log p of every token that a batch asks for; `pictures` are projections, one a row."""
        states = self.states(batch, pictures)
        row, place, token = batch.asked.T
        if not len(row):
            raise ValueError("no token of an answer in the batch: its loss would be NaN")
        logits = self.logits(states[row, place]).float()
        return logits.log_softmax(-1).gather(-1, token[:, None])[:, 0]

    def states(
        self,
        batch: Batch,
        pictures: Sequence[Tensor],
        cache: Any = None,  # noqa: ANN401 - of transformers
    ) -> Float[Tensor, "row place hidden"]:
        """The language model's last states of a batch; `pictures` are projections, one a row."""
        flat = torch.cat([part.flatten(0, 1) for part in pictures])
        places = (batch.ids == self.picture) & batch.real
        if int(places.sum()) != len(flat):
            raise ValueError(
                f"{int(places.sum())} places for picture tokens in the prompts, but "
                f"{len(flat)} picture tokens"
            )
        embedded = self.embed(torch.where(places, self.tokens.pad, batch.ids))
        main, *deep = flat.to(embedded.dtype).split(embedded.shape[-1], -1)
        embedded = embedded.masked_scatter(places[..., None], main)
        return self.read(embedded, batch, deep, cache)


def identity(clip: Tensor) -> tuple[int, ...]:
    """The same for two views of the same numbers."""
    return (clip.data_ptr(), *clip.shape, *clip.stride())


def additive(sight: Bool[Tensor, "row place seen"], dtype: torch.dtype) -> Tensor:
    """(row, 1, place, seen) to add to attention: 0 where seen, the lowest number elsewhere."""
    lowest = torch.finfo(dtype).min
    return torch.zeros(sight.shape, dtype=dtype, device=sight.device).masked_fill(~sight, lowest)[
        :, None
    ]


def cached(language: Any, cache: Any) -> dict[str, Any]:  # noqa: ANN401 - of transformers
    """The cache under the name that this version of transformers gives it."""
    known = inspect.signature(language.forward).parameters
    name = "cache" if "cache" in known else "past_key_values"
    return {name: cache, "use_cache": cache is not None}


def plain(config: Any) -> Any:  # noqa: ANN401 - a tree of plain values
    """A config without what a version of the library or a machine puts there."""
    drop = ("transformers_version", "dtype", "torch_dtype", "_attn_implementation", "_name_or_path")
    if isinstance(config, dict):
        return {name: plain(value) for name, value in config.items() if name not in drop}
    return [plain(value) for value in config] if isinstance(config, (list, tuple)) else config
