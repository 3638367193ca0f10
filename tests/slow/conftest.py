"""A check that cannot run is no check that passed: here a skip fails the run, and is named."""

import os

import pytest

ALLOWED = "COSMOLABE_ALLOW_SKIPS"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = [] if reporter is None else reporter.stats.get("skipped", [])
    if skipped and not os.environ.get(ALLOWED) and session.exitstatus == 0:
        reporter.write_line(f"{len(skipped)} check(s) could not run; {ALLOWED}=1 lets them be")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
