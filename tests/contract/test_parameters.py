"""What every store of parameters does; then how Systems Manager is asked."""

from __future__ import annotations

import io

import pytest
from botocore.awsrequest import AWSResponse, HTTPHeaders
from urllib3 import HTTPResponse

from driftgate.adapters.ssm_parameters import SsmParameters
from driftgate.domain.errors import (
    AwsForbiddenError,
    AwsUnavailableError,
    InvalidInputError,
    ParameterExistsError,
)
from driftgate.domain.location import Location
from driftgate.ports import ParametersRead
from tests.fakes.aws_faults import AwsFaults, refusal, timeout
from tests.fakes.ledgers import moto_session
from tests.fakes.pipeline import FakeParameters


@pytest.fixture
def aws():
    with moto_session() as session:
        yield session


@pytest.fixture(params=["fake", "ssm"])
def parameters(request):
    return FakeParameters() if request.param == "fake" else SsmParameters(request.getfixturevalue("aws"))


@pytest.fixture
def ssm(aws):
    return SsmParameters(aws)


def values(read):
    return [(parameter.name, parameter.value) for parameter in read.found]


def test_written_parameter_is_read_back(parameters):
    parameters.write("/a", "ami-0bbb00000000000b2")

    assert values(parameters.read(["/a"])) == [("/a", "ami-0bbb00000000000b2")]


def test_parameter_that_does_not_exist_is_left_out(parameters):
    parameters.write("/a", "1")

    assert values(parameters.read(["/none", "/a"])) == [("/a", "1")]


def test_more_parameters_than_one_call_takes_are_read_in_the_order_of_their_names(parameters):
    names = [f"/p/{number:02}" for number in reversed(range(23))]
    for name in names:
        parameters.write(name, f"value of {name}")

    assert values(parameters.read(names)) == [(name, f"value of {name}") for name in names]


def test_no_names_are_no_parameters(parameters):
    assert parameters.read([]) == ParametersRead()


def test_parameter_is_overwritten_where_the_caller_decides_so(parameters):
    parameters.write("/a", "old")
    parameters.write("/a", "new", overwrite=True)

    assert values(parameters.read(["/a"])) == [("/a", "new")]


def test_parameter_is_not_overwritten_where_the_caller_does_not_say_so(parameters):
    parameters.write("/a", "old")

    with pytest.raises(ParameterExistsError, match="/a"):
        parameters.write("/a", "new")

    assert values(parameters.read(["/a"])) == [("/a", "old")]


def test_each_name_is_asked_once_however_often_it_is_named(parameters):
    parameters.write("/a", "1")

    assert values(parameters.read(["/a", "/a"])) == [("/a", "1")]


def test_a_region_has_parameters_of_its_own(parameters):
    parameters.write("/a", "1")

    assert parameters.read(["/a"], Location("us-east-1")) == ParametersRead()


# --- Systems Manager -------------------------------------------------------------------------------


def test_version_and_time_are_told(ssm):
    ssm.write("/a", "old")
    ssm.write("/a", "new", overwrite=True)

    (read,) = ssm.read(["/a"]).found

    assert read.version == 2
    assert read.modified_at is not None
    assert read.modified_at.tzinfo is not None


def test_names_are_asked_for_in_tens_and_each_once(aws, ssm):
    faults = AwsFaults(aws.client("ssm"))

    ssm.read([f"/p/{number}" for number in range(11)] * 2)

    assert [len(asked["Names"]) for asked in faults.parameters] == [10, 1]


def test_value_is_plain_text_that_aws_does_not_judge(aws, ssm):
    faults = AwsFaults(aws.client("ssm"))

    ssm.write("/a", "1")

    assert faults.parameters == [{"Name": "/a", "Value": "1", "Type": "String", "DataType": "text", "Overwrite": False}]


def test_own_write_whose_answer_was_lost_is_not_taken_for_another_s(aws, ssm):
    ssm.write("/a", "1")

    ssm.write("/a", "1")

    assert values(ssm.read(["/a"])) == [("/a", "1")]


@pytest.mark.parametrize(
    ("act", "action"),
    [(lambda ssm: ssm.read(["/a"]), "ssm:GetParameters"), (lambda ssm: ssm.write("/a", "1"), "ssm:PutParameter")],
)
def test_denied_call_names_the_action(aws, ssm, act, action):
    AwsFaults(aws.client("ssm"), before=[refusal("AccessDeniedException")])

    with pytest.raises(AwsForbiddenError, match=f"Allow {action}") as caught:
        act(ssm)

    assert caught.value.action == action


@pytest.mark.parametrize("act", [lambda ssm: ssm.read(["/a"]), lambda ssm: ssm.write("/a", "1")])
@pytest.mark.parametrize("fault", [refusal("ThrottlingException"), refusal("InternalServerError", 500), timeout()])
def test_call_that_fails_after_retries_is_unavailable(aws, ssm, act, fault):
    AwsFaults(aws.client("ssm"), after=[fault])

    with pytest.raises(AwsUnavailableError, match="ssm:"):
        act(ssm)


def test_reserved_name_is_refused_in_the_words_of_aws(ssm):
    with pytest.raises(AwsForbiddenError, match="reserved parameter name: /aws/mine"):
        ssm.write("/aws/mine", "1")


