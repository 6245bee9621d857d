"""Prints the fault matrix at the end of a session that played it."""

from __future__ import annotations

import pytest

from tests.interleaving.faults import SUMMARY, table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if SUMMARY:
        terminalreporter.section("fault matrix")
        terminalreporter.write_line("\n".join(table(sorted(SUMMARY.items()))))
