"""Whether Karpenter has yet resolved what an SSM parameter says: it caches public parameters for 24 hours.

Source: aws/karpenter-provider-aws v1.14.1, pkg/providers/amifamily (parameter paths), pkg/providers/ssm/types.go
(24 hours for public parameters, 5 minutes for a `ssmParameter` term). Not a rule of the gate: a finding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from driftgate.domain.findings import Finding, Severity
from driftgate.domain.jsonvalue import mapping, rfc3339, text
from driftgate.domain.nodepool import ImageTerm, NodeClassSnapshot, ResolvedImage
from driftgate.domain.observation import ParameterObservation
from driftgate.domain.reasons import ReasonCode

_SEEN = "/seen/"


@dataclass(frozen=True, slots=True)
class _Family:
    """How an alias family's `latest` parameters and its images are named."""

    alias: str
    path: re.Pattern[str]
    name: str


_TAIL = r"/(?:recommended|recommended/image_id)$"
_AL2 = r"optimized-ami/(?P<k>[\d.]+)/"
_FAMILIES = (
    _Family(
        "al2023",
        re.compile(rf"{_AL2}amazon-linux-2023/(?P<arch>[^/]+)/(?P<variant>[^/]+){_TAIL}"),
        "amazon-eks-node-al2023-{arch}-{variant}-{k}-v",
    ),
    _Family("al2", re.compile(rf"{_AL2}amazon-linux-2{_TAIL}"), "amazon-eks-node-{k}-v"),
    _Family("al2", re.compile(rf"{_AL2}amazon-linux-2-(?P<arch>arm64|gpu){_TAIL}"), "amazon-eks-{arch}-node-{k}-v"),
    _Family(
        "bottlerocket",
        re.compile(r"bottlerocket/(?P<variant>aws-k8s-[^/]+)/(?P<arch>[^/]+)/latest/image_id$"),
        "bottlerocket-{variant}-{arch}-v",
    ),
)


def stale_resolutions(node_class: NodeClassSnapshot, parameters: Iterable[ParameterObservation]) -> tuple[Finding, ...]:
    """One finding per parameter that names another image than the node class has resolved for the same kind."""
    return tuple(
        _finding(node_class, parameter, term, resolved)
        for parameter, term, resolved in _resolved(node_class, tuple(parameters))
        if image_id(parameter) not in ("", resolved.id)
    )


def became_right(node_class: NodeClassSnapshot, parameters: Iterable[ParameterObservation]) -> Mapping[str, datetime]:
    """Since when images have been the latest, by our own mirror (`…/seen/…`) of this node class's parameters."""
    return {
        image_id(parameter): parameter.modified_at
        for parameter, _, _ in _resolved(node_class, tuple(parameters))
        if parameter.modified_at is not None and _SEEN in parameter.name and image_id(parameter)
    }


def image_id(parameter: ParameterObservation) -> str:
    """The image that the parameter names: a bare id, or `image_id` of a JSON value; "" where there is none."""
    value = parameter.value.strip()
    if value.startswith("{"):
        try:
            value = text(mapping(json.loads(value)).get("image_id")) or ""
        except json.JSONDecodeError:
            return ""
    return value if value.startswith("ami-") else ""


def _resolved(
    node_class: NodeClassSnapshot, parameters: tuple[ParameterObservation, ...]
) -> Iterator[tuple[ParameterObservation, ImageTerm, ResolvedImage]]:
    """The parameters that the node class follows, each with its term and what stands for it in `status.amis`."""
    for parameter in parameters:
        for term in node_class.terms:
            resolved = _image_of(term, parameter.name, node_class.images or ())
            if resolved is not None:
                yield parameter, term, resolved
                break


def _image_of(term: ImageTerm, parameter: str, images: tuple[ResolvedImage, ...]) -> ResolvedImage | None:
    if term.ssm_parameter and term.ssm_parameter.endswith(parameter):
        return images[0] if len(images) == 1 else None
    alias, _, version = term.alias.partition("@")
    if version != "latest":
        return None
    for family in _FAMILIES:
        found = family.path.search(parameter) if family.alias == alias else None
        if found is not None:
            prefix = family.name.format(**found.groupdict())
            return next((image for image in images if image.name.startswith(prefix)), None)
    return None


def _finding(
    node_class: NodeClassSnapshot, parameter: ParameterObservation, term: ImageTerm, resolved: ResolvedImage
) -> Finding:
    changed = f" since {rfc3339(parameter.modified_at)}" if parameter.modified_at is not None else ""
    kept = "this parameter for up to 5 minutes" if term.ssm_parameter else "a public parameter for up to 24 hours"
    return Finding(
        code=ReasonCode.STALE_RESOLUTION,
        severity=Severity.INFO,
        message=(
            f"{parameter.name} names {image_id(parameter)}{changed}; {node_class.kind} {node_class.name} still has "
            f"{resolved.id} ({resolved.name}). Karpenter keeps {kept}."
        ),
        remedy="Wait, or restart Karpenter to make it read the parameter again.",
    )
