"""A whole situation as one file: reading, faults with their place, writing, redaction."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from driftgate.adapters.redaction import redacted
from driftgate.adapters.snapshot_file import read_snapshot, write_snapshot
from driftgate.domain.budget import Budget
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.nodepool import FieldOwner
from driftgate.domain.observation import Observation, ReadError
from driftgate.domain.roll import RollState
from tests.factories import (
    DRIFTED_SINCE,
    NEW_IMAGE,
    NOW,
    OLD_IMAGE,
    alarm,
    at,
    calendar,
    counter,
    image,
    image_verdict,
    lease,
    parameter,
    roll,
    stop,
)

POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: app}
spec: {disruption: {budgets: [{nodes: "0", reasons: [Drifted]}]}}
"""
CLAIM = f"""
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {{name: app-a1, labels: {{karpenter.sh/nodepool: app}}}}
status:
  imageID: {OLD_IMAGE}
  nodeName: a1
  conditions: [{{type: Drifted, status: "True", reason: AMIDrift, lastTransitionTime: TIME}}]
"""
OURS = """
apiVersion: driftgate.dev/v1
kind: Observation
at: 2026-10-17T02:10:00Z
"""


def stream(*documents):
    return "---".join(documents)


def fault(text, **options):
    with pytest.raises(InvalidInputError) as caught:
        read_snapshot(text, "cluster.yaml", **options)
    return str(caught.value)


class TestReading:
    def test_a_stream_of_documents_is_one_situation(self):
        found = read_snapshot(stream(POOL, CLAIM, OURS), "cluster.yaml")

        assert found.at == NOW
        assert [pool.name for pool in found.nodepools] == ["app"]
        assert [claim.name for claim in found.nodeclaims] == ["app-a1"]
        assert found.nodes == ()

    @pytest.mark.parametrize("time", [f'"{DRIFTED_SINCE}"', DRIFTED_SINCE])
    def test_times_may_stand_quoted_or_bare(self, time):
        found = read_snapshot(stream(CLAIM.replace("TIME", time), OURS), "cluster.yaml")

        assert found.nodeclaims[0].drifted_since == at(DRIFTED_SINCE)

    def test_an_annotation_that_looks_like_a_date_stays_text(self):
        dated = POOL.replace("{name: app}", "{name: app, annotations: {driftgate.dev/paused: 2026-10-17}}")

        (pool,) = read_snapshot(dated, "cluster.yaml", NOW).nodepools

        assert pool.annotations == {"driftgate.dev/paused": "2026-10-17"}

    def test_the_wanted_time_goes_before_the_written_one(self):
        later = at("2026-10-18T00:00:00Z")

        assert read_snapshot(OURS, "cluster.yaml", later).at == later

    def test_a_file_of_kubernetes_objects_alone_needs_a_wanted_time(self):
        assert read_snapshot(POOL, "cluster.yaml", NOW).at == NOW
        assert "Give --at TIME" in fault(POOL)

    def test_absent_is_not_known_and_an_empty_list_was_read(self):
        found = read_snapshot(OURS + "rolls: []\nalarms:\n", "cluster.yaml")

        assert (found.rolls, found.stops, found.alarms) == ((), None, None)

    @pytest.mark.parametrize("kind", ["List", "NodePoolList"])
    def test_a_list_stands_for_its_items(self, kind):
        listed = {"apiVersion": "karpenter.sh/v1", "kind": kind, "items": [{"metadata": {"name": "app"}}]}
        if kind == "List":
            listed["items"][0] |= {"apiVersion": "karpenter.sh/v1", "kind": "NodePool"}

        found = read_snapshot(json.dumps(listed), "cluster.json", NOW)

        assert [pool.name for pool in found.nodepools] == ["app"]

    def test_a_json_array_stands_for_its_items(self):
        pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "app"}}

        assert len(read_snapshot(json.dumps([pool]), "cluster.json", NOW).nodepools) == 1

    def test_kinds_that_are_not_judged_are_passed_over(self):
        other = "\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"

        assert read_snapshot(stream(other, POOL), "cluster.yaml", NOW).nodepools[0].name == "app"

    def test_a_provisioner_is_kept_as_a_pool_of_its_version(self):
        legacy = "\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: old}\n"

        (pool,) = read_snapshot(legacy, "cluster.yaml", NOW).nodepools

        assert (pool.name, pool.api_version) == ("old", "karpenter.sh/v1alpha5")

    def test_comments_and_empty_documents_are_passed_over(self):
        assert len(read_snapshot(stream("# a file\n", "\n", POOL, "\n", ""), "cluster.yaml", NOW).nodepools) == 1

    def test_a_flow_mapping_of_yaml_is_read(self):
        text = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: app}}"

        assert len(read_snapshot(text, "cluster.yaml", NOW).nodepools) == 1

    def test_anchors_and_merges_are_read(self):
        text = POOL + "x: &x {a: 1}\ny: {<<: *x, b: 2}\n"

        assert len(read_snapshot(text, "cluster.yaml", NOW).nodepools) == 1

    def test_windows_line_ends_are_read(self):
        assert len(read_snapshot(stream(POOL, CLAIM).replace("\n", "\r\n"), "cluster.yaml", NOW).nodeclaims) == 1

    def test_a_sparse_roll_is_filled_in(self):
        rolls = """
rolls:
  - pool: app
    openedAt: 2026-10-17T02:10:00Z
    revertBy: 2026-10-17T02:30:00Z
    baseline: [{nodes: "0", reasons: [Drifted]}]
    opened: [{nodes: "01", reasons: [Drifted]}]
"""
        (found,) = read_snapshot(OURS + rolls, "cluster.yaml").rolls or ()

        assert (found.state, found.state_since) == (RollState.OPENED, NOW)
        assert found.baseline == (Budget(nodes="0", reasons=("Drifted",)),)

    def test_what_could_not_be_read_is_told(self):
        found = read_snapshot(OURS + "errors: [{resource: pods, status: 403, message: forbidden}]", "cluster.yaml")

        assert found.errors == (ReadError(resource="pods", status=403, message="forbidden"),)


