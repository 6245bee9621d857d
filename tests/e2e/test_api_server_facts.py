"""What driftgate's patches rely on, asked of the real API server with Karpenter's own CRDs.

Each of these is a promise of somebody else's software; where one is broken by a new
version, the failing line names the rule of ours that falls with it.
"""

from collections.abc import Iterator

import pytest

from tests.e2e.harness.api import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Api, Object, Response
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.scenario import NODEPOOLS, SHUT_GATE, requirements

APP = f"{NODEPOOLS}/app"
BUDGETS = "/spec/disruption/budgets"
ROLL = "/metadata/annotations/driftgate.dev~1roll"
OPENED = [
    {"nodes": "01", "reasons": ["Drifted"]},
    {"nodes": "10%"},
    {"nodes": "00", "reasons": ["Drifted"], "schedule": "30 5 24 8 *", "duration": "8736h"},
]


@pytest.fixture
def api(api_server: ControlPlane) -> Iterator[Api]:
    """The API server with one NodePool behind a shut gate, new for each test."""
    api = api_server.api("admin")
    api.create(NODEPOOLS, nodepool({"consolidateAfter": "0s", "budgets": SHUT_GATE}))
    yield api
    api.delete(APP)


def test_a_failed_test_is_an_opaque_422(api: Api):
    answer = json_patch(api, expect(BUDGETS, []), replace(BUDGETS, OPENED))

    assert answer.status == 422
    assert "the server rejected our request due to an error in our request" in answer.text
    assert api.get(APP)["spec"]["disruption"]["budgets"] == SHUT_GATE


def test_our_marks_are_taken_as_they_are_spelled(api: Api):
    answer = json_patch(api, expect(BUDGETS, SHUT_GATE), replace(BUDGETS, OPENED))

    assert answer.json()["spec"]["disruption"]["budgets"] == OPENED


def test_an_open_prepared_before_anothers_open_and_close_is_refused(api: Api):
    before = api.get(APP)["metadata"]["generation"]
    for budgets in (OPENED, SHUT_GATE):
        json_patch(api, replace(BUDGETS, budgets)).json()

    late = json_patch(api, expect("/metadata/generation", before), expect(BUDGETS, SHUT_GATE), replace(BUDGETS, OPENED))

    assert late.status == 422


def test_annotations_and_status_leave_the_generation_alone(api: Api):
    before = api.get(APP)["metadata"]["generation"]

    api.patch(APP, {"metadata": {"annotations": {"somebody": "else"}}})
    api.patch(f"{APP}/status", {"status": {"nodes": 3}})

    assert api.get(APP)["metadata"]["generation"] == before


def test_a_patch_that_changes_nothing_moves_nothing(api: Api):
    before = api.get(APP)["metadata"]

    after = json_patch(api, replace(BUDGETS, SHUT_GATE)).json()["metadata"]

    assert (after["resourceVersion"], after["generation"]) == (before["resourceVersion"], before["generation"])


def test_null_tests_that_an_annotation_is_absent(api: Api):
    api.patch(APP, {"metadata": {"annotations": {"somebody": "else"}}})

    assert json_patch(api, expect(ROLL, None), add(ROLL, "ours")).status == 200
    assert json_patch(api, expect(ROLL, None), add(ROLL, "ours")).status == 422


def test_null_tests_that_there_are_no_annotations_at_all(api: Api):
    whole = {"driftgate.dev/roll": "ours"}

    assert json_patch(api, expect(ROLL, None)).status == 422
    assert json_patch(api, expect("/metadata/annotations", None), add("/metadata/annotations", whole)).status == 200
    assert json_patch(api, expect("/metadata/annotations", None)).status == 422


def test_an_annotation_cannot_be_added_without_its_parent(api: Api):
    assert json_patch(api, add(ROLL, "ours")).status == 422


def test_replace_of_an_absent_annotation_adds_it(api: Api):
    api.patch(APP, {"metadata": {"annotations": {"somebody": "else"}}})

    annotations = json_patch(api, replace(ROLL, "ours")).json()["metadata"]["annotations"]

    assert annotations == {"somebody": "else", "driftgate.dev/roll": "ours"}


def test_the_field_manager_owns_what_it_wrote_last(api: Api):
    path = f"{APP}?fieldManager=driftgate"

    fields = api.patch(path, [replace(BUDGETS, OPENED)], JSON_PATCH)["metadata"]["managedFields"]

    owners = [f["manager"] for f in fields if "f:budgets" in f["fieldsV1"].get("f:spec", {}).get("f:disruption", {})]
    assert owners == ["driftgate"]


