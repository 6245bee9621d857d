from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from driftgate.app.doctor import diagnose
from driftgate.domain.diagnosis import Check, Diagnosis
from driftgate.domain.errors import (
    AwsForbiddenError,
    ClusterForbiddenError,
    ClusterUnavailableError,
    DriftgateError,
    KarpenterMissingError,
    LedgerUnavailableError,
    NodePoolChangedError,
    PatchRejectedError,
)
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.patch import JsonPatch
from driftgate.domain.policy import GuardPolicy
from tests.factories import NOW, budget, cluster_policy, nodepool, pool_policy
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import FakeWorld, world


class GuardedCluster(FakeCluster):
    """The fake behind an admission policy that lets budgets pass and nothing else."""

    tried: JsonPatch = ()

    def patch_nodepool(self, name: str, patch: JsonPatch, *, dry_run: bool = False) -> NodePoolSnapshot:
        assert dry_run
        if any(operation.path.startswith("/metadata/annotations") for operation in patch):
            raise PatchRejectedError("patch nodepools/app: this would change: driftgate.dev/doctor")
        self.tried = patch
        return super().patch_nodepool(name, patch, dry_run=dry_run)


class LateCluster(GuardedCluster):
    """Its server's clock is 40 s ahead."""

    def server_time(self) -> datetime:
        return self.clock.now() + timedelta(seconds=40)


@pytest.fixture
def cluster() -> GuardedCluster:
    return GuardedCluster(nodepool(), karpenter="1.14.1")


@pytest.fixture
def around(cluster: GuardedCluster) -> FakeWorld:
    return around_of(cluster)


def around_of(cluster: FakeCluster) -> FakeWorld:
    return world(cluster, FakeClock(NOW), cluster_policy())


def examined(around: FakeWorld) -> Diagnosis:
    assert isinstance(around.cluster, FakeCluster)
    return diagnose(around.pipeline(), around.cluster, "demo")


def check(found: Diagnosis, name: str) -> Check:
    (only,) = (check for check in found.checks if check.name == name)
    return only


def test_where_all_is_well_every_check_is_ok(around: FakeWorld):
    found = examined(around)

    assert [(check.name, str(check.outcome)) for check in found.checks] == [
        ("connection", "ok"),
        ("clock", "ok"),
        ("rights", "ok"),
        ("karpenter", "ok"),
        ("write", "ok"),
        ("policy", "ok"),
        ("ledger", "ok"),
        ("alarms", "ok"),
    ]
    assert found.missing == ()


def test_what_is_tried_is_an_opening_of_the_gate(cluster: GuardedCluster, around: FakeWorld):
    examined(around)

    assert [operation.to_object() for operation in cluster.tried] == [
        {"op": "test", "path": "/metadata/generation", "value": 1},
        {
            "op": "replace",
            "path": "/spec/disruption/budgets",
            "value": [
                {"nodes": "10%", "reasons": ["Empty", "Underutilized"]},
                {"nodes": "01", "reasons": ["Drifted"]},
                {"nodes": "00", "reasons": ["Drifted"], "schedule": "11 2 17 10 *", "duration": "8736h"},
            ],
        },
    ]
    assert cluster.patches == []


def test_a_pool_whose_gate_can_be_opened_is_tried_before_others(cluster: GuardedCluster, around: FakeWorld):
    cluster.remove(nodepool())
    cluster.put(nodepool("free", budgets=(budget("10%"),)))
    cluster.put(nodepool("gated"))

    assert "an opening of gated" in check(examined(around), "write").message


def test_without_a_gate_the_list_is_tried_as_it_stands():
    cluster = GuardedCluster(nodepool(budgets=(budget("10%"),)))

    found = examined(around_of(cluster))

    assert "the budgets as they stand" in check(found, "write").message
    assert cluster.tried[-1].value == [{"nodes": "10%"}]


