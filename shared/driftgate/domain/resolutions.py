"""Whether Karpenter has yet resolved what an SSM parameter says: it caches public parameters for 24 hours.

Source: aws/karpenter-provider-aws v1.14.1, pkg/providers/amifamily (parameter paths), pkg/providers/ssm/types.go
(24 hours for public parameters, 5 minutes for a `ssmParameter` term). Not a rule of the gate: a finding.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from driftgate.domain.findings import Finding, Severity
from driftgate.domain.image_streams import LATEST, stream_of_image, stream_of_parameter
from driftgate.domain.jsonvalue import mapping, rfc3339, text
from driftgate.domain.mirror import mirrored
from driftgate.domain.nodepool import ImageTerm, NodeClassSnapshot, ResolvedImage
from driftgate.domain.observation import ParameterObservation
from driftgate.domain.reasons import ReasonCode


def stale_resolutions(node_class: NodeClassSnapshot, parameters: Iterable[ParameterObservation]) -> tuple[Finding, ...]:
    """One finding per parameter that names another image than the node class has resolved for the same kind."""
    return tuple(
        _finding(node_class, parameter, term, resolved)
        for parameter, term, resolved in _resolved(node_class, _current(parameters))
        if image_id(parameter) not in ("", resolved.id)
    )


def became_right(node_class: NodeClassSnapshot, parameters: Iterable[ParameterObservation]) -> Mapping[str, datetime]:
    """Since when images have been the latest, by our own mirror (`…/seen/…`) of this node class's parameters.

    An image that was taken back and came again counts from its first time.
    """
    found: dict[str, datetime] = {}
    seen = (parameter for parameter in parameters if mirrored(parameter.name) is not None)
    for parameter, _, _ in _resolved(node_class, seen):
        image, at = image_id(parameter), parameter.modified_at
        if image and at is not None:
            found[image] = min(at, found.get(image, at))
    return found


def _current(parameters: Iterable[ParameterObservation]) -> Iterable[ParameterObservation]:
    """One entry per parameter: as it was read, else the last one of our mirror's history."""
    ordered = sorted(parameters, key=lambda parameter: mirrored(parameter.name) is None)
    return {mirrored(parameter.name) or parameter.name: parameter for parameter in ordered}.values()


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
    node_class: NodeClassSnapshot, parameters: Iterable[ParameterObservation]
) -> Iterator[tuple[ParameterObservation, ImageTerm, ResolvedImage]]:
    """The parameters that the node class follows, each with its term and what stands for it in `status.amis`."""
    for parameter in parameters:
        name = mirrored(parameter.name) or parameter.name
        for term in node_class.terms:
            resolved = _image_of(term, name, node_class.images or ())
            if resolved is not None:
                yield parameter, term, resolved
                break


def _image_of(term: ImageTerm, parameter: str, images: tuple[ResolvedImage, ...]) -> ResolvedImage | None:
    """A parameter of one's own says nothing of kind, so it must be the only image."""
    if term.ssm_parameter and term.ssm_parameter.endswith(parameter):
        return images[0] if len(images) == 1 else None
    family, _, version = term.alias.partition("@")
    found = stream_of_parameter(parameter)
    if found is None or version != LATEST or found[1] != LATEST or found[0].family != family:
        return None
    return next((image for image in images if stream_of_image(image.name) == found[0]), None)


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
