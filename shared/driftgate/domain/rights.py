"""What driftgate may do in a cluster: read what it judges by, and patch NodePools. Said once, here.

No verb that could delete, evict, create or read a Secret stands in it. What a patch may change is narrowed further
by `admission_policy`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

NAME = "driftgate"
"""Of the ClusterRole, its binding, and the admission policy."""

DEFAULT_GROUP = "driftgate"
_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """One verb on one resource, everywhere in the cluster, and what it is for."""

    verb: str
    resource: str
    group: str = ""
    why: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}" + (f".{self.group}" if self.group else "")


RIGHTS = (
    Right(
        verb="get",
        resource="nodepools",
        group="karpenter.sh",
        why="to read one NodePool again before and after each write, and when a patch was refused",
    ),
    Right(verb="list", resource="nodepools", group="karpenter.sh", why="to judge every NodePool of the cluster"),
    Right(
        verb="patch",
        resource="nodepools",
        group="karpenter.sh",
        why="to open and close the gate: its budgets and the annotation driftgate.dev/roll, nothing else",
    ),
    Right(
        verb="list",
        resource="nodeclaims",
        group="karpenter.sh",
        why="to see which nodes have drifted, why, and which one Karpenter has taken",
    ),
    Right(
        verb="watch",
        resource="nodeclaims",
        group="karpenter.sh",
        why="to close the gate in the second in which Karpenter takes a node",
    ),
    Right(
        verb="list",
        resource="ec2nodeclasses",
        group="karpenter.k8s.aws",
        why="to know which image each node should run; not needed with another provider",
    ),
    Right(verb="list", resource="nodes", why="to see which nodes are ready, cordoned, tainted, or on their way out"),
    Right(verb="watch", resource="nodes", why="to see Karpenter's taint at once: the only sign before Karpenter 1.2"),
    Right(verb="list", resource="pods", why="to say which pods keep a drifted node from going"),
    Right(
        verb="list",
        resource="poddisruptionbudgets",
        group="policy",
        why="to say which PodDisruptionBudget keeps a drifted node from going",
    ),
    Right(
        verb="list",
        resource="volumeattachments",
        group="storage.k8s.io",
        why="to say which volume still hangs on a node that should have gone",
    ),
    Right(verb="list", resource="deployments", group="apps", why="to tell the version of the running Karpenter"),
)
"""Every right, each of which some reading or writing needs."""


def rules(rights: Iterable[Right]) -> list[dict[str, object]]:
    """The rights as rules of a ClusterRole, one per resource."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for right in rights:
        verbs.setdefault((right.group, right.resource), []).append(right.verb)
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": found} for (group, resource), found in verbs.items()
    ]


def cluster_role() -> dict[str, object]:
    """The ClusterRole with exactly these rights."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": rules(RIGHTS),
    }


def cluster_role_binding(group: str) -> dict[str, object]:
    """Gives the role to a group: that of the EKS access entry."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": NAME},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": NAME},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": group}],
    }
