"""pytest fixtures of the real control plane, for `tests/e2e` and for contract suites.

A test folder takes them by importing them in its `conftest.py`. What is not built is
never built by a test run: that takes minutes, so it is a step of its own. Then the
test is skipped with one line that says what to do; with CI=true it fails, because a
judge that silently stays away proves nothing.
"""

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.e2e import build
from tests.e2e.harness.controlplane import CORE, ControlPlane
from tests.e2e.harness.oracle import Oracle


def require(*names: str) -> None:
    """Skip the test, or fail it in CI, unless the programs are built."""
    absent = build.missing(list(names))
    if not absent:
        return
    remedy = "python3 tests/e2e/build.py" if shutil.which("go") else "install Go, then python3 tests/e2e/build.py"
    line = f"not built: {', '.join(absent)} ({remedy})"
    if os.environ.get("CI") == "true":
        pytest.fail(line, pytrace=False)
    pytest.skip(line)


def started(plane: ControlPlane, session: pytest.Session) -> Iterator[ControlPlane]:
    """The control plane while tests use it; its logs outlast it if one of them failed."""
    failed_before = session.testsfailed
    with plane:
        yield plane
        plane.keep_logs = session.testsfailed > failed_before


@pytest.fixture(scope="session")
def api_server(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A kube-apiserver with Karpenter's CRDs and nobody at work in it."""
    require("etcd", "kube-apiserver", "karpenter")
    yield from started(ControlPlane(karpenter=None), request.session)


@pytest.fixture(scope="module")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A kube-apiserver with Karpenter at work: a new one for every module."""
    require(*CORE)
    yield from started(ControlPlane(), request.session)


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """Karpenter's own evaluation of budgets."""
    require("oracle")
    with Oracle() as started:
        yield started
