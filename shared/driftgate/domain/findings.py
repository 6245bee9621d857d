"""What is said about a pool beside its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from driftgate.domain.reasons import REASONS, ReasonCode


class Severity(StrEnum):
    """How much a finding matters. `error` makes commands exit with 1."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth knowing. `entries` are indexes into the budget list; `remedy` says what to do."""

    code: ReasonCode
    severity: Severity
    entries: tuple[int, ...] = ()
    message: str
    remedy: str = ""

    def to_object(self) -> dict[str, object]:
        return {
            "code": str(self.code),
            "severity": str(self.severity),
            "entries": list(self.entries),
            "message": self.message,
            "remedy": self.remedy or REASONS[self.code].lifted_by,
        }
