"""Changes nothing: the starter again and again, each time with another seed.

How far its runs lie apart is the noise every other agent works in, and its best of k is what luck
alone brings.
"""

from dataclasses import replace

from cosmolabe.core.agent import AgentPart, Desk, run_starter
from cosmolabe.core.seeds import seed_of


def drive(desk: Desk) -> None:
    """Run the starter `runs` times, or until the time is over where that is 0."""
    runs = int(desk.settings.get("runs") or 0)
    run_starter(desk)
    while not runs or len(desk.tried) < runs:
        k = len(desk.tried)
        seed = seed_of("null agent", desk.seed, k) & 0x7FFFFFFF
        desk.run(replace(desk.starter, seed=seed, note=f"the starter, run {k + 1}"))


AGENT = AgentPart(
    "null",
    "Reruns the starter with other seeds: the noise floor, and what best of k is worth.",
    drive,
    settings={"runs": 0},
)
