"""Writes tests/golden/policies.json: what every trained policy makes of a few rows.

Run it after a player was trained again: python tests/data/trace_policies.py
"""

import json
from pathlib import Path

import numpy as np

from cosmolabe.core import parts
from cosmolabe.data.playing import play_script
from cosmolabe.data.policy import policy_of, trained_games

GOLDEN = Path(__file__).parents[1] / "golden" / "policies.json"
TICKS = (0, 60, 180)


def rows_of(game):
    """Public rows of three moments of one random game."""
    part = parts.load("games", game)
    played = play_script(part, "random", seed=7, num_ticks=max(TICKS), every=1000)
    world, rows = part.new_world(7), []
    for tick in range(max(TICKS) + 1):
        if tick in TICKS:
            rows.append(world[: part.num_public].astype(np.float32))
        if tick < len(played.actions):
            part.step(world, int(played.actions[tick]), part.default_parameters())
    return np.stack(rows)


def traced():
    """Fingerprint, rows and logits of every policy."""
    golden = {}
    for game in trained_games():
        policy, rows = policy_of(game), rows_of(game)
        golden[game] = {
            "fingerprint": policy.fingerprint,
            "rows": [[float(x) for x in row] for row in rows],
            "logits": [[round(float(x), 6) for x in row] for row in policy.logits(rows)],
        }
    return golden


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(traced()) + "\n", encoding="utf-8")
