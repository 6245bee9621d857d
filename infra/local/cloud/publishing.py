"""What an account has around driftgate: AWS's own parameters and images, which raise no event, and an alarm."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ssm.models import Parameter, ssm_backends

from infra.local.cloud.server import ACCOUNT, REGION


def publish_parameter(name: str, value: str, region: str = REGION) -> None:
    """A public parameter has this value from now on, in this region alone."""
    made: Any = Parameter
    versions = ssm_backends[ACCOUNT][region]._parameters[name]
    versions.append(
        made(
            account_id=ACCOUNT,
            name=name,
            value=value,
            parameter_type="String",
            description="",
            allowed_pattern=None,
            keyid=None,
            last_modified_date=datetime.now(UTC).timestamp(),
            version=len(versions) + 1,
            data_type="text",
        )
    )


def publish_image(ec2: Any, name: str, created: datetime) -> str:
    """A node image, by this client of EC2; gives its id."""
    image: str = ec2.register_image(Name=name, Architecture="x86_64")["ImageId"]
    ec2_backends[ACCOUNT][REGION].amis[image].creation_date = created
    return image


def create_alarm(cloudwatch: Any, name: str) -> None:
    """A metric alarm that somebody else watches his users by; it is OK."""
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Namespace="AWS/ApplicationELB",
        MetricName="HTTPCode_Target_5XX_Count",
        ComparisonOperator="GreaterThanThreshold",
        EvaluationPeriods=1,
        Threshold=5,
        Period=60,
        Statistic="Sum",
    )
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="Threshold not crossed")
