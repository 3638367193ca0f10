"""A proxy that lets a box reach named hosts, and nothing else of the network.

It speaks HTTP's CONNECT, and plain HTTP by absolute address. Names are resolved here, outside the
box. It cannot see into what is encrypted: a host that is allowed may pass anything on.
"""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from cosmolabe.arena.sandbox.waiting import ready

HEAD = 1 << 16  # bytes that the head of a request may have
PATIENCE = 30.0  # seconds for a request's head, and for a connection to be made
IDLE = 900.0  # seconds without a byte either way
PIECE = 1 << 16
TARGET = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]/@\s:]+))(?::(\d{1,5}))?")


@dataclass(frozen=True)
class Visit:
    """One request, as the transcript keeps it; nothing of its content."""

    time: float
    method: str
    host: str
    port: int
    allowed: bool


class Proxy:
    """Listens on 127.0.0.1 of this machine until the `with` block is left.

    Args:
        allowed: 'HOST' (ports 80 and 443), 'HOST:PORT', or '*.DOMAIN' for all names below one.
        on_visit: Called with each request, from another thread.

    Raises:
        ValueError: An entry is none of these.
    """

    def __init__(
        self, allowed: Iterable[str], on_visit: Callable[[Visit], object] | None = None
    ) -> None:
        self.allowed = tuple(_entry(text) for text in allowed)
        self._on_visit = on_visit
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        accept(self._server, self._serve)

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    @property
    def network(self) -> str:
        """What `Box.network` is to be."""
        return f"proxy:{self.port}"

    def env(self) -> dict[str, str]:
        """Variables by which most programs find a proxy."""
        address = f"http://127.0.0.1:{self.port}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        return {spelt: address for name in names for spelt in (name, name.lower())}

    def allows(self, host: str, port: int) -> bool:
        """Whether a box may reach that port of that host."""
        host = host.lower().rstrip(".")
        for pattern, ports in self.allowed:
            below = pattern.startswith("*.") and host.endswith(pattern[1:])
            if (below or host == pattern) and port in ports:
                return True
        return False

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError, ValueError):
            client.settimeout(PATIENCE)
            head, rest = _head(client)
            method, host, port, onward = _request(head)
            allowed = self.allows(host, port)
            if self._on_visit is not None:
                self._on_visit(Visit(time.time(), method, host, port, allowed))
            if not allowed:
                client.sendall(_answer(403, f"{host}:{port} is not on the list of this session"))
                return
            try:
                server = socket.create_connection((host, port), PATIENCE)
            except OSError as error:
                client.sendall(_answer(502, f"{host}:{port}: {error}"))
                return
            with server:
                if onward is None:
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                server.sendall((onward or b"") + rest)
                join(client, server)


def accept(server: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    """Serve each visitor in a thread of its own, from now on and until `server` is closed."""

    def visitors() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=visitors, daemon=True).start()


def join(left: socket.socket, right: socket.socket) -> None:
    """Pass bytes both ways until both have said all, or nothing came for `IDLE` seconds."""
    onward = {left.fileno(): (left, right), right.fileno(): (right, left)}
    for one in (left, right):
        one.settimeout(IDLE)
    while onward:
        now = ready(onward, [], IDLE)
        if not now:
            return
        for fd in now:
            source, sink = onward[fd]
            if piece := source.recv(PIECE):
                sink.sendall(piece)
            else:
                del onward[fd]
                with contextlib.suppress(OSError):
                    sink.shutdown(socket.SHUT_WR)


def _entry(text: str) -> tuple[str, tuple[int, ...]]:
    host, port = _target(text.strip().lower())
    if not host or "*" in host.removeprefix("*."):
        raise ValueError(f"an allowed host is HOST, HOST:PORT or *.DOMAIN; got {text!r}")
    return host, (port,) if port else (80, 443)


def _target(text: str) -> tuple[str, int]:
    """Host and port of HOST, HOST:PORT or [ADDRESS]:PORT; '' and 0 where they are not told."""
    match = TARGET.fullmatch(text)
    return (match[1] or match[2], int(match[3] or 0)) if match else ("", 0)


def _head(client: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(PIECE)
        data += piece
        if not piece or len(data) > HEAD:
            raise ValueError("no whole request")
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _request(head: bytes) -> tuple[str, str, int, bytes | None]:
    """Method, host, port, and what to send on (None for CONNECT)."""
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, version = first.split(" ")
    if method == "CONNECT":
        host, port = _target(target)
        if not host or not port:
            raise ValueError("CONNECT wants HOST:PORT")
        return method, host, port, None
    parts = urlsplit(target)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("only absolute http addresses")
    hop = ("proxy-", "connection:", "keep-alive:", "host:")
    kept = [line for line in lines if not line.lower().startswith(hop)]
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    told = [f"{method} {path} {version}", f"Host: {parts.netloc}", *kept, "Connection: close"]
    onward = "\r\n".join(told).encode("latin-1") + b"\r\n\r\n"
    return method, parts.hostname, parts.port or 80, onward


def _answer(code: int, why: str) -> bytes:
    body = why.encode() + b"\n"
    words = {403: "Forbidden", 502: "Bad Gateway"}[code]
    return (
        f"HTTP/1.1 {code} {words}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    ).encode() + body
