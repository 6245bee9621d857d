"""Which SSM parameters the node classes of a cluster follow, so that they can be polled without the cluster.

Names come from what a node class says (its alias, for every architecture and variant that Karpenter would resolve,
also while nothing is resolved yet; its own `ssmParameter` terms) and from the images that it resolved by other means.
Where a version is pinned, the newest of the stream is followed too: somebody may want to know of it.

Source: aws/karpenter-provider-aws v1.14.1, pkg/apis/v1/ec2nodeclass.go (aliases), pkg/providers/amifamily/ami.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from driftgate.domain.image_streams import (
    ALIAS_FAMILIES,
    LATEST,
    PUBLIC,
    ImageStream,
    parameter_of,
    stream_of_image,
    stream_of_parameter,
    streams_of_alias,
)
from driftgate.domain.nodepool import NodeClassSnapshot
from driftgate.domain.observation import Observation

_PUBLIC_ARN = re.compile(r"arn:aws[a-z-]*:ssm:[a-z0-9-]*::parameter(/aws/service/.+)")
_KUBELET = re.compile(r"v?(\d+\.\d+)\..*")


def parameters_in_use(
    node_classes: Iterable[NodeClassSnapshot], kubelet_versions: Iterable[str] = ()
) -> tuple[str, ...]:
    """The names (or ARNs) of the parameters that these node classes follow, sorted.

    A path holds Kubernetes' minor version. It is that of the images which a node class resolved, and the newest that
    anything in the cluster shows: no kubelet and no image is ahead of the control plane, so it can only lag for the
    minutes after an upgrade.
    """
    found = tuple(node_classes)
    newest = _newest_minor(found, kubelet_versions)
    return tuple(sorted({name for node_class in found for name in _names(node_class, newest)}))


def names_in_use(seen: Observation, before: Iterable[str]) -> tuple[str, ...]:
    """The names that this look tells, and those of the look before where something that tells them was not read."""
    found = parameters_in_use(seen.node_classes, (node.kubelet_version for node in seen.nodes))
    is_blind = any(error.resource in ("nodeclasses", "ec2nodeclasses", "nodes") for error in seen.errors)
    return tuple(sorted({*found, *before})) if is_blind else found


def unknown_aliases(node_classes: Iterable[NodeClassSnapshot]) -> tuple[str, ...]:
    """Aliases of families that nobody here knows, each with its node class: their parameters are not polled."""
    return tuple(
        f"{found.kind} {found.name}: {term.alias}"
        for found in node_classes
        for term in found.terms
        if term.alias and term.alias.partition("@")[0] not in ALIAS_FAMILIES
    )


def is_public(name: str) -> bool:
    """Whether AWS itself writes it: the same for every account of a region."""
    return name.startswith(PUBLIC)


def pinned_versions(names: Iterable[str]) -> Mapping[ImageStream, str]:
    """The versions that are pinned among these parameters, by stream."""
    found = (stream_of_parameter(name) for name in names)
    return {stream: version for stream, version in filter(None, found) if version != LATEST}


def _names(node_class: NodeClassSnapshot, newest: str) -> Iterator[str]:
    resolved = {stream for image in node_class.images or () if (stream := stream_of_image(image.name)) is not None}
    yield from (parameter_of(stream) for stream in resolved)
    minors = {stream.minor for stream in resolved} | ({newest} if newest else set())
    for term in node_class.terms:
        if term.ssm_parameter:
            yield bare_name(term.ssm_parameter)
        family, _, version = term.alias.partition("@")
        for minor in minors if version else ():
            for stream in streams_of_alias(family, minor):
                yield from (parameter_of(stream), parameter_of(stream, version))


def bare_name(name: str) -> str:
    """A public parameter by its name, also where its ARN was written: it is asked once."""
    found = _PUBLIC_ARN.fullmatch(name)
    return name if found is None else found[1]


def _newest_minor(node_classes: tuple[NodeClassSnapshot, ...], kubelet_versions: Iterable[str]) -> str:
    images = (stream_of_image(image.name) for found in node_classes for image in found.images or ())
    kubelets = (_KUBELET.fullmatch(version) for version in kubelet_versions)
    minors = {stream.minor for stream in images if stream is not None} | {found[1] for found in kubelets if found}
    return max(minors, key=_order, default="")


def _order(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split("."))
