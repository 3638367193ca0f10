"""Where a session's store lies, told so that its record holds no path of one machine.

`session.json` names the store as it is seen from the session's folder where it lies in it, beside
it, or as a grid lays it out; a store elsewhere has its folder's name alone. Which episodes are
meant is told by their hash. `where.json` beside it is a note to this machine of where the store
lies: it is in no fingerprint, and nothing but this file reads it. What an agent may write in is
never looked at, whatever the store is called.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.store import Store, is_store, open_store

WHERE, STORE, STORES = "where.json", "store", "stores"
HOME = "home"  # what an agent keeps besides its task folder
AGENTS_OWN = ("task", HOME)
MOST_SHOWN = 300  # characters of one place or reason


def store_name(session: Path, store: Path) -> str:
    """How a session's record names a store.

    Raises:
        ValueError: It lies where the session's agent may write.
    """
    top, place = session.resolve(), store.resolve()
    if _is_agents(top, place):
        raise ValueError(
            f"{store}: a session's {' and '.join(AGENTS_OWN)} are its agent's, no place for a store"
        )
    if place.is_relative_to(top):
        return place.relative_to(top).as_posix()
    for near in (f"../{place.name}", f"../../{STORES}/{place.name}"):
        if (top / near).resolve() == place:
            return near
    return place.name


def note_place(session: Path, store: Path) -> None:
    """Write down for this machine where a session's store lies."""
    write_json(session / WHERE, {"store": str(store.resolve())})


def find_store(session: Path, facts: Mapping[str, Any]) -> Store:
    """The store of a session's own episodes, wherever session or store were moved since.

    Raises:
        ValueError: It is not where it was, or holds other episodes; says where was looked.
    """
    looked = []
    for place in dict.fromkeys(_places(session, facts)):
        found = _store_at(place, facts["data"])
        if not isinstance(found, str):
            return found
        looked.append(f"{str(place)[:MOST_SHOWN]} ({found[:MOST_SHOWN]})")
    raise ValueError(
        f"{session}: its episodes, {facts['data'][:MOST_SHOWN]}, are not to be found; looked at "
        f"{', '.join(looked)}. Put the store, or a link to it, at {session / STORE}"
    )


def _store_at(place: Path, data: str) -> Store | str:
    """The store at a place if it holds these episodes; else why not, for another place may do."""
    if not is_store(place):
        return "no store"
    try:
        store = open_store(place)
    except (OSError, ValueError) as error:  # half copied, say
        return str(error)
    return store if store.fingerprint == data else f"other episodes, {store.fingerprint}"


def _places(session: Path, facts: Mapping[str, Any]) -> Iterator[Path]:
    named = session / facts["store"]  # sessions made before named a whole path, which stays one
    if not _is_agents(session, named):
        yield named
    if (session / WHERE).is_file():
        noted = read_json(session / WHERE)
        if not isinstance(noted, dict) or not isinstance(noted.get("store"), str):
            raise ValueError(
                f"{session / WHERE}: expected the place of the store; it may be removed"
            )
        yield Path(noted["store"])
    yield session / STORE


def _is_agents(session: Path, place: Path) -> bool:
    """Whether a place lies in what the session's agent may write in."""
    top, there = Path(os.path.abspath(session)), Path(os.path.abspath(place))
    return any(there.is_relative_to(top / own) for own in AGENTS_OWN)
