"""`driftgate cluster-manifests`: the rights that driftgate needs in a cluster, and the policy that narrows them."""

from __future__ import annotations

from typing import Annotated

import typer
import yaml

from driftgate.cli.exit_codes import ExitCode
from driftgate.domain.admission_policy import admission_policy, admission_policy_binding
from driftgate.domain.rights import DEFAULT_GROUP, cluster_role, cluster_role_binding


def cluster_manifests(
    group: Annotated[str, typer.Option("--group", help="Kubernetes group of the EKS access entry.")] = DEFAULT_GROUP,
) -> int:
    """Print ClusterRole, ValidatingAdmissionPolicy and their bindings: what driftgate may do, and nothing else."""
    documents = [
        cluster_role(),
        cluster_role_binding(group),
        admission_policy(group),
        admission_policy_binding(),
    ]
    typer.echo(to_yaml(*documents), nl=False)
    return ExitCode.OK


def to_yaml(*documents: object) -> str:
    """The documents as one stream, each text of several lines as it is read."""
    return yaml.dump_all(documents, Dumper=_Readable, sort_keys=False, width=120, explicit_start=len(documents) > 1)


class _Readable(yaml.SafeDumper):
    """Writes texts of several lines as blocks, so that an expression can be reviewed."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Readable.add_representer(str, _text)
