"""Teaches a vision tower to see where things are, before any language is learnt.

From scratch, questions alone never teach a small tower to look (reference/universe §7). True states
say of each picture what stands where; heads that are thrown away afterwards read it off the tower's
tokens: each token for its own patch, and the mean of all tokens for the whole picture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from cosmolabe.core.fields import ALIVE, FIELDS_START, GAME_FIELDS, KINDS, X, Y
from cosmolabe.core.manifest import Manifest

BINS = 24
"""Places along a side, and headings round a turn."""
OFFSETS = 8
"""Places along a side of a patch."""
FINE = 8
"""Places along a side of the part of a picture that one projected token stands for."""
SOFT = 0.8
"""Bins: how far a place spreads over its neighbours."""
ROTATION = FIELDS_START + list(GAME_FIELDS).index("rotation")
GROUNDED = FIELDS_START + list(GAME_FIELDS).index("on_ground")
DIRECTION = FIELDS_START + list(GAME_FIELDS).index("direction")
UNKNOWN = -1


@dataclass(frozen=True)
class Sights:
    """What truly stands in each picture; NaN and -1 where a picture does not say."""

    places: Float[np.ndarray, "picture kind axis"]
    """Of each kind of which one entity is alive, shares of the picture; which of many would be
    anybody's guess."""
    counts: Float[np.ndarray, "picture kind"]
    """Entities of each kind that are alive, log(1 + n)."""
    cover: Float[np.ndarray, "picture kind row column"]
    """1 where the middle of an entity of the kind lies in the patch."""
    heading: Float[np.ndarray, " picture"]
    """Of the player, in turns."""
    grounded: Float[np.ndarray, " picture"]
    facing: Int[np.ndarray, " picture"]
    """Of the player: 0 up, 1 right, 2 down, 3 left."""
    character: Int[np.ndarray, " picture"]
    """Number of the player's character."""
    within: Float[np.ndarray, "picture axis"]
    """Where the player stands in its patch, shares of the patch."""
    named: Int[np.ndarray, "picture row column"]
    """Number of the character whose middle lies in the patch."""
    game: Int[np.ndarray, " picture"]

    def __len__(self) -> int:
        return len(self.game)

    @staticmethod
    def joined(parts: Sequence["Sights"]) -> "Sights":
        """Pictures of several episodes, one after another."""
        return Sights(
            **{
                f.name: np.concatenate([getattr(part, f.name) for part in parts])
                for f in fields(Sights)
            }
        )


def sights_of(
    manifest: Manifest,
    states: Float[np.ndarray, "picture slot state"],
    characters: Mapping[int, int],
    game: int,
    cells: int,
) -> Sights:
    """What states say of their pictures; `cells` patches along a side.

    `characters` gives the number of the character that a slot wears.
    """
    num = len(states)
    places = np.full((num, len(KINDS), 2), np.nan, np.float32)
    counts = np.zeros((num, len(KINDS)), np.float32)
    cover = np.zeros((num, len(KINDS), cells, cells), np.float32)
    alive = states[..., ALIVE] > 0.5
    at = states[..., [X, Y]]
    alive &= ((at >= 0) & (at < 1)).all(-1)
    rows = np.arange(num)
    for number, kind in enumerate(KINDS):
        slots = [i for i, slot in enumerate(manifest.slots) if slot.kind == kind]
        if not slots:
            continue
        here = alive[:, slots]
        counts[:, number] = np.log1p(here.sum(1))
        some = here.sum(1) == 1
        places[some, number] = at[rows, np.array(slots)[here.argmax(1)]][some]
        picture, which = np.nonzero(here)
        place = (at[picture, np.array(slots)[which]] * cells).astype(int)
        cover[picture, number, place[:, 1], place[:, 0]] = 1
    named = np.full((num, cells, cells), UNKNOWN)
    for slot, number in characters.items():
        here = np.flatnonzero(alive[:, slot])
        place = (at[here, slot] * cells).astype(int)
        named[here, place[:, 1], place[:, 0]] = number
    player = next((i for i, slot in enumerate(manifest.slots) if slot.controllable), 0)
    known = alive[:, player]
    return Sights(
        places, counts, cover,
        _field(manifest, states, player, "rotation", ROTATION, known),
        _field(manifest, states, player, "on_ground", GROUNDED, known),
        _whole(_field(manifest, states, player, "direction", DIRECTION, known)),
        np.where(known, characters[player], UNKNOWN),
        np.where(known[:, None], at[:, player] * cells % 1.0, np.nan).astype(np.float32),
        named, np.full(num, game),
    )  # fmt: skip


