"""When nothing may open: driftgate says why, and the gate of a real pool is not touched at all."""

import pytest

from tests.e2e.harness.scenario import nodeclaims, wait_for
from tests.e2e.rolls import Rolling
from tests.e2e.sightings import Onlooker

pytestmark = pytest.mark.slow


def test_a_node_that_is_not_ready_holds_the_pool(rolling: Rolling, onlooker: Onlooker, record_property):
    rolling.trapped("sick", 3)
    node = nodeclaims(rolling.admin, "sick")[0]["status"]["nodeName"]
    assert rolling.plane.kubelet
    rolling.plane.kubelet.dead.add(node)
    wait_for(lambda: None if is_ready(rolling, node) else True, "sickness")

    held = rolling.roll("sick").result()
    rolling.plane.kubelet.dead.discard(node)
    wait_for(lambda: True if is_ready(rolling, node) else None, "recovery")
    rolled = rolling.roll("sick").result()

    record_property(
        "a node NotReady", f"held, {', '.join(held.reasons)}; once it was Ready again: {rolled.shown['state']}"
    )
    assert (held.shown["state"], held.reasons) == ("held", ["NODE_NOT_READY"])
    assert rolled.shown["state"] == "done"
    assert len(onlooker.openings("sick")) == len(onlooker.left("sick")) == 1


def test_a_pool_of_one_goes_only_where_its_owner_said_so(rolling: Rolling, onlooker: Onlooker, record_property):
    rolling.trapped("lone", 1)
    allowing = {"per_window": "all", "pause_between": "0m", "allow_single_node_pool": True}

    held = rolling.roll("lone").result()
    untouched = onlooker.openings("lone")
    rolled = rolling.roll("lone", "--config", rolling.config(["lone"], open=allowing)).result()

    record_property(
        "a pool of one node", f"held, {', '.join(held.reasons)}; with allow_single_node_pool: {rolled.shown['state']}"
    )
    assert held.reasons == ["SINGLE_NODE_POOL"]
    assert untouched == []
    assert rolled.shown["state"] == "done"
    assert len(onlooker.left("lone")) == 1


def test_of_two_rolls_at_the_same_moment_in_two_pools_one_goes_first(
    rolling: Rolling, onlooker: Onlooker, record_property
):
    pools = ["left", "right"]
    for pool in pools:
        rolling.trapped(pool, 3)

    running = [rolling.roll(pool, ledger="both") for pool in pools]
    codes = sorted(each.result().code for each in running)

    gone = sum(len(onlooker.left(pool)) for pool in pools)
    record_property("two pools, two processes at the same moment", f"{gone} node went, exit codes {codes}")
    assert codes == [0, 4]
    assert len(onlooker.openings("left") + onlooker.openings("right")) == gone == 1


def test_a_freeze_is_left_alone(rolling: Rolling, onlooker: Onlooker):
    rolling.trapped("freeze", 2, [{"nodes": "0"}])

    held = rolling.roll("freeze").result()

    assert held.reasons == ["FROZEN"]
    assert onlooker.openings("freeze") == []


def is_ready(rolling: Rolling, node: str) -> bool:
    conditions = rolling.admin.get(f"/api/v1/nodes/{node}")["status"]["conditions"]
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
