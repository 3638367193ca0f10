"""The kernel that paints frames, and what it owes to states that no game would reach."""

import numpy as np
from numba import njit, types

from cosmolabe.engine.compiling import rule, taken_as
from cosmolabe.engine.rng import uniform_at

TICK_SHARE = 5  # column of the globals that tells the time; drives the camera jitter
FARTHEST = np.float32(16.0)  # worlds from the corner; what is farther off is not drawn
LARGEST = np.float32(1e9)  # of a global
EXPONENT = np.uint32(0x7F800000)  # all set in what is not finite
DRAW = types.FunctionType(
    types.void(
        types.uint8[:, :, ::1],
        types.float32[:, ::1],
        types.float32[::1],
        types.uint8[:, ::1],
        types.uint8[:, :, :, ::1],
        types.float64[::1],
    )
)
_drawing_at = taken_as(DRAW)


@rule
def _copy(to, source):
    """A plain loop: LLVM makes it a memcpy, which numba's own array assignment is not."""
    for i in range(source.shape[0]):
        to[i] = source[i]


@rule
def _shifted_copy(to, source, down, right):
    """A picture moved by whole pixels; its edges are drawn out to fill the gap."""
    height, width = source.shape[0], source.shape[1]
    first, last = min(max(right, 0), width), max(min(width + right, width), 0)
    for row in range(height):
        line, origin = to[row], source[min(max(row - down, 0), height - 1)]
        if first < last:
            _copy(
                line[first:last].reshape(3 * (last - first)),
                origin[first - right : last - right].reshape(3 * (last - first)),
            )
        for column in range(first):
            for k in range(3):
                line[column, k] = origin[0, k]
        for column in range(last, width):
            for k in range(3):
                line[column, k] = origin[width - 1, k]


@rule
def _all_sound(state):
    """Whether every number is finite and everything lies near the world. Bits, for speed."""
    for slot in range(state.shape[0]):
        x, y = state[slot, 0], state[slot, 1]
        if not (abs(x) < FARTHEST and abs(y) < FARTHEST):
            return False
    bits = state.view(np.uint32)
    flat = bits.reshape(bits.size)
    wild = 0
    for i in range(flat.shape[0]):
        wild += (flat[i] & EXPONENT) == EXPONENT
    return wild == 0


@rule
def _leave_out_broken(sound, state):
    """Copy a state, with all zeros for an entity that has a number no one can draw."""
    for slot in range(state.shape[0]):
        fine = abs(state[slot, 0]) < FARTHEST and abs(state[slot, 1]) < FARTHEST
        for column in range(state.shape[1]):
            fine = fine and np.isfinite(state[slot, column])
        for column in range(state.shape[1]):
            sound[slot, column] = state[slot, column] if fine else 0.0


@rule
def _take_over(seen, state, places):
    """Copy the values at the places; True where one differs from what was there."""
    changed = False
    for i in range(places.shape[0]):
        place = np.uint64(places[i])
        if seen[place] != state[place]:
            seen[place] = state[place]
            changed = True
    return changed


@njit(
    types.void(
        types.int64,
        types.int64,
        types.float32[:, :, ::1],
        types.float32[:, ::1],
        types.uint8[:, :, ::1],
        types.uint8[:, ::1],
        types.uint8[:, :, :, ::1],
        types.int64[::1],
        types.int64[::1],
        types.uint8[:, :, ::1],
        types.float32[:, ::1],
        types.float32[::1],
        types.boolean[::1],
        types.float64,
        types.uint64,
        types.float64,
        types.uint8[:, :, :, ::1],
    ),
    cache=True,
    nogil=True,
)
def paint(
    scenery,
    draw,
    states,
    numbers,
    still,
    palette,
    sprites,
    state_places,
    number_places,
    set_up,
    seen_state,
    seen_numbers,
    ready,
    jitter,
    seed,
    ticks,
    frames,
):
    """Draw T frames: the set, shifted by the camera jitter, then what moves.

    The set (`set_up`) is the still background and the game's scenery over it. Scenery sees
    `seen_state` and `seen_numbers` alone, where all but the values at the places is zero; so the
    set is drawn anew when one of those values differs (or it was never `ready`), and never looks
    otherwise than one drawn for this frame.
    """
    paint_scenery, paint_rest = _drawing_at(scenery), _drawing_at(draw)
    set_bytes = set_up.reshape(set_up.size)
    still_bytes = still.reshape(still.size)
    frame_bytes = frames.reshape((frames.shape[0], set_up.size))
    seen_values = seen_state.reshape(seen_state.size)
    sound, sound_numbers = np.zeros_like(seen_state), np.zeros_like(seen_numbers)
    camera, nowhere = np.zeros(2), np.zeros(2)
    for t in range(states.shape[0]):
        state = states[t]
        if not _all_sound(state):
            _leave_out_broken(sound, state)
            state = sound
        for k in range(sound_numbers.shape[0]):
            value = numbers[t, k]
            sound_numbers[k] = 0.0 if np.isnan(value) else min(max(value, -LARGEST), LARGEST)
        changed = _take_over(seen_values, state.reshape(state.size), state_places)
        changed = _take_over(seen_numbers, sound_numbers, number_places) or changed
        if changed or not ready[0]:
            ready[0] = True
            _copy(set_bytes, still_bytes)
            paint_scenery(set_up, seen_state, seen_numbers, palette, sprites, nowhere)
        if jitter > 0.0:
            tick = np.uint64(max(sound_numbers[TICK_SHARE] * ticks + 0.5, 0.0))
            for axis in range(2):
                whim = uniform_at(seed, np.uint64(7), tick, np.uint64(axis))
                camera[axis] = np.floor((2.0 * whim - 1.0) * jitter + 0.5)
            _shifted_copy(frames[t], set_up, np.int64(camera[1]), np.int64(camera[0]))
        else:
            _copy(frame_bytes[t], set_bytes)
        paint_rest(frames[t], state, sound_numbers, palette, sprites, camera)


@rule
def no_scenery(frame, state, numbers, palette, sprites, camera):
    """A game that draws all of its picture anew for each frame."""
