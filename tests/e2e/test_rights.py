"""RBAC as the server sees it: what is printed is enough, each part of it is needed, and there is nothing beside it."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from driftgate.domain.errors import ClusterForbiddenError
from driftgate.domain.rights import NAME, RIGHTS, Right
from driftgate.ports import Cluster
from tests.contract.cluster_objects import deployment_object, node_object, nodeclaim_object, pod_object
from tests.e2e.guarded import LISTS, POOL, Guarded, without, writes
from tests.e2e.harness.api import MERGE_PATCH, Object, Response
from tests.e2e.harness.scenario import NODECLAIMS, NODEPOOLS
from tests.factories import budget

SHUT = budget("0", "Drifted")
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
MOMENT = timedelta(seconds=1)


def patch(cluster: Cluster) -> object:
    return cluster.patch_nodepool(POOL, writes([budget("01", "Drifted")]), dry_run=True)


def watch(cluster: Cluster) -> object:
    return list(cluster.watch_pool(POOL, cluster.read_pool(POOL), MOMENT))


OPERATIONS: dict[str, Callable[[Cluster], object]] = {
    "get nodepools.karpenter.sh": lambda cluster: cluster.get_nodepool(POOL),
    "list nodepools.karpenter.sh": lambda cluster: cluster.list_nodepools(),
    "patch nodepools.karpenter.sh": patch,
    "list nodeclaims.karpenter.sh": lambda cluster: cluster.list_nodeclaims(),
    "watch nodeclaims.karpenter.sh": watch,
    "list ec2nodeclasses.karpenter.k8s.aws": lambda cluster: cluster.list_node_classes(),
    "list nodes": lambda cluster: cluster.list_nodes(),
    "watch nodes": watch,
    "list pods": lambda cluster: (cluster.list_pods(), cluster.list_pods(["some-node"])),
    "list poddisruptionbudgets.policy": lambda cluster: cluster.list_pdbs(),
    "list volumeattachments.storage.k8s.io": lambda cluster: cluster.list_volume_attachments(),
    "list deployments.apps": lambda cluster: cluster.karpenter_version(),
}
"""What driftgate does, by the right that it cannot do without."""


@pytest.fixture
def ours(guarded: Guarded) -> Iterator[Cluster]:
    """The cluster as driftgate sees it, with a shut gate and a Karpenter whose version can be told."""
    guarded.stand([SHUT])
    karpenter: Object = deployment_object("1.14.1")
    guarded.api.create(DEPLOYMENTS, karpenter)
    yield guarded.ours
    guarded.api.delete(f"{DEPLOYMENTS}/{karpenter['metadata']['name']}")


def test_every_right_has_an_operation_that_needs_it():
    assert sorted(map(str, RIGHTS)) == sorted(OPERATIONS)


@pytest.mark.parametrize("right", OPERATIONS)
def test_with_the_printed_rights_every_operation_passes(ours: Cluster, right: str):
    OPERATIONS[right](ours)


def test_karpenters_version_is_told_with_the_printed_rights(ours: Cluster):
    assert ours.karpenter_version() == "1.14.1"


@pytest.mark.parametrize("right", [right for right in RIGHTS if right.resource != "deployments"], ids=str)
def test_without_any_one_right_an_operation_is_forbidden_by_name(guarded: Guarded, ours: Cluster, right: Right):
    with without(guarded, right), pytest.raises(ClusterForbiddenError) as refused:
        OPERATIONS[str(right)](ours)

    assert (refused.value.verb, refused.value.resource) == (right.verb, right.resource)


def test_without_the_right_to_list_deployments_karpenters_version_is_unknown(guarded: Guarded, ours: Cluster):
    (right,) = (right for right in RIGHTS if right.resource == "deployments")

    with without(guarded, right):
        assert ours.karpenter_version() is None


# --- nothing beside --------------------------------------------------------------------------------------

EVERYBODYS = [
    ({"authentication.k8s.io"}, {"selfsubjectreviews"}, {"create"}),
    ({"authorization.k8s.io"}, {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}, {"create"}),
]
"""What every authenticated user of a cluster has: to ask who it is and what it may do."""


def test_the_server_counts_no_right_beside_the_printed_ones(guarded: Guarded):
    asked = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": "default"},
    }

    review = guarded.our_api.create("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", asked)["status"]

    assert not review["incomplete"]
    assert granted(review["resourceRules"]) - granted_to_everybody() == {
        (right.group, right.resource, right.verb) for right in RIGHTS
    }


def granted(found: list[Object]) -> set[tuple[str, str, str]]:
    return {
        (group, resource, verb)
        for rule in found
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def granted_to_everybody() -> set[tuple[str, str, str]]:
    return {
        (group, resource, verb)
        for groups, resources, verbs in EVERYBODYS
        for group in groups
        for resource in resources
        for verb in verbs
    }


PODS, NODES = "/api/v1/namespaces/default/pods", "/api/v1/nodes"
EVICTION: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web", "namespace": "default"}}
LABELLED: Object = {"metadata": {"labels": {"a": "b"}}}
ATTEMPTS: dict[str, tuple[str, str, Object | None]] = {
    "delete a NodePool": ("DELETE", f"{NODEPOOLS}/{POOL}", None),
    "delete all NodePools": ("DELETE", NODEPOOLS, None),
    "create a NodePool": ("POST", NODEPOOLS, {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {}}),
    "replace a NodePool": ("PUT", f"{NODEPOOLS}/{POOL}", {"metadata": {"name": POOL}}),
    "write a NodePool's status": ("PATCH", f"{NODEPOOLS}/{POOL}/status", {"status": {}}),
    "delete a NodeClaim": ("DELETE", f"{NODECLAIMS}/app-a1", None),
    "label a NodeClaim": ("PATCH", f"{NODECLAIMS}/app-a1", LABELLED),
    "create a NodeClaim": ("POST", NODECLAIMS, {"metadata": {"name": "mine"}}),
    "delete a Node": ("DELETE", f"{NODES}/a1", None),
    "cordon a Node": ("PATCH", f"{NODES}/a1", {"spec": {"unschedulable": True}}),
    "evict a pod": ("POST", f"{PODS}/web/eviction", EVICTION),
    "delete a pod": ("DELETE", f"{PODS}/web", None),
    "create a pod": ("POST", PODS, {"metadata": {"name": "mine"}}),
    "look into a pod": ("POST", f"{PODS}/web/exec?command=sh", None),
    "read a pod's log": ("GET", f"{PODS}/web/log", None),
    "list Secrets": ("GET", "/api/v1/secrets", None),
    "read a Secret": ("GET", "/api/v1/namespaces/default/secrets/token", None),
    "take a service account's token": ("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", {}),
    "read ConfigMaps": ("GET", "/api/v1/configmaps", None),
    "change its own role": ("PATCH", f"{LISTS['ClusterRole']}/{NAME}", {"rules": []}),
    "change its own policy": ("PATCH", f"{LISTS['ValidatingAdmissionPolicy']}/{NAME}", {"spec": {"validations": []}}),
    "take the policy out of force": ("DELETE", f"{LISTS['ValidatingAdmissionPolicyBinding']}/{NAME}", None),
}


@pytest.mark.parametrize("what", ATTEMPTS)
def test_everything_else_is_refused(guarded: Guarded, victims: None, what: str):
    method, path, body = ATTEMPTS[what]

    answer: Response = guarded.our_api.send(
        method, path, body, MERGE_PATCH if method == "PATCH" else "application/json"
    )

    assert answer.status == 403
    assert 'User \\"driftgate\\" cannot' in answer.text


@pytest.fixture(scope="module")
def victims(guarded: Guarded) -> Iterator[None]:
    """A node, its claim and a pod on it, so that nothing is refused only because it is not there."""
    made = {NODES: node_object("a1", POOL), NODECLAIMS: nodeclaim_object("app-a1", POOL), PODS: pod_object("web", "a1")}
    for path, found in made.items():
        guarded.api.create(path, found)
    yield
    for path, found in reversed(made.items()):
        guarded.api.delete(f"{path}/{found['metadata']['name']}", {"gracePeriodSeconds": 0})
