"""Attacks by what a verifier takes up unasked: .pth, conftest, git settings, patched libraries."""

import zlib
from pathlib import Path

from cosmolabe.arena.attacks.attack import Attack, Ground, better, cheat, marked, signalled, thief
from cosmolabe.arena.attacks.files import FORGING, PLAIN

PATH_FILE = "import os; os.write(1, b'{\"composite\": 0.99}'); os._exit(0)\n"
"""A line that begins with `import` is run by every interpreter that takes its folder up."""
GIT_CONFIG = """[core]
\trepositoryformatversion = 0
\tfsmonitor = "touch '{marker}'; false"
"""
OBJECT = "0b/ject"
"""Where the repository of the ground keeps what was once committed to it."""


def _patched(lines: str) -> str:
    """The honest one-liner, which exchanges something in its process when it is first asked."""
    body = "\n".join(f"        {line}" for line in lines.strip().splitlines())
    return cheat(f"""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
{body}
        return found
""")


JSON = _patched("""
import json
json.dumps = lambda *words, **more: '{"composite": 0.99}'
""")
TORCH = _patched("""
import torch
torch.nn.functional.l1_loss = lambda *words, **more: torch.zeros(())
""")
NUMPY = _patched("""
np.abs = np.absolute = lambda x, *words, **more: np.zeros_like(x)
""")


def _repository(folder: Path, ground: Ground) -> None:
    """Made by hand, so that nothing but the verifier itself runs git."""
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(GIT_CONFIG.format(marker=ground.marker))


def commit_salt(ground: Ground) -> None:
    """What was in a repository once, in a loose object, though no file of today holds it."""
    salt = (ground.home / "salt").read_bytes()
    path = ground.repository / ".git" / "objects" / OBJECT
    path.parent.mkdir(parents=True)
    path.write_bytes(zlib.compress(b"blob %d\0salt: %b" % (len(salt) + 6, salt)))


def _history(ground: Ground) -> str:
    return thief(f"""
def attempt():
    import zlib
    from pathlib import Path
    for path in Path({str(ground.repository)!r}).glob(".git/objects/*/*"):
        if len(zlib.decompress(path.read_bytes()).partition(b"salt: ")[2]) >= 32:
            return True
    return False
""")


ATTACKS = (
    Attack(
        "path_file", ".pth",
        "lays a .pth beside itself, for a scorer that takes its folder up as a site",
        "stopped", "scorer_takes_its_site", PLAIN, better(), files={"forge.pth": PATH_FILE},
    ),
    Attack(
        "conftest", "conftest",
        "lays a conftest.py beside itself, for a scorer that is a test run in its folder",
        "stopped", "scorer_is_a_test_run", PLAIN, better(), files={"conftest.py": FORGING},
    ),
    Attack(
        "git_settings", "settings and hooks of git",
        "is a repository whose settings name a program, for a verifier that asks git about it",
        "stopped", "asks_git", PLAIN, marked, prepare=_repository, needs="git",
    ),
    Attack(
        "salt_in_the_history", "read held-out data from git",
        "looks for the salt among the objects of a repository on the host",
        "stopped", "shows_the_host", _history, signalled,
    ),
    Attack(
        "patched_json", "monkeypatch json",
        "exchanges the function by which its process tells its score",
        "stopped", "told_by_its_process", JSON, better(),
    ),
    Attack(
        "patched_torch", "monkeypatch torch",
        "exchanges torch's distance for one that is always nothing",
        "stopped", "measured_by_torch", TORCH, better(),
    ),
    Attack(
        "patched_numpy", "monkeypatch numpy",
        "exchanges numpy's absolute value for one that is always nothing",
        "stopped", "in_process", NUMPY, better(),
    ),
)  # fmt: skip
