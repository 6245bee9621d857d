"""`driftgate cluster-manifests`: the rights that driftgate needs in a cluster, as YAML."""

from __future__ import annotations

from typing import Annotated

import typer
import yaml

from driftgate.cli.exit_codes import ExitCode
from driftgate.domain.rights import cluster_role, cluster_role_binding


def cluster_manifests(
    group: Annotated[str, typer.Option("--group", help="Kubernetes group of the EKS access entry.")] = "driftgate",
) -> int:
    """Print ClusterRole and ClusterRoleBinding: exactly the rights that driftgate needs, and no others."""
    documents = [cluster_role(), cluster_role_binding(group)]
    typer.echo(yaml.safe_dump_all(documents, sort_keys=False), nl=False)
    return ExitCode.OK
