"""From what the API server sends to domain values."""

import copy

import pytest

from driftgate.adapters.kubernetes_objects import ObjectKind, kind_of
from driftgate.adapters.node_objects import node_from_object, nodeclaim_from_object, volume_attachment_from_object
from driftgate.adapters.nodepool_objects import node_class_from_object, nodepool_from_object
from driftgate.adapters.pod_objects import pdb_from_object, pod_from_object
from driftgate.domain.budget import Budget
from driftgate.domain.conditions import Condition
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.nodepool import FieldOwner, ImageTerm, NodeClassRef, Requirement, ResolvedImage
from driftgate.domain.nodes import SelectorTerm
from tests.factories import NEW_IMAGE, NEW_NAME, OLD_IMAGE, at

NODEPOOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {
        "name": "app",
        "generation": 7,
        "resourceVersion": "1000",
        "uid": "u-1",
        "annotations": {"karpenter.sh/nodepool-hash": "42"},
        "managedFields": [
            {
                "manager": "argocd-controller",
                "operation": "Update",
                "time": "2026-10-01T00:00:00Z",
                "fieldsV1": {"f:spec": {"f:disruption": {".": {}, "f:budgets": {}}}},
            },
            {"manager": "karpenter", "operation": "Update", "fieldsV1": {"f:status": {"f:resources": {}}}},
        ],
    },
    "spec": {
        "disruption": {
            "budgets": [{"nodes": "0", "reasons": ["Drifted"]}],
            "consolidationPolicy": "WhenEmpty",
            "consolidateAfter": "5m",
        },
        "limits": {"cpu": "16", "nodes": 3},
        "replicas": 3,
        "weight": 10,
        "template": {
            "spec": {
                "expireAfter": "720h",
                "terminationGracePeriod": "1h",
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "std"},
                "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
            }
        },
    },
    "status": {
        "resources": {"cpu": "12", "nodes": "3"},
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-10-01T00:00:00Z"}],
    },
}


def changed(raw, *path, to):
    """A copy with one value replaced."""
    found = copy.deepcopy(raw)
    part = found
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return found


def without(raw, *path):
    found = copy.deepcopy(raw)
    part = found
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    return found


class TestNodePool:
    def test_is_read_whole(self):
        found = nodepool_from_object(NODEPOOL)

        assert (found.name, found.generation, found.resource_version, found.uid) == ("app", 7, "1000", "u-1")
        assert found.budgets == (Budget(nodes="0", reasons=("Drifted",)),)
        assert (found.consolidation_policy, found.consolidate_after) == ("WhenEmpty", "5m")
        assert found.node_class == NodeClassRef(group="karpenter.k8s.aws", kind="EC2NodeClass", name="std")
        assert found.requirements == (Requirement(key="kubernetes.io/arch", operator="In", values=("amd64",)),)
        assert (found.termination_grace_period, found.expire_after) == ("1h", "720h")
        assert (found.limits, found.usage) == ({"cpu": "16", "nodes": "3"}, {"cpu": "12", "nodes": "3"})
        assert (found.replicas, found.weight) == (3, 10)
        assert found.conditions["Ready"] == Condition(status="True", since=at("2026-10-01T00:00:00Z"))

    def test_needs_hardly_anything(self):
        found = nodepool_from_object({"apiVersion": "karpenter.sh/v1", "metadata": {"name": "app"}})

        assert (found.name, found.generation, found.annotations, found.replicas) == ("app", 1, None, None)

    @pytest.mark.parametrize(
        ("disruption", "budgets", "given"),
        [
            (None, (Budget(nodes="10%"),), False),
            ({}, (Budget(nodes="10%"),), False),
            ({"budgets": None}, (Budget(nodes="10%"),), False),
            ({"budgets": []}, (), True),
            ({"budgets": [{}]}, (Budget(nodes="10%"),), True),
            ({"budgets": [{"nodes": "1", "reasons": []}]}, (Budget(nodes="1", reasons=()),), True),
        ],
    )
    def test_budgets_are_what_the_server_makes_of_them(self, disruption, budgets, given):
        found = nodepool_from_object(changed(NODEPOOL, "spec", "disruption", to=disruption))

        assert (found.budgets, found.budgets_given) == (budgets, given)

    def test_a_budget_of_a_wrong_type_is_refused_with_its_place(self):
        with pytest.raises(InvalidInputError) as caught:
            nodepool_from_object(changed(NODEPOOL, "spec", "disruption", "budgets", to=[{"nodes": 1}]))

        assert caught.value.place == "nodepool/app: spec.disruption.budgets[0].nodes"

    def test_no_annotations_at_all_is_told_from_an_empty_set(self):
        assert nodepool_from_object(without(NODEPOOL, "metadata", "annotations")).annotations is None
        assert nodepool_from_object(changed(NODEPOOL, "metadata", "annotations", to={})).annotations == {}

    def test_the_owner_of_the_budgets_is_told(self):
        assert nodepool_from_object(NODEPOOL).owners == (
            FieldOwner(
                manager="argocd-controller", operation="Update", time=at("2026-10-01T00:00:00Z"), owns_budgets=True
            ),
            FieldOwner(manager="karpenter", operation="Update"),
        )

    @pytest.mark.parametrize(
        ("fields", "owns"),
        [
            ({"f:spec": {"f:disruption": {"f:budgets": {}}}}, True),
            ({"f:spec": {"f:disruption": {}}}, True),
            ({"f:spec": {"f:disruption": {".": {}, "f:consolidateAfter": {}}}}, False),
            ({"f:spec": {"f:template": {}}}, False),
            ({"f:metadata": {"f:annotations": {}}}, False),
            (None, False),
        ],
    )
    def test_owning_the_whole_disruption_block_owns_the_budgets(self, fields, owns):
        entry = {"manager": "kustomize-controller", "fieldsV1": fields}

        (owner,) = nodepool_from_object(changed(NODEPOOL, "metadata", "managedFields", to=[entry])).owners

        assert owner.owns_budgets is owns

    @pytest.mark.parametrize("version", ["karpenter.sh/v1beta1", "karpenter.sh/v1alpha5"])
    def test_a_legacy_version_is_kept_to_be_told_as_unsupported(self, version):
        assert nodepool_from_object(changed(NODEPOOL, "apiVersion", to=version)).api_version == version

    def test_the_v1beta1_reference_gives_its_group_by_api_version(self):
        ref = {"apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass", "name": "std"}

        found = nodepool_from_object(changed(NODEPOOL, "spec", "template", "spec", "nodeClassRef", to=ref))

        assert found.node_class == NodeClassRef(group="karpenter.k8s.aws", kind="EC2NodeClass", name="std")


