"""Removing the stack shuts every gate first: what CloudFormation asks, whom, and what stands until it is answered."""

from __future__ import annotations

from typing import Any

GATES = "Custom::OpenGates"
CLOSING = {
    "AWS::DynamoDB::GlobalTable": "Ledger",
    "AWS::Lambda::Function": "Placement",
    "AWS::Lambda::EventInvokeConfig": "Placement",
    "AWS::IAM::Role": "Placement",
    "AWS::SNS::Topic": "Messages",
    "AWS::SNS::TopicPolicy": "Messages",
    "AWS::SNS::Subscription": "Notifier",
    "AWS::Events::EventBus": "Events",
}


def named(value: Any) -> set[str]:
    """Every logical id that a part of the template refers to."""
    if isinstance(value, list):
        return set().union(*map(named, value))
    if not isinstance(value, dict):
        return set()
    own = {value["Ref"]} if isinstance(value.get("Ref"), str) else set()
    got = value.get("Fn::GetAtt")
    return own.union({got[0]} if isinstance(got, list) else set(), *map(named, value.values()))


def outlive(resources: Any, name: str) -> set[str]:
    """What CloudFormation deletes after the resource: all that it depends on, however far away."""
    found: set[str] = set()
    asked = {name}
    while asked:
        resource = resources[asked.pop()]
        depends = resource.get("DependsOn", [])
        direct = named(resource.get("Properties", {})) | set([depends] if isinstance(depends, str) else depends)
        asked |= (direct & set(resources)) - found
        found |= direct & set(resources)
    return found


def gates(template: Any) -> str:
    (found,) = (name for name, each in template.body["Resources"].items() if each["Type"] == GATES)
    return str(found)


def test_cloudformation_asks_the_function_that_needs_no_vpc(fleet):
    asked = fleet.one(GATES, "FleetClosingGates")

    assert asked["ServiceToken"] == "FleetClosingCloseFleetFunction.Arn"
    assert "VpcConfig" not in fleet.functions()["close_fleet"]


def test_cloudformation_waits_longer_than_the_function_takes(fleet):
    patience = int(fleet.one(GATES, "FleetClosingGates")["ServiceTimeout"])

    assert patience > fleet.functions()["close_fleet"]["Timeout"]


def test_the_closer_that_fails_has_time_for_both_of_its_retries(fleet):
    assert fleet.functions()["close_fleet"]["Timeout"] > 60 + 120


def test_all_that_a_closing_needs_goes_after_it(fleet):
    after = outlive(fleet.body["Resources"], gates(fleet))

    for kind, beginning in CLOSING.items():
        wanted = {
            name
            for name, each in fleet.body["Resources"].items()
            if each["Type"] == kind and name.startswith(beginning)
        }
        assert wanted
        assert wanted <= after, kind


def test_the_closers_come_into_their_clusters_until_it_is_done(fleet):
    entries = {
        name
        for name, each in fleet.body["Resources"].items()
        if each["Type"] == "AWS::EKS::AccessEntry" and "Closer" in name
    }

    assert len(entries) == 3
    assert entries <= outlive(fleet.body["Resources"], gates(fleet))


def test_the_table_stays_whatever_goes(fleet):
    table = fleet.resource("AWS::DynamoDB::GlobalTable", "Ledger")

    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert fleet.body["Outputs"]["LedgerTableName"]["Value"] == {
        "Ref": next(name for name in fleet.body["Resources"] if name.startswith("LedgerTable"))
    }
