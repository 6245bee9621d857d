"""Pods and PodDisruptionBudgets: reduced to what decides whether a node may be emptied.

Containers, environment and volumes are never kept.
"""

from __future__ import annotations

from driftgate.adapters.object_meta import (
    condition_of,
    deleted_at,
    judged_annotations,
    labels_of,
    name_of,
    namespace_of,
    number_or_percent,
    owners_of,
    word,
)
from driftgate.domain.jsonvalue import JsonObject, child, instant, integer, items, mapping, text
from driftgate.domain.nodes import DISRUPTED_TAINT, PodDisruptionBudgetSnapshot, PodSnapshot, SelectorTerm


def pod_from_object(raw: JsonObject) -> PodSnapshot:
    """The Pod. `ready` is false only where the Ready condition says False, as Karpenter reads it."""
    spec, status = child(raw, "spec"), child(raw, "status")
    owner_kind, owner_name = _owner(raw)
    bound_to = word(spec.get("nodeName"))
    ready = condition_of(raw, "Ready")
    return PodSnapshot(
        namespace=namespace_of(raw) or "default",
        name=name_of(raw),
        node_name=bound_to or word(status.get("nominatedNodeName")),
        labels=labels_of(raw),
        annotations=judged_annotations(raw),
        phase=word(status.get("phase")),
        ready=ready is None or ready.status != "False",
        owner_kind=owner_kind,
        owner_name=owner_name,
        deleted_at=deleted_at(raw),
        started_at=instant(status.get("startTime")),
        is_mirror=owner_kind == "Node",
        tolerates_disruption=any(_tolerates_disruption(mapping(entry)) for entry in items(spec.get("tolerations"))),
        scheduled=bool(bound_to),
    )


def pdb_from_object(raw: JsonObject) -> PodDisruptionBudgetSnapshot:
    """The PodDisruptionBudget; without a status it allows nothing, as Karpenter reads it."""
    spec, status = child(raw, "spec"), child(raw, "status")
    return PodDisruptionBudgetSnapshot(
        namespace=namespace_of(raw) or "default",
        name=name_of(raw),
        selector=selector_from(spec.get("selector")),
        min_available=number_or_percent(spec.get("minAvailable")),
        max_unavailable=number_or_percent(spec.get("maxUnavailable")),
        disruptions_allowed=integer(status.get("disruptionsAllowed")) or 0,
        expected_pods=integer(status.get("expectedPods")),
        current_healthy=integer(status.get("currentHealthy")),
        desired_healthy=integer(status.get("desiredHealthy")),
        unhealthy_pod_eviction_policy=word(spec.get("unhealthyPodEvictionPolicy")),
    )


def selector_from(value: object) -> tuple[SelectorTerm, ...] | None:
    """A label selector as terms; an absent one selects nothing (None), an empty one everything ()."""
    if value is None:
        return None
    labels = child(value, "matchLabels")
    exact = [SelectorTerm(key=word(key), operator="In", values=(word(label),)) for key, label in labels.items()]
    expressions = [
        SelectorTerm(
            key=word(entry.get("key")),
            operator=word(entry.get("operator")),
            values=tuple(word(item) for item in items(entry.get("values"))),
        )
        for entry in map(mapping, items(mapping(value).get("matchExpressions")))
    ]
    return (*exact, *expressions)


def _owner(raw: JsonObject) -> tuple[str, str]:
    """The owner that decides how the pod counts: a Node or DaemonSet first, else the controller."""
    owners = owners_of(raw)
    for kind, name, _ in owners:
        if kind in ("Node", "DaemonSet"):
            return kind, name
    controller = next(((kind, name) for kind, name, controls in owners if controls), None)
    return controller or (owners[0][:2] if owners else ("", ""))


def _tolerates_disruption(toleration: JsonObject) -> bool:
    """Whether it tolerates the taint `karpenter.sh/disrupted:NoSchedule` with an empty value.

    Source: Kubernetes, k8s.io/api/core/v1 `Toleration.ToleratesTaint`.
    """
    key, operator = text(toleration.get("key")) or "", text(toleration.get("operator")) or "Equal"
    if toleration.get("effect") not in (None, "", "NoSchedule"):
        return False
    if key not in ("", DISRUPTED_TAINT):
        return False
    if operator == "Exists":
        return True
    return operator == "Equal" and key == DISRUPTED_TAINT and not toleration.get("value")
