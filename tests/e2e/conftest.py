"""Everything in this folder is marked `e2e`: it needs the real control plane."""

from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from tests.e2e.guarded import guarded
from tests.e2e.harness.fixtures import api_server, control_plane, oracle
from tests.e2e.proof import as_text, rows_of
from tests.e2e.rolls import onlooker, rolling

__all__ = ["api_server", "control_plane", "guarded", "onlooker", "oracle", "rolling"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("e2e")


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """What was seen, as a table below the dots."""
    reports = [r for r in terminalreporter.stats.get("passed", ()) if r.when == "call"]
    rows = rows_of(reports)
    if rows:
        terminalreporter.section("seen on the real control plane")
        terminalreporter.write("\n".join(as_text(rows)) + "\n")
