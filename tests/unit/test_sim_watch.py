"""Watches: what a watcher is told, from where on, and how a watch ends."""

import json

from tests.sim_clusters import APP, POOLS, bare_cluster, get, patch, send

CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"


def watched(sim, path, **query):
    """Everything that a watch of no length would tell now: kind of event, name, version."""
    lines = send(sim, "GET", path, watch="true", timeoutSeconds="0.05", **query).lines
    return [json.loads(line) for line in lines or ()]


def kinds(events):
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


def version_of(sim, path):
    return get(sim, path)["metadata"]["resourceVersion"]


def test_a_watch_tells_what_changed_since_the_list():
    sim = bare_cluster()
    since = version_of(sim, POOLS)

    patch(sim, APP, {"op": "add", "path": "/metadata/annotations", "value": {"x": "1"}})
    sim.add_nodepool("new")
    send(sim, "DELETE", APP)

    events = watched(sim, POOLS, resourceVersion=since)
    assert kinds(events) == [("MODIFIED", "app"), ("ADDED", "new"), ("DELETED", "app")]
    assert events[0]["object"]["kind"] == "NodePool"


def test_a_deleted_object_comes_with_its_last_state_at_the_version_of_the_deletion():
    sim = bare_cluster()
    since = version_of(sim, POOLS)

    send(sim, "DELETE", APP)

    gone = watched(sim, POOLS, resourceVersion=since)[0]["object"]
    assert gone["spec"]["disruption"]["budgets"] == [{"nodes": "0", "reasons": ["Drifted"]}]
    assert int(gone["metadata"]["resourceVersion"]) == int(since) + 1


def test_a_watch_without_a_version_starts_with_what_is_there():
    assert kinds(watched(bare_cluster(), POOLS)) == [("ADDED", "app")]


def test_only_the_selected_are_told():
    sim = bare_cluster()
    sim.add_nodepool("web")
    since = version_of(sim, CLAIMS)

    sim.add_node("app", "a1")
    sim.add_node("web", "w1")

    assert kinds(watched(sim, CLAIMS, resourceVersion=since, labelSelector="karpenter.sh/nodepool=web")) == [
        ("ADDED", "web-w1")
    ]


def test_an_object_that_leaves_the_selection_is_deleted_for_the_watcher_and_added_when_it_comes_back():
    sim = bare_cluster()
    sim.add_node("app", "a1")
    since = version_of(sim, CLAIMS)
    label = {"op": "replace", "path": "/metadata/labels/karpenter.sh~1nodepool"}

    patch(sim, f"{CLAIMS}/app-a1", label | {"value": "web"})
    patch(sim, f"{CLAIMS}/app-a1", label | {"value": "app"})

    events = watched(sim, CLAIMS, resourceVersion=since, labelSelector="karpenter.sh/nodepool=app")
    assert kinds(events) == [("DELETED", "app-a1"), ("ADDED", "app-a1")]
    assert events[0]["object"]["metadata"]["labels"]["karpenter.sh/nodepool"] == "app"
    assert int(events[0]["object"]["metadata"]["resourceVersion"]) == int(since) + 1


def test_a_single_object_may_be_watched_by_its_path():
    sim = bare_cluster()
    since = version_of(sim, APP)
    sim.add_nodepool("other")

    patch(sim, APP, {"op": "add", "path": "/metadata/annotations", "value": {"x": "1"}})

    assert kinds(watched(sim, APP, resourceVersion=since)) == [("MODIFIED", "app")]


def test_a_version_from_before_a_compaction_is_an_error_event_of_410():
    sim = bare_cluster()
    since = version_of(sim, POOLS)
    sim.add_nodepool("new")
    sim.store.compact()

    assert watched(sim, POOLS, resourceVersion=since) == [
        {
            "type": "ERROR",
            "object": {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": f"too old resource version: {since} ({int(since) + 1})",
                "reason": "Expired",
                "code": 410,
            },
        }
    ]


def test_a_bookmark_ends_a_watch_that_wants_them_and_covers_other_kinds_changes():
    sim = bare_cluster()
    since = version_of(sim, POOLS)
    sim.add_pod(name="elsewhere")

    events = watched(sim, POOLS, resourceVersion=since, allowWatchBookmarks="true")

    assert events == [
        {
            "type": "BOOKMARK",
            "object": {
                "kind": "NodePool",
                "apiVersion": "karpenter.sh/v1",
                "metadata": {"resourceVersion": str(int(since) + 1)},
            },
        }
    ]


def test_a_version_that_is_no_number_is_refused():
    answer = send(bare_cluster(), "GET", POOLS, watch="true", resourceVersion="abc")

    assert answer.status == 500
