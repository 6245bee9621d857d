"""The EKS access entries that the stack cannot make, as commands for who may. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from infra.settings import EksCluster, StackSettings, closer_role, worker_role

ACCOUNT = "$(aws sts get-caller-identity --query Account --output text)"


def entries_to_make(settings: StackSettings) -> str:
    """The commands, each under what it is for; "" where the stack makes every entry."""
    found = [line for cluster in settings.clusters for line in _of_cluster(settings, cluster)]
    return "".join(f"{line}\n" for line in found)


def _of_cluster(settings: StackSettings, cluster: EksCluster) -> Iterator[str]:
    roles = worker_role(settings, cluster.placement), closer_role(settings, cluster.placement)
    if cluster.role is not None:
        heading = "is in another account. Its access entry, to be made there, for the role that driftgate takes:"
        yield f"# {cluster.name} {heading}"
        yield _command(settings, cluster, cluster.role)
        yield f"# That role must trust {' and '.join(roles)}, and may eks:DescribeCluster."
        return
    if settings.deployment.access_entries == "print":
        yield f"# The access entries of {cluster.name}:"
    elif cluster.region is not None:
        yield f"# The access entries of {cluster.name}, if the stack is not in {cluster.region}:"
    else:
        return
    for role in roles:
        yield _command(settings, cluster, f"arn:aws:iam::{ACCOUNT}:role/{role}")


def _command(settings: StackSettings, cluster: EksCluster, principal: str) -> str:
    region = f" --region {cluster.region}" if cluster.region is not None else ""
    group = shlex.quote(settings.deployment.kubernetes_group)
    return (
        f"aws eks create-access-entry --cluster-name {cluster.name}{region} --type STANDARD"
        f' --kubernetes-groups {group} --principal-arn "{principal}"'
    )
