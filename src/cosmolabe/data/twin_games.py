"""Groups of twins from the games: an episode, a window of it, a look, and what goes wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.seeds import generator
from cosmolabe.data.collect import collect
from cosmolabe.data.damage import Damage, applicable
from cosmolabe.data.held_out import HeldOut, held_out
from cosmolabe.data.replay import ReplayStore
from cosmolabe.data.starts import Starts
from cosmolabe.data.store import open_store
from cosmolabe.data.twin_rows import Drawn, Order, TwinRecipe
from cosmolabe.data.twins import Twins, draw_twins, twins
from cosmolabe.engine.game import TERMINATED, Appearance, Game
from cosmolabe.engine.render import draw_frames

BLIND = ("wrong_action", "action_delay")
"""Kinds that nobody sees without the actions."""
LONGEST_EPISODE = 900  # ticks
PLAYED_ON = 400  # ticks of a scenario: its script lasts less than one second
WINDOWS_TRIED = 24  # for lawful motion, the one with most of it is taken
NEAR = 12  # ticks: a clip of a scenario begins before this, so that the scenario is in it
A_JUMP = 0.08  # of the world in one tick: a respawn, or somebody leaving by one side
PLAYERS = {"heuristic": 3, "random": 1}
SPLIT_SHARES = {"train": 1, "val": 0.25, "test": 0.5}
SALT = "twins"


def prepare(folder: Path, recipe: TwinRecipe, games: tuple[str, ...], seed: int) -> None:
    """Play the episodes of every game, one store each, where they are not there yet."""
    for game in games:
        for split, share in SPLIT_SHARES.items():
            if recipe.groups.get(split):
                collect(
                    game, folder / game / split, max(4, round(recipe.episodes * share)),
                    split=split, players=PLAYERS, salt=f"{SALT}-{seed}",
                    max_ticks=LONGEST_EPISODE,
                )  # fmt: skip


def prepare_scenarios(folder: Path, starts: Mapping[str, Starts], seed: int) -> None:
    """The same of scenarios, four episodes of each, for the scenes that are held out."""
    for game, given in starts.items():
        collect(
            game, folder / game / "scenario", 4 * len(given.names), split="scenario",
            starts=Continued(game, given), salt=f"{SALT}-{seed}", max_ticks=LONGEST_EPISODE,
        )  # fmt: skip


@dataclass(frozen=True)
class Continued:
    """Scenarios after whose script the heuristic player plays on, long enough for a clip."""

    game: str
    starts: Starts

    @property
    def names(self) -> tuple[str, ...]:
        """Of the scenarios, in turn."""
        return self.starts.names

    @property
    def fingerprint(self) -> str:
        """Of the starts and of how they go on."""
        return f"{self.starts.fingerprint}, continued to {PLAYED_ON}"

    def episode(
        self, salt: str, index: int
    ) -> tuple[Float[np.ndarray, " world"], UInt8[np.ndarray, " tick"]]:
        """World vector at the start, the script's actions and those that follow them."""
        game = _game(self.game)
        begun, script = self.starts.episode(salt, index)
        constants, actions = game.default_parameters(), list(script)
        luck = generator("played on", salt, self.game, index).random((PLAYED_ON, 2))
        world = begun.copy()
        for tick in range(PLAYED_ON):
            if world[TERMINATED] != 0:
                break
            if tick == len(actions):
                actions.append(game.decide(world, constants, luck[tick]))
            game.step(world, int(actions[tick]), constants)
        return begun, np.array(actions, np.uint8)


