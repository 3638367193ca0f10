"""Digests of the first 200 ticks of every game: `tests/golden/games.json`, printed or renewed.

    python tests/conformance/trace_games.py              print the digests
    python tests/conformance/trace_games.py --write      add new games and new versions of games

A digest that changes under the same version of a game is refused: a changed rule means a new
version in the game's manifest. Before a game's first release, `--same-version NAME ...` (or
`all`) lets it change.
Run with NUMBA_DISABLE_JIT=1, the same rules go uncompiled and must give the same digests.
"""

import json
import sys
from hashlib import blake2b
from pathlib import Path

import numpy as np

from cosmolabe.core import parts
from cosmolabe.core.seeds import seed_of
from cosmolabe.engine import kernels
from cosmolabe.engine.game import layout_of
from cosmolabe.engine.render import draw_frames

GOLDEN = Path(__file__).parents[1] / "golden" / "games.json"
NUM_WORLDS, NUM_TICKS = 3, 200
HOLD = 8  # ticks of one random action
PICTURE = 32  # pixels of the drawn state


def digest(*arrays):
    total = blake2b(digest_size=12)
    for array in arrays:
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def random_actions(game):
    return np.array(
        [
            [seed_of("golden", game.name, world, t // HOLD) % len(game.actions)
             for t in range(NUM_TICKS)]
            for world in range(NUM_WORLDS)
        ],
        np.uint8,
    )  # fmt: skip


def simulated(game, level):
    """Public rows and end worlds under random actions."""
    worlds = game.new_worlds(np.arange(NUM_WORLDS), level)
    public = np.zeros((NUM_WORLDS, NUM_TICKS + 1, game.num_public), np.float32)
    lengths = np.zeros(NUM_WORLDS, np.int64)
    constants = game.default_parameters()[None]
    kernels.simulate(game.step, worlds, random_actions(game), constants, public, lengths)
    return public, worlds, lengths


def played(game):
    """Actions and end worlds of the heuristic player, who slips now and then."""
    worlds = game.new_worlds(np.arange(NUM_WORLDS))
    actions = np.zeros((NUM_WORLDS, NUM_TICKS), np.uint8)
    keys = np.arange(2 * NUM_WORLDS, dtype=np.uint64).reshape(NUM_WORLDS, 2)
    kernels.play(
        game.step, game.decide, worlds, game.default_parameters()[None], keys,
        len(game.actions), 0.2, 4, actions, np.zeros((NUM_WORLDS, game.num_world)), NUM_TICKS,
        np.zeros(NUM_WORLDS, np.int64),
    )  # fmt: skip
    return actions, worlds


def pictured(game, rows):
    """One small picture of the last of the rows."""
    layout, manifest = layout_of(game), game.manifest
    states = np.zeros((len(rows), manifest.num_slots, manifest.profile.num_state), np.float32)
    numbers = np.zeros((len(rows), len(manifest.profile.global_fields)), np.float32)
    kernels.expand(
        rows, layout.target, layout.scale, layout.template, layout.wrap, 0, states, numbers,
        np.zeros(len(rows), bool),
    )  # fmt: skip
    return digest(states, numbers), draw_frames(game, states[-1:], numbers[-1:], size=PICTURE)


def trace(game):
    """Version and digests of one game."""
    public, worlds, lengths = simulated(game, 1)
    states, picture = pictured(game, public[0, : lengths[0]].copy())
    return {
        "version": game.manifest.version,
        "random": digest(public, worlds, lengths),
        "level_2": digest(*simulated(game, 2)),
        "heuristic": digest(*played(game)),
        "states": states,
        "picture": digest(picture),
    }


def renew(old, new, may_change=()):
    """The digests to keep, and the games whose change is refused."""
    refused = [
        name
        for name, now in new.items()
        if name in old
        and name not in may_change
        and now != old[name]
        and now["version"] <= old[name]["version"]
    ]
    return {**old, **{name: now for name, now in new.items() if name not in refused}}, refused


def main(arguments):
    new = {name: trace(parts.load("games", name)) for name in parts.names("games")}
    if "--write" not in arguments:
        print(json.dumps(new, indent=1, sort_keys=True))
        return 0
    old = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    may_change: list[str] = []
    if "--same-version" in arguments:
        may_change = arguments[arguments.index("--same-version") + 1 :]
        may_change = list(new) if may_change == ["all"] else may_change
    kept, refused = renew(old, new, may_change)
    GOLDEN.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    if refused:
        print(
            f"refused: the rules or the drawing of {refused} changed under the same version; "
            "raise `version` in the manifest, or say --same-version NAME before a first release",
            file=sys.stderr,
        )
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
