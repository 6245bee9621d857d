"""What a person with every right sees of the deployment: the same ports as the functions have, as the administrator."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from driftgate import bootstrap
from driftgate.adapters.kubernetes_client import KubernetesClient
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.kubernetes_parts import new_configuration
from driftgate.app.pipeline import Pipeline
from driftgate.contract import Env
from driftgate.ports import Clock, Cluster
from driftgate.sim.cluster import Served
from infra.local.cloud.server import CloudServer
from infra.local.runtime.function import Function


@contextmanager
def observer(cloud: CloudServer, worker: Function, code: Path, cluster: Cluster, clock: Clock) -> Iterator[Pipeline]:
    """A pipeline that reads where this function reads. Meanwhile this process speaks to the local AWS."""
    variables = {**worker.variables, **cloud.administrator, Env.TASK_ROOT.value: str(code)}
    with _environment(variables):
        bootstrap.use_clock(clock)
        try:
            yield replace(bootstrap.lambda_pipeline(os.environ), clusters=_OneCluster(cluster))
        finally:
            bootstrap.use_clock(None)


@contextmanager
def visitor(served: Served, authority_pem: bytes) -> Iterator[KubernetesCluster]:
    """The cluster over HTTPS, by a token of its own."""
    with NamedTemporaryFile(suffix=".pem") as file:
        file.write(authority_pem)
        file.flush()
        configuration = new_configuration(host=served.url, api_key={"authorization": f"Bearer {served.token}"})
        configuration.ssl_ca_cert = file.name
        yield KubernetesCluster(KubernetesClient(configuration))


class _OneCluster:
    """The same cluster behind every name."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def connect(self, cluster: str) -> Cluster:
        return self._cluster


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
