"""Any game that a manifest can describe goes out and comes back, however odd its columns."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.core.episode import Episode, rebuild_motion
from cosmolabe.core.fields import Profile
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data.exporting import state_names
from cosmolabe.data.lerobot.reading import import_lerobot
from cosmolabe.data.lerobot.writing import export_lerobot
from cosmolabe.data.pack import PackedWriter
from cosmolabe.data.packing import columns_of
from cosmolabe.data.parquet import export_parquet, import_parquet
from cosmolabe.data.zarr_export import export_zarr

LETTERS = st.characters(codec="utf-8", categories=("L", "N", "P"), exclude_characters=".")
NAMES = st.lists(st.tuples(st.text(LETTERS, min_size=1, max_size=8), st.booleans()), max_size=3)
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)
GAMES = st.fixed_dictionaries(
    {
        "fields": NAMES,  # and whether the game uses it
        "globals": NAMES,
        "actions": NAMES,
        "slots": st.lists(st.sampled_from(["a", "b.x", "ü", "x"]), min_size=1, unique=True),
        "wrap_x": st.booleans(),
        "fps": st.integers(1, 240),
    }
)
CORE = {"x", "y", "alive", "vx", "vy", "dx1", "dy1", "dx2", "dy2"}


def manifest_of(game):
    """A game with none, one or several fields, globals and actions, called anything."""
    kinds = ("fields", "globals", "actions")
    drawn = {kind: {n: used for n, used in game[kind] if n not in CORE} for kind in kinds}
    fields, numbers, actions = (tuple(drawn[kind]) for kind in kinds)
    used = {kind: tuple(name for name, use in drawn[kind].items() if use) for kind in kinds}
    return Manifest(
        "odd",
        1,
        tuple(Slot(name, "player", wraps=name == "a") for name in game["slots"]),
        **used,
        wrap_x=game["wrap_x"],
        fps=float(game["fps"]),
        profile=Profile(game_fields=fields, global_fields=numbers, action_fields=actions),
    )


def episode_of(manifest, rng, length, extreme):
    """Any 32-bit numbers where the manifest has columns, zero elsewhere."""
    profile, columns = manifest.profile, columns_of(manifest)
    flat = np.zeros((length, manifest.num_slots * profile.num_state), np.float32)
    flat[:, columns.states] = rng.normal(size=(length, len(columns.states)))
    states = flat.reshape(length, manifest.num_slots, -1)
    states[0, 0, 3] = extreme
    numbers = np.zeros((length, len(profile.global_fields)), np.float32)
    numbers[:, columns.globals] = rng.normal(size=(length, len(columns.globals)))
    actions = np.zeros((length, len(profile.action_fields)), np.float32)
    actions[:-1, columns.actions] = rng.normal(size=(length - 1, len(columns.actions)))
    terminal = np.zeros(length, bool)
    terminal[-1] = rng.random() < 0.5
    return Episode(
        manifest.registry(), rebuild_motion(states, manifest), actions, numbers, terminal,
        bool(not terminal[-1] and rng.random() < 0.5),
    )  # fmt: skip


@settings(max_examples=12)
@given(
    game=GAMES,
    lengths=st.lists(st.integers(2, 70), min_size=1, max_size=4),
    seed=st.integers(0, 99),
    extreme=NUMBERS,
)
def test_any_game_comes_back_bit_for_bit(game, lengths, seed, extreme):
    manifest, rng = manifest_of(game), np.random.default_rng(seed)
    with TemporaryDirectory() as aside:
        folder = Path(aside)
        writer = PackedWriter(folder / "store", manifest)
        for place, length in enumerate(lengths):
            episode = episode_of(manifest, rng, length, extreme)
            writer.add(episode, ("train", "val")[place % 2], f"e{place}", "somebody")
        store = writer.finish()
        export_lerobot(store, folder / "lerobot")
        export_zarr(store, folder / "zarr")
        export_parquet(store, folder / "parquet")
        table = import_parquet(folder / "parquet", folder / "table")
        again = import_lerobot(folder / "lerobot", folder / "again")
        group = zarr.open_group(folder / "zarr", mode="r")
        offsets = group["offsets"][:]
        for number in range(len(lengths)):
            one = store.episode(number)
            for other in (again.episode(number), table.episode(number)):
                for name in ("registry", "states", "actions", "globals", "terminal"):
                    np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
                assert one.truncated == other.truncated
            np.testing.assert_array_equal(
                group["states"][offsets[number] : offsets[number + 1]], one.states
            )
        assert again.manifest == manifest
        assert len(state_names(manifest)) == len(set(state_names(manifest)))
