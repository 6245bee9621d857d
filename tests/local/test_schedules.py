"""Schedules of a template: when they fire, with what, and by whose leave."""

from __future__ import annotations

import pytest

from driftgate.events import Heartbeat, parse_event
from infra.local.template.document import TemplateError
from tests.local.stand import NOW, QUEUE, allow, function, role, standing

GROUP = "arn:aws:scheduler:eu-central-1:123456789012:schedule-group/own"
LOOK = {"Fn::GetAtt": ["Look", "Arn"]}


def resources(schedule=None, target=None, may=("lambda:InvokeFunction",), source=GROUP):
    properties = {
        "Name": "heartbeat",
        "GroupName": "own",
        "ScheduleExpression": "rate(2 minutes)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {
            "Arn": LOOK,
            "RoleArn": {"Fn::GetAtt": ["Clock", "Arn"]},
            "Input": '{"driftgate": "heartbeat", "scheduledAt": "<aws.scheduler.scheduled-time>"}',
        }
        | (target or {}),
    }
    conditions = {"ArnEquals": {"aws:SourceArn": source}, "StringEquals": {"aws:SourceAccount": "123456789012"}}
    return {
        "Role": role(),
        "Look": function("look"),
        "Dead": QUEUE,
        "Clock": role(*(allow(action) for action in may), service="scheduler", **conditions),
        "Group": {"Type": "AWS::Scheduler::ScheduleGroup", "Properties": {"Name": "own"}},
        "Beat": {
            "Type": "AWS::Scheduler::Schedule",
            "DependsOn": "Group",
            "Properties": properties | (schedule or {}),
        },
    }


def test_a_rate_fires_at_its_interval_with_the_time_it_stands_for():
    with standing(resources()) as stand:
        stand.router.start()
        stand.advance(299)

        beats = [parse_event(event) for event in stand.events]
        assert [beat.scheduled_at.minute for beat in beats if isinstance(beat, Heartbeat)] == [12, 14]
        assert stand.functions.times == [120, 240]
        assert stand.router.troubles() == []


def test_a_schedule_can_be_fired_by_hand():
    with standing(resources()) as stand:
        stand.router.scheduler.fire("heartbeat")
        stand.advance()

        assert parse_event(stand.events[0]) == Heartbeat(scheduled_at=NOW)


def test_a_schedule_that_is_switched_off_does_not_fire():
    with standing(resources({"State": "DISABLED"})) as stand:
        stand.router.start()
        stand.advance(600)

        assert stand.events == []


def test_a_role_that_may_not_invoke_leaves_the_payload_in_the_dead_letter_queue():
    dead = {"DeadLetterConfig": {"Arn": {"Fn::GetAtt": ["Dead", "Arn"]}}}
    with standing(resources(target=dead, may=("sqs:SendMessage",))) as stand:
        stand.router.scheduler.fire("heartbeat")
        stand.advance()

        assert stand.events == []
        assert [body["driftgate"] for body in stand.bodies("Dead")] == ["heartbeat"]
        assert "may not lambda:InvokeFunction" in stand.router.troubles()[0]


def test_a_role_that_trusts_another_group_is_not_taken():
    with standing(resources(source=f"{GROUP}-other")) as stand:
        stand.router.scheduler.fire("heartbeat")
        stand.advance()

        assert stand.events == []
        assert "scheduler.amazonaws.com may not sts:AssumeRole" in stand.router.scheduler.lost[0]


@pytest.mark.parametrize(
    ("schedule", "target"),
    [
        ({"ScheduleExpression": "cron(0 2 * * ? *)"}, {}),
        ({"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 5}}, {}),
        ({}, {"Arn": {"Fn::GetAtt": ["Dead", "Arn"]}}),
        ({}, {"EcsParameters": {"TaskDefinitionArn": "arn:aws:ecs:eu-central-1:123456789012:task-definition/a:1"}}),
    ],
)
def test_a_schedule_that_cannot_be_run_here_is_refused_as_it_is_read(schedule, target):
    with pytest.raises(TemplateError, match="Beat"), standing(resources(schedule, target)):
        pass
