"""Turns the shorthand of a case into the complete objects of a snapshot, and asks `driftgate plan` about it.

A node is a line such as `a1 old drifted since 2026-10-05T08:00:00Z`; budgets are a line of YAML. What a case does
not say is the common case: generation 1, no annotations, one ordinary pod per node, alarms OK, an empty ledger.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner

from driftgate.cli.main import app
from driftgate.domain.reasons import REASONS, ReasonClass, ReasonCode

Json = dict[str, Any]
Line = str | list[Json]
"""A node in shorthand, or as objects."""

OLD = "ami-0aaa00000000000a1"
NEW = "ami-0bbb00000000000b2"
OLD_NAME = "amazon-eks-node-al2023-x86_64-standard-1.34-v20260901"
NEW_NAME = "amazon-eks-node-al2023-x86_64-standard-1.34-v20260923"
SINCE = "2026-10-05T08:00:00Z"
THURSDAY = "2026-10-15T12:00:00Z"
SATURDAY = "2026-10-17T02:10:00Z"
"""Ten minutes into the window."""

WINDOW_END = "2026-10-17T05:00:00Z"
NEXT_WINDOW = "2026-10-24T02:00:00Z"
SHUT = '[{nodes: "0", reasons: [Drifted]}]'
TRAP = '[{nodes: "10%", reasons: [Empty, Underutilized]}, {nodes: "0", reasons: [Drifted]}]'
KEY = "app/sat/2026-10-17T02:00:00Z"

IMAGES = [
    {"id": OLD, "name": OLD_NAME, "createdAt": "2026-09-02T10:00:00Z"},
    {"id": NEW, "name": NEW_NAME, "createdAt": "2026-09-24T10:00:00Z"},
]
NO_GPU = [
    {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "DoesNotExist"},
    {"key": "karpenter.k8s.aws/instance-accelerator-count", "operator": "DoesNotExist"},
]


# --- node classes ----------------------------------------------------------------------------------


def ami(id: str = NEW, name: str = NEW_NAME, arch: str = "amd64") -> Json:
    return {
        "id": id,
        "name": name,
        "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": [arch]}, *NO_GPU],
    }


def node_class(name: str = "std", amis: Sequence[Json] | None = None, **over: Any) -> Json:
    """The EC2NodeClass; `over` is merged in."""
    whole: Json = {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "demo-node"},
        "status": {
            "conditions": [{"type": "AMIsReady", "status": "True"}, {"type": "Ready", "status": "True"}],
            "amis": [ami()] if amis is None else list(amis),
        },
    }
    return merged(whole, over)


# --- pools and their nodes -------------------------------------------------------------------------


def pool(budgets: str | None, nodes: Sequence[Line], name: str = "app", **over: Any) -> list[Json]:
    """The NodePool with everything that belongs to its nodes. `over` is merged into the NodePool."""
    disruption: Json = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "5m"}
    if budgets is not None:
        disruption["budgets"] = yaml.safe_load(budgets)
    nodepool: Json = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "resourceVersion": "1000", "generation": 1, "annotations": {}},
        "spec": {
            "disruption": disruption,
            "template": {
                "spec": {
                    "expireAfter": "Never",
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "std"},
                    "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
                }
            },
        },
    }
    objects = [merged(nodepool, over)]
    for entry in nodes:
        objects += node(entry, name) if isinstance(entry, str) else entry
    return objects


def fill(count: int, *lines: Line, prefix: str = "a") -> list[Line]:
    """The lines, and as many healthy new nodes as it takes to have `count`."""
    names = {line.split()[0] if isinstance(line, str) else line[1]["metadata"]["name"] for line in lines}
    others = [name for number in range(1, count + 1) if (name := f"{prefix}{number}") not in names]
    return [*lines, *(f"{name} new" for name in others[: count - len(lines)])]


def drifted(names: str, since: str = SINCE, words: str = "") -> list[str]:
    """`drifted("a1 a2")`: one line per name, all on the old image and drifted since the same time."""
    return [f"{name} old drifted since {since} {words}".strip() for name in names.split()]


def node(line: str, pool: str = "app", *, claim: Json | None = None, node: Json | None = None) -> list[Json]:
    """NodeClaim, Node and pod of one line; `claim` and `node` are merged into the objects.

    Words: old, new, `image ID`, drifted, `since TIME`, `for REASON`, empty, daemonset, notready, cordoned, deleting,
    uninitialized, `taken REASON` (Karpenter's DisruptionReason), `created TIME`, `arch ARCH`, `cpu QUANTITY`.
    """
    name, *words = line.split()
    said = _Words(words)
    objects = [merged(_claim(name, pool, said), claim or {}), merged(_node(name, pool, said), node or {})]
    if said.has("empty"):
        return objects
    owner = "DaemonSet" if said.has("daemonset") else "ReplicaSet"
    return [*objects, pod(f"work-{name}", name, namespace=pool, owner=owner)]


class _Words:
    def __init__(self, words: list[str]) -> None:
        self._words = words

    def has(self, word: str) -> bool:
        return word in self._words

    def after(self, word: str, default: str = "") -> str:
        return self._words[self._words.index(word) + 1] if word in self._words else default


def _claim(name: str, pool: str, said: _Words) -> Json:
    since = said.after("since", SINCE)
    conditions: list[Json] = [{"type": kind, "status": "True"} for kind in ("Launched", "Registered")]
    conditions.append({"type": "Initialized", "status": "Unknown" if said.has("uninitialized") else "True"})
    if said.has("drifted"):
        reason = said.after("for", "AMIDrift")
        conditions.append({"type": "Drifted", "status": "True", "reason": reason, "lastTransitionTime": since})
    if said.has("taken"):
        conditions.append({"type": "DisruptionReason", "status": "True", "reason": said.after("taken")})
    metadata: Json = {
        "name": f"{pool}-{name}",
        "labels": {
            "karpenter.sh/nodepool": pool,
            "node.kubernetes.io/instance-type": "m7i.xlarge",
            "kubernetes.io/arch": said.after("arch", "amd64"),
        },
    }
    if said.has("created"):
        metadata["creationTimestamp"] = said.after("created")
    if said.has("deleting"):
        metadata["deletionTimestamp"] = since
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": metadata,
        "status": {
            "imageID": said.after("image", OLD if said.has("old") else NEW),
            "nodeName": name,
            "providerID": f"aws:///eu-central-1a/i-{pool}-{name}",
            "conditions": conditions,
        },
    }


def _node(name: str, pool: str, said: _Words) -> Json:
    ready: Json = {"type": "Ready", "status": "False" if said.has("notready") else "True"}
    if said.has("notready"):
        ready["lastTransitionTime"] = said.after("since", SINCE)
    labels = {"karpenter.sh/nodepool": pool}
    if not said.has("uninitialized"):
        labels["karpenter.sh/initialized"] = "true"
    spec: Json = {"providerID": f"aws:///eu-central-1a/i-{pool}-{name}"}
    if said.has("cordoned"):
        spec["unschedulable"] = True
    status: Json = {"conditions": [ready]}
    if said.has("cpu"):
        status["capacity"] = {"cpu": said.after("cpu")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


# --- pods and what protects them -------------------------------------------------------------------


def pod(name: str, node: str, namespace: str = "shop", owner: str = "ReplicaSet", **over: Any) -> Json:
    """A running pod, labelled `app=<name without its number>`."""
    app_label = name.rsplit("-", 1)[0]
    whole: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": app_label},
            "ownerReferences": [{"kind": owner, "name": f"{app_label}-5d4f", "controller": True}],
        },
        "spec": {"nodeName": node},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    return merged(whole, over)


def pdb(app_label: str, spec: Json, status: Json, namespace: str = "shop") -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app_label, "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": app_label}}, **spec},
        "status": status,
    }


# --- what is not in the cluster --------------------------------------------------------------------


def observed(**over: Any) -> Json:
    """The Observation of the common case: what must be known, and nothing that may be absent.

    A value None takes a field out: not known.
    """
    whole: Json = {
        "apiVersion": "driftgate.dev/v1",
        "kind": "Observation",
        "at": SATURDAY,
        "alarms": [{"name": "demo-5xx", "state": "OK"}],
        "rolls": [],
        "stops": [],
        "imageVerdicts": [],
    }
    return {key: value for key, value in (whole | over).items() if value is not None}


def roll(state: str, since: str = "2026-10-17T02:10:00Z", **over: Any) -> Json:
    """A record of pool app in the window of 2026-10-17; what a case says goes before."""
    whole: Json = {
        "id": "20261017T021000000Z-app",
        "cluster": "demo",
        "pool": "app",
        "state": state,
        "stateSince": since,
        "windowKey": KEY,
        "image": NEW,
        "baseline": yaml.safe_load(SHUT),
    }
    return whole | over


# --- configuration ---------------------------------------------------------------------------------

CONFIG: Json = {
    "mode": "act",
    "cluster": "demo",
    "pools": ["app"],
    "windows": [{"name": "sat", "timezone": "UTC", "cron": "0 2 * * sat", "duration": "3h"}],
    "open": {"per_window": 1, "open_timeout": "20m", "pause_between": "45m", "expected_roll": "20m"},
    "guards": {"alarms": ["demo-5xx"], "insufficient_data": "hold", "bake": "4h"},
    "ami": {"min_age": "0h", "deny": []},
    "respect": {"freeze": True, "do_not_disrupt": True},
}


def config(**over: Any) -> Json:
    """The configuration of the common case; maps merge, None takes a key out."""
    return {key: value for key, value in merged(CONFIG, over).items() if value is not None}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Json:
    """Maps merge key by key; lists and values are replaced."""
    both = {
        key: merged(base[key], value) if isinstance(base.get(key), Mapping) and isinstance(value, Mapping) else value
        for key, value in over.items()
    }
    return dict(base) | both


# --- the question and its answer -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What `driftgate plan -o json` said. `plan` is empty where it refused."""

    exit_code: int
    plan: Json
    output: str
    errors: str
    names: list[str] = field(default_factory=list)

    def pool(self, name: str = "app") -> PoolAnswer:
        found = next((entry for entry in self.plan["pools"] if entry["name"] == name), None)
        assert found is not None, f"no pool {name} in {self.names}"
        return PoolAnswer(found)


@dataclass(frozen=True, slots=True)
class PoolAnswer:
    """One pool of the plan."""

    raw: Json

    def __getitem__(self, key: str) -> Any:
        return self.raw[key]

    @property
    def kind(self) -> str:
        kind: str = self.raw["action"]["kind"]
        return kind

    @property
    def codes(self) -> list[str]:
        """The codes of the action's reasons, in their order."""
        return [reason["code"] for reason in self.raw["action"]["reasons"]]

    @property
    def alerts(self) -> list[str]:
        return [alert["code"] for alert in self.raw["alerts"]]

    @property
    def findings(self) -> list[str]:
        return [finding["code"] for finding in self.raw["findings"]]

    @property
    def verdict_and_action(self) -> tuple[str, str, list[str]]:
        return self.raw["verdict"], self.kind, self.codes

    @property
    def opened(self) -> list[Json]:
        """The budgets that the patch writes."""
        for operation in self.raw["action"]["patch"] or ():
            if operation["op"] == "replace" and operation["path"] == "/spec/disruption/budgets":
                written: list[Json] = operation["value"]
                return written
        raise AssertionError(f"the patch writes no budgets: {self.raw['action']['patch']}")

    @property
    def annotation(self) -> Json:
        """What the patch writes as `driftgate.dev/roll`."""
        for operation in self.raw["action"]["patch"] or ():
            if operation["path"] == "/metadata/annotations/driftgate.dev~1roll" and operation["op"] == "add":
                return _read(operation["value"])
            if operation["path"] == "/metadata/annotations" and operation["op"] == "add":
                return _read(operation["value"]["driftgate.dev/roll"])
        raise AssertionError(f"the patch writes no annotation: {self.raw['action']['patch']}")

    @property
    def blocked(self) -> dict[str, list[str]]:
        """Codes by node."""
        return {entry["node"]: [reason["code"] for reason in entry["reasons"]] for entry in self.raw["blocked"]}

    def reason(self, code: str) -> Json:
        found: Json = next(reason for reason in self.raw["action"]["reasons"] if reason["code"] == code)
        return found

    def alert(self, code: str) -> Json:
        found: Json = next(alert for alert in self.raw["alerts"] if alert["code"] == code)
        return found

    def finding(self, code: str) -> Json:
        found: Json = next(finding for finding in self.raw["findings"] if finding["code"] == code)
        return found


def check_codes(pool: Json) -> None:
    """Every code stands where docs/reasons.md says that it may."""
    action = {ReasonClass.HOLD} if pool["action"]["kind"] == "HOLD" else {ReasonClass.HOLD, ReasonClass.ROLL}
    places = [
        (action, [reason["code"] for reason in pool["action"]["reasons"]]),
        ({ReasonClass.FINDING}, [finding["code"] for finding in pool["findings"]]),
        ({ReasonClass.NODE}, [reason["code"] for entry in pool["blocked"] for reason in entry["reasons"]]),
        ({ReasonClass.ALERT}, [alert["code"] for alert in pool["alerts"]]),
    ]
    for classes, codes in places:
        wrong = [code for code in codes if not classes & set(REASONS[ReasonCode(code)].classes)]
        assert not wrong, f"{wrong} may not stand among {sorted(classes)}"


def _read(text: str) -> Json:
    found: Json = json.loads(text)
    return found


@dataclass(frozen=True, slots=True)
class Planner:
    """Writes snapshot and configuration into a directory and runs the command in this process."""

    directory: Path

    def ask(
        self,
        objects: Sequence[Json],
        at: str | None = SATURDAY,
        *,
        seen: Json | None = None,
        settings: Json | None = None,
        classes: Sequence[Json] | None = None,
    ) -> Answer:
        """The answer for these objects; the node class `std` stands among them unless `classes` says otherwise."""
        documents = [seen or observed(), *([node_class()] if classes is None else classes), *objects]
        snapshot, file = self.directory / "snapshot.yaml", self.directory / "driftgate.yaml"
        snapshot.write_text("---\n" + "---\n".join(json.dumps(entry) + "\n" for entry in documents), encoding="utf-8")
        file.write_text(yaml.safe_dump(settings or config()), encoding="utf-8")
        arguments = ["plan", "--from", str(snapshot), "--config", str(file), "-o", "json"]
        result = CliRunner().invoke(app, [*arguments, *(["--at", at] if at else [])], catch_exceptions=False)
        plan = json.loads(result.stdout) if result.stdout.startswith("{") else {}
        names = [entry["name"] for entry in plan.get("pools", [])]
        for entry in plan.get("pools", []):
            check_codes(entry)
        return Answer(result.exit_code, plan, result.stdout, result.stderr, names)

    def app(
        self,
        budgets: str | None,
        nodes: Sequence[Line],
        at: str | None = SATURDAY,
        *,
        seen: Json | None = None,
        settings: Json | None = None,
        classes: Sequence[Json] | None = None,
        more: Sequence[Json] = (),
        **over: Any,
    ) -> PoolAnswer:
        """The answer for the one pool `app`."""
        objects = [*pool(budgets, nodes, **over), *more]
        return self.ask(objects, at, seen=seen, settings=settings, classes=classes).pool()
