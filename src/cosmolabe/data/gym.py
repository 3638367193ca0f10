"""Gymnasium environments of every game: one world, or a batch in one call of the rules.

After `import cosmolabe.data.gym`, `gymnasium.make("cosmolabe/Pong-v0")` and
`gymnasium.make_vec("cosmolabe/Pong-v0", 64)` (or, without the import,
`gymnasium.make("cosmolabe.data.gym:cosmolabe/Pong-v0")`) take `observation` ("state", "flat" or
"rgb"), `parameters` (physics by name), `characters`, `theme`, `appearance_seed`, `size` and
`max_episode_steps`. Actions are the game's discrete ones. `v0` counts this interface; the version
of the rules is `env.unwrapped.metadata["rules_version"]`.

An episode ends by the rules (terminated) or because the game's own clock ran out (truncated).
`reset(options={"level": 3})` starts in a later level. `info` holds score, lives, level, phase, tick
and the seed of the world, from which it can be played again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, iterate

from cosmolabe.core import parts
from cosmolabe.data.worlds import Rules, Worlds
from cosmolabe.engine.game import Appearance

NAMESPACE = "cosmolabe"
NUM_SEEDS = 2**62


def environment_id(name: str) -> str:
    """`pong` -> `cosmolabe/Pong-v0`, `big_maze` -> `cosmolabe/BigMaze-v0`."""
    return f"{NAMESPACE}/{''.join(word.capitalize() for word in name.split('_'))}-v0"


def register_games() -> None:
    """Tell Gymnasium about every game; importing this module does it."""
    for name in parts.names("games"):
        if environment_id(name) in gymnasium.registry:
            continue
        gymnasium.register(
            environment_id(name),
            entry_point="cosmolabe.data.gym:GameEnv",
            vector_entry_point="cosmolabe.data.gym:GameVectorEnv",
            kwargs={"game": name},
        )


def _rules(
    game: str,
    observation: str,
    parameters: Mapping[str, float] | None,
    characters: Sequence[str],
    theme: str,
    appearance_seed: int,
    size: int,
) -> Rules:
    appearance = Appearance(tuple(characters), theme, appearance_seed)
    return Rules(parts.load("games", game), observation, parameters or {}, appearance, size)


def _level_of(options: Mapping[str, Any] | None) -> int:
    level = (options or {}).get("level", 1)
    if not isinstance(level, int | np.integer) or level < 1:
        raise ValueError(f"options['level'] must be a whole number from 1 on; got {level!r}")
    return int(level)


def _check_render_mode(render_mode: str | None) -> None:
    if render_mode not in (None, "rgb_array"):
        raise ValueError(f"render_mode must be None or 'rgb_array'; got '{render_mode}'")


def _metadata(rules: Rules) -> dict[str, Any]:
    manifest = rules.game.manifest
    return {
        "render_modes": ["rgb_array"],
        "render_fps": round(manifest.fps),
        "rules_version": manifest.version,
    }


class GameEnv(gymnasium.Env):
    """One world of a game."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 60}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        render_mode: str | None = None,
        observation: str = "state",
        parameters: Mapping[str, float] | None = None,
        characters: Sequence[str] = (),
        theme: str = "",
        appearance_seed: int = 0,
        size: int = 224,
    ) -> None:
        _check_render_mode(render_mode)
        rules = _rules(game, observation, parameters, characters, theme, appearance_seed, size)
        self.render_mode = render_mode
        self.metadata = _metadata(rules)
        self.game = rules.game
        self.observation_space = rules.observation_space()
        self.action_space = spaces.Discrete(len(self.game.actions))
        self.worlds = Worlds(rules, 1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """A fresh world, drawn from the environment's random generator."""
        super().reset(seed=seed)
        world_seed = int(self.np_random.integers(NUM_SEEDS))
        self.worlds.reset(np.zeros(1, np.int64), [world_seed], _level_of(options))
        return self._observation(), self._info()

    def step(self, action: int | np.integer) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One tick; a world that has ended stands still and pays nothing."""
        if not self.action_space.contains(action):
            raise ValueError(
                f"{self.game.name} has actions 0..{len(self.game.actions) - 1}; got {action!r}"
            )
        was_over = any(ended[0] for ended in self.worlds.ended())
        self.worlds.step(np.array([action]))
        reward = 0.0 if was_over else float(self.worlds.rewards()[0])
        terminated, truncated = (bool(ended[0]) for ended in self.worlds.ended())
        return self._observation(), reward, terminated, truncated, self._info()

    def render(self) -> Any:  # noqa: ANN401 - Gymnasium's own signature
        """The picture, uint8 (height, width, 3); None without a render mode."""
        if self.render_mode is None:
            return None
        return self.worlds.draw(*self.worlds.dense())[0]

    def _observation(self) -> Any:  # noqa: ANN401
        seen = self.worlds.observe()
        if isinstance(seen, dict):
            return {name: value[0] for name, value in seen.items()}
        return seen[0]

    def _info(self) -> dict[str, Any]:
        return {name: value[0].item() for name, value in self.worlds.facts().items()}


class GameVectorEnv(gymnasium.vector.VectorEnv):
    """Many worlds of a game in one call; step by step equal to as many `GameEnv`s."""

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        render_mode: str | None = None,
        observation: str = "state",
        parameters: Mapping[str, float] | None = None,
        characters: Sequence[str] = (),
        theme: str = "",
        appearance_seed: int = 0,
        size: int = 224,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        _check_render_mode(render_mode)
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1; got {num_envs}")
        if max_episode_steps is not None and max_episode_steps < 1:
            raise ValueError(f"max_episode_steps must be at least 1; got {max_episode_steps}")
        rules = _rules(game, observation, parameters, characters, theme, appearance_seed, size)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**_metadata(rules), "autoreset_mode": self.autoreset_mode}
        self.game = rules.game
        self.single_observation_space = rules.observation_space()
        self.single_action_space = spaces.Discrete(len(self.game.actions))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.worlds = Worlds(rules, num_envs)
        self.max_episode_steps = max_episode_steps
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self._generator_seeds: list[int | None] = [None] * num_envs
        self._steps = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, bool)

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # ty: ignore[incompatible-property-override]
        """Each world's own generator, as in a vector of single environments."""
        return tuple(self._generator(place) for place in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # ty: ignore[incompatible-property-override]
        """The seeds the generators were made from."""
        _ = self.np_random
        return tuple(self._generator_seeds)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Fresh worlds, all or those of options['reset_mask']; an int seeds them s, s + 1, ..."""
        options = dict(options or {})
        which = self._asked(options.pop("reset_mask", None))
        if seed is None:
            seeds: list[int | None] = [None] * self.num_envs
        elif isinstance(seed, int):
            seeds = [seed + place for place in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"give one seed for each of {self.num_envs} worlds; got {len(seeds)}")
        level = _level_of(options)
        for place in which:
            chosen = seeds[place]
            if chosen is not None:
                self._seed_generator(int(place), chosen)
        self._reset_worlds(which, level)
        return self.worlds.observe(), self._infos(which)

    def step(
        self,
        actions: Any,  # noqa: ANN401 - Gymnasium's own signature
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One tick of every world, or its reset where the mode says so."""
        actions = self._checked(actions)
        fresh = self._over & (self.autoreset_mode == AutoresetMode.NEXT_STEP)
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            raise ValueError(
                f"worlds {np.flatnonzero(self._over).tolist()} have ended; reset them with "
                "options={'reset_mask': ...} before the next step"
            )
        self.worlds.step(actions, ~fresh)
        self._steps += 1
        rewards = np.where(fresh, 0.0, self.worlds.rewards())
        if fresh.any():
            self._reset_worlds(np.flatnonzero(fresh))
        terminated, truncated = self.worlds.ended()
        if self.max_episode_steps is not None:
            truncated |= self._steps >= self.max_episode_steps
        self._over = terminated | truncated
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._over.any():
            infos = self._last_words()
        return self.worlds.observe(), rewards, terminated, truncated, infos | self._infos()

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of every world."""
        if self.render_mode is None:
            return None
        return tuple(self.worlds.draw(*self.worlds.dense()))

    def _last_words(self) -> dict[str, Any]:
        """`final_obs` and `final_info` of the worlds that ended, which then start afresh."""
        which = np.flatnonzero(self._over)
        last = np.full(self.num_envs, None, dtype=object)
        seen = list(iterate(self.observation_space, self.worlds.observe()))
        for place in which:
            last[place] = seen[place]
        facts = self._infos(which)
        self._reset_worlds(which)
        mask = np.isin(np.arange(self.num_envs), which)
        return {
            "final_obs": last,
            "_final_obs": mask,
            "final_info": facts,
            "_final_info": mask.copy(),
        }

    def _reset_worlds(self, which: np.ndarray, level: int = 1) -> None:
        seeds = [int(self._generator(int(place)).integers(NUM_SEEDS)) for place in which]
        self.worlds.reset(which, seeds, level)
        self._steps[which] = 0
        self._over[which] = False

    def _generator(self, place: int) -> np.random.Generator:
        found = self._generators[place]
        return self._seed_generator(place, None) if found is None else found

    def _seed_generator(self, place: int, seed: int | None) -> np.random.Generator:
        made, self._generator_seeds[place] = seeding.np_random(seed)
        self._generators[place] = made
        return made

    def _asked(self, mask: Any) -> np.ndarray:  # noqa: ANN401 - whatever the options hold
        if mask is None:
            return np.arange(self.num_envs)
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ValueError(
                f"options['reset_mask'] must be {self.num_envs} booleans, one or more of them "
                f"true; got {mask.dtype} {mask.shape}"
            )
        return np.flatnonzero(mask)

    def _checked(self, actions: Any) -> np.ndarray:  # noqa: ANN401
        actions = np.asarray(actions)
        num_actions = len(self.game.actions)
        right_kind = np.issubdtype(actions.dtype, np.integer) and actions.shape == (self.num_envs,)
        if not right_kind or ((actions < 0) | (actions >= num_actions)).any():
            raise ValueError(
                f"{self.game.name} wants {self.num_envs} whole numbers 0..{num_actions - 1}; "
                f"got {actions.dtype} {actions.shape}: {actions}"
            )
        return actions

    def _infos(self, which: np.ndarray | None = None) -> dict[str, Any]:
        """Facts of the worlds asked for, 0 elsewhere, each with its mask, as Gymnasium has it."""
        mask = np.ones(self.num_envs, bool)
        if which is not None:
            mask = np.isin(np.arange(self.num_envs), which)
        infos: dict[str, Any] = {}
        for name, values in self.worlds.facts().items():
            infos[name], infos[f"_{name}"] = np.where(mask, values, 0), mask.copy()
        return infos


register_games()
