import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cosmolabe.cli import main
from cosmolabe.cli._models import open_model
from cosmolabe.cli._verb import Answer, Verb, cell


@pytest.fixture
def wide(monkeypatch):
    """Help is laid out for the terminal it is shown in."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def verb(monkeypatch):
    """A verb that does what it is told, in place of `games`."""

    def install(doing):
        class Told(Verb):
            stopped = "call it again"

            def run(self):
                return doing()

        monkeypatch.setattr(main, "_parse", lambda name, arguments: Told())
        return ["games"]

    return install


def test_the_overview_reads_as_ever(capsys, snapshot):
    assert main.run(["--help"]) == 0
    assert capsys.readouterr().out == snapshot


@pytest.mark.parametrize("name", main.verbs())
def test_every_verb_explains_itself(name, capsys, wide, snapshot):
    with pytest.raises(SystemExit) as stop:
        main.run([name, "--help"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == snapshot


def test_the_overview_needs_neither_torch_nor_a_compiler():
    code = (
        "import sys; from cosmolabe.cli.main import run; run(['--help']);"
        "print([n for n in ('torch', 'numba', 'numpy', 'altair', 'rich') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_words_at_all_show_the_overview(capsys):
    assert main.run([]) == 0
    assert "usage: cosmolabe VERB" in capsys.readouterr().out


def test_a_misspelt_verb_is_answered_with_the_nearest(capsys):
    assert main.run(["gmaes"]) == 2
    assert capsys.readouterr().err == "cosmolabe: no verb 'gmaes'; did you mean 'games'?\n"


def test_an_unknown_option_is_told_in_two_lines(capsys):
    assert main.run(["collect", "pong", "--out", "x", "--episods", "3"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "--episods" in lines[0]
    assert lines[1] == "see `cosmolabe collect --help`"


def test_bad_input_is_two_and_a_failed_check_is_one(verb, capsys):
    def bad():
        raise ValueError("no game named 'pang'")

    assert main.run(verb(bad)) == 2
    assert capsys.readouterr().err == "cosmolabe: no game named 'pang'\n"
    assert main.run(verb(lambda: Answer({}, "no", ok=False))) == 1
    assert main.run(verb(lambda: Answer({}, "yes"))) == 0


def test_machines_get_one_json_object_and_nothing_else(verb, capsys):
    assert main.run([*verb(lambda: Answer({"value": float("nan")}, "words")), "--json"]) == 0
    assert capsys.readouterr().out == '{"ok": true, "value": null}\n'

    def bad():
        raise ValueError("too short")

    assert main.run([*verb(bad), "--json"]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"ok": False, "error": "too short"}
    assert captured.err == ""


def test_a_missing_library_names_its_extra(verb, capsys):
    def bad():
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    assert main.run(verb(bad)) == 2
    assert "pip install 'cosmolabe[torch]'" in capsys.readouterr().err


def test_a_traceback_is_shown_on_request_only(verb, capsys):
    def broken():
        return 1 / 0

    assert main.run(verb(broken)) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert "--debug" in error
    with pytest.raises(ZeroDivisionError):
        main.run([*verb(broken), "--debug"])


def test_stopping_says_how_to_go_on(verb, capsys):
    def stopped():
        raise KeyboardInterrupt

    assert main.run(verb(stopped)) == 130
    assert capsys.readouterr().err == "cosmolabe: stopped; call it again\n"


def test_a_name_in_a_table_is_never_read_as_markup():
    assert cell("[red]pong[/red]").plain == "[red]pong[/red]"
    assert cell(float("nan")).plain == "–"


def test_one_calm_thread_where_the_user_says_nothing():
    unset = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    start = "from cosmolabe.cli.main import main; main()"
    command = [sys.executable, "-c", start, "doctor", "--json"]
    said = subprocess.run(command, env=unset, capture_output=True, check=True, timeout=120)
    assert json.loads(said.stdout)["threads"] == "1"
    said = subprocess.run(
        command, env=unset | {"OMP_NUM_THREADS": "2"}, capture_output=True, check=True, timeout=120
    )
    assert json.loads(said.stdout)["threads"] == "2"


def shell(line, **environment):
    """A command line as the shell runs it; `cosmolabe` stands for the console script."""
    cosmolabe = f"{sys.executable} -c 'from cosmolabe.cli.main import main; main()'"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line.replace("cosmolabe", cosmolabe, 1)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a Linux shell")
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("cosmolabe --help | true", 0, ""),
        ("cosmolabe games | true", 0, ""),
        ("cosmolabe games --help --json | true", 0, ""),
        ("cosmolabe games pang --json | true", 2, ""),
        ("cosmolabe games >&-", 0, ""),
        ("cosmolabe games >/dev/full", 2, "could not be written: No space left on device"),
        ("cosmolabe games --json >/dev/full", 2, "No space left on device"),
    ],
)
def test_an_answer_that_nobody_can_read_is_no_traceback(line, code, told):
    done = shell(line)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert told in done.stderr
    assert bool(told) == bool(done.stderr)


def test_json_stays_pure_whatever_prints_and_stays_ascii_where_it_must(verb, capsys):
    def chatty():
        print("a model's own words")
        return Answer({"path": "\udcff"}, "")

    assert main.run([*verb(chatty), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"ok": True, "path": "\udcff"}
    assert captured.err == "a model's own words\n"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = shell("cosmolabe games 'p\u00fc\U0001f600' --json", PYTHONIOENCODING="ascii", **plain)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["ok"] is False


def test_a_model_file_that_raises_or_exits_is_told_as_the_user_s_own(tmp_path, monkeypatch):
    own = tmp_path / "own.py"
    for body in ("import sys; sys.exit(0)", "raise KeyError('gone')", "x ="):
        own.write_text(body)
        with pytest.raises(ValueError, match=r"own.py raised (SystemExit|KeyError|SyntaxError)"):
            open_model(f"{own}:make", SimpleNamespace(manifest=None), trust=True)


def test_a_models_name_is_the_one_it_had_when_it_was_opened(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "class Make:\n"
        "    def __init__(self, manifest): self.asked = 0\n"
        "    @property\n"
        "    def name(self):\n"
        "        self.asked += 1\n"
        "        return f'name {self.asked}' if self.asked < 2 else exit(0)\n"
        "    def rollout(self, context, seed=0): return seed\n"
    )
    model = open_model(f"{own}:Make", SimpleNamespace(manifest=None), trust=True)
    assert (model.name, model.name, model.rollout(None, 5)) == ("name 1", "name 1", 5)


@pytest.mark.parametrize("code", [0, None, 3])
def test_an_exit_halfway_is_no_success(verb, capsys, code):
    def leave():
        raise SystemExit(code)

    assert main.run(verb(leave)) == 2
    assert "something called exit" in capsys.readouterr().err


def test_a_full_disk_and_an_empty_memory_are_told_with_what_would_do(verb, capsys):
    def full():
        raise OSError(errno.ENOSPC, "No space left on device")

    def large():
        raise MemoryError("Unable to allocate 931. GiB")

    assert main.run(verb(full)) == 2
    assert "No space left on device; make room" in capsys.readouterr().err
    assert main.run(verb(large)) == 2
    assert "not enough memory (Unable to allocate 931. GiB)" in capsys.readouterr().err
