"""Who may do what, and how the API says no."""

import pytest

from driftgate.sim.access import READER, Rule, User
from tests.sim_clusters import APP, POOLS, bare_cluster, body_of, send

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"


def names(listed):
    return [item["metadata"]["name"] for item in listed["items"]]


def with_nodes(count):
    sim = bare_cluster()
    for number in range(count):
        sim.add_node("app", f"a{number}", labels={"odd": str(number % 2)})
    return sim


def test_an_unknown_token_is_unauthorized():
    answer = send(bare_cluster(), "GET", POOLS, token="nobody")

    assert body_of(answer) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }


def test_a_revoked_token_is_unauthorized_from_then_on():
    sim = bare_cluster()
    sim.access.grant("t", "someone", (READER,))
    before = send(sim, "GET", POOLS, token="t").status

    sim.access.revoke("t")

    assert (before, send(sim, "GET", POOLS, token="t").status) == (200, 401)


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("GET", POOLS, "nodepools.karpenter.sh is forbidden: User \"driftgate\" cannot list resource \"nodepools\" in "
         "API group \"karpenter.sh\" at the cluster scope"),
        ("PATCH", APP, "nodepools.karpenter.sh \"app\" is forbidden: User \"driftgate\" cannot patch resource "
         "\"nodepools\" in API group \"karpenter.sh\" at the cluster scope"),
        ("GET", PODS, "pods is forbidden: User \"driftgate\" cannot list resource \"pods\" in API group \"\" at the "
         "cluster scope"),
        ("GET", "/api/v1/namespaces/shop/pods/x", "pods \"x\" is forbidden: User \"driftgate\" cannot get resource "
         "\"pods\" in API group \"\" in the namespace \"shop\""),
    ],
)  # fmt: skip
def test_forbidden_says_who_may_not_do_what(method, path, message):
    sim = bare_cluster()
    sim.access.grant("t", "driftgate", ())

    answer = send(sim, method, path, token="t")

    assert (answer.status, body_of(answer)["message"]) == (403, message)


def test_a_rule_may_be_narrowed_to_names_and_to_a_subresource():
    sim = bare_cluster()
    sim.add_nodepool("other")
    rule = Rule(groups=("karpenter.sh",), resources=("nodepools",), verbs=("patch",), names=("app",))
    sim.access.grant("t", "driftgate", (rule,))

    def patched(path):
        return send(sim, "PATCH", path, [], content_type="application/json-patch+json", token="t").status

    assert [patched(APP), patched(f"{POOLS}/other"), patched(f"{APP}/status")] == [200, 403, 403]


@pytest.mark.parametrize(("verb", "allowed"), [("patch", True), ("delete", False)])
def test_a_user_may_ask_what_it_may(verb, allowed):
    sim = bare_cluster()
    sim.access.grant("t", "someone", (Rule(resources=("nodepools",), verbs=("patch",)),))
    asked = {"verb": verb, "group": "karpenter.sh", "resource": "nodepools"}

    answer = send(
        sim,
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {"spec": {"resourceAttributes": asked}},
        token="t",
    )

    assert (answer.status, body_of(answer)["status"]) == (201, {"allowed": allowed})


def test_a_token_that_nobody_was_granted_is_the_webhooks_to_know():
    sim = bare_cluster()
    sim.access.webhook = lambda token: User(name="role", rules=(READER,)) if token == "signed" else None

    assert [send(sim, "GET", POOLS, token=token).status for token in ("signed", "forged")] == [200, 401]