ARN = "arn:aws:ssm:eu-central-1:123456789012:parameter/golden/image_id"


def test_an_arn_is_answered_under_the_arn(ssm):
    ssm.write("/golden/image_id", "ami-1")

    assert values(ssm.read([ARN, "/none"])) == [(ARN, "ami-1")]


def test_a_version_and_a_label_choose_what_is_answered(aws, ssm):
    ssm.write("/a", "old")
    ssm.write("/a", "new", overwrite=True)
    aws.client("ssm").label_parameter_version(Name="/a", ParameterVersion=1, Labels=["stable"])

    assert values(ssm.read(["/a:1"])) == [("/a:1", "old")]
    assert values(ssm.read(["/a:stable", "/a:9"])) == [("/a:stable", "old")]


class SsmAnswers:
    """Systems Manager that says exactly this of a call, by its names; what is not in it goes on to moto."""

    def __init__(self, client, answers):
        self.asked = []
        self._answers = answers
        client.meta.events.register_first("before-call.ssm.GetParameters", self._answer)
        client.meta.events.register("before-parameter-build.ssm.GetParameters", self._ask)

    def _ask(self, params, **_):
        self.asked.append(list(params["Names"]))

    def _answer(self, **_):
        refused = [name for name in self.asked[-1] if name in self._answers]
        if not refused:
            return None
        answer = self._answers[refused[0]]
        if isinstance(answer, Exception):
            raise answer
        return AWSResponse("", 200, HTTPHeaders(), None), answer


def entry(name, value, **more):
    return {"Name": name, "Value": value, "Version": 1} | more


def test_a_shared_parameter_is_answered_whatever_its_name_is_called(aws, ssm):
    """AWS answers with another account's parameter under its ARN, and with a selector apart from the name."""
    found = [entry("/a", "current"), entry("/a", "third", Selector=":3"), entry(ARN, "ami-1", ARN=ARN)]
    SsmAnswers(aws.client("ssm"), {"/a": {"Parameters": found, "InvalidParameters": []}})

    assert values(ssm.read(["/a:3", "/a", ARN])) == [("/a:3", "third"), ("/a", "current"), (ARN, "ami-1")]


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException"])
def test_a_name_that_is_refused_spoils_no_other_and_says_why(aws, ssm, code):
    ssm.write("/a", "1")
    SsmAnswers(aws.client("ssm"), {"/bad": refusal(code)})

    read = ssm.read(["/a", "/bad", "/none"])

    assert values(read) == [("/a", "1")]
    assert list(read.refused) == ["/bad"]
    assert "said AWS" in read.refused["/bad"]


def test_only_the_names_of_a_refused_call_are_asked_one_by_one(aws, ssm):
    answers = SsmAnswers(aws.client("ssm"), {"/p/3": refusal("AccessDeniedException")})

    ssm.read([f"/p/{number}" for number in range(12)])

    assert [len(names) for names in answers.asked] == [10, *([1] * 10), 2]


def test_where_no_name_may_be_read_the_reading_is_denied(aws, ssm):
    SsmAnswers(aws.client("ssm"), {"/a": refusal("AccessDeniedException"), "/b": refusal("AccessDeniedException")})

    with pytest.raises(AwsForbiddenError, match="Allow ssm:GetParameters"):
        ssm.read(["/a", "/b"])


def test_a_name_that_cannot_be_written_is_bad_input(aws, ssm):
    AwsFaults(aws.client("ssm"), before=[refusal("HierarchyLevelLimitExceededException")])

    with pytest.raises(InvalidInputError, match="takes no such name"):
        ssm.write("/a/b", "1")


def test_another_region_is_asked_there_and_a_role_is_taken(aws, ssm):
    role = "arn:aws:iam::444455556666:role/driftgate"
    elsewhere = aws.client("ssm", region="us-east-1", role=role)
    elsewhere.put_parameter(Name="/a", Value="theirs", Type="String")

    assert values(ssm.read(["/a"], Location("us-east-1", role))) == [("/a", "theirs")]
    assert ssm.read(["/a"]).found == ()


class Throttled:
    """The next answers from AWS are throttling, as many as said; requests are counted."""

    def __init__(self, client, times):
        self.left, self.requests = times, 0
        client.meta.events.register_first("before-send.ssm", self._send)

    def _send(self, request, **_):
        self.requests += 1
        self.left -= 1
        if self.left < 0:
            return None
        body = io.BytesIO(b'{"__type": "ThrottlingException", "message": "Rate exceeded"}')
        return AWSResponse(request.url, 400, HTTPHeaders(), HTTPResponse(body, preload_content=False))


@pytest.mark.slow
def test_throttling_is_waited_out(aws, ssm):
    ssm.write("/a", "1")
    client = Throttled(aws.client("ssm"), 2)

    assert values(ssm.read(["/a"])) == [("/a", "1")]
    assert client.requests == 3


@pytest.mark.slow
def test_throttling_is_not_waited_out_for_ever(aws, ssm):
    client = Throttled(aws.client("ssm"), 9)

    with pytest.raises(AwsUnavailableError, match="was throttled"):
        ssm.read(["/a"])

    assert client.requests == 3
