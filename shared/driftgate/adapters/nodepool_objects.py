"""NodePools and node classes: from what the API server sends to domain values.

Tolerant of what may be absent, exact about what is written: a budgets list is never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping

from driftgate.adapters.object_meta import (
    conditions_of,
    deleted_at,
    labels_of,
    name_of,
    quantities,
    uid_of,
    word,
)
from driftgate.domain.budget import Budget, from_objects
from driftgate.domain.jsonvalue import JsonObject, child, instant, integer, items, mapping, strings, text
from driftgate.domain.nodepool import (
    FieldOwner,
    ImageTerm,
    NodeClassRef,
    NodeClassSnapshot,
    NodePoolSnapshot,
    Requirement,
    ResolvedImage,
)


def nodepool_from_object(raw: JsonObject) -> NodePoolSnapshot:
    """The NodePool (or a v1alpha5 Provisioner, told apart by `api_version`)."""
    metadata, spec, template = child(raw, "metadata"), child(raw, "spec"), child(raw, "spec", "template", "spec")
    disruption = child(spec, "disruption")
    return NodePoolSnapshot(
        name=name_of(raw),
        generation=integer(metadata.get("generation")) or 1,
        resource_version=text(metadata.get("resourceVersion")) or "",
        api_version=word(raw.get("apiVersion")) or "karpenter.sh/v1",
        uid=uid_of(raw),
        annotations=_annotations(metadata),
        labels=labels_of(raw),
        budgets=_budgets(disruption, name_of(raw)),
        budgets_given=disruption.get("budgets") is not None,
        consolidation_policy=word(disruption.get("consolidationPolicy")) or "WhenEmptyOrUnderutilized",
        consolidate_after=word(disruption.get("consolidateAfter")),
        node_class=_node_class_ref(template),
        requirements=requirements_from(template.get("requirements")),
        termination_grace_period=text(template.get("terminationGracePeriod")),
        expire_after=text(template.get("expireAfter")),
        limits=quantities(spec.get("limits")),
        usage=quantities(child(raw, "status").get("resources")),
        replicas=integer(spec.get("replicas")),
        weight=integer(spec.get("weight")),
        owners=tuple(_field_owner(mapping(entry)) for entry in items(metadata.get("managedFields"))),
        conditions=conditions_of(raw),
        deleted_at=deleted_at(raw),
    )


def node_class_from_object(raw: JsonObject) -> NodeClassSnapshot:
    """A node class of any provider; only a kind with `status.amis` or `amiSelectorTerms` has an image list."""
    spec, status = child(raw, "spec"), child(raw, "status")
    images = status.get("amis")
    has_images = images is not None or "amiSelectorTerms" in spec
    return NodeClassSnapshot(
        group=(text(raw.get("apiVersion")) or "").partition("/")[0],
        kind=word(raw.get("kind")),
        name=name_of(raw),
        images=tuple(_image(mapping(entry)) for entry in items(images)) if has_images else None,
        terms=tuple(_image_term(mapping(entry)) for entry in items(spec.get("amiSelectorTerms"))),
        conditions=conditions_of(raw),
        deleted_at=deleted_at(raw),
    )


def requirements_from(value: object) -> tuple[Requirement, ...]:
    """Scheduling requirements in their order."""
    return tuple(
        Requirement(
            key=word(entry.get("key")),
            operator=word(entry.get("operator")),
            values=tuple(word(item) for item in items(entry.get("values"))),
        )
        for entry in map(mapping, items(value))
    )


def owns_budgets(fields_v1: object) -> bool:
    """Whether a field set holds the budgets list, or the whole disruption block as one value."""
    disruption = child(fields_v1, "f:spec").get("f:disruption")
    if disruption is None:
        return False
    return disruption == {} or "f:budgets" in mapping(disruption)


def _annotations(metadata: JsonObject) -> Mapping[str, str] | None:
    """None where the object has none at all: a JSON patch must then add the parent first."""
    return None if metadata.get("annotations") is None else strings(metadata.get("annotations"))


def _budgets(disruption: JsonObject, name: str) -> tuple[Budget, ...]:
    """The list as stored; an absent one is what the CRD's default makes of it.

    Source: kubernetes-sigs/karpenter v1.14.1, pkg/apis/v1/nodepool.go (`default:={{nodes: "10%"}}`).
    """
    if disruption.get("budgets") is None:
        return (Budget(nodes="10%"),)
    return from_objects(disruption["budgets"], place=f"nodepool/{name}: spec.disruption.budgets")


def _node_class_ref(template: JsonObject) -> NodeClassRef | None:
    ref = child(template, "nodeClassRef")
    if not ref:
        return None
    group = text(ref.get("group")) or (text(ref.get("apiVersion")) or "").partition("/")[0]
    return NodeClassRef(group=group, kind=word(ref.get("kind")), name=word(ref.get("name")))


def _field_owner(entry: JsonObject) -> FieldOwner:
    return FieldOwner(
        manager=word(entry.get("manager")),
        operation=word(entry.get("operation")),
        time=instant(entry.get("time")),
        owns_budgets=owns_budgets(entry.get("fieldsV1")),
    )


def _image(entry: JsonObject) -> ResolvedImage:
    return ResolvedImage(
        id=word(entry.get("id")),
        name=word(entry.get("name")),
        deprecated=entry.get("deprecated") is True,
        requirements=requirements_from(entry.get("requirements")),
    )


def _image_term(entry: JsonObject) -> ImageTerm:
    return ImageTerm(
        alias=word(entry.get("alias")),
        id=word(entry.get("id")),
        name=word(entry.get("name")),
        owner=word(entry.get("owner")),
        ssm_parameter=word(entry.get("ssmParameter")),
        tags=strings(entry.get("tags")),
    )
