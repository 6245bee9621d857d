"""When a stop still stands: a person's until its expiry, an alarm's until its OK, a roll's until the roll ended."""

from __future__ import annotations

from datetime import timedelta

from driftgate.domain.ledger import Stop, StopCause
from driftgate.domain.observation import Observation

FORGOTTEN = timedelta(hours=1)
"""A stop whose roll the ledger no longer has ends so long after it was written: its opening is over by then."""


def is_standing(stop: Stop, observation: Observation) -> bool:
    """Whether the stop still says that nothing may open."""
    return stop.is_active(observation.at) and not is_lifted(stop, observation)


def is_lifted(stop: Stop, observation: Observation) -> bool:
    """Whether what the stop waits for has happened, by what this observation read after the stop was written."""
    match stop.cause:
        case StopCause.PAUSE:
            return False
        case StopCause.ALARM:
            return _is_read_ok(stop, observation)
        case StopCause.ROLL:
            return _is_roll_over(stop, observation)


def _is_roll_over(stop: Stop, observation: Observation) -> bool:
    """The roll ended; or the ledger, which knew it when the stop was written, lost it long ago."""
    if observation.rolls is None:
        return False
    roll = next((roll for roll in observation.rolls if roll.id == stop.ref), None)
    if roll is not None:
        return roll.is_finished
    return stop.at is not None and observation.at >= stop.at + FORGOTTEN


def _is_read_ok(stop: Stop, observation: Observation) -> bool:
    """An alarm read OK lifts its stop, unless the reading is older than the stop itself."""
    if stop.at is not None and observation.at < stop.at:
        return False
    return any(alarm.name == stop.ref and alarm.state == "OK" for alarm in observation.alarms or ())