def draw_group(folder: Path, recipe: TwinRecipe, order: Order, attempt: int) -> Drawn | None:
    """One group, or None where this attempt met an episode too short, or a kind unknown there."""
    games = recipe.games or parts.names("games")
    draw = order.draw("game", attempt)
    name = games[order.draw("which game", attempt // 4).integers(len(games))]
    store = _chosen_store(folder, name, order)
    game, kept = store.part, held_out()
    number = _chosen_episode(store, order, draw)
    ticks = np.round(np.arange(recipe.frames) * game.manifest.fps / order.fps).astype(int)
    start = int(store.lengths[number]) - int(ticks[-1]) - 1
    if start < 1:
        return None
    look = _look(game, kept, "look" in order.unseen, draw)
    scene = f"{name}/{store.scenario(number) or 'play'}"
    if order.role == "lawful":
        return _lawful(store, number, ticks, look, scene, recipe.size, draw)
    kinds = _kinds(game, kept, "kind" in order.unseen)
    kind = kinds[order.draw("kind", attempt // 4).integers(len(kinds))]
    first = int(draw.integers(min(start, NEAR) if store.scenario(number) else start))
    onset = first + int(ticks[order.onset])
    luck = int(draw.integers(1 << 31))
    shown = slice(first, first + int(ticks[-1]) + 1)

    def pair(size: float) -> Twins | None:
        made = twins(store, number, Damage(kind, size, onset, seed=luck))
        if len(made) < shown.stop:
            return None
        swapped = made.swapped and _swapped(game, kept, look, made.damage.entity, order, luck)
        return replace(made, appearance=look, swapped=swapped)

    whole = pair(1.0)
    if whole is None:
        return None
    true = _still_pictures(draw_twins(game, whole, shown, recipe.size)[0], ticks)

    def hurt(size: float) -> UInt8[np.ndarray, "time height width 3"]:
        made = whole if size == 1.0 else pair(size)
        if made is None:  # a smaller damage may end the episode sooner
            return true
        return _still_pictures(draw_twins(game, made, shown, recipe.size)[1], ticks)

    return Drawn(true, scene, hurt, kind, whole.damage.entity, look.theme, look.characters)


def _still_pictures(frames: np.ndarray, ticks: np.ndarray) -> np.ndarray:
    """The pictures of some ticks, their sides even, as codecs want them."""
    height, width = (length - length % 2 for length in frames.shape[1:3])
    return np.ascontiguousarray(frames[ticks, :height, :width])


def _lawful(
    store: ReplayStore, number: int, ticks: np.ndarray, look: Appearance, scene: str, size: int,
    draw: np.random.Generator,
) -> Drawn:  # fmt: skip
    """The window with the most sudden lawful change: births and deaths, respawns, collisions."""
    episode, length = store.episode(number), int(ticks[-1]) + 1
    places, alive = episode.states[..., [X, Y]], episode.states[..., ALIVE] > 0.5
    born = (alive[1:] != alive[:-1]).sum(1)
    step = np.abs(np.diff(places, axis=0)).max(-1)
    jumped = ((step > A_JUMP) & alive[1:] & alive[:-1]).sum(1)
    turned = np.zeros(len(born), int)
    moves = np.diff(places, axis=0)
    turned[1:] = ((moves[1:] * moves[:-1] < 0).any(-1) & alive[2:] & alive[1:-1]).sum(1)
    starts = draw.integers(0, len(episode) - length + 1, WINDOWS_TRIED)
    what = {"births and deaths": born, "jumps": jumped, "bounces": turned}
    wanted = list(what)[draw.integers(len(what))]
    sums = [what[wanted][s : s + length - 1].sum() for s in starts]
    start = int(starts[int(np.argmax(sums))])
    part = slice(start, start + length)
    frames = draw_frames(store.part, episode.states[part], episode.globals[part], look, size)
    tags = tuple(name for name, count in what.items() if count[start : start + length - 1].any())
    return Drawn(
        _still_pictures(frames, ticks), scene, theme=look.theme, characters=look.characters,
        tags=tags,
    )  # fmt: skip


def _kinds(game: Game, kept: HeldOut, unseen: bool) -> list[str]:
    return [
        kind
        for kind, entities in applicable(game).items()
        if entities and kind not in BLIND and (kind in kept.damages) == unseen
    ]


def _look(game: Game, kept: HeldOut, unseen: bool, draw: np.random.Generator) -> Appearance:
    """A theme and characters that may be trained on, or ones of which neither may."""
    may = kept.trainable_themes(game), kept.trainable_characters(game)
    every = tuple(theme.name for theme in game.themes), game.characters
    themes, characters = (
        tuple(name for name in all_ if name not in ours) if unseen else ours
        for all_, ours in zip(every, may, strict=True)
    )
    roles = len(game.roles)
    worn = [*draw.permutation(characters or every[1])]
    others = [*draw.permutation([name for name in every[1] if name not in worn])]
    if not unseen:
        others = worn
    chosen = (worn + others * roles)[:roles]
    theme = (themes or every[0])[draw.integers(len(themes or every[0]))]
    return Appearance(tuple(str(name) for name in chosen), theme, int(draw.integers(1 << 32)))


def _swapped(
    game: Game, kept: HeldOut, look: Appearance, entity: str, order: Order, luck: int
) -> Appearance:
    """The look after a swap; whom training may not see, it does not see there either."""
    allowed = kept.trainable_characters(game) if not order.unseen else game.characters
    others = [name for name in allowed if name not in look.characters] or [
        name for name in allowed if name != look.characters[game.roles.index(entity)]
    ]
    worn = list(look.characters)
    worn[game.roles.index(entity)] = others[luck % len(others)]
    return replace(look, characters=tuple(worn))


def _chosen_store(folder: Path, game: str, order: Order) -> ReplayStore:
    scenarios = folder / game / "scenario"
    if "scene" in order.unseen and scenarios.is_dir():
        return _store(scenarios)
    return _store(folder / game / order.split)


def _chosen_episode(store: ReplayStore, order: Order, draw: np.random.Generator) -> int:
    scenario = bool(store.record.get("scenarios"))
    numbers = store.split("scenario" if scenario else order.split)
    if scenario:
        kept = held_out().scenes
        numbers = [n for n in numbers if f"{store.game}/{store.scenario(int(n))}" in kept]
    return int(numbers[draw.integers(len(numbers))])


@cache
def _game(name: str) -> Game:
    return parts.load("games", name)


@cache
def _store(folder: Path) -> ReplayStore:
    store = open_store(folder)
    assert isinstance(store, ReplayStore)
    return store
