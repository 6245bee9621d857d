"""Reaching a cluster by its name in EKS: address, CA, and tokens that EKS accepts."""

from __future__ import annotations

import base64
import gc
import stat
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from moto import mock_aws
from moto.eks.models import eks_backends

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.eks_auth import EksClusters, EksReach, EksTokens, presigned_token
from driftgate.adapters.kubernetes_parts import new_configuration
from driftgate.domain.errors import ClusterUnauthorizedError, ClusterUnavailableError, InvalidInputError
from tests.fakes.canned_server import CannedServer, Reply
from tests.fakes.clock import FakeClock

REGION = "eu-central-1"
NO_NODES = Reply(body={"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": []})


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": REGION,
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        yield


def decoded(token: str) -> str:
    """The URL within a token."""
    body = token.removeprefix("k8s-aws-v1.")
    return base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()


def sts(region: str = REGION) -> Any:
    return boto3.client("sts", region_name=region)


# --- the token ---------------------------------------------------------------------------------------


def test_the_token_is_a_presigned_request_that_names_the_cluster() -> None:
    token = presigned_token(sts(), "demo")

    url = urlsplit(decoded(token))
    query = parse_qs(url.query)
    assert token.startswith("k8s-aws-v1.")
    assert (url.scheme, url.hostname) == ("https", "sts.eu-central-1.amazonaws.com")
    assert query["Action"] == ["GetCallerIdentity"]
    assert query["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]
    assert query["X-Amz-Expires"] == ["60"]


def test_the_token_has_only_parameters_that_eks_accepts() -> None:
    query = parse_qs(urlsplit(decoded(presigned_token(sts(), "demo"))).query)

    assert set(query) <= {
        "Action",
        "Version",
        "X-Amz-Algorithm",
        "X-Amz-Credential",
        "X-Amz-Date",
        "X-Amz-Expires",
        "X-Amz-Security-Token",
        "X-Amz-Signature",
        "X-Amz-SignedHeaders",
    }


@pytest.mark.parametrize("letters", range(20, 24))
def test_the_token_is_url_safe_and_unpadded_whatever_its_length(letters: int) -> None:
    token = presigned_token(sts(), "d" * letters)

    assert not set(token) & set("=+/")
    assert "GetCallerIdentity" in decoded(token)


def test_tokens_of_two_clusters_by_one_client_differ() -> None:
    client = sts()

    first, second = (decoded(presigned_token(client, name)) for name in ("one", "two"))

    signatures = [parse_qs(urlsplit(url).query)["X-Amz-Signature"] for url in (first, second)]
    assert signatures[0] != signatures[1]


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:5000", "https://sts-fips.us-east-1.amazonaws.com", "https://vpce-1.sts.example"]
)
def test_an_environment_that_moves_sts_elsewhere_is_told(address: str) -> None:
    moved = boto3.client("sts", region_name=REGION, endpoint_url=address)

    with pytest.raises(InvalidInputError, match="EKS does not accept a token signed for"):
        presigned_token(moved, "demo")


def tokens(clock: FakeClock) -> EksTokens:
    return EksTokens(AwsSession(clock, REGION), clock, "demo", EksReach())


def test_a_token_is_kept_for_ten_minutes() -> None:
    clock = FakeClock()
    source = tokens(clock)
    first = source.current()

    clock.advance(timedelta(minutes=9, seconds=59))

    assert source.current() is first


def test_a_token_is_signed_anew_before_its_fifteen_minutes_end() -> None:
    clock = FakeClock()
    source = tokens(clock)
    first = source.current()

    clock.advance(timedelta(minutes=10))

    assert source.current() is not first


# --- the cluster -------------------------------------------------------------------------------------


@pytest.fixture
def eks() -> Any:
    """moto's cluster `demo`, whose fields a test may set."""
    boto3.client("eks", region_name=REGION).create_cluster(
        name="demo",
        roleArn="arn:aws:iam::123456789012:role/eks",
        resourcesVpcConfig={"subnetIds": ["subnet-1", "subnet-2"]},
    )
    found: Any = eks_backends["123456789012"][REGION].clusters["demo"]
    found.certificateAuthority = {"data": base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode()}
    return found


def clusters(**reach: EksReach) -> EksClusters:
    clock = FakeClock()
    return EksClusters(AwsSession(clock, REGION), clock, reach)


def test_a_cluster_is_asked_at_its_endpoint_with_a_token_for_it(eks: Any) -> None:
    with CannedServer({"/api/v1/nodes": [NO_NODES]}) as server:
        eks.endpoint = server.url
        found = clusters().connect("demo")
        found.list_nodes()
        found.close()

    scheme, _, token = server.asked[0].headers["authorization"].partition(" ")
    assert scheme == "Bearer"
    assert "sts.eu-central-1.amazonaws.com" in decoded(token)


def test_a_cluster_is_connected_once_per_process(eks: Any) -> None:
    eks.endpoint = "https://demo.invalid"
    source = clusters()

    assert source.connect("demo") is source.connect("demo")


def test_the_ca_lies_in_a_file_of_our_own_that_goes_with_the_connection(eks: Any, tmp_path: Path) -> None:
    eks.endpoint = "https://demo.invalid"
    source = clusters()

    source.connect("demo")

    (file,) = tmp_path.glob("driftgate-ca-*.pem")
    assert file.read_bytes() == b"-----BEGIN CERTIFICATE-----"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    del source
    gc.collect()
    assert not file.exists()


def test_a_cluster_that_eks_still_creates_has_no_endpoint(eks: Any) -> None:
    eks.endpoint, eks.status = None, "CREATING"

    with pytest.raises(ClusterUnavailableError, match="no endpoint for demo yet: its status is CREATING"):
        clusters().connect("demo")


def test_an_unknown_cluster_is_told_with_its_region() -> None:
    with pytest.raises(InvalidInputError, match="no EKS cluster 'demo' in eu-central-1"):
        clusters().connect("demo")


def test_a_cluster_is_looked_for_in_the_region_that_its_entry_names() -> None:
    with pytest.raises(InvalidInputError, match="in us-east-1"):
        clusters(demo=EksReach(region="us-east-1")).connect("demo")


def test_no_token_is_trouble_of_the_cluster_and_not_of_aws(eks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    eks.endpoint = "https://demo.invalid"
    clock = FakeClock()
    source = EksTokens(AwsSession(clock, REGION), clock, "demo", EksReach())
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(ClusterUnauthorizedError, match="no token for demo"):
        source.refresh(new_configuration())
