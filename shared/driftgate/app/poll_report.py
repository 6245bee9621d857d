"""What one poll of image parameters did: logged as one object, asserted by tests."""

from __future__ import annotations

from dataclasses import dataclass, field

from driftgate.domain.errors import DriftgateError


@dataclass(slots=True)
class PollReport:
    """What was polled and what changed, by region and name: (before, now); before is None at first sight.

    `left` is what there was no time for, `failures` are regions that could not be polled: the next poll sees the same
    changes there.
    """

    polled: int = 0
    changed: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    failures: list[DriftgateError] = field(default_factory=list)
    held_by: str = ""

    @property
    def news(self) -> int:
        """Parameters that name another image than before; first sights are none."""
        return sum(was is not None for was, _ in self.changed.values())

    def raise_failures(self) -> None:
        """Raises the first failure of a region, so that the invocation is repeated, and an alarm hears of it."""
        if self.failures:
            raise self.failures[0]

    def to_object(self) -> dict[str, object]:
        return {
            "polled": self.polled,
            "changed": {name: {"before": was, "now": now} for name, (was, now) in self.changed.items()},
            "missing": self.missing,
            "refused": self.refused,
            "left": self.left,
            "problems": [*self.problems, *(str(failure) for failure in self.failures)],
            "heldBy": self.held_by or None,
        }
