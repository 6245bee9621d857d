"""One message as people read it in a chat, whatever it came as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from driftgate.domain.message import EventKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What a person is to read.

    `id` is the event's: the same id is the same event, however often it is delivered. Notices of one `thread` belong
    together. `where` is cluster and pool, or the alarm's region. `facts` are what can be read at a glance.
    """

    id: str
    thread: str
    title: str
    text: str
    next_steps: tuple[str, ...] = ()
    kind: str = ""
    where: str = ""
    code: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_urgent(self) -> bool:
        """Whether it must be seen by who does not follow the thread."""
        return self.kind in _URGENT


ALARM = "Alarm"
"""Kind of a notice that a CloudWatch alarm sent."""

_URGENT = frozenset({EventKind.ALERT.value, ALARM})
