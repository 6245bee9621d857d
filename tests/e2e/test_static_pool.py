"""A static pool: `replicas` nodes whatever the pods ask for, Karpenter's gate StaticCapacity being on.

Karpenter makes these nodes itself and drifts them by a method of its own: the replacement comes first, whether the
node is empty or not, and only where `limits.nodes` leaves room for one more.
"""

from collections.abc import Iterator

import pytest

from tests.e2e.harness.api import Object
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import require, started
from tests.e2e.harness.scenario import (
    NODEPOOLS,
    SHUT_GATE,
    claims_with,
    create_nodeclass,
    create_nodepool,
    nodeclaims,
    set_budgets,
    set_image,
    wait_for,
)
from tests.e2e.rolls import GATE, Rolling, grant, other_limits
from tests.e2e.sightings import Onlooker

pytestmark = pytest.mark.slow

REPLICAS = 3
OPEN_GATE: list[Object] = [{"nodes": "1", "reasons": ["Drifted"]}, {"nodes": "10%"}]


@pytest.fixture(scope="module")
def rolling(request: pytest.FixtureRequest) -> Iterator[Rolling]:
    """Karpenter at work with static pools, and driftgate with its own rights."""
    require("etcd", "kube-apiserver", "karpenter", "kubectl", "oracle")
    for plane in started(ControlPlane(env={"FEATURE_GATES": "StaticCapacity=true"}), request.session):
        grant(plane)
        found = Rolling(plane)
        yield found
        found.stop()


def test_one_node_goes_once_its_replacement_is_there(rolling: Rolling, onlooker: Onlooker, record_property):
    static_pool(rolling, "static", limit=REPLICAS + 1)
    baseline, before = rolling.budgets("static"), names(rolling, "static")

    result = rolling.roll("static").result()
    onlooker.watch_on()

    shown, after = result.shown, names(rolling, "static")
    record_property("a static pool of three, room for four", (
        f"1 node went, its replacement came first; roll {shown['state']}; "
        f"shut {shown['secondsOpenAfterSign']:.3f} s after the sign"
    ))  # fmt: skip
    assert result.code == 0, result.told
    (gone,) = onlooker.left("static")
    assert (shown["node"], shown["baselineRestored"]) == (gone.node, True)
    assert after - before == {shown["replacement"]}
    assert before - after == {gone.claim}
    assert len(onlooker.openings("static")) == 1
    assert rolling.budgets("static") == baseline
    assert other_limits(onlooker, "static", 10) == {(2, 0)}


def test_without_room_for_one_more_the_gate_stays_shut_and_an_open_one_would_take_none(
    rolling: Rolling, onlooker: Onlooker, record_property
):
    static_pool(rolling, "cramped", limit=REPLICAS, budgets=SHUT_GATE)

    held = rolling.roll("cramped").result()
    untouched = onlooker.openings("cramped")
    set_budgets(rolling.admin, "cramped", OPEN_GATE)
    onlooker.watch_on()
    set_budgets(rolling.admin, "cramped", SHUT_GATE)

    gone = len(onlooker.left("cramped"))
    record_property("a static pool without room for one more", (
        f"held, {', '.join(held.reasons)}; with the gate open by hand for 22 s {gone} went"
    ))  # fmt: skip
    assert held.reasons == ["STATIC_NO_HEADROOM"]
    assert untouched == []
    assert gone == 0


def test_while_it_scales_down_the_gate_stays_shut(rolling: Rolling, onlooker: Onlooker, record_property):
    static_pool(rolling, "shrinking", limit=REPLICAS + 2)

    with rolling.karpenter_asleep():
        rolling.admin.patch(f"{NODEPOOLS}/shrinking", {"spec": {"replicas": REPLICAS - 1}})
        held = rolling.roll("shrinking").result()
        untouched = onlooker.openings("shrinking")
    wait_for(lambda: True if len(names(rolling, "shrinking")) == REPLICAS - 1 else None, "two nodes")
    rolled = rolling.roll("shrinking").result()

    record_property("a static pool that scales down", (
        f"held, {', '.join(held.reasons)}; once it was down: {rolled.shown['state']}"
    ))  # fmt: skip
    assert held.reasons == ["STATIC_SCALING_DOWN"]
    assert untouched == []
    assert rolled.code == 0, rolled.told
    assert len(onlooker.openings("shrinking")) == 1
    assert len(names(rolling, "shrinking")) == REPLICAS - 1


def static_pool(rolling: Rolling, pool: str, *, limit: int, budgets: list[Object] = GATE) -> None:
    """A pool of three nodes that Karpenter itself made, all drifted, behind a shut gate."""
    create_nodeclass(rolling.admin, pool)
    limits = {"nodes": str(limit)}
    create_nodepool(rolling.admin, pool, nodeclass=pool, budgets=budgets, replicas=REPLICAS, limits=limits)
    wait_for(lambda: with_condition(rolling, pool, "Initialized"), f"the nodes of {pool}")
    set_image(rolling.admin, "ami-new", pool)
    wait_for(lambda: with_condition(rolling, pool, "Drifted"), f"drifted nodes of {pool}")


def with_condition(rolling: Rolling, pool: str, condition: str) -> list[Object] | None:
    found = names(rolling, pool)
    return claims_with(rolling.admin, sorted(found), condition) if len(found) == REPLICAS else None


def names(rolling: Rolling, pool: str) -> set[str]:
    return {claim["metadata"]["name"] for claim in nodeclaims(rolling.admin, pool)}