def test_without_a_nodepool_a_write_cannot_be_tried():
    found = examined(around_of(GuardedCluster(karpenter="1.14.1")))

    assert check(found, "write").outcome == "warning"


def test_a_missing_right_is_named_and_the_other_checks_go_on(cluster: GuardedCluster, around: FakeWorld):
    cluster.denied.add("list pods")

    found = examined(around)

    assert check(found, "rights").outcome == "unreadable"
    assert found.to_object()["missingRules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    assert check(found, "write").outcome == "ok"


def test_a_server_that_does_not_answer_is_asked_nothing_more(cluster: GuardedCluster, around: FakeWorld):
    cluster.failures["server_time"] = ClusterUnavailableError("list nodepools: no answer within the time allowed")

    found = examined(around)

    assert [check.name for check in found.checks] == ["connection", "ledger", "alarms"]
    assert check(found, "connection").message == "list nodepools: no answer within the time allowed"


def test_a_clock_that_is_40_s_behind_is_wrong():
    found = examined(around_of(LateCluster(nodepool(), karpenter="1.14.1")))

    assert check(found, "clock").outcome == "wrong"


def test_rights_that_cannot_be_asked_for_are_unreadable(cluster: GuardedCluster, around: FakeWorld):
    cluster.failures["may"] = ClusterUnavailableError("create selfsubjectaccessreviews: 503")

    assert check(examined(around), "rights").outcome == "unreadable"


def test_a_cluster_without_karpenter_is_told(cluster: GuardedCluster, around: FakeWorld):
    cluster.failures["list_nodepools"] = KarpenterMissingError("the cluster does not serve karpenter.sh/v1")

    found = examined(around)

    assert (check(found, "karpenter").outcome, check(found, "ledger").outcome) == ("unreadable", "ok")


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (PatchRejectedError("patch nodepools/app: another policy says no"), "refused"),
        (ClusterForbiddenError("patch nodepools/app: not allowed", verb="patch"), "refused"),
        (NodePoolChangedError("not as read"), "warning"),
        (ClusterUnavailableError("503"), "unreadable"),
    ],
)
def test_what_the_server_says_to_an_opening_is_told(
    cluster: GuardedCluster, around: FakeWorld, error: DriftgateError, outcome: str
):
    cluster.failures["patch_nodepool"] = error

    assert check(examined(around), "write").outcome == outcome


def test_without_an_admission_policy_a_warning_is_given():
    cluster = FakeCluster(nodepool(), karpenter="1.14.1")

    found = examined(around_of(cluster))

    assert check(found, "policy").outcome == "warning"
    assert "would let it change more than budgets" in check(found, "policy").message
    assert cluster.patches == []


def test_a_ledger_that_cannot_be_read_is_unreadable(around: FakeWorld):
    class Broken:
        def load(self, cluster: str) -> object:
            raise LedgerUnavailableError("the ledger did not answer")

    broken = replace(around.pipeline(), ledger=Broken())  # type: ignore[arg-type]
    assert isinstance(around.cluster, FakeCluster)

    assert check(diagnose(broken, around.cluster, "demo"), "ledger").outcome == "unreadable"


def test_alarms_that_may_not_be_read_are_unreadable(around: FakeWorld):
    around.alarms.failure = AwsForbiddenError("cloudwatch:DescribeAlarms", action="cloudwatch:DescribeAlarms")

    assert check(examined(around), "alarms").outcome == "unreadable"


def test_an_alarm_that_is_not_there_is_wrong(around: FakeWorld):
    around.alarms.states.clear()

    assert check(examined(around), "alarms").message == "CloudWatch has no demo-5xx."


def test_alarms_and_calendars_are_asked_for_only_where_they_are_configured(around: FakeWorld):
    around.policy = cluster_policy(policy=pool_policy(guards=GuardPolicy(alarms=(), calendars=("freeze",))))

    names = [check.name for check in examined(around).checks]

    assert "alarms" not in names
    assert names[-1] == "calendars"
