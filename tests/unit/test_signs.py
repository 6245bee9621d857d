"""How a taken node is told: by Karpenter's condition, a taint, a deletion, or its absence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from driftgate.domain.signs import Sign, find_signs, nodes_of_claims, unsigned_claims
from tests.factories import at, node, nodeclaim

LEFT = at("2026-10-17T02:11:00Z")


def test_a_claim_without_any_trace_gives_no_sign():
    claims = {"app-a1": nodeclaim("a1")}

    assert find_signs(["app-a1"], claims, {"app-a1": node("a1")}) == ()


@pytest.mark.parametrize("reason", ["Drifted", "Empty", "Underutilized"])
def test_the_condition_of_karpenter_is_a_sign_whatever_the_reason(reason):
    claims = {"app-a1": nodeclaim("a1", taken=reason)}

    assert find_signs(["app-a1"], claims, {}) == (Sign(claim="app-a1", node="a1", kind=reason),)


def test_the_taint_alone_is_a_sign_because_old_karpenters_give_no_other():
    tainted = node("a1", taints=("karpenter.sh/disrupted",))

    found = find_signs(["app-a1"], {"app-a1": nodeclaim("a1")}, {"app-a1": tainted})

    assert found == (Sign(claim="app-a1", node="a1", kind="tainted"),)


def test_a_deletion_is_a_sign_that_says_nothing_of_drift():
    claims = {"app-a1": nodeclaim("a1", deleted_at=LEFT)}

    (found,) = find_signs(["app-a1"], claims, {})

    assert found.kind == "deleting"
    assert not found.may_be_drift


def test_the_deletion_of_the_node_object_is_a_sign():
    gone = node("a1", deleted_at=LEFT)

    (found,) = find_signs(["app-a1"], {"app-a1": nodeclaim("a1")}, {"app-a1": gone})

    assert found.kind == "deleting"


def test_a_claim_that_is_not_there_any_more_is_a_sign():
    assert find_signs(["app-a1"], {}, {}) == (Sign(claim="app-a1", kind="gone"),)


def test_a_claim_that_came_after_the_opening_gives_none():
    claims = {"app-b1": nodeclaim("b1", taken="Drifted")}

    assert find_signs([], claims, {}) == ()


def test_drift_is_told_before_other_reasons():
    claims = {"app-a1": nodeclaim("a1", taken="Empty"), "app-a2": nodeclaim("a2", taken="Drifted")}

    found = find_signs(["app-a1", "app-a2"], claims, {})

    assert [sign.claim for sign in found] == ["app-a2", "app-a1"]


def test_claims_that_show_a_sign_already_are_not_waited_for():
    claims = [nodeclaim("a1"), nodeclaim("a2", taken="Drifted"), nodeclaim("a3", deleted_at=LEFT)]

    assert unsigned_claims(claims, {}) == ("app-a1",)


def test_a_node_is_found_by_provider_id_before_its_name():
    claim = replace(nodeclaim("a1"), node_name="")
    by_id = node("a1")

    assert nodes_of_claims([claim], [by_id]) == {"app-a1": by_id}
