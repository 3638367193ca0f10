"""Why plans made inside a model fail: what candidates seem to bring, and what they truly do.

At some moments of a game played by plans, the first round's candidates are also played in the true
game, under its own luck. Then: are they ranked alike (whole return, and score, lives and progress
apart), is the favourite truly among the best quarter, how much too well does the model think of it,
and how close are the imagined states at the end of the plan, from just these moments.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

from cosmolabe.bench.planning.futures import Dreamer, InsideRules, Moment
from cosmolabe.bench.planning.planners import Plan
from cosmolabe.bench.planning.playing import PlanProtocol
from cosmolabe.bench.planning.returns import PARTS, Frames, gains
from cosmolabe.core.bootstrap import mean_of_known
from cosmolabe.core.fields import ALIVE
from cosmolabe.metrics.alive_f1 import alive_f1
from cosmolabe.metrics.composite import composite
from cosmolabe.metrics.position_l1 import position_l1

SOUND_SHARE = 0.6  # of the true planner's return; below it a model is asked what fails (our choice)
SOUND_RANKS = 0.5  # ours: rank correlation from which an ordering is fit to plan by
LEAST_REACTION = 0.5  # ours: of the true spread
LEAST_SPREAD = 1e-6  # of returns; candidates that all bring the same cannot be ranked


@dataclass(frozen=True)
class Diagnosis:
    """Means over the moments looked at; NaN where there was nothing to tell apart."""

    ranks: float
    """Spearman correlation of imagined and true returns of the same candidates."""
    ranks_of: dict[str, float]
    """The same by part."""
    stakes_of: dict[str, float]
    """Share of moments in which a part truly differs between candidates."""
    top_quarter: float
    """Share of moments whose favourite is truly among the best quarter of the candidates."""
    optimism: float
    """Imagined return of the favourite less its true one."""
    state_score: float
    """Composite of `state/1` at the end of the plan."""
    state_score_still: float
    """The same of states that stay as they are."""
    reaction: float
    """Spread of where the candidates lead the player, imagined over true; 1 is right."""
    moments: int


@dataclass
class Looker:
    """Collects; hand `look` to `play_planned`."""

    dreamer: Dreamer
    protocol: PlanProtocol
    ranks: list[np.ndarray] = field(default_factory=list)
    top: list[np.ndarray] = field(default_factory=list)
    optimism: list[np.ndarray] = field(default_factory=list)
    close: list[np.ndarray] = field(default_factory=list)
    spread: list[np.ndarray] = field(default_factory=list)

    def look(self, moment: Moment, plan: Plan) -> None:
        """Play the candidates of this moment in the true game too."""
        hold, discount = self.protocol.hold, self.protocol.discount
        mine = self.dreamer.futures(moment, plan.looked, hold, 0)[0].frames
        true = InsideRules(0).futures(moment, plan.looked, hold, 0)[0].frames
        shape = plan.looked.shape[:2]
        game = moment.game
        imagined, truly = (
            gains(game, frames, discount).reshape(*shape, -1) for frames in (mine, true)
        )
        self.ranks.append(rank_correlations(imagined, truly))
        favourite = imagined.sum(-1).argmax(1)
        value = truly.sum(-1)
        got = value[np.arange(shape[0]), favourite]
        place = (value > got[:, None] + LEAST_SPREAD).sum(1)
        differs = np.ptp(value, axis=1) > LEAST_SPREAD
        self.top.append(np.where(differs, place < shape[1] / 4, np.nan))
        self.optimism.append(imagined.sum(-1).max(1) - got)
        self.spread.append(np.stack([spread_of(moment, f, shape) for f in (mine, true)], 1))
        still = Frames(mine.states[:, :1], mine.globals[:, :1], mine.over[:, :1])
        self.close.append(
            np.stack([closeness(moment, true, f).reshape(shape).mean(1) for f in (mine, still)], 1)
        )

    def result(self) -> Diagnosis:
        """All moments as one."""
        if not self.ranks:
            raise ValueError("nothing was looked at: protocol.looks is 0")
        ranks = np.concatenate(self.ranks)
        known = {p: mean_of_known(ranks[:, 1 + k]) for k, p in enumerate(PARTS)}
        stakes = {p: float(np.isfinite(ranks[:, 1 + k]).mean()) for k, p in enumerate(PARTS)}
        close, spread = np.concatenate(self.close), np.concatenate(self.spread).mean(0)
        return Diagnosis(
            ranks=mean_of_known(ranks[:, 0]),
            ranks_of=known,
            stakes_of=stakes,
            top_quarter=mean_of_known(np.concatenate(self.top)),
            optimism=mean_of_known(np.concatenate(self.optimism)),
            state_score=mean_of_known(close[:, 0]),
            state_score_still=mean_of_known(close[:, 1]),
            reaction=float(spread[0] / spread[1]) if spread[1] > LEAST_SPREAD else float("nan"),
            moments=len(ranks),
        )


def rank_correlations(
    imagined: Float[np.ndarray, "episode candidate part"],
    truly: Float[np.ndarray, "episode candidate part"],
) -> Float[np.ndarray, "episode one_and_parts"]:
    """Spearman's of the whole return, then of each part.

    NaN where the truth is the same for all candidates; 0 where only what is imagined is.
    """
    both = [np.concatenate([v.sum(-1, keepdims=True), v], -1) for v in (imagined, truly)]
    out = np.full((both[0].shape[0], both[0].shape[2]), np.nan)
    for episode, column in np.ndindex(out.shape):
        mine, true = (v[episode, :, column] for v in both)
        if np.ptp(true) <= LEAST_SPREAD:
            continue
        flat = np.ptp(mine) <= LEAST_SPREAD
        ranks = [rankdata(np.round(v, 9)) for v in (mine, true)]
        out[episode, column] = 0.0 if flat else np.corrcoef(ranks)[0, 1]
    return out


def spread_of(
    moment: Moment, frames: Frames, shape: tuple[int, ...]
) -> Float[np.ndarray, " episode"]:
    """How far apart an episode's candidates leave what the player controls, standard deviation."""
    controlled = [k for k, s in enumerate(moment.game.manifest.slots) if s.controllable]
    places = np.nan_to_num(frames.states[:, -1, controlled, :2]).reshape(*shape, -1)
    return np.clip(places, -1, 2).std(1).mean(-1)


