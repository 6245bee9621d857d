"""Runs reads and keeps what went wrong, so that one that fails hides no other and none is taken for empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from driftgate.domain.errors import (
    AwsForbiddenError,
    AwsUnavailableError,
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    ClusterUnavailableError,
    LedgerCorruptError,
    LedgerUnavailableError,
)
from driftgate.domain.observation import ReadError

T = TypeVar("T")


class Reader:
    """`errors` is what could not be read so far."""

    def __init__(self) -> None:
        self.errors: list[ReadError] = []

    def read(self, resource: str, read: Callable[[], T], instead: T) -> T:
        """What `read` gives; `instead` where it cannot."""
        try:
            return read()
        except ClusterUnauthorizedError as error:
            self._note(resource, 401, error)
        except (ClusterForbiddenError, AwsForbiddenError) as error:
            self._note(resource, 403, error)
        except (ClusterUnavailableError, AwsUnavailableError, LedgerUnavailableError, LedgerCorruptError) as error:
            self._note(resource, 0, error)
        return instead

    def _note(self, resource: str, status: int, error: Exception) -> None:
        self.errors.append(ReadError(resource=resource, status=status, message=str(error)))
