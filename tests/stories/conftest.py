"""The command line as a person or a script sees it."""

import json

import pytest

from cosmolabe.cli import main


@pytest.fixture
def tell(capsys):
    """Run one command line with --json; gives exit code and answer."""

    def run(*words):
        code = main.run([*map(str, words), "--json"])
        captured = capsys.readouterr()
        return code, json.loads(captured.out)

    return run
