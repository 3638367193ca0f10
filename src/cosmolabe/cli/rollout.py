"""Let a world model imagine, and keep what it imagined beside what truly happened."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Verb

CONTEXT = 8  # true states shown to the model, as both state protocols have it


@dataclass(frozen=True, kw_only=True)
class Rollout(Verb):
    """Let a world model imagine, and keep what it imagined beside what truly happened."""

    store: Positional[Path]
    """Store whose episodes are imagined onward."""
    model: Annotated[str, arg(aliases=["-m"])]
    """A model's name, a checkpoint folder, or FILE.py:NAME. A frame model (a folder that `train
    --frames` wrote, or an own object with `step`) paints three seconds of held actions."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of rollouts to write; `cosmolabe judge` takes it."""
    split: str = "test"
    """Split the start states are drawn from."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 64
    """Episodes drawn, at most; one rollout each."""
    frames: int = 180
    """Frames of a rollout, the 8 of the context included (3 s at 60 a second)."""
    seed: int = 0
    """Seed of the start states and of the model's own luck."""
    trust: FlagCreatePairsOff[bool] = False
    """Run the user's own Python named by --model."""

    def run(self) -> Answer:
        """Draw start states, imagine, write."""
        from cosmolabe.bench.rolling import draw_and_imagine  # lazily, as all below
        from cosmolabe.cli._models import open_any, open_model, paints
        from cosmolabe.data.store import open_store

        if self.frames <= CONTEXT:
            raise ValueError(
                f"{CONTEXT} frames are given, so frames must be more; got {self.frames}"
            )
        if (self.out / "rollouts.jsonl").exists():
            raise ValueError(f"{self.out} holds rollouts already; choose a new folder")
        store = open_store(self.store)
        model = open_any(self.model, store.manifest, self.trust)
        if paints(model):
            return self._painted(model, store.game)
        model = model or open_model(self.model, store, self.seed, self.trust)
        drawn = draw_and_imagine(model, store, self.split, self.episodes, self.frames, self.seed)
        facts = keep(self.out, store, model, drawn, self.seed)
        text = f"{self.out}: {facts['rollouts']} rollouts of {self.frames} frames by {model.name}"
        if facts["skipped"]:
            text += f"; {facts['skipped']} episodes are too short"
        if facts["unusable"]:
            text += f"\n{facts['unusable']} rollouts cannot be used: {facts['why']}"
        return Answer({"folder": self.out, **facts}, text)

    def _painted(self, model: Any, game: str) -> Answer:  # noqa: ANN401 - a FrameModel
        """What a frame model paints of held actions, as videos with actions."""
        from cosmolabe.bench.frame_models.figures import psnr_by_step
        from cosmolabe.bench.frame_models.rolling import paint, write_painted

        told = paint(model, game, self.episodes, self.seed)
        write_painted(self.out, told, game=game, model=model.name, seed=self.seed)
        steps = psnr_by_step(told)
        facts = {"rollouts": len(told.ids), "frames": told.true.shape[1], "fps": told.fps}
        shown = [one for one in steps if one["step"] in (1, 5, 10, 20, 40)]
        text = "PSNR, dB (holding the last given frame): " + ", ".join(
            f"step {one['step']} {one['psnr']:.1f} ({one['still']:.1f})" for one in shown
        )
        said = f"{self.out}: {facts['rollouts']} rollouts of {facts['frames']} frames by "
        return Answer({"folder": self.out, **facts, "psnr": steps}, [f"{said}{model.name}", text])


def keep(
    folder: Path,
    store: Any,  # noqa: ANN401 - a Store, loaded lazily
    model: Any,  # noqa: ANN401 - a WorldModel, loaded lazily
    drawn: tuple[Any, Any, tuple[str, ...], Any],
    seed: int,
) -> dict[str, Any]:
    """Write what `bench.rolling.draw_and_imagine` gave; what was left out is counted."""
    from cosmolabe.data.rollout_folder import write_rollouts

    windows, prediction, why, skipped = drawn
    write_rollouts(
        folder,
        windows,
        prediction,
        game=store.game,
        model=model.name,
        fps=store.manifest.fps,
        seed=seed,
    )
    reasons = [reason for reason in why if reason]
    return {
        "rollouts": len(windows),
        "skipped": len(skipped),
        "unusable": len(reasons),
        "why": reasons[0] if reasons else "",
    }


VERB = Rollout
