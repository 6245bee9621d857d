"""Everything that may speak against an opening, and how it comes about."""

from __future__ import annotations

from collections.abc import Callable

from driftgate.domain.policy import Mode
from tests.simulated.life import Life
from tests.simulated.moments import pause_both
from tests.simulated.two_pools import CALENDAR

OBJECTIONS: dict[str, Callable[[Life], None]] = {
    "observe": lambda life: life.set_mode(Mode.OBSERVE),
    "outside a window": lambda life: life.jump(195 * 60.0),
    "blackout": lambda life: life.jump(45 * 60.0),
    "calendar": lambda life: life.deployment.world.calendars.states.update({CALENDAR: "CLOSED"}),
    "paused": lambda life: life.pause(),
    "paused by annotation": pause_both,
    "in alarm": lambda life: life.alarm("ALARM", told=False),
    "no data": lambda life: life.alarm("INSUFFICIENT_DATA", told=False),
    "no such alarm": lambda life: life.alarm("MISSING", told=False),
    "CloudWatch does not answer": lambda life: life.fail_alarms(failing=True),
}
