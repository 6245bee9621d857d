"""What a write does to generation, resourceVersion, managed fields and deletion."""

from tests.sim_clusters import APP, POOLS, bare_cluster, body_of, get, patch, send

BUDGETS = "/spec/disruption/budgets"
OPENED = [{"nodes": "01", "reasons": ["Drifted"]}]


def numbers(obj):
    return obj["metadata"]["generation"], int(obj["metadata"]["resourceVersion"])


def test_a_budgets_change_adds_one_to_the_generation():
    sim = bare_cluster()
    generation, version = numbers(get(sim, APP))

    after = body_of(patch(sim, APP, {"op": "replace", "path": BUDGETS, "value": OPENED}))

    assert numbers(after) == (generation + 1, version + 1)


def test_annotations_and_status_leave_the_generation_alone():
    sim = bare_cluster()
    generation, version = numbers(get(sim, APP))

    patch(sim, APP, {"op": "add", "path": "/metadata/annotations", "value": {"x": "1"}})
    patch(sim, f"{APP}/status", {"op": "add", "path": "/status/nodes", "value": 3})

    assert numbers(get(sim, APP)) == (generation, version + 2)


def test_a_patch_that_changes_nothing_is_not_written():
    sim = bare_cluster()
    before = get(sim, APP)

    after = body_of(
        patch(sim, APP, {"op": "replace", "path": BUDGETS, "value": before["spec"]["disruption"]["budgets"]})
    )

    assert after == before


def test_the_status_subresource_writes_status_alone_and_the_object_everything_else():
    sim = bare_cluster()

    patch(
        sim,
        f"{APP}/status",
        {"op": "replace", "path": BUDGETS, "value": OPENED},
        {"op": "add", "path": "/status/nodes", "value": 3},
    )
    patch(sim, APP, {"op": "add", "path": "/status/nodes", "value": 9})

    after = get(sim, APP)
    assert after["spec"]["disruption"]["budgets"] == [{"nodes": "0", "reasons": ["Drifted"]}]
    assert after["status"]["nodes"] == 3


def test_identity_cannot_be_patched_away():
    sim = bare_cluster()
    before = get(sim, APP)["metadata"]

    patch(
        sim,
        APP,
        {"op": "replace", "path": "/metadata/uid", "value": "x"},
        {"op": "remove", "path": "/metadata/generation"},
    )

    after = get(sim, APP)["metadata"]
    assert (after["uid"], after["generation"]) == (before["uid"], before["generation"])


def test_a_dry_run_counts_the_generation_and_stores_nothing():
    sim = bare_cluster()
    before = get(sim, APP)

    shown = body_of(patch(sim, APP, {"op": "replace", "path": BUDGETS, "value": OPENED}, dryRun="All"))

    assert shown["spec"]["disruption"]["budgets"] == OPENED
    assert numbers(shown) == (before["metadata"]["generation"] + 1, int(before["metadata"]["resourceVersion"]))
    assert get(sim, APP) == before


def test_a_dry_run_is_all_or_refused():
    answer = patch(bare_cluster(), APP, dryRun="Some")

    assert answer.status == 422
    assert body_of(answer)["message"] == (
        'PatchOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"'
    )


