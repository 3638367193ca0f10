"""Play in which actions are held for as long as a clip lasts, so that there is something to ask.

Players seldom hold an action for a second, and what cannot be told from the pictures cannot be
asked about. Here every action is tried from the same state, one whose effect is seen is taken, and
the next follows where it ends: a rollout of three seconds holds three commands. All three judges
can look at what a model makes of them, for the true states are known.
"""

from dataclasses import dataclass

import numpy as np

from cosmolabe.bench.driving import imagine
from cosmolabe.core.episode import Windows
from cosmolabe.core.rollout import Prediction, WorldModel
from cosmolabe.core.seeds import generator, seed_of
from cosmolabe.data.dense import dense, simulated
from cosmolabe.data.players import PLAYERS, let_play
from cosmolabe.data.questions.effects import undisturbed, visible, words_hold
from cosmolabe.data.questions.playing import Play, looks
from cosmolabe.data.questions.protocol import GAME_FPS, ClipProtocol
from cosmolabe.data.questions.wording import our_game, role_words
from cosmolabe.data.rollouts import name_of
from cosmolabe.engine.game import TERMINATED, Appearance, Game
from cosmolabe.judges.vqa.films import Span

WINDOW = 8  # true states given (AutoWorldModel-Bench)
FRAMES = 180
OPENING = 400  # ticks of play at most before the first state
TRIES = 40
LEVELS = 3


@dataclass(frozen=True)
class HeldPlay:
    """True rollouts of one game, all of one length."""

    game: str
    windows: Windows
    looks: tuple[Appearance, ...]
    """How each is drawn: held-out themes, characters that may be trained on."""
    spans: tuple[tuple[Span, ...], ...]
    """Of each, what was commanded and from which state on."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each is called."""
        return tuple(name_of(self.game, self.windows, row) for row in range(len(self.windows)))


def held_play(
    name: str,
    count: int,
    seed: int = 0,
    protocol: ClipProtocol | None = None,
    frames: int = FRAMES,
    window: int = WINDOW,
) -> HeldPlay:
    """`count` rollouts of `frames` states, the first `window` of them played, the rest held.

    Raises:
        ValueError: The game ends too often for rollouts so long, or has no drawing here.
    """
    game = our_game(name)
    if game is None:
        raise ValueError(f"'{name}' is no game of ours; nobody can hold its actions here")
    protocol = protocol or ClipProtocol()
    if window < 2 or frames < window + protocol.ticks:
        raise ValueError(
            f"a clip of {protocol.name} takes {protocol.ticks + 1} ticks after {window} given "
            f"ones; {frames} frames are too few"
        )
    maker = _Maker(game, protocol, frames, seed, window)
    made = [maker.one(number) for number in range(count)]
    return HeldPlay(
        name,
        _windows(game, [rows for rows, _, _ in made], [actions for _, actions, _ in made]),
        tuple(maker.look(number) for number in range(count)),
        tuple(spans for _, _, spans in made),
    )


def imagine_held(
    model: WorldModel, held: HeldPlay, seed: int = 0
) -> tuple[Prediction, tuple[str, ...]]:
    """What a model makes of it after the given states, and per rollout why it cannot be used."""
    return imagine(model, held.windows.context(WINDOW), seed)


