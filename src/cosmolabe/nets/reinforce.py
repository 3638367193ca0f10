"""Players learn by reinforcement: PPO and DQN of Stable-Baselines3 over our own batch of worlds.

What comes out is a `data.policy.Policy`: plain arrays that play without torch. Needs the extra
`rl`.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from time import process_time
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from cosmolabe.core.record import versions
from cosmolabe.data.policy import WIDTH, Policy, PolicyRecord
from cosmolabe.data.sight import sight_of
from cosmolabe.engine.game import Game
from cosmolabe.engine.policy import LIMIT
from cosmolabe.nets.practice import HOLD, Practice, first_look
from cosmolabe.nets.shaping import SHAPING

try:
    import stable_baselines3  # ty: ignore[import-not-found]
    from stable_baselines3 import DQN, PPO  # ty: ignore[import-not-found]
    from stable_baselines3.common.callbacks import BaseCallback  # ty: ignore[import-not-found]
    from stable_baselines3.common.vec_env import VecEnv  # ty: ignore[import-not-found]
except ModuleNotFoundError as error:
    raise ValueError(
        "training a player needs Stable-Baselines3: pip install 'cosmolabe[rl]'"
    ) from error

ALGORITHMS = ("ppo", "dqn")


@dataclass(frozen=True)
class LearnConfig:
    """How a player learns; the settings are ours, for minutes on one core."""

    algorithm: str = "ppo"
    steps: int = 1_000_000
    """Decisions, all worlds together."""
    seed: int = 0
    num_worlds: int = 64
    discount: float = 0.99
    settings: dict[str, Any] = field(default_factory=dict)
    """What differs from `ppo_settings` or `dqn_settings`."""

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"no algorithm '{self.algorithm}'; have {list(ALGORITHMS)}")
        if self.steps < 1 or self.num_worlds < 1:
            raise ValueError(
                f"steps and num_worlds must be at least 1; got {self.steps}, {self.num_worlds}"
            )


def ppo_settings(config: LearnConfig) -> dict[str, Any]:
    """Short rollouts, six passes in large batches.

    Snake came as far in 300,000 decisions as with 128 steps, batches of 1024 and four passes in
    1,200,000, in half the time.
    """
    return {
        "n_steps": 64,
        "batch_size": 512,
        "n_epochs": 6,
        "learning_rate": lambda left: 1e-3 * max(left, 0.05),
        "gae_lambda": 0.95,
        "ent_coef": 0.01,
        "gamma": config.discount,
    } | config.settings


def dqn_settings(config: LearnConfig) -> dict[str, Any]:
    """One gradient step on 512 decisions for every round of all worlds."""
    return {
        "learning_rate": lambda left: 1e-3 * max(left, 0.05),
        "buffer_size": 300_000,
        "learning_starts": 20_000,
        "batch_size": 512,
        "train_freq": 1,
        "gradient_steps": 1,
        "target_update_interval": 100 * config.num_worlds,
        "exploration_fraction": 0.3,
        "exploration_final_eps": 0.03,
        "gamma": config.discount,
    } | config.settings


class PracticeVecEnv(VecEnv):
    """Practice as Stable-Baselines3 wants to see it."""

    def __init__(self, practice: Practice) -> None:
        self.practice = practice
        limit = float(LIMIT)
        super().__init__(
            len(practice.worlds),
            spaces.Box(-limit, limit, (len(practice.sight),), np.float32),
            spaces.Discrete(len(practice.game.actions)),
        )
        self._actions = np.zeros(self.num_envs, np.int64)

    def reset(self) -> np.ndarray:
        """Fresh worlds everywhere."""
        return self.practice.reset()

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the decisions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """One decision in every world; ended ones have started again."""
        outcome = self.practice.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for place in np.flatnonzero(outcome.ended):
            infos[place] = {
                "terminal_observation": outcome.last[place],
                "TimeLimit.truncated": bool(outcome.by_clock[place]),
            }
        return outcome.features, outcome.rewards.astype(np.float32), outcome.ended, infos

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ANN401
        """The same for every world; `render_mode` is none."""
        value = None if attr_name == "render_mode" else getattr(self.practice, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ANN401
        """Worlds have no attributes of their own."""
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **named: Any) -> list:  # noqa: ANN401
        """Worlds have no methods of their own."""
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:  # noqa: ANN401
        """Nothing wraps a world."""
        return [False for _ in self._get_indices(indices)]


class _Telling(BaseCallback):
    def __init__(self, tell: Callable[[int, int], None], total: int) -> None:
        super().__init__()
        self.tell, self.total = tell, total

    def _on_step(self) -> bool:
        self.tell(min(self.num_timesteps, self.total), self.total)
        return True


def learn(
    game: Game,
    config: LearnConfig,
    progress: Callable[[int, int], None] | None = None,
    practice: Practice | None = None,
) -> tuple[Policy, Any]:
    """A trained policy and the Stable-Baselines3 model it was exported from.

    `practice` puts other worlds in place of the game's own (those that a model imagines, say).
    """
    torch.set_num_threads(1)
    if practice is None:
        sight = sight_of(game)
        norm = first_look(game, sight, config.seed)
        practice = Practice(game, sight, norm, config.num_worlds, config.seed)
    sight, norm, room = practice.sight, practice.norm, PracticeVecEnv(practice)
    chosen, settings = {
        "ppo": (PPO, ppo_settings(config)),
        "dqn": (DQN, dqn_settings(config)),
    }[config.algorithm]
    widths = [WIDTH, WIDTH]
    layers = {"pi": widths, "vf": [2 * WIDTH] * 2} if config.algorithm == "ppo" else widths
    model = chosen(
        "MlpPolicy", room, seed=config.seed, device="cpu", verbose=0,
        policy_kwargs={"net_arch": layers, "activation_fn": torch.nn.ReLU}, **settings,
    )  # fmt: skip
    began = process_time()
    callback = _Telling(progress, config.steps) if progress else None
    model.learn(config.steps, callback=callback)
    record = PolicyRecord(
        game=game.name,
        version=game.manifest.version,
        algorithm=config.algorithm,
        steps=int(model.num_timesteps),
        seed=config.seed,
        hold=HOLD,
        sampled=config.algorithm == "ppo",
        features=sight.names,
        actions=game.actions,
        training_seconds=round(process_time() - began, 1),
        recipe={
            **{k: v for k, v in asdict(config).items() if k not in ("algorithm", "steps", "seed")},
            "settings": {k: v for k, v in settings.items() if not callable(v)},
            "reward": {term.name: term.weight for term in SHAPING[game.name]},
        },
        versions={**versions(), "stable-baselines3": stable_baselines3.__version__},
    )
    first, second, third = exported(model)
    return Policy(record, sight, norm, first, second, third), model


def exported(model: Any) -> list[np.ndarray]:  # noqa: ANN401 - PPO or DQN
    """The three layers that decide: weights (input, output) with the bias as last row, float32."""
    policy = model.policy
    if isinstance(model, DQN):
        layers = _linear(policy.q_net.q_net)
    else:
        layers = [*_linear(policy.mlp_extractor.policy_net), policy.action_net]
    assert len(layers) == 3, "two hidden layers and the output"
    return [_packed(layer) for layer in layers]


def _packed(layer: torch.nn.Linear) -> np.ndarray:
    both = [layer.weight.detach().numpy().T, layer.bias.detach().numpy()[None]]
    return np.ascontiguousarray(np.concatenate(both), np.float32)


def logits_of(model: Any, features: np.ndarray) -> np.ndarray:  # noqa: ANN401
    """What Stable-Baselines3 itself makes of features: logits (PPO) or values (DQN)."""
    with torch.no_grad():
        seen = torch.as_tensor(features)
        if isinstance(model, DQN):
            return model.policy.q_net(seen).numpy()
        # Its distribution holds normalised logits: less their logsumexp.
        return model.policy.get_distribution(seen).distribution.logits.numpy()


def _linear(layers: Iterable[torch.nn.Module]) -> list[torch.nn.Linear]:
    return [layer for layer in layers if isinstance(layer, torch.nn.Linear)]
