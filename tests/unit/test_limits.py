"""Whether a pool has room for the replacement of one node."""

from fractions import Fraction

import pytest

from driftgate.domain.limits import limit_holds
from driftgate.domain.members import members_by_pool
from driftgate.domain.quantity import parse_quantity
from driftgate.domain.reasons import ReasonCode as Code
from tests.factories import NOW, node, nodeclaim, nodepool


def codes(nodes, going=0, **pool):
    """The codes for a pool of 4-vCPU nodes, of which the last `going` are being deleted."""
    names = [f"a{index}" for index in range(nodes)]
    claims = [nodeclaim(name, deleted_at=NOW if index >= nodes - going else None) for index, name in enumerate(names)]
    members = members_by_pool(claims, [node(name, capacity={"cpu": "4", "memory": "16Gi"}) for name in names])
    return [hold.code for hold in limit_holds(nodepool(**pool), members["app"])]


@pytest.mark.parametrize(
    ("case", "nodes", "pool", "expected"),
    [
        ("T28 (a)", 3, {"replicas": 3, "limits": {"nodes": "3"}}, [Code.STATIC_NO_HEADROOM]),
        ("T28 (b)", 3, {"replicas": 3, "limits": {"nodes": "4"}}, []),
        ("T28 (c)", 4, {"limits": {"cpu": "16"}}, []),
        ("T28 (d)", 4, {"limits": {"cpu": "12"}}, [Code.LIMIT_EXCEEDED]),
        ("T28 (e)", 4, {"limits": {"nodes": "4"}}, []),
        ("T28 (f)", 4, {"replicas": 3, "limits": {"nodes": "5"}}, [Code.STATIC_SCALING_DOWN]),
        ("no limits", 4, {}, []),
        ("static without a limit", 3, {"replicas": 3}, []),
        ("nodes above", 5, {"limits": {"nodes": "4"}}, [Code.LIMIT_EXCEEDED]),
        ("memory above", 4, {"limits": {"memory": "60Gi"}}, [Code.LIMIT_EXCEEDED]),
        ("memory at", 4, {"limits": {"memory": "64Gi"}}, []),
        ("an unreadable limit", 4, {"limits": {"cpu": "many"}}, []),
    ],
)
def test_limits_answer_as_karpenter_does(case, nodes, pool, expected):
    assert codes(nodes, **pool) == expected


def test_karpenters_own_sum_counts_where_it_gives_one():
    assert codes(1, limits={"cpu": "12"}, usage={"cpu": "16"}) == [Code.LIMIT_EXCEEDED]


def test_nodes_on_their_way_out_do_not_count_against_limits():
    assert codes(4, going=1, limits={"cpu": "12"}) == []


def test_in_a_static_pool_a_deleting_node_still_takes_its_place():
    assert codes(4, going=1, replicas=3, limits={"nodes": "4"}) == [Code.STATIC_NO_HEADROOM]
    assert codes(4, going=1, replicas=3, limits={"nodes": "5"}) == []


def test_the_numbers_are_told():
    (hold,) = limit_holds(nodepool(limits={"cpu": "12"}, usage={"cpu": "15920m"}), ())

    assert "cpu 15.92 of 12" in hold.message
    assert hold.objects == ("nodepool/app",)


def test_the_remedy_of_a_static_pool_leaves_room_for_one():
    members = members_by_pool([nodeclaim("a1")], [node("a1")])["app"]

    (hold,) = limit_holds(nodepool(replicas=3, limits={"nodes": "1"}), members)

    assert "at least 4" in hold.remedy


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", Fraction(4)),
        ("3920m", Fraction(392, 100)),
        ("1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("16Gi", Fraction(16 * 2**30)),
        ("1Ki", Fraction(1024)),
        ("2k", Fraction(2000)),
        ("1e3", Fraction(1000)),
        ("12E", Fraction(12 * 10**18)),
        ("1E2", Fraction(100)),
        ("5e-1", Fraction(1, 2)),
        ("-1", Fraction(-1)),
        ("100n", Fraction(1, 10**7)),
        ("", None),
        ("many", None),
        ("4 ", None),
        ("1K", None),
    ],
)
def test_quantities_are_exact(text, value):
    assert parse_quantity(text) == value
