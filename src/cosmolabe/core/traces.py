"""Courses: how one number of a trace goes from step to step, read and edited.

Whole rules and whole planted changes stand in `scenario_rules`; these are for a scenario's own.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from cosmolabe.core.fields import ALIVE
from cosmolabe.core.scenario import Trace

Course = Float[np.ndarray, "batch step"]
Edit = Callable[[Trace], Trace]


def pace(places: Course, start: int, stop: int) -> Float[np.ndarray, " batch"]:
    """Mean move per step between two steps."""
    return (places[:, stop] - places[:, start]) / (stop - start)


def speed(trace: Trace, slot: str, start: int, stop: int) -> Float[np.ndarray, " batch"]:
    """Mean speed between two steps, as the crow flies, in shares of the world."""
    return np.hypot(pace(trace.x(slot), start, stop), pace(trace.y(slot), start, stop))


def straight(course: Course, over: int = 4) -> Course:
    """As if nothing were in the way: the move of the first steps goes on."""
    return course[:, :1] + np.arange(course.shape[1]) * pace(course, 0, over)[:, None]


def kept(course: Course) -> Course:
    """The first value for ever."""
    return np.broadcast_to(course[:, :1], course.shape)


def doubled(course: Course) -> Course:
    """Every change twice as large."""
    return 2 * course - course[:, :1]


def back_from(step: int) -> Callable[[Course], Course]:
    """From a step on, the way is gone back."""

    def change(course: Course) -> Course:
        late = np.arange(course.shape[1]) > step
        return np.where(late, 2 * course[:, step : step + 1] - course, course)

    return change


def drifting(by: float | int, start: int) -> Callable[[Course], Course]:
    """From step `start` on it drifts by so much more each step."""
    return lambda course: course + by * np.maximum(np.arange(course.shape[1]) - start, 0)


def place_edit(slot: str, column: int, change: Callable[[Course], Course]) -> Edit:
    """Gives a column of a slot (X, Y, ALIVE) another course from step 1 on."""

    def edit(trace: Trace) -> Trace:
        states, number = trace.states.copy(), trace.slot(slot)
        states[:, 1:, number, column] = change(states[:, :, number, column])[:, 1:]
        return trace.with_states(states)

    return edit


def life_edit(slots: tuple[str, ...], alive: bool, start: int = 1) -> Edit:
    """Slots live, or do not, from step `start` on."""

    def edit(trace: Trace) -> Trace:
        states = trace.states.copy()
        states[:, start:, [trace.slot(slot) for slot in slots], ALIVE] = float(alive)
        return trace.with_states(states)

    return edit


def global_edit(name: str, change: Callable[[Course], Course]) -> Edit:
    """Gives a global another course from step 1 on."""

    def edit(trace: Trace) -> Trace:
        numbers = trace.globals.copy()
        column = trace.manifest.profile.global_fields.index(name)
        numbers[:, 1:, column] = change(numbers[:, :, column])[:, 1:]
        return trace.with_globals(numbers)

    return edit
