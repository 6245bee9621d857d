"""Which SSM parameters say what the newest image is, for the images that a cluster uses.

The names follow from the images that Karpenter has resolved, so nobody has to know the cluster's version. AWS raises
no events for its public parameters in a customer's account: they are polled and mirrored (`watch_amis`).
Source: AWS documentation, "Retrieve recommended AMI IDs" for Amazon Linux and Bottlerocket, 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from driftgate.domain.nodepool import ImageTerm, NodeClassSnapshot

_PATHS = (
    (
        "al2023",
        re.compile(r"amazon-eks-node-al2023-(?P<arch>x86_64|arm64)-(?P<variant>[a-z]+)-(?P<k>\d+\.\d+)-v"),
        "/aws/service/eks/optimized-ami/{k}/amazon-linux-2023/{arch}/{variant}/recommended/image_id",
    ),
    (
        "al2",
        re.compile(r"amazon-eks-node-(?P<k>\d+\.\d+)-v"),
        "/aws/service/eks/optimized-ami/{k}/amazon-linux-2/recommended/image_id",
    ),
    (
        "al2",
        re.compile(r"amazon-eks-(?P<arch>arm64|gpu)-node-(?P<k>\d+\.\d+)-v"),
        "/aws/service/eks/optimized-ami/{k}/amazon-linux-2-{arch}/recommended/image_id",
    ),
    (
        "bottlerocket",
        re.compile(r"bottlerocket-(?P<variant>aws-k8s-\d+\.\d+(?:-[a-z]+)?)-(?P<arch>x86_64|aarch64|arm64)-v"),
        "/aws/service/bottlerocket/{variant}/{arch}/latest/image_id",
    ),
)


def parameters_in_use(node_classes: Iterable[NodeClassSnapshot]) -> tuple[str, ...]:
    """The names of the parameters that these node classes follow, sorted: of `@latest` aliases and own terms."""
    return tuple(sorted({name for found in node_classes for term in found.terms for name in _names(term, found)}))


def _names(term: ImageTerm, node_class: NodeClassSnapshot) -> Iterable[str]:
    if term.ssm_parameter:
        return [term.ssm_parameter]
    family, _, version = term.alias.partition("@")
    if version != "latest":
        return []
    return [name for image in node_class.images or () if (name := _path(family, image.name))]


def _path(family: str, image_name: str) -> str:
    for alias, pattern, path in _PATHS:
        found = pattern.match(image_name) if alias == family else None
        if found is not None:
            parts = found.groupdict()
            return path.format(**(parts | ({"arch": "arm64"} if parts.get("arch") == "aarch64" else {})))
    return ""