def _field(
    manifest: Manifest, states: np.ndarray, slot: int, name: str, column: int, known: np.ndarray
) -> Float[np.ndarray, " picture"]:
    if name not in manifest.fields:
        return np.full(len(states), np.nan, np.float32)
    return np.where(known, states[:, slot, column], np.nan).astype(np.float32)


def _whole(values: np.ndarray) -> Int[np.ndarray, " picture"]:
    return np.where(np.isnan(values), UNKNOWN, np.nan_to_num(values)).astype(np.int64)


class SightHeads(nn.Module):
    """Linear readings of a tower's tokens: of each its own patch, of their mean the picture.

    What is asked of the player is asked of the token in whose patch it stands.
    """

    def __init__(self, width: int, characters: int, games: int) -> None:
        super().__init__()
        self.parts = (len(KINDS), characters, 2 * OFFSETS, BINS, 1, 4)
        self.each = nn.Linear(width, sum(self.parts))
        self.whole = nn.Linear(width, len(KINDS) * (2 * BINS + 1) + games)
        self.games = games

    def forward(
        self, tokens: Float[Tensor, "picture token width"], sights: Sights
    ) -> dict[str, Tensor]:
        """Each loss by name; `right`-something are shares, without a gradient."""
        cover = torch.from_numpy(sights.cover).flatten(2).transpose(1, 2)
        kinds, *rest = self.each(tokens).split(self.parts, -1)
        names = torch.from_numpy(sights.named).flatten(1)
        spot = names >= 0
        named, offset, heading, grounded, facing = (part[spot] for part in rest)
        truth, picture = names[spot], spot.nonzero()[:, 0]
        where, counts, game = self.whole(tokens.mean(1)).split(
            [len(KINDS) * 2 * BINS, len(KINDS), self.games], 1
        )
        where, places = where.unflatten(1, (len(KINDS), 2, BINS)), torch.from_numpy(sights.places)
        within = torch.from_numpy(sights.within)[picture]
        mine = truth == torch.from_numpy(sights.character)[picture]
        within = torch.where(mine[:, None], within, torch.nan)
        own = torch.where(mine, torch.from_numpy(sights.heading)[picture], torch.nan)
        feet = torch.where(mine, torch.from_numpy(sights.grounded)[picture], torch.nan)
        face = torch.where(mine, torch.from_numpy(sights.facing)[picture], UNKNOWN)
        losses = {
            "cover": 4 * functional.binary_cross_entropy_with_logits(
                kinds, cover, pos_weight=cover.new_tensor(8.0)
            ),
            "spot": _class(kinds[..., KINDS.index("player")], _spot(sights)),
            "named": _mean(functional.cross_entropy(named, truth, reduction="none")),
            "within": _placed(offset.unflatten(1, (2, OFFSETS)), within),
            "heading": _turned(heading, own),
            "grounded": _known(grounded[:, 0], feet),
            "facing": _class(facing, face),
            "places": _placed(where, places),
            "counts": functional.smooth_l1_loss(counts, torch.from_numpy(sights.counts)),
            "game": functional.cross_entropy(game, torch.from_numpy(sights.game)),
        }  # fmt: skip
        with torch.no_grad():
            true = places[:, KINDS.index("player")]
            found = (where[:, KINDS.index("player")].argmax(-1) + 0.5) / BINS
            off = (found - true).abs()[~true.isnan()]
            losses["right_place"] = _mean((off < 1.5 / BINS).float())
            losses["right_named"] = _mean((named.argmax(-1) == truth).float())
            player = kinds[..., KINDS.index("player")].argmax(1)
            known = torch.from_numpy(sights.character) >= 0
            there = cover[torch.arange(len(cover)), player, KINDS.index("player")]
            losses["right_patch"] = _mean(there[known])
        return losses


