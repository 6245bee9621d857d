"""What driftgate may do in a cluster: read what it judges by, and patch NodePools. Said once, here.

No verb that could delete, evict, create or read a Secret stands in it.
"""

from __future__ import annotations

NAME = "driftgate"

RULES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("karpenter.sh", ("nodepools",), ("get", "list", "patch")),
    ("karpenter.sh", ("nodeclaims",), ("list", "watch")),
    ("karpenter.k8s.aws", ("ec2nodeclasses",), ("list",)),
    ("", ("nodes",), ("list", "watch")),
    ("", ("pods",), ("list",)),
    ("policy", ("poddisruptionbudgets",), ("list",)),
    ("storage.k8s.io", ("volumeattachments",), ("list",)),
    ("apps", ("deployments",), ("list",)),
)
"""API group, resources, verbs. Deployments: Karpenter's own, for its version."""


def cluster_role() -> dict[str, object]:
    """The ClusterRole with exactly these rights."""
    rules = [
        {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)} for group, resources, verbs in RULES
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": rules,
    }


def cluster_role_binding(group: str) -> dict[str, object]:
    """Gives the role to a group: that of the EKS access entry."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": NAME},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}],
    }
