"""What the Kubernetes adapter makes of an address where no API server can be reached, or not a trusted one."""

from __future__ import annotations

import socket
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

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

PATCH = (PatchOperation(op="replace", path="/spec/disruption/budgets", value=[]),)


@pytest.fixture
def certificate(tmp_path: Path) -> str:
    """A certificate for 127.0.0.1 that signs itself, and its key, in one file."""
    return self_signed(tmp_path / "server.pem")


def self_signed(path: Path) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, path.stem)])
    today = datetime.now(UTC)
    loopback = x509.IPAddress(ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([loopback]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return str(path)


def test_a_server_of_the_ca_given_is_trusted(certificate: str) -> None:
    with CannedServer({NODES: [listing("Node", named("a1"))]}, certificate=certificate) as server:
        on = Wire(server, ca=certificate)

        assert [node.name for node in on.cluster.list_nodes()] == ["a1"]

        on.cluster.close()


def test_a_server_of_another_ca_is_not_trusted_and_gets_no_request(certificate: str, tmp_path: Path) -> None:
    other = self_signed(tmp_path / "other.pem")
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


def test_closing_a_watch_over_tls_ends_it_at_once(certificate: str) -> None:
    replies = {WATCH_CLAIMS: [Stream(then="hang")], WATCH_NODES: [Stream(then="hang")]}
    since = PoolMembers(claims=(), nodes=(), claims_version="100", nodes_version="100")
    with CannedServer(replies, certificate=certificate) as server:
        on = Wire(server, ca=certificate, times=WatchTimes(stream_s=30, silence_s=60))
        changes = on.cluster.watch_pool("app", since, timedelta(seconds=30))
        assert isinstance(changes, Generator)

        assert isinstance(next(changes), Quiet)
        changes.close()

        assert watching_threads() == []
        on.cluster.close()
