"""Other hands on the same pool in the middle of a roll: a person, a GitOps controller, an alarm."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from driftgate.app.close_budgets import close_budgets
from driftgate.app.pipeline import Pipeline
from driftgate.app.reconcile import reconcile
from driftgate.events import AlarmChanged, Origin
from driftgate.ports import WorkMessage
from tests.e2e.harness.api import Api, Object
from tests.e2e.harness.scenario import NODEPOOLS, SHUT_GATE, set_budgets, wait_for
from tests.e2e.rolls import CLUSTER, GATE, Rolling, other_limits
from tests.e2e.sightings import Onlooker
from tests.fakes.pipeline import FakeAlarms

pytestmark = pytest.mark.slow

SYNC_S = 3
APPLY = "application/apply-patch+yaml"


def test_a_persons_edit_in_the_middle_is_kept_and_the_gate_is_shut(
    rolling: Rolling, onlooker: Onlooker, record_property
):
    rolling.trapped("edited", 5)
    edit: Object = {"nodes": "3", "reasons": ["Empty"], "schedule": "0 4 * * *", "duration": "1h"}
    with rolling.karpenter_asleep():
        running = rolling.roll("edited")
        wait_for(lambda: True if onlooker.is_open("edited") else None, "opening")
        set_budgets(rolling.admin, "edited", [*rolling.pool("edited")["spec"]["disruption"]["budgets"], edit])
    result = running.result()
    onlooker.watch_on()

    record_property("a person adds an entry in the middle of an opening", (
        f"{len(onlooker.left('edited'))} node went, the gate was shut, the person's entry stands, alert FOREIGN_EDIT"
    ))  # fmt: skip
    assert json.loads(rolling.budgets("edited")) == [*GATE, edit]
    assert len(onlooker.openings("edited")) == len(onlooker.left("edited")) == 1
    assert "FOREIGN_EDIT" in result.told


def test_ctrl_c_after_a_person_shut_the_gate_leaves_the_persons_list(rolling: Rolling, onlooker: Onlooker):
    rolling.trapped("by-hand", 5)
    with rolling.karpenter_asleep():
        running = rolling.roll("by-hand")
        wait_for(lambda: True if onlooker.is_open("by-hand") else None, "opening")
        set_budgets(rolling.admin, "by-hand", SHUT_GATE)
        running.kill(signal.SIGINT)
        result = running.result()
    onlooker.watch_on()

    assert result.code == 130
    assert json.loads(rolling.budgets("by-hand")) == SHUT_GATE
    assert onlooker.left("by-hand") == []


def test_ctrl_c_shuts_the_gate_before_the_process_ends(rolling: Rolling, onlooker: Onlooker):
    rolling.trapped("ctrl-c", 5)
    with rolling.karpenter_asleep():
        running = rolling.roll("ctrl-c")
        wait_for(lambda: True if onlooker.is_open("ctrl-c") else None, "opening")
        running.kill(signal.SIGINT)
        result = running.result()
    onlooker.watch_on()

    assert result.code == 130
    assert json.loads(rolling.budgets("ctrl-c")) == GATE
    assert onlooker.left("ctrl-c") == []


def test_a_gitops_controller_that_puts_its_list_back_ends_the_roll_and_no_second_node_goes(
    rolling: Rolling, onlooker: Onlooker, record_property
):
    rolling.trapped("argo", 5)
    with argo(rolling.admin, "argo", GATE):
        result = rolling.roll("argo").result()
    onlooker.watch_on()

    record_property("a GitOps controller applies its list every 3 s", (
        f"roll {result.shown['state']}, {len(onlooker.left('argo'))} node went, Git's list stands"
    ))  # fmt: skip
    assert len(onlooker.left("argo")) <= 1
    assert json.loads(rolling.budgets("argo")) == GATE
    assert result.shown["state"] in ("done", "closed_unused")
    assert other_limits(onlooker, "argo", 10) == {(2, 0)}


def test_an_alarm_in_the_middle_shuts_the_gate_at_once_and_keeps_it_shut(
    rolling: Rolling, onlooker: Onlooker, record_property
):
    rolling.trapped("alarmed", 5)
    alarms = FakeAlarms(demo_5xx="OK")
    settings = {"guards": {"alarms": ["demo-5xx"], "bake": "0h"}}
    pipeline = replace(rolling.pipeline(["alarmed"], **settings), alarms=alarms)
    with rolling.karpenter_asleep():
        worker = threading.Thread(target=look, args=(pipeline,))
        worker.start()
        wait_for(lambda: True if onlooker.is_open("alarmed") else None, "opening")
        alarms.states["demo_5xx"] = "ALARM"
        fired = datetime.now(UTC)
        closer = replace(pipeline, holder="close_budgets")
        closed = close_budgets(closer, AlarmChanged(origin=Origin(id="a", at=fired), name="demo-5xx", state="ALARM"))
        wait_for(lambda: None if onlooker.is_open("alarmed") else True, "closing")
    worker.join(timeout=150)
    look(pipeline)
    onlooker.watch_on()

    (opening,) = onlooker.openings("alarmed")
    assert opening.closed_at
    took = (opening.closed_at - fired).total_seconds()
    record_property("an alarm in the middle of an opening", (
        f"gate shut {took:.2f} s after the alarm; {len(onlooker.left('alarmed'))} nodes went; no opening since"
    ))  # fmt: skip
    assert not worker.is_alive()
    assert closed.closed == [f"{CLUSTER}/alarmed"]
    assert onlooker.left("alarmed") == []
    assert json.loads(rolling.budgets("alarmed")) == GATE
    assert "STOPPED" in holds(pipeline)


def look(pipeline: Pipeline) -> None:
    reconcile(pipeline, WorkMessage(cluster=CLUSTER, dedup="look", cause="e2e"))


def holds(pipeline: Pipeline) -> list[str]:
    """Why the only pool is not opened now."""
    report = reconcile(pipeline, WorkMessage(cluster=CLUSTER, dedup="look", cause="e2e"))
    assert report.plan
    return [str(hold.code) for plan in report.plan.pools for hold in plan.action.reasons]


@contextmanager
def argo(api: Api, pool: str, budgets: list[Object]) -> Iterator[None]:
    """Server-side apply with a field manager of its own, every three seconds, of what stands in Git."""
    ended = threading.Event()
    spec = api.get(f"{NODEPOOLS}/{pool}")["spec"]
    wanted = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": pool},
        "spec": spec | {"disruption": spec["disruption"] | {"budgets": budgets}},
    }

    def sync() -> None:
        while not ended.is_set():
            api.patch(f"{NODEPOOLS}/{pool}?fieldManager=argocd-controller&force=true", wanted, APPLY)
            ended.wait(SYNC_S)

    syncing = threading.Thread(target=sync, daemon=True)
    syncing.start()
    try:
        yield
    finally:
        ended.set()
        syncing.join(timeout=10)