def closeness(moment: Moment, true: Frames, mine: Frames) -> Float[np.ndarray, " row"]:
    """Composite of the last frames, 0 for a row that holds what is no number."""
    masks = moment.game.manifest.masks()
    slots = (masks.valid & masks.mutable)[None]
    there, here = true.states[:, -1], mine.states[:, -1]
    broken = np.asarray(~np.isfinite(here).all((1, 2)))
    here = np.where(broken.reshape(-1, 1, 1), 0.0, here)
    lives = there[..., ALIVE] > 0.5
    gap = position_l1(there[..., :2], here[..., :2], slots & lives, masks.wrap)
    told = composite(gap, alive_f1(lives, here[..., ALIVE] > 0.5, slots))
    return np.where(broken, 0.0, told)


def mechanism(share: float, found: Diagnosis) -> str:
    """In words, what fails where a share is below `SOUND_SHARE`; empty where it is not."""
    if not np.isfinite(share):
        return "the true simulator's planner is not told apart from chance: nothing to share"
    if share >= SOUND_SHARE:
        return ""
    weak = {
        part: rank
        for part, rank in found.ranks_of.items()
        if np.isfinite(rank) and rank < SOUND_RANKS and found.stakes_of[part] >= 0.05
    }
    told = []
    if found.state_score < found.state_score_still:
        told.append(
            f"states at the end of a plan are further off than if nothing moved "
            f"({found.state_score:.3f} against {found.state_score_still:.3f})"
        )
    if found.reaction < LEAST_REACTION:
        told.append(
            f"the player hardly reacts to its actions (its places spread {found.reaction:.0%} "
            f"as far as they should)"
        )
    for part, rank in sorted(weak.items(), key=lambda pair: -found.stakes_of[pair[0]]):
        told.append(
            f"{part} is ranked poorly ({rank:.2f} of 1, at stake in "
            f"{found.stakes_of[part]:.0%} of the moments)"
        )
    if not told and found.optimism > 0.1:
        told.append(
            f"candidates are ranked well ({found.ranks:.2f}), but the best is thought "
            f"{found.optimism:.2f} better than it is: the search finds the model's errors"
        )
    if not told:
        told.append(
            f"candidates are ranked well where it was looked ({found.ranks:.2f}); what is lost is "
            f"lost in rare moments or beyond the plan"
        )
    return "; ".join(told)
