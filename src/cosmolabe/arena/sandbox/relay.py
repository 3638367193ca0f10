"""One port of this machine, reachable from a box that has no network.

A socket file is laid into the box. Outside, `Relay` passes on what comes through it to the port;
inside, `forwarding.py` listens on the same port and passes on to the file.
"""

import contextlib
import shutil
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cosmolabe.arena.sandbox.box import Box
from cosmolabe.arena.sandbox.proxy import PATIENCE, accept, join
from cosmolabe.arena.sandbox.scratch import scratch_folder

INSIDE = "/run/cosmolabe"
SCRIPT = Path(__file__).with_name("forwarding.py")


class Relay:
    """The outer half, for as long as its box lives."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._at_end = contextlib.ExitStack()
        self.folder = self._at_end.enter_context(scratch_folder("port"))
        shutil.copy(SCRIPT, self.folder / SCRIPT.name)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(self.folder / "port"))
        self._server.listen()
        accept(self._server, self._serve)

    def close(self) -> None:
        """Take the socket file away."""
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._at_end.close()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.ExitStack() as at_end, contextlib.suppress(OSError):
            at_end.enter_context(client)
            address = ("127.0.0.1", self.port)
            server = at_end.enter_context(socket.create_connection(address, PATIENCE))
            join(client, server)


def through(relay: Relay, box: Box, argv: Sequence[str]) -> tuple[Box, list[str]]:
    """The box with the socket in it, and the program behind the inner half."""
    laid = replace(box, readable=(*box.readable, (relay.folder, INSIDE)), cwd=box.start_folder)
    script, file = f"{INSIDE}/{SCRIPT.name}", f"{INSIDE}/port"
    return laid, [sys.executable, "-I", "-S", "-B", script, str(relay.port), file, *argv]
