"""Two people, one machine: the second roll leaves the first one's to it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from driftgate.cli.take_over import refuse_beside_another
from driftgate.domain.errors import LeaseHeldError
from driftgate.domain.roll import RollState
from driftgate.ports import PutRoll
from tests.factories import NOW, cluster_policy, roll
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import world


def pipeline_beside(holder: str, state: RollState):
    fakes = world(FakeCluster(), FakeClock(NOW), cluster_policy("app"))
    fakes.ledger.commit("demo", PutRoll(roll(state, holder=holder)))
    return fakes.pipeline("me")


def process_of(number: int) -> str:
    return f"ada@{socket.gethostname()}:{number}"


def dead_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


@pytest.mark.parametrize("state", [RollState.OPENED, RollState.IN_FLIGHT, RollState.SETTLING])
def test_a_roll_that_a_living_process_is_at_is_left_to_it_with_its_name(state):
    other = process_of(os.getppid())

    with pytest.raises(LeaseHeldError) as refused:
        refuse_beside_another(pipeline_beside(other, state))

    assert refused.value.holder == other


@pytest.mark.parametrize(
    ("holder", "state"),
    [
        ("me", RollState.IN_FLIGHT),
        ("ada@another-machine:1", RollState.IN_FLIGHT),
        ("reconcile_cluster", RollState.IN_FLIGHT),
        (process_of(os.getppid()), RollState.BAKING),
        (process_of(os.getppid()), RollState.DONE),
    ],
)
def test_other_rolls_may_be_followed(holder, state):
    refuse_beside_another(pipeline_beside(holder, state))


def test_a_roll_of_a_dead_process_may_be_followed():
    refuse_beside_another(pipeline_beside(process_of(dead_process()), RollState.IN_FLIGHT))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only /proc tells a zombie from a living process")
def test_a_killed_process_whose_parent_has_not_noticed_is_dead():
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is still there

    refuse_beside_another(pipeline_beside(process_of(child.pid), RollState.IN_FLIGHT))

    child.wait()
