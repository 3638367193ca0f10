"""Collects episodes of an outside game into a packed store; killed, it goes on where it stopped.

Each episode is played alone, from a seed that follows from salt, game, split and number, and kept
aside as a file of its own; when the last one is there they are packed, in order. Hence the bytes
are the same after any number of interruptions. What is gone afterwards is the environment: a packed
store cannot be played again, so it has no ceiling.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.core.episode import Episode, rebuild_motion
from cosmolabe.core.record import plain, read_json, write_json
from cosmolabe.core.seeds import episode_seed
from cosmolabe.data.arrays import read_arrays, write_arrays
from cosmolabe.data.collect import split_sizes
from cosmolabe.data.folder import RECORD, SHARES
from cosmolabe.data.outside.game import OutsideGame, Session
from cosmolabe.data.outside.players import DEFAULT, PLAYERS
from cosmolabe.data.outside.playing import play_episode
from cosmolabe.data.pack import PackedWriter
from cosmolabe.data.players import shares_of, turns
from cosmolabe.data.store import Store, open_store
from cosmolabe.data.video import QUALITY, write_video

PLAN = "plan.json"
VIDEOS = "videos"
MOST_EPISODES = 1_000_000
SCHEMA = 1


def collect_outside(
    game: OutsideGame,
    folder: Path | str,
    num_episodes: int = 64,
    *,
    split: str | None = None,
    shares: Mapping[str, float | int] = SHARES,
    players: Sequence[str] | Mapping[str, float] = DEFAULT,
    salt: str = "public",
    frames: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Store:
    """A packed store of `num_episodes` episodes, and with `frames` a video of each beside it.

    The folder is finished where it holds part of the same collection, opened where it holds all of
    it, refused where it holds anything else.
    """
    if not 1 <= num_episodes <= MOST_EPISODES:
        raise ValueError(f"num_episodes lies in 1..{MOST_EPISODES:,}; got {num_episodes}")
    plan = {
        "schema": SCHEMA,
        "outside": game.name,
        "manifest": plain(game.manifest),
        "libraries": dict(game.libraries),
        "episodes": split_sizes(num_episodes, shares if split is None else {split: 1}),
        "players": shares_of(players, PLAYERS),
        "salt": salt,
        "frames": frames,
    }
    folder = Path(folder)
    if (folder / RECORD).exists():
        _refuse_other(folder / RECORD, plan)
        return open_store(folder)
    aside = folder.with_name(f".{folder.name}-collecting")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is not empty; choose a new folder")
    aside.mkdir(parents=True, exist_ok=True)
    if (aside / PLAN).exists():
        _refuse_other(aside / PLAN, plan)
    write_json(aside / PLAN, plan)
    _play_missing(game, plan, aside, progress)
    _pack(game, plan, aside, folder)
    shutil.rmtree(aside)
    return open_store(folder)


def _refuse_other(path: Path, plan: Mapping[str, Any]) -> None:
    found = read_json(path)
    differs = [
        name for name in plan if not isinstance(found, dict) or found.get(name) != plan[name]
    ]
    if differs:
        raise ValueError(
            f"{path} is of another collection (its {', '.join(differs)} differ); choose a new "
            f"folder, or remove {path.parent}"
        )


def _episodes_of(plan: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """(split, number in it, player) in the store's order."""
    for split, count in plan["episodes"].items():
        for index, player in enumerate(turns(plan["players"], count)):
            yield split, index, player


def _play_missing(
    game: OutsideGame,
    plan: Mapping[str, Any],
    aside: Path,
    progress: Callable[[int, int], None] | None,
) -> None:
    wanted = list(_episodes_of(plan))
    session: Session | None = None
    try:
        for done, (split, index, player) in enumerate(wanted):
            if progress:
                progress(done, len(wanted))
            if _path(aside, split, index).exists():
                continue
            session = session or game.open()
            _play(game, session, plan, aside, (split, index, player))
    finally:
        if session is not None:
            session.close()
    if progress:
        progress(len(wanted), len(wanted))


def _path(aside: Path, split: str, index: int) -> Path:
    return aside / f"{split}-{index:07d}.episode"


def _play(
    game: OutsideGame,
    session: Session,
    plan: Mapping[str, Any],
    aside: Path,
    which: tuple[str, int, str],
) -> None:
    split, index, name = which
    names = (plan["salt"], game.name, split, index)
    ticks = game.manifest.max_ticks
    actions = PLAYERS[name].actions(len(game.actions), ticks, *names)
    seed = episode_seed(*names)
    episode, frames = play_episode(game, session, seed, actions.tolist(), plan["frames"])
    if frames:
        _write_video(game, aside / VIDEOS, episode, frames, actions, (*which, seed))
    arrays = {
        "states": episode.states,
        "actions": episode.actions,
        "globals": episode.globals,
        "terminal": episode.terminal.astype(np.uint8),
        "truncated": np.array([episode.truncated], np.uint8),
    }
    write_arrays(_path(aside, split, index), {"player": name, "seed": seed}, arrays, {})


def _write_video(
    game: OutsideGame,
    folder: Path,
    episode: Episode,
    frames: list[np.ndarray],
    actions: np.ndarray,
    which: tuple[str, int, str, int],
) -> None:
    """The episode's frames, frame t the picture of state t, and a JSON file that says so."""
    split, index, player, seed = which
    path = folder / f"{split}-{index:07d}.mp4"
    height, width = write_video(path, iter([np.stack(frames)]), game.manifest.fps)
    sidecar = {
        "schema": SCHEMA,
        "video": path.name,
        "game": game.manifest.game,
        "version": game.manifest.version,
        "split": split,
        "number": index,
        "seed": seed,
        "player": player,
        "frames": len(frames),
        "fps": game.manifest.fps,
        "height": height,
        "width": width,
        "world": game.world,
        "codec": f"h264, every frame by itself, crf {QUALITY}",
        "actions": [game.action_names[action] for action in actions[: len(episode) - 1]],
    }
    write_json(path.with_suffix(".json"), sidecar)


def _pack(game: OutsideGame, plan: Mapping[str, Any], aside: Path, folder: Path) -> None:
    packed = aside / "store"
    shutil.rmtree(packed, ignore_errors=True)
    writer = PackedWriter(packed, game.manifest)
    for split, index, player in _episodes_of(plan):
        _, arrays = read_arrays(_path(aside, split, index))
        episode = Episode(
            registry=game.manifest.registry(),
            states=rebuild_motion(arrays["states"], game.manifest),
            actions=arrays["actions"],
            globals=arrays["globals"],
            terminal=arrays["terminal"] > 0,
            truncated=bool(arrays["truncated"][0]),
        )
        writer.add(episode, split, f"{split}-{index:07d}", player)  # as its video is called
    writer.finish(**{name: value for name, value in plan.items() if name != "schema"})
    if plan["frames"]:
        (packed / VIDEOS).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(aside / VIDEOS, packed / VIDEOS)
    if folder.exists():
        folder.rmdir()
    packed.replace(folder)
