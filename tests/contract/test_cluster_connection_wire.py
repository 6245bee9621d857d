"""What the Kubernetes adapter makes of an address where no API server can be reached, or not a trusted one."""

from __future__ import annotations

import socket
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import pytest

from driftgate.adapters.kubernetes_stream import WatchTimes
from driftgate.domain.errors import ClusterUnavailableError
from driftgate.domain.patch import PatchOperation
from driftgate.ports import PoolMembers, Quiet
from tests.contract.cluster_wire import (
    NODES,
    POOL,
    WATCH_CLAIMS,
    WATCH_NODES,
    Wire,
    listing,
    named,
    nodepool,
    watching_threads,
)
from tests.fakes.canned_server import CannedServer, Reply, Stream
from tests.fakes.certificates import Certificate, authority, loopback

PATCH = (PatchOperation(op="replace", path="/spec/disruption/budgets", value=[]),)


@pytest.fixture
def root() -> Certificate:
    return authority("kubernetes")


def serving(root: Certificate, folder: Path) -> tuple[str, str]:
    """The files of a server at 127.0.0.1 and of the CA that signed it."""
    return loopback(root).write(folder / "server.pem"), root.write(folder / "ca.pem")


def test_a_server_of_the_ca_given_is_trusted(root: Certificate, tmp_path: Path) -> None:
    certificate, ca = serving(root, tmp_path)
    with CannedServer({NODES: [listing("Node", named("a1"))]}, certificate=certificate) as server:
        on = Wire(server, ca=ca)

        assert [node.name for node in on.cluster.list_nodes()] == ["a1"]

        on.cluster.close()


def test_an_intermediate_ca_is_trusted_by_itself_as_kubectl_does(root: Certificate, tmp_path: Path) -> None:
    certificate, ca = serving(authority("intermediate", signed_by=root), tmp_path)
    with CannedServer({NODES: [listing("Node", named("a1"))]}, certificate=certificate) as server:
        on = Wire(server, ca=ca)

        assert [node.name for node in on.cluster.list_nodes()] == ["a1"]

        on.cluster.close()


def test_a_server_of_another_ca_is_not_trusted_and_gets_no_request(root: Certificate, tmp_path: Path) -> None:
    certificate, _ = serving(root, tmp_path)
    other = authority("kubernetes").write(tmp_path / "other.pem")
    with CannedServer({POOL: [Reply(body=nodepool())]}, certificate=certificate) as server:
        on = Wire(server, ca=other)

        with pytest.raises(ClusterUnavailableError, match="certificate is not trusted"):
            on.cluster.get_nodepool("app")
        with pytest.raises(ClusterUnavailableError, match="certificate is not trusted"):
            on.cluster.patch_nodepool("app", PATCH)

    assert server.asked == []


def test_where_nothing_listens_a_patch_was_certainly_not_made() -> None:
    with CannedServer({}) as server, socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
        closed.close()
        on = Wire(server, url=f"http://127.0.0.1:{port}")

        with pytest.raises(ClusterUnavailableError, match="nothing answers at this address"):
            on.cluster.list_nodes()
        with pytest.raises(ClusterUnavailableError, match="nothing answers at this address"):
            on.cluster.patch_nodepool("app", PATCH)


def test_a_name_that_does_not_exist_is_told() -> None:
    with CannedServer({}) as server:
        on = Wire(server, url="https://no-such-cluster.invalid")

        with pytest.raises(ClusterUnavailableError, match="name cannot be found"):
            on.cluster.list_nodes()


def test_closing_a_watch_over_tls_ends_it_at_once(root: Certificate, tmp_path: Path) -> None:
    certificate, ca = serving(root, tmp_path)
    replies = {WATCH_CLAIMS: [Stream(then="hang")], WATCH_NODES: [Stream(then="hang")]}
    since = PoolMembers(claims=(), nodes=(), claims_version="100", nodes_version="100")
    with CannedServer(replies, certificate=certificate) as server:
        on = Wire(server, ca=ca, times=WatchTimes(stream_s=30, silence_s=60))
        changes = on.cluster.watch_pool("app", since, timedelta(seconds=30))
        assert isinstance(changes, Generator)

        assert isinstance(next(changes), Quiet)
        changes.close()

        assert watching_threads() == []
        on.cluster.close()
