"""The docker level: against a real engine where one answers, and by its command line elsewhere."""

import os
import stat

import pytest

from cosmolabe.arena.sandbox import best_level, containers, levels, run, why_not

FAKE = """#!/bin/sh
echo "$@" >> {log}
case "$1" in
  info) exit {info} ;;
  inspect) echo '{{"ExitCode": 3, "OOMKilled": true, "Error": ""}}' ;;
esac
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """An engine that writes down what it is asked; gives how to choose its answer to `info`."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def make(info):
        for name in ("docker", "podman"):
            program = tmp_path / name
            program.write_text(FAKE.format(log=tmp_path / "asked", info=info))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return tmp_path / "asked"

    kept = (containers.engine, levels.why_not)
    for answer in kept:
        answer.cache_clear()
    yield make
    for answer in kept:
        answer.cache_clear()


def test_an_engine_is_told_every_limit_and_no_secret(fake, make_box):
    asked = fake(0)
    box = make_box(processes=20, memory=64 << 20, file_bytes=4096, cores=0.5)
    ended = run(box, ["/bin/true"], level="docker")
    assert (ended.code, ended.killed) == (137, "memory")
    (told,) = [line for line in asked.read_text().splitlines() if line.startswith("run ")]
    for words in (
        "--network none",
        "--read-only",
        "--cap-drop ALL",
        "--pids-limit 20",
        f"--memory {64 << 20} --memory-swap {64 << 20}",
        "fsize=4096",
        "--cpus 0.5",
        "no-new-privileges",
        ":/work:rw",
        "--env HOME --env LANG",
        "/usr/bin/timeout -s KILL 90 /bin/true",
    ):
        assert words in told
    assert "HOME=" not in told


def test_an_engine_that_does_not_answer_is_no_level(fake, box):
    fake(1)
    assert "docker: no answer; podman: no answer" in why_not("docker")
    with pytest.raises(ValueError, match="level docker does not work here"):
        run(box, ["/bin/true"], level="docker")


def test_where_nothing_works_it_says_so_and_never_runs_unsafely_by_itself(fake, monkeypatch):
    fake(1)
    monkeypatch.setattr(levels, "why_not", lambda level: "missing")
    with pytest.raises(ValueError, match=r"no sandbox works here .*'unsafe-local' runs without"):
        best_level()


@pytest.mark.skipif(not os.environ.get("COSMOLABE_DOCKER"), reason="COSMOLABE_DOCKER=1 runs it")
def test_a_real_engine_holds_a_program_as_bubblewrap_does(make_box, said):
    words, ended = said(make_box(), "import os; print(os.listdir('/work'), os.getuid())", "docker")
    assert ended.code == 0, words
    _, ended = said(make_box(wall=5), "import time; time.sleep(60)", "docker")
    assert ended.killed == "wall"
    _, ended = said(make_box(memory=64 << 20), "x = bytearray(1 << 28)", "docker")
    assert ended.killed == "memory"
    words, ended = said(
        make_box(), "import socket; socket.create_connection(('1.1.1.1', 53), 2)", "docker"
    )
    assert "unreachable" in words