class TestFaults:
    def test_broken_yaml_is_refused_with_its_line(self):
        text = stream(POOL, "\napiVersion: v1\nkind: [Node\n")

        assert fault(text, at=NOW).startswith("cluster.yaml, line 9: this is neither YAML nor JSON")

    def test_a_character_that_yaml_cannot_hold_is_refused(self):
        assert fault("kind: \x00", at=NOW).startswith("cluster.yaml, line 1: this is neither YAML nor JSON")

    def test_a_tag_of_a_language_is_refused(self):
        assert "neither YAML nor JSON" in fault("a: !!python/object/apply:os.system [ls]", at=NOW)

    def test_a_document_that_is_no_object_is_refused(self):
        assert "cluster.yaml, document 2 (line 7): this is 'hello', not a Kubernetes object" in fault(
            stream(POOL, "\nhello\n"), at=NOW
        )

    @pytest.mark.parametrize("key", ["apiVersion", "kind"])
    def test_a_document_that_does_not_say_what_it_is_is_refused(self, key):
        text = "\n".join(line for line in POOL.splitlines() if not line.startswith(key))

        assert f"{key} is missing · Add {key}." in fault(text, at=NOW)

    def test_an_object_without_a_name_is_refused(self):
        assert "this NodePool has no name" in fault(POOL.replace("name: app", ""), at=NOW)

    def test_an_object_given_twice_is_refused(self):
        assert fault(stream(POOL, POOL), at=NOW) == (
            "cluster.yaml, document 2 (line 7): NodePool app is given twice · Keep one of the two."
        )

    def test_pods_of_one_name_in_two_namespaces_are_two(self):
        pod = "\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: a}\n"
        pods = [pod, pod.replace("namespace: a", "namespace: b")]

        assert len(read_snapshot(stream(*pods), "cluster.yaml", NOW).pods) == 2

    def test_two_observations_are_refused(self):
        assert "Observation is given twice" in fault(stream(OURS, OURS))

    def test_an_unknown_field_of_ours_is_refused_with_the_nearest_known_one(self):
        assert fault(OURS + "roll: []") == (
            "cluster.yaml, document 1 (line 2): Observation: unknown field roll · Did you mean rolls?"
        )

    def test_an_unknown_field_within_a_record_is_refused_with_its_place(self):
        text = OURS + "alarms: [{name: demo, state: OK, mute: true}]"

        assert "Observation.alarms[0]: unknown field mute · Did you mean muted?" in fault(text)

    def test_another_version_of_ours_is_refused(self):
        assert "driftgate.dev/v2 is not known" in fault(OURS.replace("v1", "v2"))

    def test_a_budget_of_a_wrong_type_is_refused_with_document_and_path(self):
        text = POOL.replace('nodes: "0"', "nodes: 0")

        assert "cluster.yaml, document 1 (line 2): nodepool/app: spec.disruption.budgets[0].nodes" in fault(
            text, at=NOW
        )

    @pytest.mark.parametrize(
        ("text", "line"),
        [(OURS + "rolls: []\nrolls: []\n", "line 6"), ('{"kind": "Node", "kind": "Pod"}', "line 1")],
    )
    def test_a_key_given_twice_is_refused_because_one_would_be_lost(self, text, line):
        found = fault(text)

        assert f"cluster.yaml, {line}: " in found
        assert "is given twice" in found


