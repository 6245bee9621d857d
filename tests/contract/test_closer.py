"""What every closer does; then how Lambda is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse, HTTPHeaders

from driftgate.adapters.lambda_closer import LambdaCloser
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError
from driftgate.events import parse_event
from driftgate.ports import CloseRequest
from tests.fakes.aws_faults import AwsFaults, refusal, timeout
from tests.fakes.ledgers import moto_session
from tests.fakes.pipeline import FakeCloser

FUNCTION = "arn:aws:lambda:eu-central-1:111122223333:function:driftgate-close-budgets"
REQUEST = CloseRequest(cluster="größe", cause="alarm", ref="demo-5xx", pool="app")


class LambdaApi:
    """Lambda takes what it is given, with this status. (moto would need Docker.)"""

    def __init__(self, client: Any, status: int = 202) -> None:
        self.invocations: list[dict[str, Any]] = []
        self._status = status
        client.meta.events.register("before-parameter-build.lambda.Invoke", self._ask)
        client.meta.events.register_first("before-call.lambda.Invoke", self._answer)

    def _ask(self, params: dict[str, Any], **_: object) -> None:
        self.invocations.append(dict(params))

    def _answer(self, **_: object) -> tuple[AWSResponse, dict[str, Any]]:
        return AWSResponse("", 200, HTTPHeaders(), None), {"StatusCode": self._status}


@pytest.fixture
def aws():
    with moto_session() as session:
        yield session


@pytest.fixture(params=["fake", "lambda"])
def closer(request):
    """The closer, and a way to see what was asked of it."""
    if request.param == "fake":
        fake = FakeCloser()
        return fake, lambda: fake.asked
    aws = request.getfixturevalue("aws")
    api = LambdaApi(aws.client("lambda"))
    return LambdaCloser(aws, FUNCTION), lambda: [parse_event(json.loads(i["Payload"])) for i in api.invocations]


def test_request_arrives_as_it_was_given(closer):
    invoker, asked = closer

    invoker.invoke(REQUEST)

    assert asked() == [REQUEST]


def test_request_is_sent_as_often_as_it_is_asked_for(closer):
    invoker, asked = closer

    invoker.invoke(REQUEST)
    invoker.invoke(REQUEST)

    assert asked() == [REQUEST, REQUEST]


def test_function_is_invoked_without_waiting_for_it(aws):
    api = LambdaApi(aws.client("lambda"))

    LambdaCloser(aws, FUNCTION).invoke(REQUEST)

    assert [(i["FunctionName"], i["InvocationType"]) for i in api.invocations] == [(FUNCTION, "Event")]


def test_invocation_that_lambda_does_not_take_is_not_called_done(aws):
    LambdaApi(aws.client("lambda"), status=200)

    with pytest.raises(AwsUnavailableError, match="Lambda answered 200"):
        LambdaCloser(aws, FUNCTION).invoke(REQUEST)


def test_denied_call_names_action_and_function(aws):
    AwsFaults(aws.client("lambda"), before=[refusal("AccessDeniedException", 403)])

    with pytest.raises(AwsForbiddenError, match=f"lambda:InvokeFunction on {FUNCTION}"):
        LambdaCloser(aws, FUNCTION).invoke(REQUEST)


@pytest.mark.parametrize(
    "fault", [refusal("TooManyRequestsException", 429), refusal("ServiceException", 500), timeout()]
)
def test_call_that_fails_after_retries_is_unavailable(aws, fault):
    AwsFaults(aws.client("lambda"), before=[fault] * 3)

    with pytest.raises(AwsUnavailableError, match="lambda:InvokeFunction"):
        LambdaCloser(aws, FUNCTION).invoke(REQUEST)
