"""Why driftgate exists: on a real Karpenter, a gate held open by hand rolls far more than one node."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e.harness.api import Api, Object
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.scenario import (
    NODECLASSES,
    NODEPOOLS,
    SHUT_GATE,
    create_drifted_nodes,
    create_nodeclass,
    create_nodepool,
    nodeclaims,
    set_budgets,
    wait_for,
)

pytestmark = pytest.mark.slow

OPEN_GATE: list[Object] = [{"nodes": "1", "reasons": ["Drifted"]}, {"nodes": "10%"}]


@pytest.fixture
def trapped(control_plane: ControlPlane, request: pytest.FixtureRequest) -> tuple[Api, str, set[str]]:
    """A pool of eight empty drifted nodes behind a shut gate, of its own for each test."""
    api, pool = control_plane.api("admin"), request.node.name[:40].strip("_").replace("_", "-")
    create_nodeclass(api, pool)
    create_nodepool(api, pool, nodeclass=pool)
    return api, pool, names(create_drifted_nodes(api, pool, 8))


def test_a_shut_gate_holds_every_drifted_node(trapped):
    api, pool, nodes = trapped

    time.sleep(12)  # more than one pass of Karpenter's disruption loop

    assert staying(api, pool, nodes) == nodes


def test_a_gate_open_for_a_minute_rolls_six_nodes_one_at_a_time(trapped, record_property):
    api, pool, nodes = trapped

    set_budgets(api, pool, OPEN_GATE)
    time.sleep(60)
    set_budgets(api, pool, SHUT_GATE)
    gone_in_a_minute = len(nodes - staying(api, pool, nodes))
    time.sleep(12)

    record_property("hand loop, gate open for 60 s: real", f"{gone_in_a_minute} of 8 nodes went")
    assert 5 <= gone_in_a_minute <= 7
    assert len(nodes - staying(api, pool, nodes)) == gone_in_a_minute


def test_a_gate_shut_at_the_first_sign_rolls_exactly_one_node(trapped):
    api, pool, nodes = trapped

    set_budgets(api, pool, OPEN_GATE)
    wait_for(lambda: True if staying(api, pool, nodes) != nodes else None, "sign of a roll")
    set_budgets(api, pool, SHUT_GATE)
    time.sleep(22)  # two passes and more

    assert len(nodes - staying(api, pool, nodes)) == 1


def test_a_gate_that_nobody_shuts_is_shut_by_its_guard(trapped):
    api, pool, nodes = trapped
    guard_at = next_minute(datetime.now(UTC) + timedelta(seconds=15))

    set_budgets(api, pool, guarded(guard_at))
    time.sleep((guard_at - datetime.now(UTC)).total_seconds() + 1)  # what started before it shows by then
    before_the_guard = staying(api, pool, nodes)
    time.sleep(25)

    assert before_the_guard != nodes
    assert staying(api, pool, nodes) == before_the_guard


def test_a_new_image_drifts_nodes_as_ami_drift_and_leaves_their_image_alone(trapped):
    api, pool, nodes = trapped

    claims = [claim for claim in nodeclaims(api, pool) if claim["metadata"]["name"] in nodes]
    drifted = {c["reason"] for claim in claims for c in claim["status"]["conditions"] if c["type"] == "Drifted"}

    assert drifted == {"AMIDrift"}
    assert {claim["status"]["imageID"] for claim in claims} == {"ami-old"}
    assert api.get(f"{NODECLASSES}/{pool}")["metadata"]["annotations"] == {"driftgate.dev/image": "ami-new"}
    assert api.get(f"{NODEPOOLS}/{pool}")["spec"]["disruption"]["budgets"] == SHUT_GATE


def next_minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0) + timedelta(minutes=1)


def guarded(at: datetime) -> list[Object]:
    """The gate opened as driftgate writes it: both marks, the guard at a full minute."""
    schedule = f"{at.minute} {at.hour} {at.day} {at.month} *"
    guard = {"nodes": "00", "reasons": ["Drifted"], "schedule": schedule, "duration": "8736h"}
    return [{"nodes": "01", "reasons": ["Drifted"]}, {"nodes": "10%"}, guard]


def staying(api: Api, pool: str, nodes: set[str]) -> set[str]:
    """Those of the nodes of which Karpenter shows no sign yet: no condition, no deletion, still there."""
    return nodes & names([claim for claim in nodeclaims(api, pool) if not shows_sign(claim)])


def shows_sign(claim: Object) -> bool:
    conditions = {condition["type"] for condition in claim["status"].get("conditions", [])}
    return "DisruptionReason" in conditions or "deletionTimestamp" in claim["metadata"]


def names(claims: list[Object]) -> set[str]:
    return {claim["metadata"]["name"] for claim in claims}
