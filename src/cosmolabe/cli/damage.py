"""Hurt a store's episodes in a known way and size, and keep the doubles as rollouts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from cosmolabe.cli._verb import Answer, Verb, progress
from cosmolabe.cli.rollout import CONTEXT


@dataclass(frozen=True, kw_only=True)
class Damage(Verb):
    """Hurt a store's episodes in a known way and size, and keep the doubles as rollouts.

    What a judge says of them can then be held against what was truly done to them. A broken world:
    gravity, gravity_turned, restitution, friction, speed, ghosting, wrong_action, action_delay,
    freeze, speed_jump, teleport, vanish, appear, duplicate, reversed_time. A model that goes wrong:
    drift, jitter, smooth_noise, lag, mean_collapse.
    `cosmolabe damage twins --help`: a whole set of clips and their damaged twins, in pictures.
    """

    store: Positional[Path]
    """Store of one of our games; imported episodes cannot be played again."""
    kind: Annotated[str, arg(aliases=["-k"])]
    """One of these kinds; a game that cannot be damaged so names those it can."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of rollouts to write; `cosmolabe judge` takes it."""
    size: float = 0.5
    """0 changes nothing, 1 is plain to see."""
    onset: int = 60
    """The first state of the episode that may differ."""
    entity: str = ""
    """Whom to hit; by default all, where the kind can, or somebody who is alive then."""
    split: str = "test"
    """Split the episodes are drawn from."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 64
    """Episodes, at most."""
    frames: int = 60
    """States kept from the onset on; the 8 before it are the context."""
    seed: int = 0
    """Seed of the damage's own luck."""

    def run(self) -> Answer:
        """Play each episode and its damaged double; keep where both go on long enough."""
        from cosmolabe.data.damage import PICTURES  # lazily, as all below
        from cosmolabe.data.damage import Damage as Harm
        from cosmolabe.data.replay import ReplayStore
        from cosmolabe.data.rollout_folder import write_rollouts
        from cosmolabe.data.store import open_store
        from cosmolabe.data.twins import twins

        store = open_store(self.store)
        if not isinstance(store, ReplayStore):
            raise ValueError(f"{self.store} holds imported episodes; damage needs a game to play")
        if self.onset < CONTEXT or self.frames < 1 or self.episodes < 1:
            raise ValueError(f"onset is {CONTEXT} or more, frames and episodes 1 or more")
        if self.kind in PICTURES:
            raise ValueError(f"{self.kind} changes pictures alone; a rollout of states shows none")
        if (self.out / "rollouts.jsonl").exists():
            raise ValueError(f"{self.out} holds rollouts already; choose a new folder")
        drawn, end = store.split(self.split)[: self.episodes], self.onset + self.frames
        harm = Harm(self.kind, self.size, self.onset, self.entity, self.seed)
        long = [int(n) for n in drawn if store.lengths[n] >= end]
        pairs = [(number, twins(store, number, harm)) for number in long]
        kept = [(number, pair) for number, pair in pairs if len(pair) >= end]
        if not kept:
            raise ValueError(f"no episode of '{self.split}' goes on to tick {end} with its double")
        write_rollouts(
            self.out,
            *_tensors(store, kept, self.onset - CONTEXT, end),
            game=store.game,
            model=f"{self.kind} {self.size:g}",
            fps=store.manifest.fps,
            seed=self.seed,
        )
        shown = sum(pair.first_difference is not None for _, pair in kept)
        data = {
            "folder": self.out,
            "rollouts": len(kept),
            "too_short": len(drawn) - len(kept),
            "differ": shown,
        }
        text = (
            f"{self.out}: {len(kept)} episodes of {store.game} with {self.kind} of size "
            f"{self.size:g}, {shown} differ; {data['too_short']} were too short"
        )
        return Answer(data, text)


