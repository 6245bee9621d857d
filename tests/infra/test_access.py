"""Access entries: made in this account and region, printed for all others."""

from __future__ import annotations

import pytest

from driftgate.config import load_config
from driftgate.domain.errors import InvalidInputError
from infra.access import entries_to_make
from infra.settings import StackSettings

ACCOUNT = "$(aws sts get-caller-identity --query Account --output text)"


def settings(text: str) -> StackSettings:
    return StackSettings.of(load_config(text, "driftgate.yaml"))


def many(count: int) -> str:
    return "clusters:\n" + "".join(f"  - demo-{index}\n" for index in range(count))


def test_worker_and_closer_are_let_into_every_cluster_of_the_account(fleet):
    entries = fleet.of_type("AWS::EKS::AccessEntry").values()

    assert sorted((entry["ClusterName"], entry["PrincipalArn"]) for entry in entries) == [
        ("far", "PlacementdefaultCloserRole.Arn"),
        ("far", "PlacementdefaultWorkerRole.Arn"),
        ("shop", "PlacementeuCloserRole.Arn"),
        ("shop", "PlacementeuWorkerRole.Arn"),
        ("test", "PlacementdefaultCloserRole.Arn"),
        ("test", "PlacementdefaultWorkerRole.Arn"),
    ]


def test_an_entry_gives_a_group_and_no_policy_of_eks(fleet):
    for entry in fleet.of_type("AWS::EKS::AccessEntry").values():
        assert entry["Type"] == "STANDARD"
        assert entry["KubernetesGroups"] == ["driftgate"]
        assert "AccessPolicies" not in entry


def test_entries_of_another_region_are_left_out_when_the_stack_is_not_there(fleet):
    conditions = fleet.body["Conditions"]
    resources = fleet.body["Resources"].values()
    asked = {
        resource["Properties"]["ClusterName"]: resource.get("Condition")
        for resource in resources
        if resource["Type"] == "AWS::EKS::AccessEntry"
    }

    assert asked["test"] is None
    assert asked["shop"] is None
    assert conditions == {asked["far"]: {"Fn::Equals": [{"Ref": "AWS::Region"}, "eu-west-1"]}}


def test_what_the_stack_makes_is_not_printed():
    assert entries_to_make(settings("cluster: demo")) == ""


def test_the_entry_of_another_account_is_printed_with_the_role_that_is_taken_there():
    text = 'cluster: demo\naccount_role: "arn:aws:iam::444455556666:role/driftgate"'

    assert entries_to_make(settings(text)).splitlines() == [
        "# demo is in another account. Its access entry, to be made there, for the role that driftgate takes:",
        "aws eks create-access-entry --cluster-name demo --type STANDARD --kubernetes-groups driftgate"
        ' --principal-arn "arn:aws:iam::444455556666:role/driftgate"',
        "# That role must trust driftgate-worker-default and driftgate-closer-default, and may eks:DescribeCluster.",
    ]


def test_entries_of_another_region_are_printed():
    assert entries_to_make(settings("cluster: demo\nregion: eu-west-1")).splitlines() == [
        "# The access entries of demo, if the stack is not in eu-west-1:",
        "aws eks create-access-entry --cluster-name demo --region eu-west-1 --type STANDARD"
        f' --kubernetes-groups driftgate --principal-arn "arn:aws:iam::{ACCOUNT}:role/driftgate-worker-default"',
        "aws eks create-access-entry --cluster-name demo --region eu-west-1 --type STANDARD"
        f' --kubernetes-groups driftgate --principal-arn "arn:aws:iam::{ACCOUNT}:role/driftgate-closer-default"',
    ]


def test_all_are_printed_where_the_settings_say_so():
    text = "deployment: {access_entries: print, kubernetes_group: gates}\ncluster: demo"

    (heading, worker, closer) = entries_to_make(settings(text)).splitlines()

    assert heading == "# The access entries of demo:"
    assert "--kubernetes-groups gates" in worker
    assert closer.endswith(':role/driftgate-closer-default"')


def test_more_entries_than_a_stack_holds_are_refused_with_the_way_out():
    with pytest.raises(InvalidInputError) as refused:
        settings(many(101))

    assert str(refused.value) == (
        "driftgate.yaml: asks for 202 access entries, and one stack takes 200 · Write deployment:"
        " {access_entries: print}, and make them by the commands that are printed."
    )
    assert len(settings(many(100)).clusters) == 100
    assert len(settings("deployment: {access_entries: print}\n" + many(1000)).clusters) == 1000
