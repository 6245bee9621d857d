"""Buses, rules and schedules. moto keeps them; what they do is the router's work.

moto raises for a rule's target that is a function or a topic, so a rule is created without its targets there.
"""

from __future__ import annotations

from infra.local.template.intrinsics import Physical
from infra.local.template.making import Creator, Making, as_json


def _bus(making: Making) -> Physical:
    name = making.properties["Name"]
    making.client("events").create_event_bus(**making.without("Tags"))
    found = making.client("events").describe_event_bus(Name=name)["Arn"]
    return Physical(ref=name, attributes={"Arn": found, "Name": name})


def _rule(making: Making) -> Physical:
    name = making.name(making.properties.get("Name"), 64)
    given = making.without("Name", "Targets", "EventPattern")
    if "EventPattern" in making.properties:
        given["EventPattern"] = as_json(making.properties["EventPattern"])
    found = making.client("events").put_rule(Name=name, **given)["RuleArn"]
    return Physical(ref=name, attributes={"Arn": found})


def _archive(making: Making) -> Physical:
    name = making.name(making.properties.get("ArchiveName"), 48)
    given = making.without("ArchiveName", "SourceArn", "EventPattern")
    if "EventPattern" in making.properties:
        given["EventPattern"] = as_json(making.properties["EventPattern"])
    found = making.client("events").create_archive(
        ArchiveName=name, EventSourceArn=making.properties["SourceArn"], **given
    )
    return Physical(ref=name, attributes={"Arn": found["ArchiveArn"], "ArchiveName": name})


def _schedule_group(making: Making) -> Physical:
    name = making.name(making.properties.get("Name"), 64)
    found = making.client("scheduler").create_schedule_group(Name=name, **making.without("Name", "Tags"))
    return Physical(ref=name, attributes={"Arn": found["ScheduleGroupArn"]})


def _schedule(making: Making) -> Physical:
    name = making.name(making.properties.get("Name"), 64)
    found = making.client("scheduler").create_schedule(Name=name, **making.without("Name"))
    return Physical(ref=name, attributes={"Arn": found["ScheduleArn"]})


CREATORS: dict[str, Creator] = {
    "AWS::Events::EventBus": _bus,
    "AWS::Events::Rule": _rule,
    "AWS::Events::Archive": _archive,
    "AWS::Scheduler::ScheduleGroup": _schedule_group,
    "AWS::Scheduler::Schedule": _schedule,
}