def test_a_merge_patch_with_an_old_version_is_a_conflict():
    sim = bare_cluster()

    answer = send(
        sim,
        "PATCH",
        APP,
        {"metadata": {"resourceVersion": "1", "labels": {"x": "1"}}},
        content_type="application/merge-patch+json",
    )

    assert answer.status == 409
    assert body_of(answer)["message"] == (
        'Operation cannot be fulfilled on nodepools.karpenter.sh "app": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


def test_a_field_belongs_to_whoever_changed_it_last():
    sim = bare_cluster()

    patch(
        sim,
        APP,
        {"op": "add", "path": "/metadata/annotations", "value": {"driftgate.dev/roll": "{}"}},
        {"op": "replace", "path": BUDGETS, "value": OPENED},
        fieldManager="driftgate",
    )
    patch(sim, APP, {"op": "add", "path": "/metadata/annotations/y", "value": "1"}, fieldManager="kubectl-edit")

    owners = {entry["manager"]: entry["fieldsV1"] for entry in get(sim, APP)["metadata"]["managedFields"]}
    assert owners["driftgate"] == {
        "f:metadata": {"f:annotations": {".": {}, "f:driftgate.dev/roll": {}}},
        "f:spec": {"f:disruption": {"f:budgets": {}}},
    }
    assert owners["kubectl-edit"] == {"f:metadata": {"f:annotations": {"f:y": {}}}}
    assert owners["kubectl"]["f:spec"]["f:disruption"] == {
        ".": {},
        "f:consolidateAfter": {},
        "f:consolidationPolicy": {},
    }


def test_a_new_pool_belongs_to_whoever_created_it_status_apart():
    sim = bare_cluster()
    spec = {"disruption": {"consolidateAfter": "Never"}, "template": {"spec": {"requirements": []}}}

    send(sim, "POST", POOLS, {"kind": "NodePool", "metadata": {"name": "new"}, "spec": spec, "status": {"nodes": 1}})

    new = get(sim, f"{POOLS}/new")
    assert "status" not in new
    assert new["metadata"]["managedFields"] == [
        {
            "apiVersion": "karpenter.sh/v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:spec": {
                    ".": {},
                    "f:disruption": {".": {}, "f:budgets": {}, "f:consolidateAfter": {}, "f:consolidationPolicy": {}},
                    "f:template": {".": {}, "f:spec": {".": {}, "f:expireAfter": {}, "f:requirements": {}}},
                }
            },
            "manager": "tests",
            "operation": "Update",
            "time": "2026-10-17T02:10:00Z",
        }
    ]


def test_a_finalizer_keeps_a_deleted_object_until_it_is_taken_off():
    sim = bare_cluster()
    sim.add_node("app", "a1")
    path = "/apis/karpenter.sh/v1/nodeclaims/app-a1"
    generation = get(sim, path)["metadata"]["generation"]

    marked = body_of(send(sim, "DELETE", path))["metadata"]
    again = body_of(send(sim, "DELETE", path))["metadata"]
    patch(sim, path, {"op": "remove", "path": "/metadata/finalizers"})

    assert marked["deletionTimestamp"] == "2026-10-17T02:10:00Z"
    assert marked["generation"] == generation + 1
    assert again == marked
    assert send(sim, "GET", path).status == 404


def test_an_object_without_a_finalizer_is_gone_at_once():
    sim = bare_cluster()

    answer = send(sim, "DELETE", APP)

    assert body_of(answer)["status"] == "Success"
    assert body_of(answer)["details"]["name"] == "app"
    assert send(sim, "GET", APP).status == 404


def test_names_and_uids_are_the_same_in_every_run_of_one_seed():
    first, second = bare_cluster(), bare_cluster()

    assert get(first, APP)["metadata"]["uid"] == get(second, APP)["metadata"]["uid"]


def test_a_generated_name_starts_with_its_stem():
    sim = bare_cluster()

    made = send(
        sim, "POST", POOLS, {"kind": "NodePool", "metadata": {"generateName": "app-"}, "spec": {"template": {}}}
    )

    assert body_of(made)["metadata"]["name"].startswith("app-")
    assert len(body_of(made)["metadata"]["name"]) == len("app-") + 5


def test_an_update_replaces_the_whole_object_but_its_status_and_identity():
    sim = bare_cluster()
    before = get(sim, APP)

    after = body_of(send(sim, "PUT", APP, before | {"spec": before["spec"] | {"weight": 7}, "status": {}}))

    assert after["spec"]["weight"] == 7
    assert after["status"] == before["status"]
    assert numbers(after) == (2, numbers(before)[1] + 1)


def test_an_update_with_an_old_version_is_a_conflict():
    sim = bare_cluster()
    before = get(sim, APP)
    patch(sim, APP, {"op": "add", "path": "/metadata/annotations", "value": {"x": "1"}})

    assert send(sim, "PUT", APP, before).status == 409
