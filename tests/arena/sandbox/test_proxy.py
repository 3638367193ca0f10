"""A box's way to named hosts, and to nothing else."""

import http.server
import threading
from dataclasses import replace

import pytest

from cosmolabe.arena.sandbox import Proxy

HOST = "localhost"


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"{self.path} for {self.headers['Host']} via {self.headers['Proxy-X']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made.server_address[1]
        made.shutdown()
        thread.join()


ASK = """
import http.client, os, sys
proxy = os.environ['HTTPS_PROXY'].removeprefix('http://')
def ask(host, port, tunnel):
    try:
        if tunnel:
            to = http.client.HTTPConnection(proxy, timeout=20); to.set_tunnel(host, port)
            to.request('GET', '/x')
        else:
            to = http.client.HTTPConnection(proxy, timeout=20)
            to.request('GET', f'http://{host}:{port}/x?y=1', headers={'Proxy-X': 'secret'})
        answer = to.getresponse()
        print(answer.status, answer.read().decode().strip(), flush=True)
    except OSError as error:
        print(error, flush=True)
"""


def test_a_box_reaches_an_allowed_host_both_ways_and_no_other(box, level, said, server):
    visits = []
    with Proxy([f"{HOST}:{server}"], visits.append) as proxy:
        inside = replace(box, network=proxy.network, env=proxy.env())
        asks = f"ask({HOST!r}, {server}, False); ask({HOST!r}, {server}, True)\n"
        asks += f"ask('127.0.0.1', {server}, False); ask({HOST!r}, 22, True)"
        words, ended = said(inside, ASK + asks, level)
    assert words.split("\n") == [
        f"200 /x?y=1 for {HOST}:{server} via None",
        f"200 /x for {HOST}:{server} via None",
        f"403 127.0.0.1:{server} is not on the list of this session",
        "Tunnel connection failed: 403 Forbidden",
        "",
    ]
    assert [(v.method, v.port, v.allowed) for v in visits] == [
        ("GET", server, True),
        ("CONNECT", server, True),
        ("GET", server, False),
        ("CONNECT", 22, False),
    ]
    assert ended.code == 0
    assert str(proxy.port) in ended.enforced.network


def test_round_the_proxy_there_is_still_no_network(box, level, said, server):
    code = f"import socket; socket.create_connection(('127.0.0.1', {server}), 5)"
    with Proxy([f"{HOST}:{server}"]) as proxy:
        words, ended = said(replace(box, network=proxy.network), code, level)
    assert "ConnectionRefusedError" in words
    assert ended.code == 1


def test_the_status_of_a_program_behind_the_relay_is_its_own(box, said):
    with Proxy([]) as proxy:
        inside = replace(box, network=proxy.network)
        assert said(inside, "raise SystemExit(7)")[1].code == 7
        words, ended = said(
            inside, "import os; print(os.getcwd(), flush=True); os.kill(os.getpid(), 15)"
        )
        assert (words, ended.code) == ("/work\n", 143)
        assert said(inside, "import sys; print(sys.stdin.read())", stdin=b"told")[0] == "told\n"


def test_names_are_matched_whole_or_by_a_star_for_what_lies_below():
    with Proxy(["api.example.com", "*.example.org", "127.0.0.1:8000"]) as proxy:
        allowed = [("api.example.com", 443), ("API.Example.com.", 80), ("a.b.example.org", 443)]
        refused = [
            ("api.example.com", 22),
            ("example.org", 443),
            ("notexample.org", 443),
            ("api.example.com.evil.net", 443),
            ("127.0.0.1", 8001),
        ]
        assert all(proxy.allows(*one) for one in (*allowed, ("127.0.0.1", 8000)))
        assert not any(proxy.allows(*one) for one in refused)
    with Proxy(["[::1]:8000"]) as proxy:
        assert proxy.allows("::1", 8000)
    for entry in ("*", "a.*.b", "host:port", ""):
        with pytest.raises(ValueError, match="an allowed host is"):
            Proxy([entry])