class TestNodeClass:
    def test_an_ec2_node_class_has_images_and_terms(self):
        found = node_class_from_object(
            {
                "apiVersion": "karpenter.k8s.aws/v1",
                "kind": "EC2NodeClass",
                "metadata": {"name": "std"},
                "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}, {"tags": {"a": "b"}, "owner": "self"}]},
                "status": {
                    "amis": [
                        {
                            "id": NEW_IMAGE,
                            "name": NEW_NAME,
                            "deprecated": True,
                            "requirements": [{"key": "gpu", "operator": "DoesNotExist"}],
                        }
                    ]
                },
            }
        )

        assert (found.group, found.kind, found.name) == ("karpenter.k8s.aws", "EC2NodeClass", "std")
        assert found.terms == (ImageTerm(alias="al2023@latest"), ImageTerm(owner="self", tags={"a": "b"}))
        assert found.images == (
            ResolvedImage(
                id=NEW_IMAGE,
                name=NEW_NAME,
                deprecated=True,
                requirements=(Requirement(key="gpu", operator="DoesNotExist"),),
            ),
        )

    def test_without_a_match_an_ec2_node_class_has_an_empty_image_list(self):
        raw = {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "spec": {"amiSelectorTerms": []}}

        assert node_class_from_object(raw).images == ()

    def test_a_node_class_of_another_provider_has_none(self):
        raw = {"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", "metadata": {"name": "std"}}

        assert node_class_from_object(raw).images is None


CLAIM = {
    "metadata": {
        "name": "app-a1",
        "labels": {"karpenter.sh/nodepool": "app"},
        "annotations": {"driftgate.dev/do-not-roll": "true", "karpenter.sh/nodepool-hash": "42"},
        "creationTimestamp": "2026-09-02T08:00:00Z",
        "deletionTimestamp": "2026-10-17T02:10:00Z",
        "ownerReferences": [{"kind": "NodePool", "name": "owner"}],
    },
    "spec": {"terminationGracePeriod": "0s", "expireAfter": "Never"},
    "status": {
        "imageID": OLD_IMAGE,
        "nodeName": "a1",
        "providerID": "aws:///eu-central-1a/i-a1",
        "conditions": [
            {"type": "Drifted", "status": "True", "reason": "AMIDrift", "lastTransitionTime": "2026-10-05T08:00:00Z"},
            {"type": "DisruptionReason", "status": "True", "reason": "Drifted"},
        ],
    },
}


