"""Reading the simulated API: lists by page, selectors, discovery, and the answers that say no."""

import pytest

from tests.sim_clusters import APP, POOLS, bare_cluster, body_of, get, patch, send

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"


def names(listed):
    return [item["metadata"]["name"] for item in listed["items"]]


def with_nodes(count):
    sim = bare_cluster()
    for number in range(count):
        sim.add_node("app", f"a{number}", labels={"odd": str(number % 2)})
    return sim


def test_a_list_comes_by_page_with_what_remains():
    sim = with_nodes(5)

    first = get(sim, NODES, limit="2")
    second = get(sim, NODES, limit="2", **{"continue": first["metadata"]["continue"]})
    last = get(sim, NODES, limit="2", **{"continue": second["metadata"]["continue"]})

    assert [names(first), names(second), names(last)] == [["a0", "a1"], ["a2", "a3"], ["a4"]]
    assert first["metadata"]["remainingItemCount"] == 3
    assert "continue" not in last["metadata"]
    assert "remainingItemCount" not in last["metadata"]


def test_all_pages_show_one_moment():
    sim = with_nodes(4)
    first = get(sim, NODES, limit="2")

    sim.add_node("app", "a9")
    send(sim, "DELETE", f"{NODES}/a3")
    patch(sim, f"{NODES}/a3", {"op": "remove", "path": "/metadata/finalizers"})
    rest = get(sim, NODES, limit="9", **{"continue": first["metadata"]["continue"]})

    assert names(rest) == ["a2", "a3"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert names(get(sim, NODES)) == ["a0", "a1", "a2", "a9"]


def test_a_token_from_before_a_compaction_is_gone_with_one_to_go_on():
    sim = with_nodes(3)
    token = get(sim, NODES, limit="1")["metadata"]["continue"]
    sim.add_node("app", "a9")
    sim.store.compact()

    refused = send(sim, "GET", NODES, **{"continue": token})
    newest = get(sim, NODES, **{"continue": body_of(refused)["metadata"]["continue"]})

    assert (refused.status, body_of(refused)["reason"]) == (410, "Expired")
    assert names(newest) == ["a1", "a2", "a9"]


def test_a_broken_token_is_a_bad_request():
    assert send(bare_cluster(), "GET", NODES, **{"continue": "nonsense"}).status == 400


def test_items_of_built_in_kinds_leave_out_kind_and_version():
    sim = with_nodes(1)

    assert "kind" not in get(sim, NODES)["items"][0]
    assert get(sim, POOLS)["items"][0]["kind"] == "NodePool"
    assert get(sim, f"{NODES}/a0")["kind"] == "Node"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"labelSelector": "odd=1"}, ["a1", "a3"]),
        ({"labelSelector": "odd==1,karpenter.sh/nodepool=app"}, ["a1", "a3"]),
        ({"labelSelector": "odd!=1"}, ["a0", "a2"]),
        ({"labelSelector": "odd in (0, 7)"}, ["a0", "a2"]),
        ({"labelSelector": "odd notin (0)"}, ["a1", "a3"]),
        ({"labelSelector": "!odd"}, []),
        ({"labelSelector": "odd"}, ["a0", "a1", "a2", "a3"]),
        ({"fieldSelector": "metadata.name=a2"}, ["a2"]),
        ({"fieldSelector": "metadata.name!=a2"}, ["a0", "a1", "a3"]),
    ],
)
def test_selectors_choose(query, found):
    listed = get(with_nodes(4), NODES, limit="9", **query)

    assert names(listed) == found


def test_a_page_of_a_selection_does_not_count_what_remains():
    listed = get(with_nodes(4), NODES, limit="1", labelSelector="odd=1")

    assert "remainingItemCount" not in listed["metadata"]
    assert listed["metadata"]["continue"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"labelSelector": "a==b==c"}, "found '==', expected: !, identifier, or 'end of string'"),
        ({"fieldSelector": "spec.weight=1"}, "field label not supported: spec.weight"),
    ],
)
def test_a_broken_selector_is_a_bad_request(query, message):
    answer = send(bare_cluster(), "GET", NODES, **query)

    assert (answer.status, body_of(answer)["message"]) == (400, message)


def test_pods_are_found_by_node_and_by_namespace():
    sim = with_nodes(2)
    sim.add_pod("a0", "web-1")
    sim.add_pod("a1", "web-2")
    sim.add_pod("a1", "api-1", namespace="shop")

    assert names(get(sim, PODS, fieldSelector="spec.nodeName=a1")) == ["web-2", "api-1"]
    assert names(get(sim, "/api/v1/namespaces/shop/pods")) == ["api-1"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{POOLS}/nope", 404),
        ("PATCH", f"{POOLS}/nope", 404),
        ("GET", "/apis/karpenter.sh/v1/nothing", 404),
        ("GET", "/nowhere", 404),
        ("PATCH", POOLS, 405),
        ("DELETE", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405),
    ],
)
def test_what_is_not_there_is_said(method, path, status):
    answer = send(bare_cluster(), method, path, [], content_type="application/json-patch+json")

    assert answer.status == status


def test_not_found_names_the_resource():
    assert body_of(send(bare_cluster(), "GET", f"{POOLS}/nope")) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'nodepools.karpenter.sh "nope" not found',
        "reason": "NotFound",
        "details": {"name": "nope", "group": "karpenter.sh", "kind": "nodepools"},
        "code": 404,
    }


def test_a_custom_resource_takes_no_strategic_merge_patch():
    answer = send(bare_cluster(), "PATCH", APP, {}, content_type="application/strategic-merge-patch+json")

    assert answer.status == 415
    assert body_of(answer)["message"] == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


def test_a_pool_that_is_there_is_not_created_twice():
    sim = bare_cluster()

    answer = send(sim, "POST", POOLS, {"kind": "NodePool", "metadata": {"name": "app"}, "spec": {"template": {}}})

    assert (answer.status, body_of(answer)["reason"]) == (409, "AlreadyExists")


def test_discovery_names_groups_and_resources():
    sim = bare_cluster()

    groups = [group["name"] for group in get(sim, "/apis")["groups"]]
    resources = [entry["name"] for entry in get(sim, "/apis/karpenter.sh/v1")["resources"]]

    assert groups == ["apps", "authorization.k8s.io", "karpenter.k8s.aws", "karpenter.sh", "policy", "storage.k8s.io"]
    assert resources == ["nodepools", "nodepools/status", "nodeclaims", "nodeclaims/status"]
    assert get(sim, "/version")["gitVersion"] == "v1.36.3"
    assert send(sim, "GET", "/readyz").body == b"ok"


def test_a_version_from_the_future_is_not_waited_for():
    answer = send(bare_cluster(), "GET", POOLS, resourceVersion="99999999")

    assert (answer.status, body_of(answer)["reason"]) == (504, "Timeout")
