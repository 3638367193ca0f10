"""Waiting for descriptors to be ready; unlike `select`, for numbers above 1,023 too."""

import select
from collections.abc import Iterable


def ready(reading: Iterable[int], writing: Iterable[int], seconds: int | float) -> set[int]:
    """Those of the descriptors that can be read from, or written to, or were hung up."""
    poll = select.poll()
    for fd in reading:
        poll.register(fd, select.POLLIN)
    for fd in writing:
        poll.register(fd, select.POLLOUT)
    return {fd for fd, _ in poll.poll(max(seconds, 0) * 1000)}
