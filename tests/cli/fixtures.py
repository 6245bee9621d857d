"""A desk for a test: nothing of the machine's own home, kubeconfig or AWS is used."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driftgate.cli.main import main
from driftgate.sim.cluster import SimCluster
from tests.cli.desk import Desk, Ran, environment, new_cluster


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith(("AWS_", "XDG_", "DRIFTGATE_")) or name in ("COLUMNS", "LINES"):
            monkeypatch.delenv(name)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs a command in this process; `stdin` is what a pipe would give it."""

    def run(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Ran(code=int(ended.value.code or 0), out=said.out, err=said.err)

    return run


@pytest.fixture
def new_desk(home: Path, run: Callable[..., Ran]) -> Iterator[Callable[[SimCluster], Desk]]:
    desks: list[Desk] = []

    def made(sim: SimCluster) -> Desk:
        (home / "kubeconfig").write_text(sim.serve().kubeconfig)
        desks.append(Desk(sim=sim, home=home, run=run, env=environment(home)))
        return desks[-1]

    yield made
    for desk in desks:
        desk.end()
        desk.sim.close()


@pytest.fixture
def desk(new_desk: Callable[[SimCluster], Desk]) -> Desk:
    return new_desk(new_cluster())