RAW_POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {
        "name": "app",
        "generation": 3,
        "annotations": {
            "argocd.argoproj.io/tracking-id": "config:karpenter.sh/NodePool:/app",
            "kubectl.kubernetes.io/last-applied-configuration": '{"password": "hunter2"}',
        },
        "managedFields": [
            {"manager": "argocd-controller", "fieldsV1": {"f:spec": {"f:disruption": {}, "f:limits": {}}}},
            {"manager": "karpenter", "fieldsV1": {"f:status": {}}},
        ],
    },
    "spec": {
        "disruption": {"budgets": [{"nodes": "0", "reasons": ["Drifted"]}]},
        "limits": {"cpu": 16},
        "template": {"metadata": {"annotations": {"secret": "hunter2"}}, "spec": {"expireAfter": "Never"}},
    },
}
RAW_CLASS = {
    "apiVersion": "karpenter.k8s.aws/v1",
    "kind": "EC2NodeClass",
    "metadata": {"name": "std"},
    "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}], "userData": "export TOKEN=hunter2"},
    "status": {"amis": [{"id": NEW_IMAGE, "requirements": [{"key": "arch", "operator": "In", "values": ["amd64"]}]}]},
}
RAW_CLAIM = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodeClaim",
    "metadata": {"name": "app-a1", "labels": {"karpenter.sh/nodepool": "app"}, "annotations": {"note": "hunter2"}},
    "spec": {"terminationGracePeriod": "1h", "resources": {"requests": {"cpu": "hunter2"}}},
    "status": {
        "nodeName": "a1",
        "imageID": OLD_IMAGE,
        "providerID": "aws:///eu-central-1a/i-a1",
        "conditions": [
            {"type": "Drifted", "status": "True", "reason": "AMIDrift", "lastTransitionTime": DRIFTED_SINCE}
        ],
    },
}
RAW_NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a1", "labels": {"karpenter.sh/nodepool": "app"}, "managedFields": [{"manager": "hunter2"}]},
    "spec": {"providerID": "aws:///eu-central-1a/i-a1", "taints": [{"key": "karpenter.sh/disrupted"}]},
    "status": {
        "capacity": {"cpu": "4"},
        "nodeInfo": {"kubeletVersion": "v1.34.2", "machineID": "hunter2"},
        "images": [{"names": ["hunter2"]}],
        "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-10-17T02:00:00Z"}],
    },
}
RAW_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-0",
        "namespace": "shop",
        "annotations": {"karpenter.sh/do-not-disrupt": "true", "note": "hunter2"},
        "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": True}],
    },
    "spec": {
        "nodeName": "a1",
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "web", "env": [{"name": "TOKEN", "value": "hunter2"}], "args": ["hunter2"]}],
        "volumes": [{"secret": {"secretName": "hunter2"}}],
    },
    "status": {"phase": "Running", "startTime": "2026-10-01T00:00:00Z"},
}
RAW_PDB = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
    "status": {"disruptionsAllowed": 0, "expectedPods": 2, "disruptedPods": {"hunter2": "2026-10-17T02:00:00Z"}},
}
RAW_VOLUME = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "VolumeAttachment",
    "metadata": {"name": "csi-1"},
    "spec": {"nodeName": "a1", "source": {"persistentVolumeName": "hunter2"}},
    "status": {"attached": True},
}
RAW = [RAW_POOL, RAW_CLASS, RAW_CLAIM, RAW_NODE, RAW_POD, RAW_PDB, RAW_VOLUME]