def test_a_dry_run_validates_and_stores_nothing(api: Api):
    path = f"{APP}?dryRun=All"

    assert api.send("PATCH", path, [replace(BUDGETS, OPENED)], JSON_PATCH).status == 200
    assert api.send("PATCH", path, [replace(BUDGETS, [{"nodes": 1}])], JSON_PATCH).status == 422
    assert api.get(APP)["spec"]["disruption"]["budgets"] == SHUT_GATE


@pytest.mark.parametrize(
    ("written", "stored"),
    [([], []), (None, [{"nodes": "10%"}]), ([{}], [{"nodes": "10%"}]), ([{"nodes": None}], [{"nodes": "10%"}])],
    ids=["empty list", "null", "empty entry", "null nodes"],
)
def test_defaults_are_filled_in_for_what_is_absent_or_null_only(api: Api, written: object, stored: object):
    answer = api.patch(APP, {"spec": {"disruption": {"budgets": written}}})

    assert answer["spec"]["disruption"]["budgets"] == stored


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        ([{"nodes": 1}], "must be of type string"),
        ([{"nodes": "1"}] * 51, "must have at most 50 items"),
        ([{"nodes": "1", "reasons": ["Drifted", "Drifted"]}], "Duplicate value"),
        ([{"nodes": "1", "reasons": ["drifted"]}], "Unsupported value"),
        ([{"nodes": "1", "schedule": "@daily"}], "'schedule' must be set with 'duration'"),
        ([{"nodes": "1", "schedule": "@daily", "duration": "30s"}], "should match"),
        ([{"nodes": "-1"}], "should match"),
    ],
)
def test_a_broken_budget_is_refused_by_name(api: Api, budgets: list[Object], message: str):
    answer = json_patch(api, replace(BUDGETS, budgets))

    assert answer.status == 422
    assert message in answer.text


def test_a_bare_disruption_is_refused(api: Api):
    answer = api.send("POST", NODEPOOLS, nodepool({"budgets": SHUT_GATE}))

    assert answer.status == 422
    assert "spec.disruption.consolidateAfter: Required value" in answer.text


def test_what_karpenter_cannot_use_is_accepted_by_the_server(api: Api):
    broken = {"nodes": "99999999999999999999", "schedule": "0 0 * * 7", "duration": "99999999h"}

    assert json_patch(api, replace(BUDGETS, [broken])).status == 200


def test_a_merge_patch_with_an_old_version_is_a_conflict(api: Api):
    old = api.get(APP)["metadata"]["resourceVersion"]
    api.patch(APP, {"metadata": {"annotations": {"somebody": "else"}}})

    late = {"metadata": {"resourceVersion": old}, "spec": {"weight": 1}}

    assert api.send("PATCH", APP, late, MERGE_PATCH).status == 409


def test_a_strategic_patch_is_not_for_custom_resources(api: Api):
    assert api.send("PATCH", APP, {}, STRATEGIC_PATCH).status == 415


def test_a_missing_object_is_told_from_a_missing_resource(api: Api):
    absent, unserved = api.send("GET", f"{NODEPOOLS}/nope"), api.send("GET", "/apis/karpenter.sh/v1/nopes")

    assert (absent.status, absent.headers["Content-Type"]) == (404, "application/json")
    assert (unserved.status, unserved.headers["Content-Type"]) == (404, "text/plain; charset=utf-8")


def test_a_watch_from_too_old_a_version_is_an_error_event_and_not_an_error_answer(api: Api):
    (event,) = api.watch(f"{NODEPOOLS}?watch=true&resourceVersion=1&timeoutSeconds=2")

    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")


def json_patch(api: Api, *operations: Object) -> Response:
    return api.send("PATCH", APP, list(operations), JSON_PATCH)


def expect(path: str, value: object) -> Object:
    return {"op": "test", "path": path, "value": value}


def add(path: str, value: object) -> Object:
    return {"op": "add", "path": path, "value": value}


def replace(path: str, value: object) -> Object:
    return {"op": "replace", "path": path, "value": value}


def nodepool(disruption: Object) -> Object:
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    template = {"spec": {"nodeClassRef": reference, "requirements": requirements("c-4x-amd64-linux")}}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "app"},
        "spec": {"disruption": disruption, "template": template},
    }
