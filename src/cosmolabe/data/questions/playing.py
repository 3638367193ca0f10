"""Clips of the eight games, played so that one action lasts a clip and can be seen in it.

Several worlds are played side by side; at each stop every action is tried out from the very same
state, and the one that was asked for least so far is kept among those whose effect is seen. Blocks
of clips follow from game, seed and their number alone, so a longer set begins like a shorter one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core import parts
from cosmolabe.core.question import AskedClip
from cosmolabe.core.seeds import generator, seed_of
from cosmolabe.data.dense import dense, simulated
from cosmolabe.data.held_out import held_out as held_out_list
from cosmolabe.data.players import PLAYERS, let_play
from cosmolabe.data.questions.effects import moved, undisturbed, visible, words_hold
from cosmolabe.data.questions.protocol import GAME_FPS, ClipProtocol
from cosmolabe.data.questions.wording import our_game, role_words
from cosmolabe.engine.game import TERMINATED, Appearance, Game
from cosmolabe.engine.render import draw_frames

TOGETHER = 32  # clips of one block
SESSIONS = 8  # worlds of one block, each with a look of its own
ROUNDS = 240  # stops at most until a block is full
OPENING = 900  # ticks at most until a block's first clip
WAITS = (8, 120)  # ticks of play between two clips
LEVELS = 3  # worlds begin in the first ones, in equal shares
WHO = ("heuristic", "heuristic", "mixed", "random")
AHEAD, PATIENCE = 1, 20  # clips by which one action may lead, one more every so many stops
TAILS = (0, 0, 0, 1, 2)  # frames at a clip's end that another action may cover


@dataclass(frozen=True)
class Play:
    """What clips are wanted."""

    game: str
    protocol: ClipProtocol = field(default_factory=ClipProtocol)
    size: int = 96
    """Side of the square pictures, pixels."""
    held_out: bool | None = None
    """False: only looks that may be trained on; True: only held-out themes, with characters that
    may be trained on; None: any look."""
    themes: tuple[str, ...] = ()
    """These only, whatever `held_out` says of themes."""
    characters: tuple[str, ...] = ()
    """These only, whatever `held_out` says of characters."""
    swapped: float = 0.0
    """Share of clips in which one role changes its character midway."""
    labelled: bool = True
    """Only clips whose action is told by the pictures; else what players do by themselves."""

    def __post_init__(self) -> None:
        if self.size < 16:
            raise ValueError(f"pictures need a size of at least 16 pixels; got {self.size}")
        if not 0 <= self.swapped <= 1:
            raise ValueError(f"swapped is a share of clips, 0 to 1; got {self.swapped}")


def game_clips(
    game: str,
    count: int,
    seed: int,
    *,
    size: int = 96,
    stride: int = 4,
    length: int = 14,
    held_out: bool | None = None,
    themes: Sequence[str] = (),
    characters: Sequence[str] = (),
    swapped: float = 0.0,
    labelled: bool = True,
) -> list[AskedClip]:
    """`count` clips of one game, the same for the same arguments; see `Play`.

    `about` holds game, theme, characters (role to name), look_seed, action (its word), label (the
    game's words for it; empty where the clip does not decide it, `why` says so), visible_effect,
    swapped_at (frame, 0 where none), swapped_role, world_seed, first_tick, and the true state of
    every frame: states (time, slot, state) and globals (time, global).
    """
    protocol = ClipProtocol("vqa/1" if stride == 4 else f"every-{stride}", length, stride)
    play = Play(game, protocol, size, held_out, tuple(themes), tuple(characters), swapped, labelled)
    if count < 0:
        raise ValueError(f"count must be 0 or more; got {count}")
    clips: list[AskedClip] = []
    number = 0
    while len(clips) < count:
        clips += block(play, seed, number)[0]
        number += 1
    return clips[:count]


def looks(game: Game, play: Play) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(themes, characters) that may be drawn; refused where there are none."""
    kept = held_out_list()
    themes = tuple(theme.name for theme in game.themes)
    free = kept.trainable_themes(game)
    if play.held_out is not None:
        themes = free if not play.held_out else tuple(t for t in themes if t not in free)
    characters = game.characters if play.held_out is None else kept.trainable_characters(game)
    unknown = sorted(
        (set(play.themes) - {t.name for t in game.themes})
        | (set(play.characters) - set(game.characters))
    )
    if unknown:
        raise ValueError(
            f"{game.name} has no theme or character {unknown}; themes "
            f"{[t.name for t in game.themes]}, characters {list(game.characters)}"
        )
    themes, characters = play.themes or themes, play.characters or characters
    if not themes:
        raise ValueError(f"{game.name} has no theme to draw with held_out={play.held_out}")
    return themes, characters


def worn_by_roles(game: Game, order: Sequence[str]) -> tuple[str, ...]:
    """A character of `order` for each role.

    Roles that no question can name all look alike, so that the player's car is unlike the others.
    """
    told = [bool(role_words(game, role)) for role in game.roles]
    places = np.where(told, np.cumsum(told) - 1, sum(told))
    return tuple(order[place % len(order)] for place in places)


def block(play: Play, seed: int, number: int) -> tuple[list[AskedClip], Counter[str]]:
    """TOGETHER clips, and how many stops were dropped for which reason.

    Raises:
        ValueError: The game does not show so many clips in ROUNDS stops of SESSIONS worlds.
    """
    game = our_game(play.game) or parts.load("games", play.game)  # which names those there are
    table = _Table(game, play, seed, number)
    clips: list[AskedClip] = []
    for _ in range(ROUNDS):
        for clip in table.stop():
            clips.append(clip)
            if len(clips) == TOGETHER:
                return clips, table.dropped
    raise ValueError(
        f"{play.game}: only {len(clips)} of {TOGETHER} clips in {ROUNDS * SESSIONS} stops "
        f"({dict(table.dropped)}); choose a longer stride"
    )


class _Table:
    """The worlds of one block and what was taken from them."""

    def __init__(self, game: Game, play: Play, seed: int, number: int) -> None:
        self.game, self.play = game, play
        self.name = f"{game.name}-{seed}-{number}"
        self.draw = generator("vqa clips", game.name, seed, number)
        self.constants = game.default_parameters()
        self.worlds = np.zeros((SESSIONS, game.num_world))
        self.seeds = [0] * SESSIONS
        self.ticks = np.zeros(SESSIONS, np.int64)
        self.fresh = 0
        self.taken = np.zeros(len(game.actions), np.int64)
        self.dropped: Counter[str] = Counter()
        self.made = 0
        self.stops = 0
        self.looks = [self._look() for _ in range(SESSIONS)]
        for place in range(SESSIONS):
            self._begin(place)
        self._wait((0, OPENING))

    def _begin(self, place: int) -> None:
        self.seeds[place] = seed_of("vqa world", self.name, self.fresh)
        self.worlds[place] = self.game.new_world(
            self.seeds[place], level=1 + int(self.draw.integers(LEVELS))
        )
        self.ticks[place] = 0
        self.fresh += 1

    def _look(self) -> Appearance:
        themes, characters = looks(self.game, self.play)
        worn = worn_by_roles(
            self.game, [characters[k] for k in self.draw.permutation(len(characters))]
        )
        theme = themes[self.draw.integers(len(themes))]
        return Appearance(worn, theme, int(self.draw.integers(1 << 32)))

    def stop(self) -> Iterator[AskedClip]:
        """Play on for a while, then cut one clip of each world that shows one."""
        self.stops += 1
        self._wait()
        taken = self._labelled() if self.play.labelled else self._free()
        for place in range(SESSIONS):
            if self.worlds[place, TERMINATED] != 0:
                self._begin(place)
        return taken

    def _wait(self, between: tuple[int, int] = WAITS) -> None:
        ticks = 1 + int(self.draw.integers(*between))
        _, lengths = self._let_play(ticks)
        self.ticks += lengths - 1
        for place in np.flatnonzero(self.worlds[:, TERMINATED] != 0):
            self._begin(int(place))

    def _let_play(self, ticks: int) -> tuple[np.ndarray, np.ndarray]:
        actions, lengths = np.zeros((SESSIONS, ticks), np.uint8), np.zeros(SESSIONS, np.int64)
        luck = self.draw.integers(1 << 32, size=(SESSIONS, 2), dtype=np.uint64)
        keyframes = np.zeros((SESSIONS, self.game.num_world))
        who = PLAYERS[WHO[self.draw.integers(len(WHO))]]
        let_play(
            who, self.game, self.worlds, self.constants, luck, actions, keyframes, ticks, lengths
        )
        return actions, lengths

    def _futures(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(public rows, final worlds, actions, lengths) of each world under each held action."""
        protocol, count = self.play.protocol, len(self.game.actions)
        held = np.repeat(np.arange(count, dtype=np.uint8)[None], SESSIONS, 0)
        actions = np.repeat(held[..., None], protocol.ticks + 1, 2)
        tails = self.draw.choice(TAILS, SESSIONS)
        others = self.draw.integers(count, size=SESSIONS)
        for place, (tail, other) in enumerate(zip(tails, others, strict=True)):
            tail = min(int(tail), protocol.length - protocol.covered)
            actions[place, :, (protocol.length - tail) * protocol.stride :] = other
        worlds = np.repeat(self.worlds, count, 0)
        public, lengths = simulated(
            self.game, worlds, actions.reshape(SESSIONS * count, -1)[:, :-1], self.constants
        )
        shape = (SESSIONS, count)
        return (
            public.reshape(*shape, *public.shape[1:]),
            worlds.reshape(*shape, -1),
            actions,
            lengths.reshape(shape),
        )

    def _labelled(self) -> Iterator[AskedClip]:
        public, finals, actions, lengths = self._futures()
        frames = public[:, :, :: self.play.protocol.stride]
        whole = (lengths == public.shape[2]) & undisturbed(frames)
        seen = visible(self.game, frames)
        seconds = self.play.protocol.stride / GAME_FPS
        for action in range(len(self.game.actions)):
            seen[:, action] &= words_hold(self.game, action, frames[:, action], seconds)
        for place in range(SESSIONS):
            good = np.flatnonzero(whole[place] & seen[place])
            if not len(good):
                self.dropped[
                    "no visible effect" if whole[place].any() else "the player was lost"
                ] += 1
                continue
            ties = self.draw.permutation(good)
            chosen = int(ties[np.argmin(self.taken[ties])])
            if self.taken[chosen] > self.taken.min() + AHEAD + self.stops // PATIENCE:
                continue  # enough of it so far
            self.taken[chosen] += 1
            first_tick = int(self.ticks[place])
            self.worlds[place] = finals[place, chosen]
            self.ticks[place] += self.play.protocol.ticks
            word = self.game.actions[chosen]
            yield self._clip(
                place, public[place, chosen], actions[place, chosen], first_tick,
                {"action": word, "label": self.game.words[word], "visible_effect": True, "why": ""},
            )  # fmt: skip

    def _free(self) -> Iterator[AskedClip]:
        """What a player does by itself, whatever comes of it; only a game's end is left out."""
        protocol = self.play.protocol
        before = self.worlds.copy()
        actions, lengths = self._let_play(protocol.ticks)
        public, _ = simulated(self.game, before, actions, self.constants)
        firsts = self.ticks.copy()
        self.ticks += lengths - 1
        for place in range(SESSIONS):
            if lengths[place] <= protocol.ticks:
                self.dropped["the game ended"] += 1
                continue
            done = np.append(actions[place], actions[place, -1])
            told = told_of(self.game, public[place], done, protocol)
            yield self._clip(place, public[place], done, int(firsts[place]), told)

    def _clip(
        self, place: int, public: np.ndarray, actions: np.ndarray, first_tick: int, told: dict
    ) -> AskedClip:
        protocol, game, look = self.play.protocol, self.game, self.looks[place]
        states, numbers, _ = dense(game, public)
        states, numbers = states[:: protocol.stride].copy(), numbers[:: protocol.stride].copy()
        swap = self._swap(look)
        about = {
            "game": game.name,
            "theme": look.theme,
            "characters": dict(zip(game.roles, look.characters, strict=True)),
            "look_seed": look.seed,
            **told,
            "swapped_at": swap[0],
            "swapped_role": swap[1],
            "swapped_to": swap[2],
            "session": f"{self.name}-{place}",
            "world_seed": self.seeds[place],
            "first_tick": first_tick,
            "states": states,
            "globals": numbers,
        }
        table = np.array(game.action_table, np.float32)
        self.made += 1
        return AskedClip(
            id=f"{self.name}-{self.made - 1:03d}",
            frames=_drawn(game, states, numbers, look, self.play.size, swap),
            fps=GAME_FPS / protocol.stride,
            actions=table[actions[:: protocol.stride]],
            about=about,
        )

    def _swap(self, look: Appearance) -> tuple[int, str, str]:
        """(frame, role, other character) of a clip in which somebody changes, or (0, "", "")."""
        if self.draw.random() >= self.play.swapped:
            return 0, "", ""
        named = [k for k, role in enumerate(self.game.roles) if role_words(self.game, role)]
        role = named[self.draw.integers(len(named))]
        _, characters = looks(self.game, self.play)
        pool = characters if len(characters) > 1 else self.game.characters
        others = [name for name in pool if name not in look.characters]
        others = others or [name for name in pool if name != look.characters[role]]
        third = max(self.play.protocol.length // 3, 1)
        at = int(self.draw.integers(third, self.play.protocol.length - third + 1))
        return at, self.game.roles[role], others[self.draw.integers(len(others))]


def told_of(game: Game, public: np.ndarray, actions: np.ndarray, protocol: ClipProtocol) -> dict:
    """The action word that covers a clip as it was played, or why none does.

    The share of ticks between the frames must be covered as well as that of the frames.
    """
    words, counts = np.unique(actions[:: protocol.stride], return_counts=True)
    word = int(words[np.argmax(counts)])
    share = protocol.covered / protocol.length
    nothing = {"action": game.actions[word], "label": "", "visible_effect": None}
    if counts.max() < protocol.covered or (actions == word).mean() < share:
        return {**nothing, "action": "", "why": "no action word covers it"}
    if not undisturbed(public[None])[0]:
        return {**nothing, "why": "the player was lost"}
    frames = public[:: protocol.stride]
    seen = moved(game, frames) if word else True
    seen &= bool(words_hold(game, word, frames[None], protocol.stride / GAME_FPS)[0])
    label = game.words[game.actions[word]] if seen else ""
    return {
        "action": game.actions[word], "label": label, "visible_effect": bool(seen),
        "why": "" if seen else "no visible effect",
    }  # fmt: skip


def _drawn(
    game: Game,
    states: np.ndarray,
    numbers: np.ndarray,
    look: Appearance,
    size: int,
    swap: tuple[int, str, str],
) -> UInt8[np.ndarray, "time height width 3"]:
    frames = draw_frames(game, states, numbers, look, size)
    at, role, other = swap
    if at:
        worn = list(look.characters)
        worn[game.roles.index(role)] = other
        changed = Appearance(tuple(worn), look.theme, look.seed)
        frames[at:] = draw_frames(game, states[at:], numbers[at:], changed, size)
    return frames