class ProjectedHeads(nn.Module):
    """Linear readings of what the projector hands to the language model, fewer tokens a picture.

    What is not linear there, words can hardly learn to ask for; so the projector learns it here.
    """

    def __init__(self, width: int, characters: int, tokens: int) -> None:
        super().__init__()
        self.side = round(tokens**0.5)
        self.parts = (len(KINDS), len(KINDS) * 2 * FINE, characters, BINS, 1, 4)
        self.each = nn.Linear(width, sum(self.parts))

    def forward(
        self, projected: Float[Tensor, "picture token width"], sights: Sights
    ) -> dict[str, Tensor]:
        """Each loss by name, and the share of players whose place is right to the finest step."""
        kinds, places, names, headings, grounded, facing = self.each(projected).split(
            self.parts, -1
        )
        cover = torch.from_numpy(sights.cover)
        wide = cover.shape[-1] // self.side
        there = functional.max_pool2d(cover, wide).flatten(2).transpose(1, 2)
        at = torch.from_numpy(sights.places) * self.side
        known = ~at.isnan().any(-1)
        cell = at.nan_to_num().floor().clamp(0, self.side - 1)
        token = (cell[..., 1] * self.side + cell[..., 0]).long()
        fine = ((at - cell) * FINE).nan_to_num().long().clamp(0, FINE - 1)
        places = places.unflatten(-1, (len(KINDS), 2, FINE))
        picture, kind = known.nonzero(as_tuple=True)
        said, true = places[picture, token[picture, kind], kind], fine[picture, kind]
        of_place = functional.cross_entropy(
            said.flatten(0, 1), true.flatten(), reduction="none"
        ).unflatten(0, (-1, 2))
        players = kind == KINDS.index("player")
        mine, here = picture[players], token[picture[players], kind[players]]
        named = torch.from_numpy(sights.named).float()[:, None]
        who = functional.max_pool2d(named, wide).flatten(1).long()
        losses = {
            "there": 4 * functional.binary_cross_entropy_with_logits(kinds, there),
            "player": _mean(of_place[players].flatten()),
            "places": _mean(of_place[~players].flatten()),
            "named": _class(names.flatten(0, 1), who.flatten()),
            "heading": _turned(headings[mine, here], torch.from_numpy(sights.heading)[mine]),
            "grounded": _known(grounded[mine, here, 0], torch.from_numpy(sights.grounded)[mine]),
            "facing": _class(facing[mine, here], torch.from_numpy(sights.facing)[mine]),
        }
        with torch.no_grad():
            right = (said.argmax(-1) == true).all(-1)[players]
            losses["right_place"] = _mean(right.float())
            shown = who.flatten() >= 0
            found = names.flatten(0, 1).argmax(-1)[shown] == who.flatten()[shown]
            losses["right_named"] = _mean(found.float())
        return losses


PROJECTED = {
    "there": 1.0, "player": 1.5, "places": 0.5, "named": 1.5, "heading": 0.5, "grounded": 0.3,
    "facing": 0.5,
}  # fmt: skip
WEIGHTS = {
    "cover": 1.0, "named": 1.0, "within": 0.5, "heading": 0.5, "grounded": 0.3, "facing": 0.5,
    "places": 0.3, "counts": 0.3, "game": 0.3,
}  # fmt: skip


SHARP = {**WEIGHTS, "spot": 1.0, "within": 1.0, "named": 1.5, "heading": 1.0, "places": 0.0}
"""Of the second leg: who is the player, and where exactly."""


def total(losses: dict[str, Tensor], weights: dict[str, float] = WEIGHTS) -> Tensor:
    """The weighted sum that is minimised."""
    found = sum(weight * losses[name] for name, weight in weights.items())
    assert isinstance(found, Tensor)
    return found


def _spot(sights: Sights) -> Int[Tensor, " picture"]:
    """The player's patch."""
    cover = torch.from_numpy(sights.cover[:, KINDS.index("player")]).flatten(1)
    return torch.where(cover.sum(1) == 1, cover.argmax(1), UNKNOWN)


def _mean(values: Tensor) -> Tensor:
    return values.mean() if len(values) else values.sum()


def _spread(values: Tensor, bins: int, wraps: bool) -> Tensor:
    """Soft bins about values in 0..1."""
    middle = (torch.arange(bins) + 0.5) / bins
    off = (values[..., None] - middle).abs()
    off = torch.minimum(off, 1 - off) if wraps else off
    return (-0.5 * (off * bins / SOFT) ** 2).softmax(-1)


def _placed(where: Tensor, places: Tensor) -> Tensor:
    known = ~places.isnan()
    soft = _spread(places[known], where.shape[-1], wraps=False)
    return _mean(-(soft * where[known].log_softmax(-1)).sum(-1))


def _turned(heading: Tensor, true: Tensor) -> Tensor:
    known = ~true.isnan()
    soft = _spread(true[known] % 1.0, BINS, wraps=True)
    return _mean(-(soft * heading[known].log_softmax(-1)).sum(-1))


def _known(found: Tensor, true: Tensor) -> Tensor:
    known = ~true.isnan()
    loss = functional.binary_cross_entropy_with_logits
    return _mean(loss(found[known], (true[known] > 0.5).float(), reduction="none"))


def _class(found: Tensor, true: Tensor) -> Tensor:
    known = true >= 0
    return _mean(functional.cross_entropy(found[known], true[known], reduction="none"))
