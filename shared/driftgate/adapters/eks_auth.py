"""A cluster by its name in EKS: endpoint and CA from the EKS API, and tokens presigned here, without a call.

A token is a presigned STS request that names the cluster; the API server lets STS say who signed it. It is good for
15 minutes whatever its own expiry says, so it is signed anew well before. No token is kept beyond the process.

Source: aws/aws-cli, awscli/customizations/eks/get_token.py; kubernetes-sigs/aws-iam-authenticator, pkg/token/token.go.
"""

from __future__ import annotations

import base64
import binascii
import os
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from driftgate.adapters.aws_errors import aws_call, code_of
from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.kubernetes_client import KubernetesClient, TimeLimits
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.kubernetes_parts import new_configuration
from driftgate.domain.errors import (
    AwsForbiddenError,
    AwsUnavailableError,
    ClusterUnauthorizedError,
    ClusterUnavailableError,
    InvalidInputError,
)
from driftgate.domain.jsonvalue import JsonObject, child, text
from driftgate.ports import Clock

TOKEN_PREFIX = "k8s-aws-v1."
CLUSTER_HEADER = "x-k8s-aws-id"
TOKEN_RENEWED_AFTER = timedelta(minutes=10)
_URL_LIFETIME_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class EksReach:
    """In which region a cluster is, and which role (an ARN) to take there; None: those of the process."""

    region: str | None = None
    role: str | None = None


class EksClusters:
    """`ports.Clusters` over EKS. Each cluster is connected once per process; `reach` is by cluster name."""

    def __init__(
        self, session: AwsSession, clock: Clock, reach: Mapping[str, EksReach], *, limits: TimeLimits | None = None
    ) -> None:
        self._session = session
        self._clock = clock
        self._reach = reach
        self._limits = limits
        self._connected: dict[str, KubernetesCluster] = {}

    def connect(self, cluster: str) -> KubernetesCluster:
        """Raises InvalidInputError (no such cluster), ClusterUnavailableError (it has no endpoint yet), Aws…Error."""
        if cluster not in self._connected:
            self._connected[cluster] = KubernetesCluster(self._client(cluster, self._reach.get(cluster, EksReach())))
        return self._connected[cluster]

    def _client(self, cluster: str, reach: EksReach) -> KubernetesClient:
        tokens = EksTokens(self._session, self._clock, cluster, reach)
        configuration = new_configuration()
        configuration.host, authority = _address(self._described(cluster, reach), cluster)
        configuration.ssl_ca_cert = _private_file(authority)
        configuration.api_key_prefix["authorization"] = "Bearer"
        configuration.refresh_api_key_hook = tokens.refresh
        client = KubernetesClient(configuration, limits=self._limits)
        weakref.finalize(client, _remove, configuration.ssl_ca_cert)
        return client

    def _described(self, cluster: str, reach: EksReach) -> JsonObject:
        with aws_call("eks:DescribeCluster", cluster):
            eks = self._session.client("eks", region=reach.region, role=reach.role)
            try:
                return child(eks.describe_cluster(name=cluster), "cluster")
            except ClientError as error:
                if code_of(error) != "ResourceNotFoundException":
                    raise
                raise InvalidInputError(
                    f"there is no EKS cluster {cluster!r} in {eks.meta.region_name}",
                    remedy="Check `cluster`, `region` and `account_role` in driftgate.yaml.",
                ) from error


class EksTokens:
    """The bearer token of one cluster, signed anew when the last one is ten minutes old."""

    def __init__(self, session: AwsSession, clock: Clock, cluster: str, reach: EksReach) -> None:
        self._session = session
        self._clock = clock
        self._cluster = cluster
        self._reach = reach
        self._token = ""
        self._signed_at: datetime | None = None

    def current(self) -> str:
        """A token with at least five minutes to live, if the credentials that sign it live as long."""
        now = self._clock.now()
        if self._signed_at is None or now - self._signed_at >= TOKEN_RENEWED_AFTER:
            with aws_call("sts:GetCallerIdentity", self._cluster):
                sts = self._session.client("sts", region=self._reach.region, role=self._reach.role)
                self._token = presigned_token(sts, self._cluster)
            self._signed_at = now
        return self._token

    def refresh(self, configuration: Any) -> None:
        """The hook that the official `Configuration` calls before each request, so it raises as a request does."""
        try:
            configuration.api_key["authorization"] = self.current()
        except AwsForbiddenError as error:
            raise ClusterUnauthorizedError(f"no token for {self._cluster}: {error}") from error
        except AwsUnavailableError as error:
            raise ClusterUnavailableError(f"no token for {self._cluster}: {error}") from error


def presigned_token(sts: Any, cluster: str) -> str:
    """The token; signed on this machine, nothing is called.

    Raises InvalidInputError where the environment sends STS to an address that EKS does not accept.
    """
    events = sts.meta.events
    events.register("provide-client-params.sts.GetCallerIdentity", _take_cluster, unique_id="driftgate-take-cluster")
    events.register("before-sign.sts.GetCallerIdentity", _name_cluster, unique_id="driftgate-name-cluster")
    url = sts.generate_presigned_url(
        "get_caller_identity", Params={CLUSTER_HEADER: cluster}, ExpiresIn=_URL_LIFETIME_S, HttpMethod="GET"
    )
    host = urlsplit(url).hostname or ""
    if not host.startswith("sts.") or host.endswith(".vpce.amazonaws.com"):
        raise InvalidInputError(
            f"EKS does not accept a token signed for {host}",
            place="environment",
            remedy="Unset AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL and AWS_USE_FIPS_ENDPOINT.",
        )
    return TOKEN_PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def _take_cluster(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    if CLUSTER_HEADER in params:
        context[CLUSTER_HEADER] = params.pop(CLUSTER_HEADER)


def _name_cluster(request: Any, **_: object) -> None:
    if CLUSTER_HEADER in request.context:
        request.headers[CLUSTER_HEADER] = request.context[CLUSTER_HEADER]


def _address(described: JsonObject, cluster: str) -> tuple[str, bytes]:
    """Endpoint and CA; both are absent while EKS creates the cluster."""
    endpoint = text(described.get("endpoint"))
    authority = text(child(described, "certificateAuthority").get("data"))
    if not endpoint or not authority:
        raise ClusterUnavailableError(
            f"EKS gives no endpoint for {cluster} yet: its status is {text(described.get('status')) or 'unknown'}"
        )
    try:
        return endpoint, base64.b64decode(authority, validate=True)
    except binascii.Error as error:
        raise ClusterUnavailableError(f"EKS gave a CA for {cluster} that is not base64") from error


def _private_file(content: bytes) -> str:
    """A file that only this user can read: TLS takes its CA from a path alone."""
    handle, path = tempfile.mkstemp(prefix="driftgate-ca-", suffix=".pem")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    return path


def _remove(path: str) -> None:
    Path(path).unlink(missing_ok=True)
