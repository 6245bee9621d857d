"""How clients are made: once, late, with bounds; and renewed before a role's credentials end."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import NoCredentialsError

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.ssm_parameters import SsmParameters
from driftgate.domain.errors import AwsForbiddenError
from tests.fakes.aws_faults import AwsFaults
from tests.fakes.clock import FakeClock
from tests.fakes.ledgers import moto_session

ROLE = "arn:aws:iam::444455556666:role/alarm-reader"


@pytest.fixture
def clock():
    return FakeClock(datetime.now(UTC))


@pytest.fixture
def aws(clock):
    with moto_session(clock) as session:
        yield session


def test_client_is_made_once_per_service_region_and_role(aws):
    assert aws.client("ssm") is aws.client("ssm")
    assert aws.client("ssm") is aws.client("ssm", region="eu-central-1")
    assert aws.client("ssm") is not aws.client("ssm", region="us-east-1")
    assert aws.client("ssm") is not aws.client("ssm", role=ROLE)


def test_every_client_has_timeouts_and_bounded_retries(aws):
    config = aws.client("ssm").meta.config

    assert (config.connect_timeout, config.read_timeout) == (2, 5)
    assert config.retries == {"mode": "standard", "total_max_attempts": 3}


def test_client_without_retries_is_a_client_of_its_own(aws):
    config = aws.client("dynamodb", attempts=1).meta.config

    assert config.retries["total_max_attempts"] == 1
    assert aws.client("dynamodb") is not aws.client("dynamodb", attempts=1)


def test_client_of_a_role_is_renewed_five_minutes_before_its_credentials_end(aws, clock):
    """moto's credentials last an hour."""
    first = aws.client("ssm", role=ROLE)

    clock.advance(timedelta(minutes=54))
    assert aws.client("ssm", role=ROLE) is first

    clock.advance(timedelta(minutes=1, seconds=1))
    assert aws.client("ssm", role=ROLE) is not first


def test_role_is_assumed_under_the_name_of_driftgate(aws):
    asked = AwsFaults(aws.client("sts")).parameters

    aws.client("ssm", role=ROLE)

    assert asked == [{"RoleArn": ROLE, "RoleSessionName": "driftgate"}]


def test_missing_credentials_are_told_with_what_to_do(aws):
    AwsFaults(aws.client("ssm"), before=[NoCredentialsError()])

    with pytest.raises(AwsForbiddenError, match="Set AWS_PROFILE"):
        SsmParameters(aws).read(["/a"])


def test_missing_region_is_told_with_what_to_do(monkeypatch, clock):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")

    with pytest.raises(AwsForbiddenError, match="AWS_REGION"):
        AwsSession(clock).client("ssm")


def test_adapters_load_nothing_that_makes_clients_before_they_are_used():
    adapters = "aws_session cloudwatch_alarms ec2_images ledger_dynamodb sns_publisher sqs_work_queue ssm_parameters"
    imports = "; ".join(f"import driftgate.adapters.{name}" for name in adapters.split())
    program = f"import sys; sys.path.insert(0, 'shared'); {imports}; print('botocore.session' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
