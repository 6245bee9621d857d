"""Everything in this folder is marked `e2e`: it needs the real control plane."""

from pathlib import Path

import pytest

from tests.e2e.guarded import guarded
from tests.e2e.harness.fixtures import api_server, control_plane, oracle

__all__ = ["api_server", "control_plane", "guarded", "oracle"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("e2e")
