"""Karpenter's real AWS provider on moto: images are resolved and drift is judged by its own code."""

from collections.abc import Iterator

import pytest

from tests.e2e.harness.api import JSON_PATCH, Api, Object
from tests.e2e.harness.aws_world import AwsWorld, nodeclass
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import require, started
from tests.e2e.harness.scenario import (
    AWS,
    EC2NODECLASSES,
    create_nodepool,
    create_nodes,
    has_condition,
    nodeclaims,
    wait_for,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def aws() -> Iterator[AwsWorld]:
    require("etcd", "kube-apiserver", "karpenter-aws")
    with AwsWorld() as world:
        yield world


@pytest.fixture(scope="module")
def plane(aws: AwsWorld, request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    yield from started(ControlPlane(karpenter="karpenter-aws", env=aws.settings), request.session)


@pytest.fixture
def api(plane: ControlPlane) -> Api:
    return plane.api("admin")


def test_a_new_pinned_release_drifts_the_nodes_of_the_old_one(aws: AwsWorld, api: Api):
    old, new = aws.release_image("v20260801"), aws.release_image("v20260901")
    api.create(EC2NODECLASSES, nodeclass("pinned", {"alias": "al2023@v20260801"}))
    wait_for(lambda: ready_nodeclass(api, "pinned"), "ready EC2NodeClass")
    create_nodepool(api, "pinned", nodeclass="pinned", provider=AWS)
    (claim,) = create_nodes(api, "pinned", 1)
    assert claim["status"]["imageID"] == old

    path = "/spec/amiSelectorTerms/0/alias"
    api.patch(f"{EC2NODECLASSES}/pinned", [{"op": "replace", "path": path, "value": "al2023@v20260901"}], JSON_PATCH)
    drifted = wait_for(lambda: drifted_claim(api, "pinned"), "drift", timeout_s=30)

    assert {c["reason"] for c in drifted["status"]["conditions"] if c["type"] == "Drifted"} == {"AMIDrift"}
    assert [ami["id"] for ami in api.get(f"{EC2NODECLASSES}/pinned")["status"]["amis"]] == [new]
    assert drifted["status"]["imageID"] == old


def drifted_claim(api: Api, nodepool: str) -> Object | None:
    return next((claim for claim in nodeclaims(api, nodepool) if has_condition(claim, "Drifted")), None)


def ready_nodeclass(api: Api, name: str) -> Object | None:
    """A NodeClaim of a NodeClass that is not ready would be deleted again."""
    found = api.get(f"{EC2NODECLASSES}/{name}")
    return found if has_condition(found, "Ready") else None
