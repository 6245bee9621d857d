"""SSM parameters: AWS's public ones and others' own, which are only read in any region, and ours, at home.

An equal value written again is a new version and a new event, so a caller compares first. Must not decide that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from driftgate.adapters.aws_errors import aws_call, code_of
from driftgate.adapters.aws_session import AwsSession
from driftgate.domain.errors import AwsForbiddenError, InvalidInputError, ParameterExistsError
from driftgate.domain.jsonvalue import instant, integer
from driftgate.domain.location import HOME, Location
from driftgate.domain.observation import ParameterObservation
from driftgate.ports import ParametersRead

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

NAMES_PER_CALL = 10
IMPOSSIBLE = frozenset({"ValidationException", "HierarchyLevelLimitExceededException"})
"""What AWS says of a name that no parameter can have."""


class SsmParameters:
    def __init__(self, aws: AwsSession, region: str | None = None) -> None:
        self._aws = aws
        self._region = region

    def read(self, names: Sequence[str], at: Location = HOME) -> ParametersRead:
        asked = list(dict.fromkeys(names))
        reading = _Reading()
        for start in range(0, len(asked), NAMES_PER_CALL):
            reading.ask(self._client(at), asked[start : start + NAMES_PER_CALL])
        if reading.denied is not None and not reading.was_answered:
            raise reading.denied
        found = tuple(reading.found[name] for name in asked if name in reading.found)
        return ParametersRead(found=found, refused=reading.refused)

    def write(self, name: str, value: str, *, overwrite: bool = False) -> None:
        try:
            self._put(name, value, overwrite=overwrite)
        except ParameterExistsError:
            # our own write, repeated by the client because its answer was lost
            if [known.value for known in self.read([name]).found] != [value]:
                raise

    def _put(self, name: str, value: str, *, overwrite: bool) -> None:
        with aws_call("ssm:PutParameter", name):
            try:
                # `text`: with aws:ec2:image a bad value is accepted and dropped later
                self._client(HOME).put_parameter(
                    Name=name, Value=value, Type="String", DataType="text", Overwrite=overwrite
                )
            except ClientError as error:
                if code_of(error) == "ParameterAlreadyExists":
                    raise ParameterExistsError(
                        f"the parameter {name} is there already; overwriting was not asked"
                    ) from error
                if code_of(error) in IMPOSSIBLE:
                    raise InvalidInputError(
                        f"ssm:PutParameter takes no such name: {_said(error)}", place=name
                    ) from error
                raise

    def _client(self, at: Location) -> SSMClient:
        client: SSMClient = self._aws.client("ssm", region=at.region or self._region, role=at.role or None)
        return client


@dataclass(slots=True)
class _Reading:
    """What one reading has come to so far.

    AWS refuses a whole call for one name that is denied or cannot be one, so its names are then asked one by one.
    """

    found: dict[str, ParameterObservation] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    denied: AwsForbiddenError | None = None
    was_answered: bool = False

    def ask(self, client: SSMClient, names: Sequence[str]) -> None:
        try:
            answer = _get(client, names)
        except (AwsForbiddenError, InvalidInputError) as error:
            if not isinstance(error.__cause__, ClientError):
                raise
            self._refuse(client, names, error)
        else:
            self.was_answered = True
            self.found |= {name: _observed(name, entry) for name in names if (entry := _entry_of(name, answer))}

    def _refuse(self, client: SSMClient, names: Sequence[str], error: AwsForbiddenError | InvalidInputError) -> None:
        if len(names) > 1:
            for name in names:
                self.ask(client, [name])
            return
        self.refused[names[0]] = str(error)
        if isinstance(error, AwsForbiddenError):
            self.denied = self.denied or error
        else:
            self.was_answered = True


def _get(client: SSMClient, names: Sequence[str]) -> Mapping[str, Any]:
    """Raises InvalidInputError where AWS says that no parameter can have one of these names."""
    with aws_call("ssm:GetParameters", names[0] if len(names) == 1 else ""):
        try:
            return client.get_parameters(Names=names)
        except ClientError as error:
            if code_of(error) not in IMPOSSIBLE:
                raise
            raise InvalidInputError(f"ssm:GetParameters takes no such name: {_said(error)}", place=names[0]) from error


def _said(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message", ""))


def _entry_of(asked: str, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The parameter in the answer that this name or ARN asked for; a version or label may stand at its end."""
    if asked in answer.get("InvalidParameters", ()):
        return None
    own_colons = 5 if asked.startswith("arn:") else 0
    parts = asked.split(":")
    bare, selector = ":".join(parts[: own_colons + 1]), ":".join(parts[own_colons + 1 :])
    named = [entry for entry in answer["Parameters"] if _is_called(entry, bare)]
    exact = [entry for entry in named if (entry.get("Selector") or "").lstrip(":") == selector]
    return next(iter(exact or named), None)


def _is_called(entry: Mapping[str, Any], bare: str) -> bool:
    """An ARN counts also by the name at its end: AWS may spell the account in it in another way."""
    in_arn = bare.partition(":parameter/")[2]
    return bare in (entry["Name"], entry.get("ARN")) or in_arn == entry["Name"].removeprefix("/")


def _observed(name: str, entry: Mapping[str, Any]) -> ParameterObservation:
    return ParameterObservation(
        name=name,
        value=entry["Value"],
        version=integer(entry.get("Version")),
        modified_at=instant(entry.get("LastModifiedDate")),
    )
