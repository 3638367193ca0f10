"""Draws every dial of the recipe anew for each experiment; the starter itself comes first."""

from cosmolabe.arena.dials import changed, described, dials_of
from cosmolabe.core.agent import AgentPart, Desk, run_starter
from cosmolabe.core.seeds import generator


def drive(desk: Desk) -> None:
    """Try the starter, then draws; draw k follows from (seed, k) alone."""
    runs = int(desk.settings.get("runs") or 0)
    dials = dials_of(desk.starter)
    run_starter(desk)
    while not runs or len(desk.tried) < runs:
        k = len(desk.tried)
        draw = generator("random search", desk.seed, k)
        point = {name: dial.at(draw.random()) for name, dial in dials.items()}
        desk.run(changed(desk.starter, point, described(point)))


AGENT = AgentPart(
    "random_search",
    "Draws all dials of the recipe at random, one experiment after the other.",
    drive,
    settings={"runs": 0},
)
