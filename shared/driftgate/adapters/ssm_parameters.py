"""SSM parameters of one region: AWS's public ones, which are only read, and our own.

An equal value written again is a new version and a new event, so a caller compares first. Must not decide that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from driftgate.adapters.aws_errors import aws_call, code_of
from driftgate.adapters.aws_session import AwsSession
from driftgate.domain.errors import ParameterExistsError
from driftgate.domain.jsonvalue import instant, integer
from driftgate.domain.observation import ParameterObservation

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

NAMES_PER_CALL = 10


class SsmParameters:
    def __init__(self, aws: AwsSession, region: str | None = None) -> None:
        self._aws = aws
        self._region = region

    def read(self, names: Sequence[str]) -> tuple[ParameterObservation, ...]:
        """Those that exist, in the order of the names."""
        asked = list(dict.fromkeys(names))
        found: dict[str, ParameterObservation] = {}
        for start in range(0, len(asked), NAMES_PER_CALL):
            with aws_call("ssm:GetParameters"):
                answer = self._client().get_parameters(Names=asked[start : start + NAMES_PER_CALL])
            found |= {entry["Name"]: _observed(entry) for entry in answer["Parameters"]}
        return tuple(found[name] for name in asked if name in found)

    def write(self, name: str, value: str, *, overwrite: bool = False) -> None:
        try:
            self._put(name, value, overwrite=overwrite)
        except ParameterExistsError:
            # our own write, repeated by the client because its answer was lost
            if [known.value for known in self.read([name])] != [value]:
                raise

    def _put(self, name: str, value: str, *, overwrite: bool) -> None:
        with aws_call("ssm:PutParameter", name):
            try:
                # `text`: with aws:ec2:image a bad value is accepted and dropped later
                self._client().put_parameter(
                    Name=name, Value=value, Type="String", DataType="text", Overwrite=overwrite
                )
            except ClientError as error:
                if code_of(error) != "ParameterAlreadyExists":
                    raise
                raise ParameterExistsError(
                    f"the parameter {name} is there already; overwriting was not asked"
                ) from error

    def _client(self) -> SSMClient:
        client: SSMClient = self._aws.client("ssm", region=self._region)
        return client


def _observed(entry: Mapping[str, Any]) -> ParameterObservation:
    return ParameterObservation(
        name=entry["Name"],
        value=entry["Value"],
        version=integer(entry.get("Version")),
        modified_at=instant(entry.get("LastModifiedDate")),
    )