class TestNodeClaim:
    def test_is_read_with_its_drift(self):
        found = nodeclaim_from_object(CLAIM)

        assert (found.name, found.nodepool, found.node_name, found.image_id) == ("app-a1", "app", "a1", OLD_IMAGE)
        assert (found.is_drifted, found.drift_reason) == (True, "AMIDrift")
        assert found.drifted_since == at("2026-10-05T08:00:00Z")
        assert found.disruption_reason == "Drifted"
        assert found.deleted_at == at("2026-10-17T02:10:00Z")
        assert (found.termination_grace_period, found.expire_after) == ("0s", "Never")

    def test_keeps_only_annotations_that_are_judged(self):
        assert nodeclaim_from_object(CLAIM).annotations == {"driftgate.dev/do-not-roll": "true"}

    def test_takes_its_pool_from_the_owner_without_the_label(self):
        assert nodeclaim_from_object(without(CLAIM, "metadata", "labels")).nodepool == "owner"

    def test_a_drifted_condition_that_is_not_true_is_no_drift(self):
        conditions = [{"type": "Drifted", "status": "Unknown"}]

        assert not nodeclaim_from_object(changed(CLAIM, "status", "conditions", to=conditions)).is_drifted


class TestNode:
    RAW = {  # noqa: RUF012 - a constant of the tests
        "metadata": {
            "name": "a1",
            "labels": {"karpenter.sh/nodepool": "app", "karpenter.sh/initialized": "true"},
            "annotations": {"karpenter.sh/do-not-disrupt": "true", "csi.volume/nodeid": "{}"},
        },
        "spec": {
            "providerID": "aws:///eu-central-1a/i-a1",
            "taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}],
            "unschedulable": True,
        },
        "status": {
            "capacity": {"cpu": "4", "memory": "16Gi", "hugepages-2Mi": "0", "vendor.example/gpu": "1"},
            "conditions": [
                {"type": "DiskPressure", "status": "False"},
                {"type": "Ready", "status": "False", "lastTransitionTime": "2026-10-17T01:30:00Z"},
            ],
            "nodeInfo": {"kubeletVersion": "v1.34.2"},
            "images": [{"names": ["a"] * 3, "sizeBytes": 1}],
        },
    }

    def test_is_reduced_to_what_is_judged(self):
        found = node_from_object(self.RAW)

        assert (found.name, found.is_initialized, found.unschedulable) == ("a1", True, True)
        assert found.is_tainted_disrupted
        assert found.ready == Condition(status="False", since=at("2026-10-17T01:30:00Z"))
        assert found.annotations == {"karpenter.sh/do-not-disrupt": "true"}
        assert found.capacity == {"cpu": "4", "memory": "16Gi", "vendor.example/gpu": "1"}
        assert found.kubelet_version == "v1.34.2"

    def test_without_a_ready_condition_it_is_not_ready(self):
        found = node_from_object(changed(self.RAW, "status", "conditions", to=[]))

        assert (found.ready, found.is_ready) == (None, False)

    def test_equal_labels_are_one_object(self):
        assert node_from_object(self.RAW).labels is node_from_object(copy.deepcopy(self.RAW)).labels


def pod_raw(**parts):
    metadata = {"name": "web-0", "namespace": "shop", "labels": {"app": "web"}, **parts.pop("metadata", {})}
    return {"metadata": metadata, "spec": {"nodeName": "a1"}, "status": {"phase": "Running"}} | parts


def owner(kind, *, controller=False):
    return {"kind": kind, "name": kind.lower(), "controller": controller}


