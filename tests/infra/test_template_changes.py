"""A template with one thing broken does not pass for whole: the same night by it is not as promised.

What a night asks of IAM and of patterns is also gone through one by one, without a night, in
test_template_permissions and test_template_rules.
"""

from __future__ import annotations

import pytest

from tests.infra.changing import changed, without, without_action
from tests.infra.template_night import night, template

pytestmark = pytest.mark.slow
ROLE, RULE, FUNCTION = "AWS::IAM::Role", "AWS::Events::Rule", "AWS::Lambda::Function"


def of_a_pattern(name, **fields):
    def change(properties):
        properties["EventPattern"] |= fields

    return lambda by: changed(by, RULE, change, name)


def of_a_variable(function, name):
    def change(properties):
        variables = properties["Environment"]["Variables"]
        variables[f"{name}_"] = variables.pop(name)

    return lambda by: changed(by, FUNCTION, change, function)


def of_a_payload(by):
    def change(properties):
        properties["Target"]["Input"] = properties["Target"]["Input"].replace("heartbeat", "beat")

    return changed(by, "AWS::Scheduler::Schedule", change, "Heartbeat")


def of_a_property(type_, where, **properties):
    return lambda by: changed(by, type_, lambda found: found.update(properties), where)


def of_the_trust(by):
    def change(properties):
        (statement,) = properties["AssumeRolePolicyDocument"]["Statement"]
        statement["Principal"] = {"Service": "events.amazonaws.com"}

    return changed(by, ROLE, change, "Schedules")


def of_an_action(function, action):
    return lambda by: changed(by, ROLE, without_action(action), function)


EARLY = {
    "the pattern of our parameters": of_a_pattern("parameters", source=["aws.ssm.public"]),
    "the target of our parameters": of_a_property(RULE, "parameters", Targets=[]),
    "a variable of evaluate_drift": of_a_variable("EvaluateDrift", "DRIFTGATE_QUEUE_URL"),
    "a variable of the worker": of_a_variable("Worker", "DRIFTGATE_TABLE"),
    "the heartbeat's payload": of_a_payload,
    "the worker's group in the cluster": of_a_property("AWS::EKS::AccessEntry", "Worker", KubernetesGroups=["viewers"]),
    "a handler's name": of_a_property(FUNCTION, "Watch", Handler="functions.watch_ami.handler.handler"),
    "the queue's mapping": of_a_property("AWS::Lambda::EventSourceMapping", "", Enabled=False),
    "the trust in the scheduler": of_the_trust,
    "what the worker may do with its queue": lambda by: changed(
        by, ROLE, without_action("sqs:DeleteMessage"), "Worker"
    ),
}
LATE = {
    "the pattern of a fired alarm": of_a_pattern("fired", detail={"alarmName": ["shop-4xx"]}),
    "the closer's group in the cluster": of_a_property("AWS::EKS::AccessEntry", "Closer", KubernetesGroups=["viewers"]),
    "the channel": lambda by: without(by, "AWS::Chatbot::SlackChannelConfiguration"),
}


@pytest.mark.parametrize("what", [*EARLY, *LATE])
def test_the_night_notices_a_change(what):
    broken = (EARLY | LATE)[what](template())

    assert not night(broken).is_as_promised
