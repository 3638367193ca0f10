"""Lets an agent act in a session until it is done or its time is over."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cosmolabe.arena.named import agent_named
from cosmolabe.arena.session import Session, read_session
from cosmolabe.core.agent import SessionOver, Tried


def run_session(
    folder: Path,
    agent: str,
    settings: Mapping[str, Any] | None = None,
    *,
    level: str = "auto",
    gpu: bool = False,
    tell: Callable[[Tried, str], None] | None = None,
) -> tuple[list[Tried], str]:
    """All experiments of the session, and which of them was submitted.

    A session that was interrupted goes on where it stopped, with the time it had left. `tell` hears
    of each experiment as it ends, and how much is left then.
    """
    part = agent_named(agent)
    unknown = sorted(set(settings or {}) - set(part.settings))
    if unknown:
        raise ValueError(f"the agent '{part.name}' takes {sorted(part.settings)}; got {unknown}")
    told = {**part.settings, **(settings or {})}
    read_session(folder)  # first: what is no session is told before what an agent lacks
    part.check(told, folder)
    with Session(folder, agent=part.name, settings=told, level=level, gpu=gpu) as session:
        session.tell = tell
        with contextlib.suppress(SessionOver):  # as most sessions end
            part.drive(session)
        return list(session.tried), session.finish()
