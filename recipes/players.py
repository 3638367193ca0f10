"""Train a game's player by reinforcement, measure it, and keep it in the package.

    python recipes/players.py pong --algorithm ppo --steps 300000 --seed 0

Needs `pip install 'cosmolabe[rl]'`. Writes src/cosmolabe/data/policies/pong.npz and pong.json,
which `cosmolabe collect pong --players rl` plays without torch. docs/data/players.md tells more.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import tyro

from cosmolabe.cli._verb import progress
from cosmolabe.core import parts
from cosmolabe.data.players import player_named
from cosmolabe.data.policy import FOLDER, write_policy
from cosmolabe.nets.practice import measure


def main(
    game: tyro.conf.Positional[str],
    algorithm: Literal["ppo", "dqn"] = "ppo",
    steps: int = 300_000,
    seed: int = 0,
    discount: float = 0.99,
    rollout: int = 64,
    batch: int = 512,
    passes: int = 6,
    out: Path = FOLDER,
) -> None:
    """Train on `steps` decisions, all worlds together; the files of an earlier player go.

    PPO learns from `rollout` decisions a world at a time, in batches of `batch`, `passes` times.
    """
    from cosmolabe.nets.reinforce import LearnConfig, learn

    part = parts.load("games", game)
    given = {"n_steps": rollout, "batch_size": batch, "n_epochs": passes}
    config = LearnConfig(
        algorithm=algorithm,
        steps=steps,
        seed=seed,
        discount=discount,
        settings=given if algorithm == "ppo" else {},
    )
    with progress(f"{algorithm} learns {game}") as tell:
        policy, _ = learn(part, config, tell)
    measured = measure(part, policy, player_named("rl").randomness)
    policy = replace(policy, record=replace(policy.record, measured=measured))
    write_policy(out, policy)
    size = (out / f"{game}.npz").stat().st_size
    print(
        f"{game}: mean score {measured['score']:.1f}, level {measured['level']:.2f}, "
        f"{measured['ticks']:.0f} ticks, shaped return {measured['shaped_return']:.1f} over "
        f"{measured['worlds']} worlds; {policy.record.training_seconds:.0f} s of training, "
        f"{size / 1000:.0f} kB, fingerprint {policy.fingerprint}"
    )


if __name__ == "__main__":
    tyro.cli(main)