def _tensors(store: Any, kept: list, start: int, end: int) -> tuple:  # noqa: ANN401 - a ReplayStore
    """True windows, and their doubles as if a model had imagined them."""
    import numpy as np  # lazily, as all below

    from cosmolabe.core.fields import PREDICTED
    from cosmolabe.core.rollout import SURE, Prediction

    numbers = np.array([number for number, _ in kept])
    windows = store.windows(numbers, np.full(len(kept), start), end - start)
    part = slice(start + CONTEXT, end)
    doubles = [pair.damaged for _, pair in kept]
    prediction = Prediction(
        np.stack([double.states[part][..., list(PREDICTED)] for double in doubles]),
        np.stack([double.globals[part] for double in doubles]),
        np.stack([np.where(double.terminal[part], SURE, -SURE) for double in doubles]).astype(
            np.float32
        ),
    )
    return windows, prediction


@dataclass(frozen=True, kw_only=True)
class DamageTwins(Verb):
    """Write a set of twins: clips that differ in physics alone, by a known size, with controls.

    Groups of one true clip and its doubles, of our games, of MuJoCo scenes and of real clips. What
    is held out of training (held_out.json) is in the test split alone. Killed at any moment, the
    same command goes on where it stopped.
    """

    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of the set: twins.jsonl and clips."""
    groups: Annotated[int, arg(aliases=["-n"])] = 660
    """Groups of all splits together, about five clips each: 8 of 11 train, 1 val, 2 test."""
    games: float = 0.6
    """Share of the groups that are games."""
    mujoco: float = 0.4
    """Share of the groups that are MuJoCo scenes; needs the extra mujoco."""
    real: float = 0.1
    """Share of the groups that are real clips, where any are given."""
    clips: tuple[Path, ...] = ()
    """Real clips: video files, npz of `frames` and `fps`, or folders of them."""
    size: int = 112
    """Pixels of a side."""
    frames: int = 48
    """Frames of a clip."""
    fps: float = 16.0
    """Frames per second."""
    workers: Annotated[int, arg(aliases=["-w"])] = 1
    """Processes; the bytes are the same for any number."""
    seed: int = 0
    """Seed of everything."""

    def run(self) -> Answer:
        """Film whatever is not there yet."""
        from cosmolabe.bench.scenario_episodes import ScenarioEpisodes  # lazily, as all below
        from cosmolabe.core import parts
        from cosmolabe.data.twin_rows import SPLITS, TwinRecipe
        from cosmolabe.data.twin_set import damages_of, write_twin_set

        if self.groups < 11:
            raise ValueError(
                f"a set has 11 groups or more, to fill three splits; got {self.groups}"
            )
        files = clips_in(self.clips)
        shares = {"games": self.games, "mujoco": self.mujoco, "real": self.real if files else 0.0}
        val, test = self.groups // 11, self.groups * 2 // 11
        recipe = TwinRecipe(
            groups=dict(zip(SPLITS, (self.groups - val - test, val, test), strict=True)),
            shares={name: share for name, share in shares.items() if share},
            size=self.size,
            frames=self.frames,
            fps=(self.fps,),
            real=files,
        )
        starts = {}
        if self.games:
            starts = {game: ScenarioEpisodes(game) for game in parts.names("games")}
        with progress("groups") as tell:
            rows = write_twin_set(
                self.out, recipe, self.seed, workers=self.workers, progress=tell, starts=starts
            )
        kinds = damages_of(rows)
        data = {
            "folder": self.out,
            "rows": len(rows),
            "clips": len({file for row in rows for file in (row.true, row.damaged) if file}),
            "splits": {split: sum(row.split == split for row in rows) for split in SPLITS},
            "sub_threshold": sum(row.sub_threshold for row in rows),
            "kinds": kinds,
        }
        text = (
            f"{self.out}: {data['clips']} clips, {sum(kinds.values())} doubles of {len(kinds)} "
            f"kinds, {data['sub_threshold']} under the threshold"
        )
        return Answer(data, text)


def clips_in(paths: tuple[Path, ...]) -> tuple[str, ...]:
    """Files as they are named, folders as the clips they hold, in order."""
    endings = (".mp4", ".mov", ".webm", ".mkv", ".avi", ".npz")
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise ValueError(f"no clip or folder of clips at {path}")
        folder = path.is_dir()
        inside = sorted(path.iterdir()) if folder else [path]
        found += [file for file in inside if not folder or file.suffix.lower() in endings]
    return tuple(str(path) for path in found)


VERB = Damage
WORDS = {"twins": DamageTwins}
