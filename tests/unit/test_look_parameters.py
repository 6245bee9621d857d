"""Which image parameters a full look writes to the ledger, for the poll that asks no cluster."""

from driftgate.app.reconcile import reconcile
from driftgate.domain.errors import ClusterForbiddenError
from driftgate.domain.nodepool import ImageTerm
from driftgate.ports import WorkMessage
from tests.factories import NOW, cluster_policy, node, node_class, nodepool
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import world

WINDOWS = "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.34/image_id"


def around(*aliases):
    terms = tuple(ImageTerm(alias=alias) for alias in aliases)
    fresh = node_class(terms=terms, images=None)
    clock = FakeClock(NOW)
    return world(FakeCluster(nodepool(), fresh, node(kubelet_version="v1.34.2"), clock=clock), clock, cluster_policy())


def look(found):
    return reconcile(found.pipeline(), WorkMessage(cluster="demo", dedup="1", cause="test"))


def test_are_those_of_an_alias_that_resolved_nothing_yet():
    found = around("windows2022@latest")

    look(found)

    assert found.ledger.load("demo").parameters == (WINDOWS,)


def test_stay_as_they_were_while_node_classes_cannot_be_read():
    found = around("windows2022@latest")
    look(found)
    found.cluster.failures["list_node_classes"] = ClusterForbiddenError("denied")

    look(found)

    assert found.ledger.load("demo").parameters == (WINDOWS,)


def test_of_a_family_that_nobody_knows_are_told_in_the_report():
    report = look(around("al2027@latest"))

    assert report.problems == [
        "EC2NodeClass std: al2027@latest is of a family that is not known here: its parameters are not polled"
    ]
