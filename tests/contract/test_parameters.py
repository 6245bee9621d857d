"""What every store of parameters does; then how Systems Manager is asked."""

from __future__ import annotations

import pytest

from driftgate.adapters.ssm_parameters import SsmParameters
from driftgate.domain.errors import AwsForbiddenError, AwsUnavailableError, ParameterExistsError
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
    return [(parameter.name, parameter.value) for parameter in read]


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
    assert parameters.read([]) == ()


def test_parameter_is_overwritten_where_the_caller_decides_so(parameters):
    parameters.write("/a", "old")
    parameters.write("/a", "new", overwrite=True)

    assert values(parameters.read(["/a"])) == [("/a", "new")]


def test_parameter_is_not_overwritten_where_the_caller_does_not_say_so(parameters):
    parameters.write("/a", "old")

    with pytest.raises(ParameterExistsError, match="/a"):
        parameters.write("/a", "new")

    assert values(parameters.read(["/a"])) == [("/a", "old")]


# --- Systems Manager -------------------------------------------------------------------------------


def test_version_and_time_are_told(ssm):
    ssm.write("/a", "old")
    ssm.write("/a", "new", overwrite=True)

    (read,) = ssm.read(["/a"])

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
