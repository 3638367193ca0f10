"""Groups of twins from scenes of MuJoCo."""

from dataclasses import replace

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.seeds import generator
from cosmolabe.data.held_out import held_out
from cosmolabe.data.scene_names import KINDS, SCENES
from cosmolabe.data.scenes.damage import applicable, hurt_shot
from cosmolabe.data.scenes.shooting import (
    Play,
    Shot,
    Unstable,
    builders,
    mujoco,
    pictures,
    play,
    same,
)
from cosmolabe.data.scenes.stage import drawn_look
from cosmolabe.data.twin_rows import Drawn, Order, TwinRecipe

FURIOUS = (1.6, 2.4)  # times its speed at the start, where rare but lawful motion is asked for
GLIMPSES = 4  # frames drawn where a size under the threshold is looked for
FAR_ENOUGH = 0.01  # widths of the picture that a damage must move something, to be worth drawing


def check(recipe: TwinRecipe) -> None:
    """Refuse early where MuJoCo is not installed or a scene is unknown."""
    mujoco()
    unknown = sorted(set(recipe.scenes) - set(SCENES))
    if unknown:
        raise ValueError(f"no scene {unknown}; have {list(SCENES)}")


def draw_group(recipe: TwinRecipe, order: Order, attempt: int) -> Drawn | None:
    """One group, or None where this attempt's damage moved nothing."""
    kept = held_out()
    unseen = "scene" in order.unseen
    wanted = recipe.scenes or SCENES
    fits = [name for name in wanted if (f"mujoco/{name}" in kept.scenes) == unseen]
    if not fits and order.split != "test":
        raise ValueError(f"every scene of {list(wanted)} is held out of training (held_out.json)")
    fits = fits or list(wanted)
    name = fits[order.draw("scene", attempt // 8).integers(len(fits))]
    kinds = [kind for kind in KINDS if (kind in kept.damages) == ("kind" in order.unseen)]
    kind = kinds[order.draw("kind", attempt // 4).integers(len(kinds))]
    luck = order.draw("luck", attempt)
    furious = order.role == "lawful"
    try:
        played = stage(name, recipe, order, int(luck.integers(1 << 31)), furious)
    except Unstable:
        return None
    scene = f"mujoco/{name}"
    if furious:
        return Drawn(pictures(played, played.shot), scene, tags=("fast",))
    able = applicable(played)[kind]
    if not able:
        return None
    entity, seed = able[luck.integers(len(able))], int(luck.integers(1 << 31))
    try:
        shots = {size: hurt_shot(played, kind, size, entity, seed) for size in order.sizes}
    except Unstable:
        return None
    if not _shows(played, shots[max(order.sizes)]):
        return None
    true = pictures(played, played.shot)

    def drawn(size: float, wanted: np.ndarray) -> UInt8[np.ndarray, "time height width 3"]:
        try:
            double = shots.get(size) or hurt_shot(played, kind, size, entity, seed)
        except Unstable:
            return true
        differs = np.array(
            [frame for frame in wanted if not same(double, played.shot, int(frame))], int
        )
        out = true.copy()
        out[differs] = pictures(played, double, differs)
        return out

    after = np.arange(order.onset, recipe.frames)
    glimpses = after[np.linspace(0, len(after) - 1, GLIMPSES).astype(int)]
    return Drawn(
        true, scene, lambda size: drawn(size, after), kind, entity,
        glance=lambda size: drawn(size, glimpses),
    )  # fmt: skip


def stage(name: str, recipe: TwinRecipe, order: Order, seed: int, furious: bool = False) -> Play:
    """A scene as the seed builds it, played with true laws."""
    built = builders()[name](generator("stage", name, seed))
    look = drawn_look(generator("look", name, seed), built)
    if furious:
        faster = generator("fury", name, seed).uniform(*FURIOUS)
        speeds = {k: tuple(faster * v for v in values) for k, values in built.speeds.items()}
        built = replace(built, speeds=speeds)
    return play(built, look, order.fps, recipe.frames, order.onset, recipe.size)


def _shows(played: Play, double: Shot) -> bool:
    """Whether something is elsewhere, or looks otherwise, by enough to be worth drawing."""
    true = played.shot
    if double.extras or (double.shown != true.shown).any():
        return True
    if (double.scales != true.scales).any() or (double.materials != true.materials).any():
        return True
    far = np.abs(double.places - true.places).max()
    turned = np.abs(double.turns - true.turns).max()
    return bool(far > FAR_ENOUGH * played.stage.width or turned > 0.2)
