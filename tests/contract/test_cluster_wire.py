"""What the Kubernetes adapter sends, and what it makes of every kind of answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from driftgate.domain.errors import (
    AnswerLostError,
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    ClusterUnavailableError,
    DriftgateError,
    InvalidInputError,
    KarpenterMissingError,
    NodePoolChangedError,
    NodePoolNotFoundError,
    PatchRejectedError,
)
from driftgate.domain.patch import PatchOperation
from tests.contract.cluster_wire import (
    EXPIRED,
    HTML,
    NODES,
    OPAQUE,
    POOL,
    POOLS,
    UNAUTHORIZED,
    forbidden,
    listing,
    named,
    nodepool,
    status,
    wire,
)
from tests.fakes.canned_server import DROP, HANG, NOT_SERVED, Canned, Reply

PATCH = (
    PatchOperation(op="test", path="/metadata/generation", value=1),
    PatchOperation(op="replace", path="/spec/disruption/budgets", value=[{"nodes": "01", "reasons": ["Drifted"]}]),
    PatchOperation(op="remove", path="/metadata/annotations/driftgate.dev~1roll"),
)
CAUSES = {"causes": [{"reason": "FieldValueInvalid", "message": "Invalid value", "field": "spec.disruption"}]}
POLICY = (
    'nodepools.karpenter.sh "app" is forbidden: ValidatingAdmissionPolicy '
    "'driftgate' with binding 'driftgate' denied request: only budgets may change"
)
WEBHOOK = 'admission webhook "guard.shop.example" denied the request: not on Fridays'


# --- lists -------------------------------------------------------------------------------------------


def test_a_list_is_read_by_pages_from_the_api_server_itself() -> None:
    pages = [listing("Node", named("a1"), more="next-page"), listing("Node", named("a2"))]
    with wire({NODES: pages}) as on:
        found = on.cluster.list_nodes()

    assert [node.name for node in found] == ["a1", "a2"]
    assert [asked.query for asked in on.asked(NODES)] == [{"limit": "500"}, {"limit": "500", "continue": "next-page"}]


def test_a_list_that_expires_between_pages_is_read_again_from_the_start() -> None:
    first = listing("Node", named("a1"), more="next-page")
    with wire({NODES: [first, EXPIRED, first, listing("Node", named("a2"))]}) as on:
        found = on.cluster.list_nodes()

    assert [node.name for node in found] == ["a1", "a2"]


def test_a_list_that_keeps_expiring_is_given_up() -> None:
    with wire({NODES: [EXPIRED]}) as on, pytest.raises(ClusterUnavailableError, match="3 times"):
        on.cluster.list_nodes()

    assert len(on.asked(NODES)) == 3


def test_the_progress_of_a_list_is_told_by_page() -> None:
    pages = [listing("Node", named("a1"), more="next-page", remaining=1), listing("Node", named("a2"))]
    with wire({NODES: pages}) as on:
        on.cluster.list_nodes()

    told = [(step.resource, step.pages, step.items, step.remaining) for step in on.progress]
    assert told == [("nodes", 1, 1, 1), ("nodes", 2, 2, None)]


def test_pods_of_a_node_are_asked_for_by_field() -> None:
    with wire({"/api/v1/pods": [listing("Pod")]}) as on:
        on.cluster.list_pods(["a1", "a2"])

    selectors = [asked.query["fieldSelector"] for asked in on.asked("/api/v1/pods")]
    assert selectors == ["spec.nodeName=a1", "spec.nodeName=a2"]


def test_node_classes_are_read_with_their_images() -> None:
    described = named("std") | {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "status": {"amis": [{"id": "ami-0bbb00000000000b2", "name": "al2023"}]},
    }
    with wire({"/apis/karpenter.k8s.aws/v1/ec2nodeclasses": [listing("EC2NodeClass", described)]}) as on:
        (found,) = on.cluster.list_node_classes()

    assert [image.id for image in found.images or ()] == ["ami-0bbb00000000000b2"]


def test_a_cluster_of_another_provider_has_no_node_classes_of_ours() -> None:
    with wire({}) as on:
        assert on.cluster.list_node_classes() == ()


def test_who_we_are_goes_with_every_request() -> None:
    with wire({NODES: [listing("Node")]}) as on:
        on.cluster.list_nodes()

    headers = on.asked(NODES)[0].headers
    assert headers["authorization"] == "Bearer sesame"
    assert headers["user-agent"].startswith("driftgate/")


# --- raw objects, for a snapshot ---------------------------------------------------------------------


def test_raw_objects_carry_the_kind_that_lists_leave_out() -> None:
    with wire({NODES: [listing("Node", named("a1", labels={"x": "y"}))]}) as on:
        found = list(on.cluster.list_raw("nodes"))

    assert found == [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a1", "labels": {"x": "y"}}}]


def test_raw_objects_come_once_even_where_the_list_expired() -> None:
    first = listing("Node", named("a1"), more="next-page")
    again = listing("Node", named("a1"), named("a2"))
    with wire({NODES: [first, EXPIRED, again]}) as on:
        names = [child["metadata"] for child in on.cluster.list_raw("nodes")]

    assert names == [{"name": "a1"}, {"name": "a2"}]


def test_a_resource_that_no_judgement_needs_is_not_read() -> None:
    with wire({}) as on, pytest.raises(InvalidInputError, match="secrets"):
        on.cluster.list_raw("secrets")


# --- answers to a reading ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (UNAUTHORIZED, ClusterUnauthorizedError, "does not know who we are"),
        (forbidden("list", "nodepools"), ClusterForbiddenError, "cannot list resource"),
        (NOT_SERVED, KarpenterMissingError, "does not serve karpenter.sh/v1"),
        (status(429, "TooManyRequests", "too many requests"), ClusterUnavailableError, "too many requests"),
        (status(500, "InternalError", "etcdserver: leader changed"), ClusterUnavailableError, "leader changed"),
        (Reply(status=502, body=b"<html>Bad Gateway</html>"), ClusterUnavailableError, "Bad Gateway"),
        (Reply(status=302, headers={"location": "https://login.example"}), ClusterUnavailableError, "302"),
        (HTML, ClusterUnavailableError, "Sign in to continue"),
        (Reply(body=b'{"kind": "NodePoolLi'), ClusterUnavailableError, "Is a proxy"),
        (Reply(body={"ok": True}), ClusterUnavailableError, "expected NodePoolList"),
        (Reply(body=[]), ClusterUnavailableError, "expected NodePoolList"),
        (listing("Node"), ClusterUnavailableError, "expected NodePoolList"),
        (DROP, ClusterUnavailableError, "the connection broke"),
        (HANG, ClusterUnavailableError, "no answer within the time allowed"),
    ],
)
def test_an_answer_that_is_none_becomes_one_clear_error(reply: Canned, error: type[DriftgateError], said: str) -> None:
    with wire({POOLS: [reply]}) as on, pytest.raises(error, match=said):
        on.cluster.list_nodepools()


def test_a_refusal_says_which_right_is_missing() -> None:
    with wire({POOLS: [forbidden("list", "nodepools")]}) as on, pytest.raises(ClusterForbiddenError) as refused:
        on.cluster.list_nodepools()

    assert (refused.value.verb, refused.value.resource) == ("list", "nodepools")


def test_a_missing_nodepool_is_told_from_a_missing_karpenter() -> None:
    gone = status(404, "NotFound", 'nodepools.karpenter.sh "app" not found', {"name": "app", "kind": "nodepools"})
    with wire({POOL: [gone, NOT_SERVED]}) as on:
        with pytest.raises(NodePoolNotFoundError, match="'app'"):
            on.cluster.get_nodepool("app")
        with pytest.raises(KarpenterMissingError):
            on.cluster.get_nodepool("app")


def test_a_busy_server_is_asked_again_after_a_pause() -> None:
    busy = status(503, "ServiceUnavailable", "starting")
    with wire({NODES: [busy, busy, listing("Node", named("a1"))]}) as on:
        assert len(on.cluster.list_nodes()) == 1

    assert on.pauses == [0.2, 1.0]


def test_the_servers_own_wish_to_be_left_alone_is_kept_within_reason() -> None:
    def busy(seconds: str) -> Reply:
        return Reply(status=429, headers={"retry-after": seconds})

    with wire({NODES: [busy("3"), busy("3600"), listing("Node")]}) as on:
        on.cluster.list_nodes()

    assert on.pauses == [3.0, 5.0]


@pytest.mark.parametrize(
    ("reply", "times"), [(status(500), 3), (status(429), 3), (DROP, 3), (HANG, 1), (UNAUTHORIZED, 1), (HTML, 1)]
)
def test_only_what_may_pass_is_tried_again_and_not_for_ever(reply: Canned, times: int) -> None:
    with wire({NODES: [reply]}) as on, pytest.raises(DriftgateError):
        on.cluster.list_nodes()

    assert len(on.asked(NODES)) == times


# --- patches -----------------------------------------------------------------------------------------


def test_a_patch_is_sent_as_json_patch_with_its_operations_in_order() -> None:
    with wire({POOL: [Reply(body=nodepool())]}) as on:
        on.cluster.patch_nodepool("app", PATCH)

    (asked,) = on.asked(POOL)
    assert asked.method == "PATCH"
    assert asked.query == {"fieldManager": "driftgate"}
    assert asked.headers["content-type"] == "application/json-patch+json"
    assert json.loads(asked.body) == [
        {"op": "test", "path": "/metadata/generation", "value": 1},
        {"op": "replace", "path": "/spec/disruption/budgets", "value": [{"nodes": "01", "reasons": ["Drifted"]}]},
        {"op": "remove", "path": "/metadata/annotations/driftgate.dev~1roll"},
    ]


def test_a_dry_run_says_so_to_the_server() -> None:
    with wire({POOL: [Reply(body=nodepool())]}) as on:
        on.cluster.patch_nodepool("app", PATCH, dry_run=True)

    assert on.asked(POOL)[0].query == {"fieldManager": "driftgate", "dryRun": "All"}


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (status(409, "Conflict", "the object has been modified"), NodePoolChangedError, "has been modified"),
        (status(422, "Invalid", OPAQUE), NodePoolChangedError, "not as it was read"),
        (status(422, "Invalid", "spec.disruption is invalid", CAUSES), PatchRejectedError, "is invalid"),
        (status(422, "Invalid", POLICY, {"causes": [{"message": POLICY}]}), PatchRejectedError, "only budgets"),
        (status(403, "Forbidden", POLICY, {"causes": [{"message": POLICY}]}), PatchRejectedError, "only budgets"),
        (status(403, "Forbidden", WEBHOOK), PatchRejectedError, "not on Fridays"),
        (status(400, "", WEBHOOK), PatchRejectedError, "not on Fridays"),
        (status(422, "Invalid", WEBHOOK), PatchRejectedError, "not on Fridays"),
        (status(413, "RequestEntityTooLarge", "too large"), PatchRejectedError, "too large"),
        (forbidden("patch", "nodepools"), ClusterForbiddenError, "cannot patch"),
        (UNAUTHORIZED, ClusterUnauthorizedError, "does not know who we are"),
        (NOT_SERVED, KarpenterMissingError, "does not serve"),
        (status(429, "TooManyRequests", "too many requests"), ClusterUnavailableError, "too many requests"),
        (status(500, "InternalError", "etcdserver: request timed out"), AnswerLostError, "may have been made"),
        (status(504, "Timeout", "did not complete"), AnswerLostError, "may have been made"),
        (HTML, AnswerLostError, "may have been made"),
        (Reply(body=b'{"kind": "Node'), AnswerLostError, "may have been made"),
        (DROP, AnswerLostError, "may have happened"),
        (HANG, AnswerLostError, "no answer within the time allowed"),
    ],
)
def test_every_answer_to_a_patch_is_told_apart_and_none_makes_it_be_sent_again(
    reply: Canned, error: type[DriftgateError], said: str
) -> None:
    with wire({POOL: [reply]}) as on, pytest.raises(error, match=said):
        on.cluster.patch_nodepool("app", PATCH)

    assert len(on.asked(POOL)) == 1


@pytest.mark.parametrize("reply", [status(500), DROP, HANG, HTML])
def test_a_dry_run_without_an_answer_has_changed_nothing(reply: Canned) -> None:
    with wire({POOL: [reply]}) as on, pytest.raises(ClusterUnavailableError):
        on.cluster.patch_nodepool("app", PATCH, dry_run=True)


def test_a_patch_of_a_nodepool_that_is_gone_says_so() -> None:
    gone = status(404, "NotFound", 'nodepools.karpenter.sh "app" not found', {"name": "app"})
    with wire({POOL: [gone]}) as on, pytest.raises(NodePoolNotFoundError):
        on.cluster.patch_nodepool("app", PATCH)


# --- Karpenter's version -----------------------------------------------------------------------------


def deployment(image: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    spec = {"template": {"spec": {"containers": [{"name": "controller", "image": image}]}}}
    return named("karpenter", labels=labels or {}) | {"spec": spec}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([deployment("public.ecr.aws/karpenter/controller:1.8.1@sha256:00ff")], "1.8.1"),
        ([deployment("mirror.example:5000/karpenter/controller:v1.0.8-rc.1")], "1.0.8-rc.1"),
        ([deployment("mirror.example/platform/karpenter-controller@sha256:00ff")], None),
        ([deployment("mirror.example/k@sha256:00ff", {"app.kubernetes.io/version": "1.6.4"})], "1.6.4"),
        ([deployment("x/controller:1.8.1"), deployment("x/controller:1.8.1")], "1.8.1"),
        ([deployment("x/controller:1.8.1"), deployment("x/controller:1.9.0")], None),
        ([], None),
    ],
)
def test_karpenters_version_is_told_only_where_it_is_certain(found: list[dict[str, Any]], told: str | None) -> None:
    path = "/apis/apps/v1/deployments"
    with wire({path: [listing("Deployment", *found)]}) as on:
        assert on.cluster.karpenter_version() == told

    assert on.asked(path)[0].query["labelSelector"] == "app.kubernetes.io/name=karpenter"
