"""Questions as a model is taught them: (what is seen, prompts, answers) of a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.question import AskedClip, Question
from cosmolabe.core.vlm import Vlm
from cosmolabe.data.frame_choice import frame_choice
from cosmolabe.nets.feature_store import clip_hash
from cosmolabe.nets.vlm_features import TOGETHER, Features

IGNORED = -100


class Lessons:
    """A dataset of question numbers; `collate` makes a batch of them."""

    def __init__(
        self,
        vlm: Vlm,
        clips: Mapping[str, AskedClip],
        questions: Sequence[Question],
        order: Int[np.ndarray, " asked"],
        frames: str,
        features: Features | None,
    ) -> None:
        """`features`: where the tower stands still; None where it trains and looks each time."""
        lost = sorted({q.clip for q in questions} - set(clips))
        if lost:
            raise ValueError(f"questions about clips that are not there: {lost[:4]}")
        self.vlm, self.questions, self.order, self.features = vlm, questions, order, features
        self.clips, self.choice = clips, frame_choice(frames)
        self.names, self.lengths = {}, {}
        for clip in dict.fromkeys(question.clip for question in questions):
            pictures = self.pictures(clip)
            self.names[clip], self.lengths[clip] = clip_hash(pictures), len(pictures)

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, place: int) -> int:
        return int(self.order[place])

    @property
    def data(self) -> str:
        """Fingerprint of what is asked, of what is shown, and of the order."""
        asked = [[q.id, q.text, q.answer, self.names[q.clip]] for q in self.questions]
        return fingerprint(asked, self.order.tolist())

    def pictures(self, clip: str) -> UInt8[np.ndarray, "frame height width 3"]:
        """The frames that are shown of a clip."""
        return self.choice.of(self.clips[clip].frames)

    def collate(self, numbers: Sequence[int]) -> dict[str, Any]:
        """What `Answering.forward` takes; `labels` only tell how many tokens are learnt."""
        asked = [self.questions[number] for number in numbers]
        shown = {question.clip: None for question in asked}
        seen = dict(zip(shown, self._seen(list(shown)), strict=True))
        return {
            "seen": [seen[question.clip] for question in asked],
            "prompts": [question.text for question in asked],
            "answers": [question.answer for question in asked],
            "labels": learnt(self.vlm, [question.answer for question in asked]),
        }

    def _seen(self, clips: Sequence[str]) -> list[Any]:
        """What was seen of clips; their pictures where the tower has to look each time."""
        if self.features is None:
            return [self.pictures(clip) for clip in clips]
        known = [self.features.recall(self.names[clip], self.lengths[clip]) for clip in clips]
        fresh = [clip for clip, one in zip(clips, known, strict=True) if one is None]
        looked = iter(self.features.see([self.pictures(clip) for clip in fresh]))
        return [next(looked) if one is None else one for one in known]

    def look_ahead(self, tell: Any = None) -> None:  # noqa: ANN401 - called with (done, all)
        """Let the tower see every clip that will be asked about, each once."""
        if self.features is None:
            return
        names = list(dict.fromkeys(self.questions[number].clip for number in self.order))
        for start in range(0, len(names), TOGETHER):
            self._seen(names[start : start + TOGETHER])
            if tell is not None:
                tell(min(start + TOGETHER, len(names)), len(names))


def learnt(vlm: Vlm, answers: Sequence[str]) -> Int[Tensor, "answer token"]:
    """Tokens that each answer teaches, its end included, filled up with what is ignored."""
    ids = getattr(vlm, "answer_ids", None)
    rows = [[1] if ids is None else ids(answer) for answer in answers]
    found = torch.full((len(rows), max(map(len, rows))), IGNORED)
    for number, row in enumerate(rows):
        found[number, : len(row)] = torch.tensor(row)
    return found


class Answering(nn.Module):
    """A model as trainers call it: keyword batches in, a loss out."""

    accepts_loss_kwargs = True
    """Means over tokens are taken over the whole accumulated batch, on all devices."""

    def __init__(self, vlm: Vlm) -> None:
        super().__init__()
        self.vlm = vlm
        self.module = vlm.module

    def forward(
        self,
        seen: Sequence[Any],
        prompts: Sequence[str],
        answers: Sequence[str],
        labels: Int[Tensor, "answer token"] | None = None,
        num_items_in_batch: Tensor | int | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Minus log p a token; with `num_items_in_batch` this part's share of that mean."""
        loss = self.vlm.loss(_looked(self.vlm, seen), prompts, answers)
        if labels is not None and num_items_in_batch is not None:
            loss = loss * (labels != IGNORED).sum() / num_items_in_batch
        return {"loss": loss}


def _looked(vlm: Vlm, seen: Sequence[Any]) -> list[Any]:
    """Pictures through the tower, each clip once; what was seen before stays as it is."""
    pictures = {id(one): one for one in seen if isinstance(one, np.ndarray)}
    fresh = vlm.see(list(pictures.values())) if pictures else []
    looked = dict(zip(pictures, fresh, strict=True))
    return [looked.get(id(one), one) for one in seen]
