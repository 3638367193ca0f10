"""Games nobody here wrote, by name: `atari/Pong`, `mujoco/Hopper`, `box2d/LunarLander`.

One file a family of environments. Nothing heavy is imported before a game of the family is named;
what is missing then is told with the extra that brings it.
"""

import importlib
import pkgutil

from cosmolabe.data.outside.game import OutsideGame

NOT_GAMES = ("game", "slots", "players", "playing", "collecting")
MAX_TICKS = 600  # of an episode, unless the user says otherwise


def families() -> list[str]:
    """The families of environments there are adapters for."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name for name in found if name not in NOT_GAMES)


def outside_game(name: str, frameskip: int = 1, max_ticks: int = MAX_TICKS) -> OutsideGame:
    """The game `FAMILY/NAME`; `frameskip` of its own frames make one tick."""
    family, _, rest = name.partition("/")
    if family not in families() or not rest:
        raise ValueError(
            f"no outside game '{name}'; say FAMILY/NAME with a family of {families()}, "
            f"for example atari/Pong"
        )
    if frameskip < 1 or max_ticks < 1:
        raise ValueError(
            f"frameskip and max_ticks must be at least 1; got {frameskip} and {max_ticks}"
        )
    module = importlib.import_module(f"{__name__}.{family}")
    return module.game(rest, frameskip, max_ticks)
