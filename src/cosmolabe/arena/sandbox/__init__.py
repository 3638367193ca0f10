"""Running what a stranger wrote: nothing but what is named is there, and all of it ends in time."""

from cosmolabe.arena.sandbox.box import KILLED, Box, Ended, Enforced, Limits
from cosmolabe.arena.sandbox.child import Child
from cosmolabe.arena.sandbox.levels import LEVELS, best_level, why_not
from cosmolabe.arena.sandbox.proxy import Proxy, Visit
from cosmolabe.arena.sandbox.python_root import python_root
from cosmolabe.arena.sandbox.running import open_child, run
from cosmolabe.arena.sandbox.scratch import scratch_folder, sweep
from cosmolabe.arena.sandbox.watching import remove_tree

__all__ = [
    "KILLED",
    "LEVELS",
    "Box",
    "Child",
    "Ended",
    "Enforced",
    "Limits",
    "Proxy",
    "Visit",
    "best_level",
    "open_child",
    "python_root",
    "remove_tree",
    "run",
    "scratch_folder",
    "sweep",
    "why_not",
]