class _Maker:
    def __init__(
        self, game: Game, protocol: ClipProtocol, frames: int, seed: int, window: int
    ) -> None:
        self.window = window
        self.game, self.protocol, self.frames, self.seed = game, protocol, frames, seed
        self.constants = game.default_parameters()
        self.taken = np.zeros(len(game.actions), np.int64)

    def look(self, number: int) -> Appearance:
        """One for each rollout."""
        draw = generator("held look", self.game.name, self.seed, number)
        themes, characters = looks(self.game, Play(self.game.name, held_out=True))
        order = [characters[k] for k in draw.permutation(len(characters))]
        told = [bool(role_words(self.game, role)) for role in self.game.roles]
        places = np.where(told, np.cumsum(told) - 1, sum(told))
        worn = tuple(order[place % len(order)] for place in places)
        return Appearance(worn, themes[draw.integers(len(themes))], int(draw.integers(1 << 32)))

    def one(self, number: int) -> tuple[np.ndarray, np.ndarray, tuple[Span, ...]]:
        """(public rows, actions, spans) of a rollout that lasts."""
        for attempt in range(TRIES):
            draw = generator("held play", self.game.name, self.seed, number, attempt)
            made = self._try(draw, number, attempt)
            if made is not None:
                return made
        raise ValueError(
            f"{self.game.name} ended before {self.frames} frames in each of {TRIES} tries; ask for "
            "fewer frames"
        )

    def _try(
        self, draw: np.random.Generator, number: int, attempt: int
    ) -> tuple[np.ndarray, np.ndarray, tuple[Span, ...]] | None:
        world = self.game.new_world(
            seed_of("held world", self.game.name, self.seed, number, attempt),
            level=1 + int(draw.integers(LEVELS)),
        )[None].copy()
        self._play(world, 1 + int(draw.integers(OPENING)), draw)
        start = world.copy()
        opening = self._play(world, self.window - 1, draw)
        if world[0, TERMINATED] != 0 or opening.shape[1] < self.window - 1:
            return None
        rows, _ = simulated(self.game, start, opening, self.constants)
        parts, actions, spans = [rows[0]], [opening[0]], []
        first, each = self.window - 1, self.protocol.ticks + 1
        while first < self.frames - 1:
            left = self.frames - 1 - first
            ticks = left if left < 2 * each else each
            if ticks < each:
                raise AssertionError(ticks)
            public, finals, lengths = self._futures(world, ticks)
            chosen, why = self._chosen(public, lengths, draw)
            if chosen < 0:
                return None
            parts.append(public[chosen, 1:])
            actions.append(np.full(ticks, chosen, np.uint8))
            word = self.game.words[self.game.actions[chosen]]
            spans.append(Span(first, word, why))
            world = finals[chosen : chosen + 1].copy()
            first += ticks
        done = np.concatenate(actions)
        return np.concatenate(parts), np.append(done, done[-1]), tuple(spans)

    def _chosen(
        self, public: np.ndarray, lengths: np.ndarray, draw: np.random.Generator
    ) -> tuple[int, str]:
        """The action held next, and why it cannot be asked about; -1 where all end the game."""
        cut = public[:, : self.protocol.ticks + 1 : self.protocol.stride]
        whole = lengths == public.shape[1]
        seen = visible(self.game, cut[None])[0] & undisturbed(cut)
        seconds = self.protocol.stride / GAME_FPS
        for action in range(len(cut)):
            seen[action] &= bool(words_hold(self.game, action, cut[action], seconds))
        for good, why in ((whole & seen, ""), (whole, "its effect cannot be seen")):
            if good.any():
                ties = draw.permutation(np.flatnonzero(good))
                chosen = int(ties[np.argmin(self.taken[ties])])
                self.taken[chosen] += not why
                return chosen, why
        return -1, ""

    def _futures(self, world: np.ndarray, ticks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count = len(self.game.actions)
        worlds = np.repeat(world, count, 0)
        held = np.repeat(np.arange(count, dtype=np.uint8)[:, None], ticks, 1)
        public, lengths = simulated(self.game, worlds, held, self.constants)
        return public, worlds, lengths

    def _play(self, world: np.ndarray, ticks: int, draw: np.random.Generator) -> np.ndarray:
        """Let a player act on `world`, in place; gives the actions taken."""
        actions, lengths = np.zeros((1, ticks), np.uint8), np.zeros(1, np.int64)
        luck = draw.integers(1 << 32, size=(1, 2), dtype=np.uint64)
        keyframes = np.zeros((1, self.game.num_world))
        let_play(
            PLAYERS["heuristic"], self.game, world, self.constants, luck, actions, keyframes,
            ticks, lengths,
        )  # fmt: skip
        return actions[:, : max(int(lengths[0]) - 1, 0)]


def _windows(game: Game, rows: list[np.ndarray], actions: list[np.ndarray]) -> Windows:
    told = [dense(game, one) for one in rows]
    table = np.array(game.action_table, np.float32)
    count = len(rows)
    return Windows(
        registry=np.tile(game.manifest.registry(), (count, 1, 1)),
        states=np.stack([states for states, _, _ in told]),
        actions=np.stack([table[one] for one in actions]),
        globals=np.stack([numbers for _, numbers, _ in told]),
        terminal=np.stack([terminal for _, _, terminal in told]),
        masks=game.manifest.masks(),
        episodes=np.arange(count, dtype=np.int64),
        starts=np.zeros(count, np.int64),
    )
