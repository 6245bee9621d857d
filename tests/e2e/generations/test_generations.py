"""One Karpenter after the other: what a pool is, one node for each opening, and the gate as it was."""

from collections.abc import Iterator
from typing import ClassVar

import pytest

from driftgate.domain.karpenter_version import gives_disruption_reason, parse_version, skips_empty_nodes
from tests.e2e import build
from tests.e2e.generations.findings import as_cells, crd_differences, rolled
from tests.e2e.generations.page import BETWEEN, NEWEST
from tests.e2e.generations.showing import REASON, Showing
from tests.e2e.generations.world import Generation, at_work, program
from tests.e2e.harness.api import Object
from tests.e2e.harness.fixtures import require
from tests.e2e.harness.scenario import set_budgets
from tests.e2e.rolls import GATE

pytestmark = pytest.mark.slow

OPENINGS = 3
EMPTY_BY_HAND = 5
OPEN_BY_HAND: list[Object] = [{"nodes": "1", "reasons": ["Drifted"]}]
POOLS: dict[str, list[Object]] = {
    "v-trapped": GATE,
    "v-freeze": [{"nodes": "0"}],
    "v-open": [{"nodes": "2", "reasons": ["Drifted"]}],
    "v-ungated": [{"nodes": "1", "reasons": ["Empty"]}],
    "v-clean": GATE,
    "v-invalid": [{"nodes": "1", "reasons": ["Drifted"]}, {"nodes": "1", "schedule": "0 2 * * 7", "duration": "1h"}],
}


@pytest.fixture(scope="class")
def generation(request: pytest.FixtureRequest) -> Iterator[Generation]:
    """A cluster of its own for each version."""
    version: str = request.cls.version
    require("etcd", "kube-apiserver", "kubectl", program(version))
    with at_work(version) as found:
        yield found


@pytest.fixture
def showing(generation: Generation) -> Iterator[Showing]:
    with Showing(generation.admin) as looking:
        yield looking


@pytest.fixture
def skips_empty(generation: Generation) -> bool:
    return skips_empty_nodes(parse_version(generation.version))


class Scenarios:
    """What is tried on every generation. A class for each, so that its tests share a control plane."""

    version: ClassVar[str]

    def test_every_kind_of_pool_is_told_for_what_it_is(self, generation: Generation, record_property):
        for name, budgets in POOLS.items():
            generation.pool(name, 2, budgets)
        for name in ("v-trapped", "v-freeze"):
            generation.drift(name)

        plan = generation.plan(list(POOLS))

        found = {name: pool["verdict"] for name, pool in plan.items()}
        differences = crd_differences(generation.version)
        record_property(f"verdicts {generation.version}", BETWEEN.join((", ".join(found.values()), differences)))
        assert found == {
            "v-trapped": "TRAPPED",
            "v-freeze": "FROZEN",
            "v-open": "OPEN",
            "v-ungated": "UNGATED",
            "v-clean": "CLEAN",
            "v-invalid": "INVALID",
        }

    def test_each_opening_takes_one_full_node_and_is_shut_at_its_sign(
        self, generation: Generation, showing: Showing, record_property
    ):
        pools = [f"full-{number}" for number in range(OPENINGS)]
        for pool in pools:
            generation.trapped(pool, 3, full=3)

        seen = rolled(generation, showing, pools)

        record_property(f"rolls {generation.version} full", as_cells(seen))
        assert [(roll.state, roll.taken, roll.is_restored) for roll in seen] == [("done", 1, True)] * OPENINGS
        assert all(roll.is_replaced for roll in seen)
        assert all(roll.to_shut_s <= 1 for roll in seen)
        assert {REASON in roll.showed for roll in seen} == {gives_disruption_reason(parse_version(generation.version))}

    def test_each_opening_takes_one_empty_node_or_none_is_opened_at_all(
        self, generation: Generation, showing: Showing, skips_empty: bool, record_property
    ):
        pools = [f"empty-{number}" for number in range(OPENINGS)]
        for pool in pools:
            generation.trapped(pool, 3)

        if skips_empty:
            held = [generation.roll(pool) for pool in pools]
            record_property(f"rolls {generation.version} empty", f"held: {', '.join(held[0].reasons)}")
            assert {tuple(each.reasons) for each in held} == {("NOTHING_ELIGIBLE", "VERSION_SKIPS_EMPTY")}
            assert showing.openings("empty-0") == []
            return
        seen = rolled(generation, showing, pools)
        record_property(f"rolls {generation.version} empty", as_cells(seen))
        assert [(roll.state, roll.taken, roll.is_restored) for roll in seen] == [("done", 1, True)] * OPENINGS
        assert all(roll.to_shut_s <= 1 for roll in seen)

    def test_of_empty_and_full_nodes_the_kind_that_is_named_goes(
        self, generation: Generation, showing: Showing, skips_empty: bool, record_property
    ):
        full = generation.trapped("mixed", 3, full=2)
        plan = generation.plan(["mixed"])["mixed"]

        (roll,) = rolled(generation, showing, ["mixed"])

        codes = sorted(alert["code"] for alert in plan["alerts"])
        went = "a full one" if roll.node in full else "the empty one"
        record_property(f"mixed {generation.version}", BETWEEN.join((went, ", ".join(codes) or "none")))
        named = "a full one" if plan["nextNode"] in full else "the empty one"
        assert went == named == ("a full one" if skips_empty else "the empty one")
        assert ("VERSION_SKIPS_EMPTY" in codes) == skips_empty
        assert ("NO_DISRUPTION_REASON" in codes) != gives_disruption_reason(parse_version(generation.version))
        assert (roll.taken, roll.is_restored) == (1, True)

    def test_a_gate_held_open_by_hand_lets_go_what_this_karpenter_takes(
        self, generation: Generation, showing: Showing, skips_empty: bool, record_property
    ):
        generation.trapped("by-hand", EMPTY_BY_HAND)

        set_budgets(generation.admin, "by-hand", OPEN_BY_HAND)
        showing.watch_on(passes=2)
        set_budgets(generation.admin, "by-hand", GATE)
        gone = len(showing.left("by-hand"))

        record_property(f"by hand {generation.version}", f"{gone} of {EMPTY_BY_HAND}")
        assert gone == 0 if skips_empty else gone >= 2


class TestNewest(Scenarios):
    version = NEWEST


@pytest.mark.matrix
class TestKarpenter1x1(Scenarios):
    version = "1.1.5"


@pytest.mark.matrix
class TestKarpenter1x6Skipping(Scenarios):
    version = "1.6.1"


@pytest.mark.matrix
class TestKarpenter1x6(Scenarios):
    version = "1.6.4"


@pytest.mark.matrix
class TestKarpenter1x9(Scenarios):
    version = "1.9.0"


def test_every_generation_that_is_built_is_tried():
    tried = {each.version for each in Scenarios.__subclasses__()}

    assert tried == {NEWEST, *build.OLDER_KARPENTERS}
