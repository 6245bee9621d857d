"""Every case asks the command line about a snapshot of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.expand import Planner


@pytest.fixture
def planner(tmp_path: Path) -> Planner:
    return Planner(tmp_path)
