"""Clips from a store of one of our games: episodes that were collected or imported, drawn anew."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.core.episode import Episode, shortest_way
from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.effects import FAR, FRAMES, SHOWN_KINDS, claim_holds
from cosmolabe.data.questions.protocol import GAME_FPS, ClipProtocol
from cosmolabe.data.questions.wording import our_game, words_of
from cosmolabe.data.store import Store, open_store
from cosmolabe.engine.game import LOST, OVER, WON, Game
from cosmolabe.engine.render import draw_frames


def store_clips(
    folder: Path | str, protocol: ClipProtocol, size: int, split: str = "", limit: int = 0
) -> Iterator[tuple[AskedClip | None, dict[str, Any]]]:
    """Each episode's clips, side by side; None for what is dropped, with {"what", "why"}.

    Episodes are drawn as they looked. What an action shows is known of this one future alone, so
    that `visible_effect` only says that something moved. `limit` is the most clips (0: all).

    Raises:
        ValueError: No store is there, or it is of a game that nobody here can draw.
    """
    store = open_store(folder)
    game = our_game(store.game)
    if game is None:
        raise ValueError(
            f"{folder} holds states of {store.game} and nobody here can draw them; give a table "
            f"of its videos instead"
        )
    given = 0
    numbers = store.split(split) if split else np.arange(len(store))
    for number in numbers:
        for clip, told in _of_episode(store, game, int(number), protocol, size):
            yield clip, told
            given += clip is not None
            if limit and given >= limit:
                return


def _of_episode(
    store: Store, game: Game, number: int, protocol: ClipProtocol, size: int
) -> Iterator[tuple[AskedClip | None, dict[str, Any]]]:
    try:
        episode = store.episode(number)
    except ValueError as error:
        yield None, {"what": f"{store.folder.name}, episode {number}", "why": str(error)}
        return
    look = store.appearance(number)
    told = {"what": f"{store.folder.name}, episode {number}", "why": ""}
    if len(episode) <= protocol.ticks:
        yield None, {**told, "why": f"it has {len(episode)} states; a clip needs {protocol.ticks}"}
    theme = look.theme or game.themes[0].name
    worn = look.characters or tuple(
        game.characters[k % len(game.characters)] for k in range(len(game.roles))
    )
    for first in range(0, len(episode) - protocol.ticks, protocol.ticks):
        part = slice(first, first + protocol.ticks + 1)
        states = episode.states[part][:: protocol.stride].copy()
        numbers = episode.globals[part][:: protocol.stride].copy()
        about = {
            "game": game.name,
            "theme": theme,
            "characters": dict(zip(game.roles, worn, strict=True)),
            "look_seed": look.seed,
            **label_of(game, episode, first, protocol),
            "swapped_at": 0, "swapped_role": "", "swapped_to": "",
            "source": store.folder.name,
            "session": f"{game.name}-{store.fingerprint}-{number}",
            "first_tick": first,
            "states": states,
            "globals": numbers,
        }  # fmt: skip
        yield (
            AskedClip(
                id=f"{game.name}-{store.fingerprint}-{number:06d}-{first:05d}",
                frames=draw_frames(game, states, numbers, look, size),
                fps=GAME_FPS / protocol.stride,
                actions=episode.actions[part][:: protocol.stride].copy(),
                about=about,
            ),
            told,
        )


def label_of(game: Game, episode: Episode, first: int, protocol: ClipProtocol) -> dict[str, Any]:
    """action, label, visible_effect and why of the clip that begins at tick `first`.

    One action must cover its share of the frames and of all ticks between them.
    """
    part = slice(first, first + protocol.ticks + 1)
    table = np.array(game.action_table, np.float32)
    same = (episode.actions[part, None] == table[None]).all(2)
    if first + protocol.ticks == len(episode) - 1:
        same[-1] = same[-2]  # an episode's last state has no action of its own
    word = int(same[:: protocol.stride].sum(0).argmax())
    covers = same[:: protocol.stride, word].sum() >= protocol.covered
    if not covers or same[:, word].mean() < protocol.covered / protocol.length:
        return {
            "action": "", "label": "", "visible_effect": None, "why": "no action word covers it",
        }  # fmt: skip
    name = game.actions[word]
    told = {"action": name, "label": "", "visible_effect": None}
    fields = game.manifest.profile.global_fields
    numbers = episode.globals[part]
    kept = numbers[:, [fields.index("lives"), fields.index("level")]]
    ended = np.isin(numbers[:, fields.index("phase")], (LOST, WON, OVER)).any()
    if ended or (kept != kept[0]).any() or episode.terminal[part].any():
        return {**told, "why": "the player was lost"}
    states = episode.states[part][:: protocol.stride]
    seen = (word == 0 or _moved(game, states)) and _holds(game, name, states, protocol)
    if not seen:
        return {**told, "visible_effect": False, "why": "no visible effect"}
    return {**told, "label": game.words[name], "visible_effect": True, "why": ""}


def _moved(game: Game, states: np.ndarray) -> bool:
    slots = [k for k, slot in enumerate(game.manifest.slots) if slot.kind in SHOWN_KINDS]
    wrap = np.array([game.manifest.wrap_x, game.manifest.wrap_y])
    away = np.abs(
        shortest_way(states[:, slots][..., [X, Y]] - states[:1, slots][..., [X, Y]], wrap)
    )
    changed = (states[:, slots, ALIVE] > 0.5) != (states[:1, slots, ALIVE] > 0.5)
    rotation = game.manifest.profile.state_columns.index("rotation")
    player = [k for k, slot in enumerate(game.manifest.slots) if slot.controllable]
    turned = np.abs(states[:, player, rotation] - states[:1, player, rotation]) > FAR
    found = (away >= FAR).any((1, 2)) | changed.any(1) | turned.any(1)
    return int(found.sum()) >= FRAMES


def _holds(game: Game, name: str, states: np.ndarray, protocol: ClipProtocol) -> bool:
    wanted = words_of("true_when").get(game.name, {}).get(name, "")
    if not wanted:
        return True
    player = next(k for k, slot in enumerate(game.manifest.slots) if slot.controllable)
    axes = [X] if wanted.endswith(" x") else [X, Y]
    steps = np.diff(states[:, player][:, axes].astype(np.float64), axis=0)
    return bool(claim_holds(wanted, steps[None], protocol.stride / GAME_FPS)[0])
