"""One process in place of queues and functions: what a laptop has instead of SQS and Lambda.

Nothing is sent anywhere. A look that goes on is taken again by whoever called, and everything that AWS alone could
tell is unknown, never empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from driftgate.domain.errors import AwsUnavailableError, InvariantError
from driftgate.domain.location import HOME, Location
from driftgate.domain.observation import ImageObservation
from driftgate.domain.seen_images import Key, SeenParameter
from driftgate.ports import CloseRequest, ParametersRead, WorkMessage

NOT_ASKED = "AWS was not asked: no region is set (AWS_REGION, or `region` in driftgate.yaml)"


class LocalQueue:
    """Takes messages and keeps none: a message is only a hint, and the caller looks again by itself."""

    def send(self, message: WorkMessage) -> None:
        """Nothing is lost by it."""


class LocalCloser:
    """There is nobody else to ask: whoever looks at the cluster closes what is overdue first."""

    def invoke(self, request: CloseRequest) -> None:
        """Nothing is lost by it."""


class UnaskedImages:
    """EC2 where nobody said which region."""

    def describe(self, ids: Sequence[str], at: Location = HOME) -> tuple[ImageObservation, ...]:
        """Raises AwsUnavailableError."""
        raise AwsUnavailableError(NOT_ASKED)


class UnaskedParameters:
    """SSM where nobody said which region."""

    def read(self, names: Sequence[str], at: Location = HOME) -> ParametersRead:
        """Raises AwsUnavailableError."""
        raise AwsUnavailableError(NOT_ASKED)

    def write(self, name: str, value: str, *, overwrite: bool = False) -> None:
        """Raises AwsUnavailableError."""
        raise AwsUnavailableError(NOT_ASKED)


class NoImageHistory:
    """Beside a ledger in a file nobody polls, so nothing was seen."""

    def load(self, keys: Sequence[Key]) -> Mapping[Key, SeenParameter]:
        """Nothing."""
        return {}

    def save(self, seen: SeenParameter) -> None:
        """Raises InvariantError: only the deployed poll writes history."""
        raise InvariantError("image parameters are polled by a deployment, which has a ledger in DynamoDB")
