"""Groups of twins from scenes of MuJoCo."""

from cosmolabe.data.twin_rows import Drawn, Order, TwinRecipe


def prepare(recipe: TwinRecipe) -> None:
    """Refuse early where MuJoCo is not installed."""
    raise ValueError("scenes of MuJoCo are not built yet; give mujoco the share 0")


def draw_group(recipe: TwinRecipe, order: Order, attempt: int) -> Drawn | None:
    """One group."""
    raise AssertionError("refused by prepare")