class TestPod:
    def test_is_read_without_its_containers(self):
        found = pod_from_object(
            pod_raw(
                metadata={"annotations": {"karpenter.sh/do-not-disrupt": "1h", "other": "x"}},
                status={"phase": "Running", "startTime": "2026-10-01T00:00:00Z"},
            )
        )

        assert (found.key, found.node_name, found.phase, found.scheduled) == ("shop/web-0", "a1", "Running", True)
        assert found.annotations == {"karpenter.sh/do-not-disrupt": "1h"}
        assert found.started_at == at("2026-10-01T00:00:00Z")

    @pytest.mark.parametrize(("ready", "expected"), [("False", False), ("True", True), ("Unknown", True), (None, True)])
    def test_is_unready_only_where_the_condition_says_false(self, ready, expected):
        conditions = [] if ready is None else [{"type": "Ready", "status": ready}]

        assert pod_from_object(pod_raw(status={"conditions": conditions})).ready is expected

    @pytest.mark.parametrize(
        ("owners", "kind"),
        [
            ([], ""),
            ([owner("ReplicaSet", controller=True)], "ReplicaSet"),
            ([owner("Group"), owner("StatefulSet", controller=True)], "StatefulSet"),
            ([owner("Group", controller=True), owner("DaemonSet")], "DaemonSet"),
            ([owner("Node", controller=True)], "Node"),
            ([owner("Workflow")], "Workflow"),
        ],
    )
    def test_its_owner_is_a_node_or_daemonset_first_then_the_controller(self, owners, kind):
        found = pod_from_object(pod_raw(metadata={"ownerReferences": owners}))

        assert (found.owner_kind, found.is_mirror) == (kind, kind == "Node")

    @pytest.mark.parametrize(
        ("toleration", "tolerates"),
        [
            ({"operator": "Exists"}, True),
            ({"operator": "Exists", "effect": "NoSchedule"}, True),
            ({"operator": "Exists", "effect": "NoExecute"}, False),
            ({"key": "karpenter.sh/disrupted", "operator": "Exists"}, True),
            ({"key": "karpenter.sh/disrupted", "operator": "Equal", "value": ""}, True),
            ({"key": "karpenter.sh/disrupted"}, True),
            ({"key": "karpenter.sh/disrupted", "value": "yes"}, False),
            ({"key": "karpenter.sh/disruption", "operator": "Exists"}, False),
            ({"operator": "Equal"}, False),
        ],
    )
    def test_tolerates_the_disrupted_taint_as_kubernetes_reads_it(self, toleration, tolerates):
        found = pod_from_object(pod_raw(spec={"tolerations": [toleration]}))

        assert found.tolerates_disruption is tolerates

    def test_a_pending_pod_stands_with_the_node_it_is_promised_to(self):
        found = pod_from_object(pod_raw(spec={}, status={"phase": "Pending", "nominatedNodeName": "a2"}))

        assert (found.node_name, found.scheduled) == ("a2", False)


class TestDisruptionBudget:
    def test_is_read_with_its_selector_and_numbers(self):
        found = pdb_from_object(
            {
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {
                    "minAvailable": 2,
                    "unhealthyPodEvictionPolicy": "AlwaysAllow",
                    "selector": {
                        "matchLabels": {"app": "web"},
                        "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["test"]}],
                    },
                },
                "status": {"disruptionsAllowed": 1, "expectedPods": 3, "currentHealthy": 3, "desiredHealthy": 2},
            }
        )

        assert (found.key, found.min_available, found.max_unavailable) == ("shop/web", "2", None)
        assert (found.disruptions_allowed, found.expected_pods) == (1, 3)
        assert found.unhealthy_pod_eviction_policy == "AlwaysAllow"
        assert found.selector == (
            SelectorTerm(key="app", operator="In", values=("web",)),
            SelectorTerm(key="tier", operator="NotIn", values=("test",)),
        )

    def test_without_a_status_allows_nothing(self):
        assert (
            pdb_from_object({"metadata": {"name": "web"}, "spec": {"maxUnavailable": "50%"}}).disruptions_allowed == 0
        )

    def test_an_absent_selector_is_told_from_an_empty_one(self):
        assert pdb_from_object({"spec": {}}).selector is None
        assert pdb_from_object({"spec": {"selector": {}}}).selector == ()


def test_a_volume_attachment_tells_why_it_does_not_detach():
    found = volume_attachment_from_object(
        {
            "metadata": {"name": "csi-1", "deletionTimestamp": "2026-10-17T02:00:00Z"},
            "spec": {"nodeName": "a1"},
            "status": {"attached": True, "detachError": {"message": "still in use"}},
        }
    )

    assert (found.name, found.node_name, found.attached, found.error) == ("csi-1", "a1", True, "still in use")
    assert found.deleted_at == at("2026-10-17T02:00:00Z")


@pytest.mark.parametrize(
    ("version", "kind", "expected"),
    [
        ("karpenter.sh/v1", "NodePool", ObjectKind.NODEPOOL),
        ("karpenter.sh/v1beta1", "NodePool", ObjectKind.NODEPOOL),
        ("karpenter.sh/v1alpha5", "Provisioner", ObjectKind.NODEPOOL),
        ("karpenter.sh/v1", "NodeClaim", ObjectKind.NODECLAIM),
        ("karpenter.k8s.aws/v1", "EC2NodeClass", ObjectKind.NODE_CLASS),
        ("karpenter.azure.com/v1beta1", "AKSNodeClass", ObjectKind.NODE_CLASS),
        ("v1", "Node", ObjectKind.NODE),
        ("v1", "Pod", ObjectKind.POD),
        ("policy/v1", "PodDisruptionBudget", ObjectKind.PDB),
        ("storage.k8s.io/v1", "VolumeAttachment", ObjectKind.VOLUME_ATTACHMENT),
        ("apps/v1", "Deployment", None),
        ("example.org/v1", "NodePool", None),
        ("example.org/v1", "Pod", None),
        ("", "", None),
    ],
)
def test_kinds_are_told_by_group_and_kind(version, kind, expected):
    assert kind_of({"apiVersion": version, "kind": kind}) is expected