FULL = Observation(
    at=NOW,
    karpenter_version="1.14.1",
    alarms=(alarm(), alarm("quiet", "INSUFFICIENT_DATA", muted=True)),
    calendars=(calendar(),),
    parameters=(parameter("/driftgate/demo/seen/x"),),
    images=(image(),),
    rolls=(roll(claims_at_open=("app-a1",), node="a1"), roll(RollState.DONE, ended_at=NOW)),
    leases=(lease(),),
    stops=(stop(),),
    counters=(counter(taken=1),),
    image_verdicts=(image_verdict(reason="never Ready: «Ünïcode»"),),
    errors=(ReadError(resource="pods", status=403, message="forbidden: a, b: c"),),
)


class TestWriting:
    def test_reading_what_was_written_gives_the_same_situation(self):
        text = write_snapshot(RAW, FULL, redact=False)

        found = read_snapshot(text, "cluster.yaml")

        assert without_objects(found) == FULL
        assert found.pdbs[0].min_available == "2"
        assert found.pods[0].key == "shop/web-0"

    def test_redacted_and_unredacted_are_judged_alike(self):
        plain = read_snapshot(write_snapshot(RAW, FULL, redact=False), "plain")
        short = read_snapshot(write_snapshot(RAW, FULL, redact=True), "short")

        (pool,) = plain.nodepools
        kept = {key: value for key, value in (pool.annotations or {}).items() if "last-applied" not in key}
        assert short == replace(plain, nodepools=(replace(pool, annotations=kept),))

    def test_redacted_holds_no_secret(self):
        assert "hunter2" in write_snapshot(RAW, FULL, redact=False)
        assert "hunter2" not in write_snapshot(RAW, FULL, redact=True)

    def test_redaction_keeps_who_owns_the_budgets(self):
        (pool,) = read_snapshot(write_snapshot([RAW_POOL], FULL, redact=True), "short").nodepools

        assert pool.owners == (
            FieldOwner(manager="argocd-controller", owns_budgets=True),
            FieldOwner(manager="karpenter"),
        )

    def test_redaction_tells_no_annotations_from_an_empty_set(self):
        bare = RAW_POOL | {"metadata": {"name": "app"}}
        applied = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
        emptied = RAW_POOL | {"metadata": {"name": "web", "annotations": applied}}

        pools = read_snapshot(write_snapshot([bare, emptied], FULL, redact=True), "short").nodepools

        assert [pool.annotations for pool in pools] == [None, {}]

    def test_a_kind_that_is_not_judged_is_left_out_of_a_redacted_file(self):
        assert redacted({"apiVersion": "v1", "kind": "Secret", "data": {"a": "b"}}) is None

    def test_what_is_not_known_is_not_written_and_an_empty_list_is(self):
        text = write_snapshot([], Observation(at=NOW, rolls=()), redact=False)

        assert "rolls: []" in text
        assert "stops" not in text

    def test_a_spelling_that_yaml_could_take_for_a_number_survives(self):
        opened = RAW_POOL | {"spec": {"disruption": {"budgets": [{"nodes": "01"}, {"nodes": "00"}]}}}

        (pool,) = read_snapshot(write_snapshot([opened], FULL, redact=False), "plain").nodepools

        assert [budget.nodes for budget in pool.budgets] == ["01", "00"]


def without_objects(found):
    return replace(
        found,
        nodepools=(),
        node_classes=(),
        nodeclaims=(),
        nodes=(),
        pods=(),
        pdbs=(),
        volume_attachments=(),
    )


texts = st.text(max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@example({}, {"note": "first\n---\nlast: [", "more": "%YAML 1.1\n... "}, "---")
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(texts, values, max_size=4), st.dictionaries(texts, texts, max_size=4), texts)
def test_any_text_in_an_object_survives_writing_and_reading(limits, annotations, consolidate_after):
    raw = RAW_POOL | {
        "metadata": {"name": "app", "annotations": annotations},
        "spec": {"limits": limits, "disruption": {"budgets": [], "consolidateAfter": consolidate_after}},
    }

    (found,) = read_snapshot(write_snapshot([raw, RAW_POD], FULL, redact=False), "plain").nodepools

    assert found.annotations == annotations
    assert found.consolidate_after == consolidate_after


@pytest.mark.parametrize(
    "content",
    [
        '{"a": ' + "1" * 5000 + "}",
        "[" * 3000,
        "a: " + "1" * 5000,
        "a: !!int foo",
        "a: !!bool foo",
        "a: 0x_",
        "? [a]\n: 1",
    ],
)
def test_what_a_parser_gives_up_on_is_told_with_its_place(content):
    with pytest.raises(InvalidInputError, match=r"now\.yaml"):
        read_snapshot(content, "now.yaml", NOW)
