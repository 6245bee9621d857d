"""Everything driftgate raises on purpose.

    DriftgateError
    ├── TransientError                 try again later; nothing is wrong with the input
    │   ├── ClusterUnavailableError    the API server did not answer, or answered 429 or 5xx
    │   ├── AnswerLostError            a write was sent and its answer never came: it may or may not have happened
    │   ├── NodePoolChangedError       a precondition of a patch failed: read again, decide again
    │   ├── WatchExpiredError          the resourceVersion is too old (410): list again
    │   ├── LedgerUnavailableError     the ledger did not answer
    │   ├── LedgerConflictError        somebody else wrote first: load again, decide again
    │   ├── LeaseHeldError             another worker holds the cluster
    │   ├── AwsUnavailableError        an AWS call failed or was throttled after retries
    │   └── ChatUnavailableError       the chat did not take a message, but may later
    ├── PermanentError                 a person must change something
    │   ├── InvalidInputError          a file, an option or a value, with its place and the remedy
    │   │   ├── InvalidSettingsError   environment or driftgate.yaml
    │   │   ├── CronError              a schedule that Karpenter's cron cannot read: field, position, suggestion
    │   │   ├── BudgetError            a budget entry that Karpenter cannot use: field, position, suggestion
    │   │   └── InvalidEventError      an event without what its type promises
    │   ├── NodePoolNotFoundError      no such NodePool
    │   ├── KarpenterMissingError      the cluster does not serve Karpenter's API
    │   ├── PatchRejectedError         the API server refused the content of a patch
    │   ├── ClusterUnauthorizedError   401
    │   ├── ClusterForbiddenError      403, with verb and resource
    │   ├── AwsForbiddenError          an AWS call was denied
    │   ├── ParameterExistsError       the parameter is there already
    │   ├── ChatRefusedError           the chat refused a message, with its own code
    │   └── LedgerCorruptError         the ledger cannot be read as what it should be
    └── InvariantError                 a bug: a rule of ours would have been broken, so nothing was written

Facts are attributes; nobody parses the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


class DriftgateError(Exception):
    """Base of all errors raised on purpose."""


class TransientError(DriftgateError):
    """Trying again later may help."""


class ClusterUnavailableError(TransientError):
    """The API server did not answer in time, or answered 429 or 5xx.

    `status` is the HTTP status, 0 where no answer came; `retry_after_s` is the server's own wish.
    """

    def __init__(self, message: str, *, status: int = 0, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class AnswerLostError(TransientError):
    """A write was sent and its answer never came: it may have happened, or may still happen."""


class NodePoolChangedError(TransientError):
    """A `test` of the patch failed (the server answers an opaque 422), or the server said 409."""


class WatchExpiredError(TransientError):
    """The server no longer has the resourceVersion asked for (410 Gone): list again."""


class LedgerUnavailableError(TransientError):
    """The ledger did not answer."""


class LedgerConflictError(TransientError):
    """A condition of a ledger commit did not hold, so nothing of it was written."""


class LeaseHeldError(TransientError):
    """Another worker holds the cluster's lease."""

    def __init__(self, cluster: str, holder: str, since: datetime) -> None:
        super().__init__(f"{cluster} is held by {holder} since {since.isoformat()}")
        self.cluster = cluster
        self.holder = holder
        self.since = since


class AwsUnavailableError(TransientError):
    """An AWS call failed or was throttled after the client's own retries."""


class ChatUnavailableError(TransientError):
    """The chat did not answer, and the message may stand there all the same; or it cannot take one now.

    `retry_after_s` is its own wish, None where it has none.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PermanentError(DriftgateError):
    """Trying again does not help: a person must change something."""


class InvalidInputError(PermanentError):
    """Something given by a person is wrong; says where and what to do."""

    def __init__(self, message: str, *, place: str = "", remedy: str = "") -> None:
        parts = [f"{place}: {message}" if place else message]
        if remedy:
            parts.append(remedy)
        super().__init__(" · ".join(parts))
        self.message = message
        self.place = place
        self.remedy = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that a person must put right. `place` is a file with line and column, or the environment;
    `path` is the key or the variable."""

    place: str
    path: str
    message: str
    remedy: str

    def __str__(self) -> str:
        subject = ": ".join(part for part in (self.place, self.path) if part)
        return f"{subject}: {self.message} · {self.remedy}"


class InvalidSettingsError(InvalidInputError):
    """Environment variables or driftgate.yaml are wrong; all `problems` in one error, one a line."""

    def __init__(self, place: str, problems: Sequence[Problem]) -> None:
        lines = "".join(f"\n  {problem}" for problem in problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(f"{count}{lines}", place=place)
        self.problems = tuple(problems)


class CronError(InvalidInputError):
    """A schedule cannot be read. `field` is the part of it ("" for the whole), `position` counts from 0.

    `suggestion` is what to write in place of what stands at the position, "" where only a person can say.
    """

    def __init__(self, message: str, *, field: str = "", position: int = 0, suggestion: str = "") -> None:
        place = f"{field or 'schedule'}, character {position + 1}"
        remedy = f"Write {suggestion!r} instead." if suggestion else ""
        super().__init__(message, place=place, remedy=remedy)
        self.field = field
        self.position = position
        self.suggestion = suggestion


class BudgetError(InvalidInputError):
    """Karpenter cannot use a budget entry, and then allows 0 for every reason.

    `field` is one of the entry's, `position` counts from 0 within its value.
    """

    def __init__(self, message: str, *, field: str, position: int = 0, suggestion: str = "") -> None:
        remedy = f"Write {suggestion!r} instead." if suggestion else ""
        super().__init__(message, place=field, remedy=remedy)
        self.field = field
        self.position = position
        self.suggestion = suggestion


class InvalidEventError(InvalidInputError):
    """An event lacks what its type promises."""


class NodePoolNotFoundError(PermanentError):
    """There is no such NodePool in the cluster."""


class KarpenterMissingError(PermanentError):
    """The cluster does not serve Karpenter's API in the version that driftgate reads."""


class PatchRejectedError(PermanentError):
    """The API server refused what the patch would have stored, with its own words."""


class ClusterUnauthorizedError(PermanentError):
    """The API server does not know who we are (401)."""


class ClusterForbiddenError(PermanentError):
    """The API server knows us and says no (403)."""

    def __init__(self, message: str, *, verb: str = "", resource: str = "") -> None:
        super().__init__(message)
        self.verb = verb
        self.resource = resource


class AwsForbiddenError(PermanentError):
    """An AWS call was denied. `action` is the IAM action that is missing, "" where it is not about one."""

    def __init__(self, message: str, *, action: str = "") -> None:
        super().__init__(message)
        self.action = action


class ParameterExistsError(PermanentError):
    """The parameter is there already, and overwriting it was not asked for."""


class ChatRefusedError(PermanentError):
    """The chat refused a message; nothing was posted. `code` is its own word for why."""

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class LedgerCorruptError(PermanentError):
    """The ledger holds something that cannot be read; nothing was overwritten."""


class InvariantError(DriftgateError):
    """A bug of ours was caught before it could write."""
