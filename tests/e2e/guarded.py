"""A real API server on which driftgate has what `driftgate cluster-manifests` prints, and nobody is at work.

Two ways in: `admin` may do anything, `ours` is driftgate's own identity.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from driftgate.cli.main import app
from driftgate.domain.budget import Budget, to_objects
from driftgate.domain.errors import PatchRejectedError
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.patch import JsonPatch, PatchOperation
from driftgate.domain.rights import NAME, RIGHTS, Right, cluster_role, rules
from driftgate.ports import Cluster
from tests.contract.cluster_objects import nodepool_object
from tests.contract.cluster_worlds import HttpWorld
from tests.e2e.harness.api import Api, Object
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import require, started
from tests.e2e.harness.scenario import NODEPOOLS, wait_for

GROUP = "rbac.authorization.k8s.io"
RBAC = f"/apis/{GROUP}/v1"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
LISTS = {
    "ClusterRole": f"{RBAC}/clusterroles",
    "ClusterRoleBinding": f"{RBAC}/clusterrolebindings",
    "ValidatingAdmissionPolicy": f"{ADMISSION}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{ADMISSION}/validatingadmissionpolicybindings",
}
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
BUDGETS = "/spec/disruption/budgets"
POOL = "app"


@dataclass(frozen=True, slots=True)
class Guarded:
    """The server, with one NodePool `app` whose budgets a test sets as it needs them."""

    plane: ControlPlane
    admin: Cluster
    ours: Cluster

    @property
    def api(self) -> Api:
        return self.plane.api("admin")

    @property
    def our_api(self) -> Api:
        return self.plane.api("driftgate")

    def stand(self, budgets: Sequence[Budget]) -> NodePoolSnapshot:
        """Somebody who may writes the budgets; the NodePool as the server stores it."""
        return self.admin.patch_nodepool(POOL, writes(budgets))

    def refusal(self, patch: JsonPatch) -> str | None:
        """What the server says to driftgate's patch, without storing it; None where it would take it."""
        try:
            self.ours.patch_nodepool(POOL, patch, dry_run=True)
        except PatchRejectedError as error:
            return str(error)
        return None

    def may(self, verb: str, resource: str, group: str = "") -> bool:
        """What the server answers driftgate when it asks for its own rights."""
        name, _, subresource = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": name, "subresource": subresource}
        asked = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
        answer = self.our_api.create(REVIEWS, asked | {"spec": {"resourceAttributes": attributes}})
        allowed: bool = answer["status"]["allowed"]
        return allowed

    @contextmanager
    def granted(self, rules: Sequence[Object]) -> Iterator[None]:
        """Within, driftgate's group has these rights too."""
        named = {"metadata": {"name": "too-much"}}
        role: Object = {"apiVersion": f"{GROUP}/v1", "kind": "ClusterRole", "rules": list(rules)} | named
        binding: Object = next(made for made in printed() if made["kind"] == "ClusterRoleBinding") | named
        binding["roleRef"] = binding["roleRef"] | {"name": "too-much"}
        for made in (role, binding):
            self.api.create(LISTS[made["kind"]], made)
        wait_for(lambda: self.may("delete", "nodepools", "karpenter.sh") or None, "the rights granted")
        try:
            yield
        finally:
            for made in (binding, role):
                self.api.delete(f"{LISTS[made['kind']]}/too-much")
            wait_for(lambda: not self.may("delete", "nodepools", "karpenter.sh") or None, "the rights taken back")


@contextmanager
def without(guarded: Guarded, right: Right) -> Iterator[None]:
    """Within, the printed role lacks this one right."""
    write_rules(guarded, rules(other for other in RIGHTS if other != right))
    wait_for(lambda: not guarded.may(right.verb, right.resource, right.group) or None, f"the end of {right}")
    try:
        yield
    finally:
        write_rules(guarded, cluster_role()["rules"])
        wait_for(lambda: guarded.may(right.verb, right.resource, right.group) or None, str(right))


def write_rules(guarded: Guarded, found: Any) -> None:
    guarded.api.patch(f"{LISTS['ClusterRole']}/{NAME}", {"rules": found})


@contextmanager
def forbidding(guarded: Guarded, message: str) -> Iterator[None]:
    """Within, somebody else's policy refuses every write of a NodePool, but for the admin's."""
    named = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "somebody-elses"}}
    writes_of = {"apiGroups": ["karpenter.sh"], "apiVersions": ["*"], "operations": ["*"], "resources": ["nodepools"]}
    stop = {"expression": "request.userInfo.username == 'admin'", "message": message}
    policy: Object = named | {"kind": "ValidatingAdmissionPolicy"}
    policy["spec"] = {"matchConstraints": {"resourceRules": [writes_of]}, "validations": [stop]}
    binding: Object = named | {"kind": "ValidatingAdmissionPolicyBinding"}
    binding["spec"] = {"policyName": "somebody-elses", "validationActions": ["Deny"]}
    for made in (policy, binding):
        guarded.api.create(LISTS[made["kind"]], made)
    same = writes(guarded.admin.get_nodepool(POOL).budgets)
    wait_for(lambda: guarded.refusal(same), "the other policy in force")
    try:
        yield
    finally:
        for made in (binding, policy):
            guarded.api.delete(f"{LISTS[made['kind']]}/somebody-elses")
        wait_for(lambda: guarded.refusal(same) is None or None, "the end of the other policy")


def writes(budgets: Sequence[Budget]) -> JsonPatch:
    return (PatchOperation("replace", BUDGETS, to_objects(budgets)),)


def printed() -> list[Any]:
    """The objects that the command prints."""
    result = CliRunner().invoke(app, ["cluster-manifests"], catch_exceptions=False)
    assert result.exit_code == 0
    return list(yaml.safe_load_all(result.stdout))


def apply_printed(api: Api) -> None:
    for made in printed():
        api.create(LISTS[made["kind"]], made)


def connected(plane: ControlPlane) -> HttpWorld:
    tokens, ca = plane.tokens, str(plane.ca)
    return HttpWorld(plane.server, admin=tokens["admin"], outsider=tokens["driftgate"], ca=ca)


@pytest.fixture(scope="session")
def guarded(request: pytest.FixtureRequest) -> Iterator[Guarded]:
    """The server with the printed objects applied and in force."""
    require("etcd", "kube-apiserver", "karpenter")
    for plane in started(ControlPlane(karpenter=None), request.session):
        yield from protected(plane)


def protected(plane: ControlPlane) -> Iterator[Guarded]:
    api, world = plane.api("admin"), connected(plane)
    apply_printed(api)
    api.create(NODEPOOLS, nodepool_object(POOL, annotations={"team": "shop"}))
    found = Guarded(plane, world.cluster, world.outsider())
    wait_for(lambda: is_in_force(found.our_api) or None, "policy in force")
    yield found
    world.close()


def is_in_force(api: Api) -> bool:
    heavier = {"spec": {"weight": 7}}
    answer = api.send("PATCH", f"{NODEPOOLS}/{POOL}?dryRun=All", heavier, "application/merge-patch+json")
    return "ValidatingAdmissionPolicy" in answer.text
