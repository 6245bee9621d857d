"""What goes over the wire to CloudFormation, and that its address, which is a secret, shows nowhere."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from driftgate.adapters.cloudformation_answers import CloudFormationAnswers
from driftgate.domain.errors import AwsUnavailableError, InvalidEventError
from driftgate.events import stack_request_of
from tests.fakes.canned_server import CannedServer, Reply
from tests.functions.conftest import event

OK = Reply(content_type="application/xml")


def answered(replies, problem="", **fields):
    """What the server was asked, the last time."""
    with CannedServer({"/answer": replies}) as server:
        request = replace(stack_request_of(event("cloudformation_delete")), answer_to=f"{server.url}/answer?signed=x")
        CloudFormationAnswers().answer(replace(request, **fields), problem)
        return server.asked[-1], len(server.asked)


def test_an_answer_is_one_put_with_everything_that_cloudformation_compares():
    asked, count = answered([OK])

    assert (asked.method, asked.query, count) == ("PUT", {"signed": "x"}, 1)
    assert asked.headers["content-type"] == ""
    assert json.loads(asked.body) == {
        "Status": "SUCCESS",
        "Reason": "Done.",
        "PhysicalResourceId": "driftgate-fleet",
        "StackId": "arn:aws:cloudformation:eu-central-1:111122223333:stack/driftgate/0f4d8c10",
        "RequestId": "5f2c9f0e-0000-4000-8000-000000000009",
        "LogicalResourceId": "FleetClosingGates0C1B2A3D",
    }


def test_what_is_not_done_is_a_failure_with_its_reason():
    asked, _ = answered([OK], "Still open: app")

    body = json.loads(asked.body)
    assert (body["Status"], body["Reason"]) == ("FAILED", "Still open: app")


def test_a_long_reason_is_cut_to_what_cloudformation_takes():
    asked, _ = answered([OK], "ö" * 5000)

    assert len(asked.body) < 4096
    assert json.loads(asked.body)["Reason"] == "ö" * 500


def test_the_resource_has_one_name_for_ever():
    asked, _ = answered([OK], physical_id="")

    assert json.loads(asked.body)["PhysicalResourceId"] == "driftgate-fleet"


def test_a_server_that_is_busy_is_asked_again():
    _, count = answered([Reply(status=503), OK])

    assert count == 2


@pytest.mark.parametrize("reply", [Reply(status=403, body=b"expired"), "drop"])
def test_an_answer_that_does_not_arrive_is_told_without_the_address(reply):
    with pytest.raises(AwsUnavailableError) as told:
        answered([reply])

    assert "signed" not in str(told.value)
    assert told.value.__cause__ is None


def test_a_request_without_an_address_cannot_be_answered():
    broken = event("cloudformation_delete")
    del broken["ResponseURL"]

    with pytest.raises(InvalidEventError, match="ResponseURL"):
        stack_request_of(broken)
