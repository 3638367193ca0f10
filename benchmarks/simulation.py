"""Rules per second on one core, every public column of every state written."""

import subprocess
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.pufferlib_cores import Core
from benchmarks.timing import Row, missing, versus
from cosmolabe.core import parts
from cosmolabe.engine import kernels
from cosmolabe.engine.game import Game, layout_of

WORLDS, TICKS = 64, 1024
ATARI = ("pong", "breakout", "asteroids", "frogger")


def simulate(game: Game) -> Callable[[], int]:
    """Play random actions from fresh worlds, compact states written; counts the ticks played."""
    fresh = game.new_worlds(np.arange(WORLDS))
    actions = _random_actions(len(game.actions), (WORLDS, TICKS))
    public = np.zeros((WORLDS, TICKS + 1, game.num_public), np.float32)
    lengths, parameters = np.zeros(WORLDS, np.int64), game.default_parameters()[None]

    def run() -> int:
        done = 0
        while done < WORLDS * TICKS:  # worlds that end early are begun again
            kernels.simulate(game.step, fresh.copy(), actions, parameters, public, lengths)
            done += int(lengths.sum()) - WORLDS
        return done

    return run


def simulate_dense(game: Game) -> Callable[[], int]:
    """The same, then all 23 fields of every slot and all globals as dense float32."""
    fresh = game.new_worlds(np.arange(WORLDS))
    actions = _random_actions(len(game.actions), (WORLDS, TICKS))
    public = np.zeros((WORLDS, TICKS + 1, game.num_public), np.float32)
    lengths, parameters = np.zeros(WORLDS, np.int64), game.default_parameters()[None]
    layout = layout_of(game)
    states = np.zeros((TICKS + 1, game.manifest.num_slots, 23), np.float32)
    numbers, terminal = np.zeros((TICKS + 1, 17), np.float32), np.zeros(TICKS + 1, bool)

    def run() -> int:
        kernels.simulate(game.step, fresh.copy(), actions, parameters, public, lengths)
        for world in range(WORLDS):
            n = lengths[world]
            kernels.expand(
                public[world, :n], layout.target, layout.scale, layout.template, layout.wrap, 0,
                states[:n], numbers[:n], terminal[:n],
            )  # fmt: skip
        return int(lengths.sum()) - WORLDS

    return run


def puffer(game: str) -> Callable[[], int]:
    """PufferLib's C core, observations written; counts agent-steps."""
    worlds, ticks, choices = (4, 100, 4) if game == "snake" else (WORLDS, TICKS, 3)
    core = Core(game, worlds)
    actions = _random_actions(choices, (worlds, ticks, core.agents))
    return lambda: core.play(actions)


def atari(game: str) -> Callable[[], int]:
    """ale-py, random actions, RAM fetched, no picture; counts frames."""
    import ale_py

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    emulator = ale_py.ALEInterface()
    emulator.setInt("frame_skip", 1)
    emulator.loadROM(ale_py.roms.get_rom_path(game))
    legal = emulator.getMinimalActionSet()
    choices = _random_actions(len(legal), (1000,))

    def run() -> int:
        for choice in choices:
            emulator.act(legal[choice])
            emulator.getRAM()
            if emulator.game_over():
                emulator.reset_game()
        return len(choices)

    return run


def minatar() -> Callable[[], int]:
    """MinAtar breakout, random actions, state fetched."""
    import minatar

    world = minatar.Environment("breakout")
    choices = _random_actions(6, (20000,))

    def run() -> int:
        for choice in choices:
            _, over = world.act(choice)
            world.state()
            if over:
                world.reset()
        return len(choices)

    return run


def gymnasium_vector() -> Callable[[], int]:
    """Gymnasium's fastest: CartPole with its numpy-vectorised entry point."""
    import gymnasium

    worlds = gymnasium.make_vec("CartPole-v1", 1024, vectorization_mode="vector_entry_point")
    worlds.reset(seed=0)
    actions = _random_actions(2, (100, 1024)).astype(np.int64)

    def run() -> int:
        for choice in actions:
            worlds.step(choice)
        return actions.size

    return run


def our_vector(game: Game) -> Callable[[], int]:
    """Our Gymnasium vector environment, dense state observations and all."""
    import gymnasium

    from cosmolabe.data.gym import environment_id  # the import registers the environments

    name = environment_id(game.name)
    worlds = gymnasium.make_vec(name, 256, vectorization_mode="vector_entry_point")
    worlds.reset(seed=0)
    actions = _random_actions(len(game.actions), (50, 256)).astype(np.int64)

    def run() -> int:
        for choice in actions:
            worlds.step(choice)
        return actions.size

    return run


def rows() -> Iterator[Row]:
    """All comparisons of this file."""
    for name in parts.names("games"):
        game = parts.load("games", name)
        rate = versus(f"simulate {name}", "ticks/s", simulate(game), {"": _idle}, rounds=5)
        yield _against_a_number(rate[0], 1e6)
        if name in CORES:
            try:
                peers = {"PufferLib 3.0.0 C core": puffer(name)}
            except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                yield missing(f"simulate {name}", "ticks/s", "PufferLib C core", str(error))
            else:
                yield from versus(f"simulate {name}", "ticks/s", simulate(game), peers, target=1.0)
        if name in ATARI:
            peers = {"ale-py": atari(name)}
            dense = simulate_dense(game)
            what = f"simulate {name}, 23 dense fields"
            yield from versus(what, "frames/s", dense, peers, target=100)
    breakout, pong = parts.load("games", "breakout"), parts.load("games", "pong")
    yield from versus("simulate breakout", "ticks/s", simulate(breakout), {"MinAtar": minatar()})
    yield from versus(
        "step pong in a Gymnasium vector environment",
        "steps/s",
        our_vector(pong),
        {"Gymnasium's vectorised CartPole": gymnasium_vector()},
        note="a lighter game with a 4-number observation; ours returns dense tensors",
    )


CORES = ("pong", "breakout", "snake")


def _random_actions(choices: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).integers(0, choices, shape).astype(np.uint8)


def _idle() -> int:
    return 1


def _against_a_number(row: Row, number: float) -> Row:
    return Row(
        row.name, row.ours, number, "1M a second", row.ours / number, row.unit, 1.0,
        "against a fixed number, so it depends on the machine",
    )  # fmt: skip
