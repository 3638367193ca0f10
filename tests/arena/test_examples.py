"""The recorded sessions of the docs still say what they said, and can be run again."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from cosmolabe.arena.analysis.audit import audit
from cosmolabe.arena.analysis.sessions import read_session
from cosmolabe.arena.budget import Budget
from cosmolabe.arena.driving import run_session
from cosmolabe.arena.recording import proposals_of
from cosmolabe.arena.scripts import edited, read_patch, read_script
from cosmolabe.arena.session import Agreement, ledger_of, new_session
from cosmolabe.arena.tasks.one_file import one_file
from cosmolabe.core.agent import Proposal, Tried
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import read_json, write_json

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESEARCHER = DOCS / "examples" / "researcher"
SESSIONS = sorted(path.parent for path in DOCS.glob("examples/sessions/*/session.json"))
SCRIPTS = sorted(RESEARCHER.glob("*.json"))
every_session = pytest.mark.parametrize("folder", SESSIONS, ids=lambda path: path.name)
every_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


def told(folder, kind):
    return [line for line in ledger_of(folder) if line["kind"] == kind]


def scripted(script, train):
    """The proposals of a script as if each were tried, on a train.py."""
    steps, tried = read_script(script), []
    starter = Proposal(train, {"recipe": {}})
    for place in range(len(steps)):
        proposal = edited(starter, steps, place, tried)
        tried.append(Tried(f"{place + 1:03d}", proposal, "ok", {"composite": 0.0}, 1.0))
    return [one.proposal for one in tried]


def test_three_cells_have_the_same_four_agents():
    agents = {}
    for folder in SESSIONS:
        session = read_session(folder)
        agents.setdefault(session.cell, set()).add(session.agent)
    whole = [cell for cell, who in agents.items() if len(who) >= 4]
    assert len(whole) >= 3
    assert all(agents[cell] >= {"null", "random_search", "tpe", "scripted"} for cell in whole)


@every_session
def test_a_recorded_ledger_is_whole_and_its_code_is_there(folder):
    lines = ledger_of(folder)  # refuses a chain that does not hold
    assert [lines[0]["kind"], lines[-1]["kind"]] == ["begin", "end"]
    tried, scored = told(folder, "experiment"), told(folder, "score")
    good = [line["experiment"] for line in tried if line["status"] == "ok"]
    assert [line["experiment"] for line in scored] == good
    for line, proposal in zip(tried, proposals_of(folder), strict=True):
        assert sha256(proposal.train.encode()).hexdigest() == line["code_hash"]
        kept = folder / "experiments" / line["experiment"]
        assert read_json(kept / "config.json") == line["config"]


# A folder that machines have at their root, not as a part of an address or of a relative path.
OF_A_MACHINE = re.compile(r"(?<![\w.~])/(?:tmp|home|root|work|users|mnt|data|var|opt|srv)/", re.I)


def places_in(folder):
    """Every absolute path in the files of a folder: what JSON says as a whole, or a known root."""
    found = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path}: {text[m.start() :][:60]!r}" for m in OF_A_MACHINE.finditer(text)]
        if path.suffix in (".json", ".jsonl"):
            found += [f"{path}: {m}" for m in re.findall(r'"(?:/|~/|file:|[A-Z]:\\)[^"]*"', text)]
    return found


@pytest.mark.parametrize("folder", [DOCS / "examples", DOCS / "tables"], ids=lambda p: p.name)
def test_nothing_that_is_kept_holds_a_path_of_a_machine(folder):
    assert list(folder.rglob("*.json"))
    assert places_in(folder) == []
    assert not list(folder.rglob("where.json"))


def test_such_a_path_would_be_found(tmp_path):
    for text in ('{"store": "/tmp/x"}', '"see /home/jo/s"', '["/scratch/x"]', '["--f=/data/x"]'):
        (tmp_path / "session.json").write_text(text)
        assert places_in(tmp_path), text
    (tmp_path / "session.json").write_text('["../../stores/pong", "https://a/b", "1/2", "a /x"]')
    assert places_in(tmp_path) == []


@every_session
def test_a_recorded_session_names_its_store_and_script_and_is_what_its_ledger_began(folder):
    facts, begin = read_json(folder / "session.json"), told(folder, "begin")[0]
    assert begin["session"] == fingerprint(facts)
    assert begin["settings"] == facts["settings"]
    assert facts["store"] == f"../../stores/{facts['game']}"
    if facts["agent"] == "scripted":
        script = RESEARCHER / f"{facts['model']}.json"
        wanted = {"name": script.name, "sha256": sha256(script.read_bytes()).hexdigest()}
        assert facts["settings"]["script"] == wanted


@every_session
def test_a_recorded_verdict_is_of_its_ledger_and_nothing_in_it_fails(folder):
    verdict, lines = read_json(folder / "verdict.json"), ledger_of(folder)
    assert verdict["ledger"] == lines[-1]["hash"]
    assert verdict["valid"]
    made = {line["experiment"]: line for line in told(folder, "experiment")}
    chosen = made[lines[-1]["experiment"]]
    assert verdict["files"]["weights.safetensors"] == chosen["weights_hash"]
    assert verdict["files"]["train.py"] == chosen["code_hash"]
    flagged = set(verdict["flags"])
    failed = [one.what for one in audit(read_session(folder)) if one.ok is False]
    assert not failed or flagged, failed


@every_script
def test_every_edit_has_a_reason_and_fits_the_train_py_of_today(script):
    proposals = scripted(script, one_file(script.stem))
    texts = {proposal.train for proposal in proposals}
    assert len(texts) >= 3  # the starter, and edits of its code
    for proposal in proposals:
        compile(proposal.train, "train.py", "exec")
        assert len(proposal.note) > 5
    for patch in (script.parent / script.stem).glob("*.patch"):
        reason, edits = read_patch(patch)
        assert len(reason) > 40
        assert edits


def test_a_patch_that_is_missing_or_no_diff_or_fits_elsewhere_is_refused(tmp_path):
    script = tmp_path / "script.json"
    write_json(script, [{"name": "one", "patch": "one.patch"}])
    with pytest.raises(ValueError, match=r"no patch .*one\.patch"):
        read_script(script)
    (tmp_path / "one.patch").write_text("just words\n")
    with pytest.raises(ValueError, match="no unified diff"):
        read_script(script)
    (tmp_path / "one.patch").write_text(
        "Why.\n\n--- train.py\n+++ train.py\n@@ -1,3 +1,3 @@\n a = 1\n\n-b = 2\n+b = 3\n"
    )
    (step,) = read_script(script)
    assert step["note"] == "Why."
    assert edited(Proposal("a = 1\n\nb = 2\n", {"recipe": {}}), [step], 0, []).train == (
        "a = 1\n\nb = 3\n"
    )
    with pytest.raises(ValueError, match="'one': its edit fits 0 places"):
        edited(Proposal("b = 2\n", {"recipe": {}}), [step], 0, [])


@pytest.mark.parametrize(
    "folder", [path for path in SESSIONS if path.name.endswith("researcher")], ids=lambda p: p.name
)
def test_the_recorded_researcher_made_the_edits_of_its_script(folder):
    model = read_json(folder / "session.json")["model"]
    starter = (folder / "starter" / "train.py").read_text("utf-8")
    wanted = [proposal.train for proposal in scripted(RESEARCHER / f"{model}.json", starter)]
    assert [proposal.train for proposal in proposals_of(folder)] == wanted


def test_a_recorded_session_runs_again_and_so_does_its_rerun_to_the_last_bit(tmp_path):
    from cosmolabe.data.collect import collect

    recording = DOCS / "examples" / "sessions" / "racer-linear-researcher"
    store = collect("racer", tmp_path / "store", 16, max_ticks=60)
    first, second = (  # two experiments of ten steps, then the first of them once more
        new_session(
            tmp_path / str(steps),
            Agreement("racer", "linear", Budget(None, steps, 300), windows=8, steps=10),
            store,
        )
        for steps in (20, 10)
    )
    run_session(first, "replay", {"recording": str(recording)})
    run_session(second, "replay", {"recording": str(first)})
    old, new, newest = (told(folder, "experiment") for folder in (recording, first, second))
    assert [line["code_hash"] for line in new] == [line["code_hash"] for line in old[:2]]
    assert [line["seed"] for line in new] == [line["seed"] for line in old[:2]]
    assert [line["status"] for line in new] == ["ok", "ok"]
    assert [line["weights_hash"] for line in newest] == [new[0]["weights_hash"]]
    assert told(second, "score")[0]["val"] == told(first, "score")[0]["val"]
    assert new[0]["weights_hash"] != old[0]["weights_hash"]  # other data make other weights


def test_the_table_of_the_docs_is_of_these_sessions():
    table = json.loads((DOCS / "tables" / "arena.json").read_text())
    recipe = read_json(DOCS / "tables" / "recipes" / "arena-examples.json")
    assert table["recipe"] == recipe["hash"]
    rows = {f"{row['cell']}-{row['agent']}": row for row in table["sessions"]}
    assert set(rows) == {folder.name for folder in SESSIONS}
    for folder in SESSIONS:
        verdict = read_json(folder / "verdict.json")
        assert rows[folder.name]["test"] == verdict["scores"]["test"]["composite"]
        assert rows[folder.name]["gain_low"] <= rows[folder.name]["gain"]
        assert rows[folder.name]["gain"] <= rows[folder.name]["gain_high"]
    for name, digest in recipe["scripts"].items():
        assert sha256((RESEARCHER / name).read_bytes()).hexdigest() == digest
