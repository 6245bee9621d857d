"""EKS in front of a simulated cluster: its address and CA as DescribeCluster gives them, and who comes in.

A token is believed as the real authenticator does it: a presigned request to STS that names this cluster, by a role
that has an access entry. What the entry's groups may do is what `driftgate cluster-manifests` would install.
Source: kubernetes-sigs/aws-iam-authenticator, pkg/token/token.go; aws docs, creating-access-entries (2026).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.eks.models import eks_backends

from driftgate.domain.rights import RIGHTS
from driftgate.sim.access import Rule, User
from driftgate.sim.cluster import SimCluster
from infra.local.certificates import loopback_trust
from infra.local.cloud.server import ACCOUNT, REGION, SECRET, CloudServer
from infra.local.runtime.function import SESSION_TOKEN, Function
from infra.local.template.loading import Stack

PREFIX = "k8s-aws-v1."
LIFETIME = timedelta(minutes=15)
STS = f"sts.{REGION}.amazonaws.com"
DRIFTGATE_RULES = tuple(
    Rule(groups=(right.group,), resources=(right.resource,), verbs=(right.verb,)) for right in RIGHTS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An access entry of a cluster: a role, and the groups that it is in."""

    role_arn: str
    groups: tuple[str, ...]


class EksCluster:
    """The simulated cluster under its name in EKS. `group` is the one that the manifests in it give rights to."""

    def __init__(self, name: str, sim: SimCluster, stack: Stack, functions: tuple[Function, ...], group: str) -> None:
        self._name = name
        self._group = group
        self._entries = {entry.role_arn: entry for entry in _entries(stack, name)}
        self._roles = {function.key: function.role_arn for function in functions}
        self._sim = sim
        sim.access.webhook = self.user_of

    def join(self, cloud: CloudServer) -> bytes:
        """From now on DescribeCluster tells where it is. Gives the PEM of its CA."""
        trust = loopback_trust()
        served = self._sim.serve(trust.server)
        role = f"arn:aws:iam::{ACCOUNT}:role/{self._name}-cluster"
        cloud.client("eks").create_cluster(name=self._name, roleArn=role, resourcesVpcConfig={})
        made = eks_backends[ACCOUNT][REGION].clusters[self._name]
        made.endpoint = served.url
        made.certificate_authority = {"data": base64.b64encode(trust.authority_pem).decode()}
        return trust.authority_pem

    def user_of(self, token: str) -> User | None:
        """Who a bearer token stands for, None for one that is not believed."""
        role_arn = self._role_of(token)
        entry = self._entries.get(role_arn or "")
        if role_arn is None or entry is None:
            return None
        rules = DRIFTGATE_RULES if self._group in entry.groups else ()
        return User(name=f"{role_arn.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/local", rules=rules)

    def _role_of(self, token: str) -> str | None:
        """The role whose session signed it, if it did so for this cluster within the last quarter of an hour."""
        asked = _presigned(token)
        key = asked.get("X-Amz-Credential", "").split("/")[0]
        if key not in self._roles or not _is_fresh(asked.get("X-Amz-Date", "")):
            return None
        return self._roles[key] if asked.get("X-Amz-Signature") == signature(asked, key, self._name) else None


def _entries(stack: Stack, cluster: str) -> list[Entry]:
    return [
        Entry(role_arn=found.properties["PrincipalArn"], groups=tuple(found.properties.get("KubernetesGroups", ())))
        for found in stack.of_type("AWS::EKS::AccessEntry")
        if found.properties["ClusterName"] == cluster
    ]


def _presigned(token: str) -> Mapping[str, str]:
    """The parameters of the request in a token; none where it is no such request."""
    encoded = token.removeprefix(PREFIX)
    try:
        url = urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
    except (binascii.Error, UnicodeDecodeError):
        return {}
    if not token.startswith(PREFIX) or url.hostname != STS:
        return {}
    return {name: values[0] for name, values in parse_qs(url.query).items()}


def _is_fresh(date: str) -> bool:
    try:
        signed = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return False
    return abs(datetime.now(UTC) - signed) < LIFETIME


def signature(asked: Mapping[str, str], key: str, cluster: str) -> str:
    """What the signature must be, if this key signed the same request for this cluster at that time."""
    auth: Any = SigV4QueryAuth(Credentials(key, SECRET, SESSION_TOKEN), "sts", REGION, int(asked["X-Amz-Expires"]))
    url = f"https://{STS}/?Action=GetCallerIdentity&Version={asked['Version']}"
    request = AWSRequest("GET", url, headers={"x-k8s-aws-id": cluster})
    request.context["timestamp"] = asked["X-Amz-Date"]
    auth._modify_request_before_signing(request)
    signature: str = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return signature
