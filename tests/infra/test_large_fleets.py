"""A thousand clusters within what Lambda, IAM and CloudFormation take."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.infra.templates import Template, template_of

COUNT = 1000
OWN = 100


def cluster(index: int) -> str:
    """The first hundred in our account and in two regions, all others in accounts of their own."""
    name = f"name: team-{index:04}-production-eu"
    if index < OWN:
        return f"  - {{{name}{', region: eu-west-1' if index % 2 else ''}}}\n"
    return f'  - {{{name}, account_role: "arn:aws:iam::{100000000000 + index}:role/platform/driftgate"}}\n'


@pytest.fixture(scope="module")
def thousand(tmp_path_factory) -> Template:
    alarms = "".join(
        f'    - {{name: latency, account_role: "arn:aws:iam::{200000000000 + index}:role/alarms"}}\n'
        for index in range(50)
    )
    text = f"guards:\n  alarms:\n    - shop-5xx\n{alarms}clusters:\n" + "".join(map(cluster, range(COUNT)))
    return template_of(text, tmp_path_factory.mktemp("thousand"))


def resources(template: Template, role: str, action: str) -> list[str]:
    (policy,) = template.one("AWS::IAM::Role", role)["Policies"]
    (found,) = (s["Resource"] for s in policy["PolicyDocument"]["Statement"] if s["Action"] == action)
    return found if isinstance(found, list) else [found]


def size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def test_the_template_is_one_that_cloudformation_takes(thousand):
    assert len(thousand.body["Resources"]) <= 500
    assert size(thousand.body) < 1_000_000


def test_variables_fit_and_leave_the_names_of_the_clusters_to_the_configuration(thousand):
    variables = [function["Environment"]["Variables"] for function in thousand.functions().values()]

    assert all(sum(len(name) + len(value) for name, value in each.items()) < 4096 for each in variables)
    assert all("DRIFTGATE_CLUSTERS" not in each for each in variables)


def test_policies_fit_and_still_name_what_they_mean(thousand):
    for role in thousand.of_type("AWS::IAM::Role").values():
        assert sum(size(policy["PolicyDocument"]) for policy in role.get("Policies", [])) <= 10_240
    for role in ("PlacementdefaultWorkerRole", "PlacementdefaultCloserRole"):
        taken = resources(thousand, role, "sts:AssumeRole")
        assert [each for each in taken if not each.endswith("role/alarms")] == [
            "arn:aws:iam::*:role/platform/driftgate"
        ]
        named = resources(thousand, role, "eks:DescribeCluster")
        assert named[0].startswith("arn:aws:eks:eu-central-1:111122223333:cluster/team-00")
        assert named[-1].startswith("arn:aws:eks:eu-west-1:111122223333:cluster/team-00")


def test_alarms_of_more_accounts_than_a_pattern_holds_are_heard_from_any_but_ours(thousand):
    patterns = [
        pattern for pattern, _ in thousand.patterns() if pattern.get("detail", {}).get("alarmName") == ["latency"]
    ]

    assert {str(pattern["account"]) for pattern in patterns} == {"[{'anything-but': ['111122223333']}]"}


def test_so_many_clusters_do_not_take_all_of_the_accounts_concurrency(thousand):
    (source,) = thousand.of_type("AWS::Lambda::EventSourceMapping").values()

    assert source["ScalingConfig"] == {"MaximumConcurrency": 100}
