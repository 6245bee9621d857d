"""Who comes into the simulated cluster: a role with an access entry, by a token signed for this cluster, over TLS."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from botocore.session import get_session

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.eks_auth import EksClusters, presigned_token
from driftgate.adapters.system_clock import SystemClock
from driftgate.domain.errors import ClusterForbiddenError, ClusterUnauthorizedError
from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import SimCluster
from infra.local.cloud.server import ACCOUNT, REGION, SECRET, CloudServer
from infra.local.eks import EksCluster, signature
from infra.local.iam.evaluation import Authority
from infra.local.iam.statements import statements_of
from infra.local.runtime.function import SESSION_TOKEN, Function
from infra.local.template.document import template_from_object
from infra.local.template.loading import load

ROLE = f"arn:aws:iam::{ACCOUNT}:role/worker"
WORKER = Function(
    name="worker",
    arn="",
    handler="functions.reconcile_cluster.handler.handler",
    role_arn=ROLE,
    variables={},
    timeout_s=1,
    memory_mb=128,
    log_group="",
    code="",
)


def template(**entry):
    properties = {"ClusterName": "demo", "PrincipalArn": ROLE, "Type": "STANDARD", "KubernetesGroups": ["driftgate"]}
    found = {"Entry": {"Type": "AWS::EKS::AccessEntry", "Properties": properties | entry}}
    return template_from_object({"Resources": found})


@pytest.fixture
def cloud(monkeypatch):
    with CloudServer() as found:
        for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL_STS"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_ENDPOINT_URL", found.url)
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"https://sts.{REGION}.amazonaws.com")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", WORKER.key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION_TOKEN)
        allowed = {"Statement": {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": "*"}}
        found.front.authority = Authority(ACCOUNT, {ROLE: statements_of(allowed, "Policy")})
        found.front.admit(WORKER.key, ROLE, "worker")
        yield found


@pytest.fixture
def sim():
    with SimCluster(WallClock()) as found:
        found.add_node_class()
        found.add_nodepool("app")
        yield found


def joined(cloud, sim, group="driftgate", **entry):
    cluster = EksCluster("demo", sim, load(template(**entry), cloud, "demo"), (WORKER,), group)
    cluster.join(cloud)
    return cluster


def pools():
    clock = SystemClock()
    cluster = EksClusters(AwsSession(clock, REGION), clock, {}).connect("demo")
    return [pool.name for pool in cluster.list_nodepools()]


def test_a_role_with_an_access_entry_reads_over_tls_by_what_describe_cluster_tells(cloud, sim):
    joined(cloud, sim)

    assert pools() == ["app"]


@pytest.mark.parametrize(
    ("entry", "group", "error"),
    [
        ({"PrincipalArn": f"{ROLE}-other"}, "driftgate", ClusterUnauthorizedError),
        ({"ClusterName": "other"}, "driftgate", ClusterUnauthorizedError),
        ({"KubernetesGroups": ["viewers"]}, "driftgate", ClusterForbiddenError),
        ({}, "other-group", ClusterForbiddenError),
    ],
)
def test_an_entry_of_another_role_cluster_or_group_lets_nobody_in(cloud, sim, entry, group, error):
    joined(cloud, sim, group, **entry)

    with pytest.raises(error):
        pools()


def token(cluster="demo", secret=SECRET):
    session = get_session()
    session.set_credentials(WORKER.key, secret, SESSION_TOKEN)
    return presigned_token(session.create_client("sts", region_name=REGION), cluster)


def test_a_token_is_believed_only_if_it_was_signed_for_this_cluster_by_this_key(cloud, sim):
    cluster = joined(cloud, sim)
    moved = base64.urlsafe_b64decode(token()[11:] + "==").replace(b"sts.eu", b"sts.us")

    believed = cluster.user_of(token())

    assert believed is not None
    assert believed.name == f"arn:aws:sts::{ACCOUNT}:assumed-role/worker/local"
    assert cluster.user_of(token("other")) is None
    assert cluster.user_of(token(secret="stolen")) is None
    assert cluster.user_of("k8s-aws-v1." + base64.urlsafe_b64encode(moved).decode()) is None
    assert cluster.user_of("k8s-aws-v1.nothing") is None
    assert cluster.user_of("driftgate") is None


@pytest.mark.parametrize(("age", "is_believed"), [(timedelta(minutes=14), True), (timedelta(minutes=16), False)])
def test_a_token_is_good_for_a_quarter_of_an_hour(cloud, sim, age, is_believed):
    cluster = joined(cloud, sim)
    signed = urlsplit(base64.urlsafe_b64decode(token()[11:] + "==").decode())
    asked = dict(parse_qsl(signed.query)) | {"X-Amz-Date": (datetime.now(UTC) - age).strftime("%Y%m%dT%H%M%SZ")}
    asked["X-Amz-Signature"] = signature(asked, WORKER.key, "demo")
    url = f"https://{signed.hostname}/?{urlencode(asked)}"

    user = cluster.user_of("k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("="))

    assert (user is not None) is is_believed
