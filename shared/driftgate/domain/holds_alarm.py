"""What the guarding alarms say: an alarm that is not known to be good never lets a gate open."""

from __future__ import annotations

from datetime import datetime

from driftgate.domain.observation import AlarmObservation, Observation
from driftgate.domain.plan import Alert, Hold
from driftgate.domain.policy import AlarmGuard, GuardPolicy, InsufficientData
from driftgate.domain.reasons import ReasonCode

MISSING = "MISSING"


def alarm_holds(observation: Observation, guards: GuardPolicy, now: datetime) -> tuple[Hold, ...]:
    """Every reason among the alarms not to open, in the order in which they are configured."""
    if guards.alarms is None:
        return (_nobody_said(),)
    return tuple(hold for guard in guards.alarms for hold in _holds_of(guard, observation, guards, now))


def alarm_alerts(observation: Observation, guards: GuardPolicy) -> tuple[Alert, ...]:
    """What is odd about alarms that hold nothing back."""
    found = (_find(guard.name, observation) for guard in guards.alarms or ())
    return tuple(alert for alarm in found if alarm is not None for alert in _oddities(alarm))


def alarms_firing(observation: Observation, guards: GuardPolicy) -> tuple[Hold, ...]:
    """The guards that are in ALARM now: what speaks against an image that bakes."""
    found = (_find(guard.name, observation) for guard in guards.alarms or ())
    return tuple(_in_alarm(alarm) for alarm in found if alarm is not None and alarm.state == "ALARM")


def _nobody_said() -> Hold:
    return Hold(
        code=ReasonCode.NO_ALARMS_CONFIGURED,
        message="No alarms are configured, so nothing would notice that a roll hurts users.",
        remedy="Set guards.alarms to a list of CloudWatch alarms, or to `none` on purpose.",
    )


def _find(name: str, observation: Observation) -> AlarmObservation | None:
    """The alarm; of several of one name (two regions) the one that is not OK."""
    found = [alarm for alarm in observation.alarms or () if alarm.name == name]
    return next((alarm for alarm in found if alarm.state != "OK"), found[0] if found else None)


def _holds_of(guard: AlarmGuard, observation: Observation, guards: GuardPolicy, now: datetime) -> tuple[Hold, ...]:
    unread = _unread(guard, observation)
    if unread is not None:
        return (unread,)
    alarm = _find(guard.name, observation)
    if alarm is None or alarm.state == MISSING:
        return (_missing(guard),)
    return _state_holds(guard, alarm) + _flapping(alarm, guards, now)


def _unread(guard: AlarmGuard, observation: Observation) -> Hold | None:
    errors = [e for e in observation.errors if e.resource == "alarms" and e.name in ("", guard.name)]
    if observation.alarms is not None and not errors:
        return None
    why = f": {errors[0].message}" if errors and errors[0].message else "."
    return Hold(
        code=ReasonCode.UNKNOWN,
        message=f"The alarm {guard.name} could not be read{why}",
        objects=(f"alarm/{guard.name}",),
        remedy="Allow cloudwatch:DescribeAlarms, or try again when CloudWatch answers.",
    )


def _missing(guard: AlarmGuard) -> Hold:
    return Hold(
        code=ReasonCode.ALARM_MISSING,
        message=f"CloudWatch has no alarm named {guard.name}.",
        objects=(f"alarm/{guard.name}",),
        remedy="Create the alarm, or correct its name in guards.alarms.",
    )


def _state_holds(guard: AlarmGuard, alarm: AlarmObservation) -> tuple[Hold, ...]:
    match alarm.state:
        case "OK":
            return ()
        case "ALARM":
            return (_in_alarm(alarm), *((_muted(alarm),) if alarm.muted else ()))
        case "INSUFFICIENT_DATA":
            return () if guard.insufficient_data is InsufficientData.ALLOW else (_no_data(alarm),)
        case _:
            return (_strange(alarm),)


def _in_alarm(alarm: AlarmObservation) -> Hold:
    return Hold(
        code=ReasonCode.ALARM,
        message=f"The alarm {alarm.name} is in ALARM.",
        objects=(f"alarm/{alarm.name}",),
        remedy="Its return to OK lifts this.",
    )


def _muted(alarm: AlarmObservation) -> Hold:
    return Hold(
        code=ReasonCode.ALARM_MUTED,
        message=f"The alarm {alarm.name} is muted, and in ALARM all the same.",
        objects=(f"alarm/{alarm.name}",),
        remedy="A mute rule stops notifications, not the reason for them. Its return to OK lifts this.",
    )


def _no_data(alarm: AlarmObservation) -> Hold:
    return Hold(
        code=ReasonCode.INSUFFICIENT_DATA,
        message=f"The alarm {alarm.name} has insufficient data: it is not guarding.",
        objects=(f"alarm/{alarm.name}",),
        remedy="Wait for data, or set insufficient_data: allow for this alarm if it is sparse by nature.",
    )


def _strange(alarm: AlarmObservation) -> Hold:
    return Hold(
        code=ReasonCode.UNKNOWN,
        message=f"The alarm {alarm.name} has a state that driftgate does not know: {alarm.state}.",
        objects=(f"alarm/{alarm.name}",),
        remedy="Correct the snapshot, or report this.",
    )


def _flapping(alarm: AlarmObservation, guards: GuardPolicy, now: datetime) -> tuple[Hold, ...]:
    since = now - guards.flapping_within
    recent = [t for t in alarm.history or () if since < t.at <= now]
    if guards.flapping_transitions < 1 or len(recent) < guards.flapping_transitions:
        return ()
    hold = Hold(
        code=ReasonCode.ALARM_FLAPPING,
        message=f"The alarm {alarm.name} changed its state {len(recent)} times in {_hours(guards)} h.",
        objects=(f"alarm/{alarm.name}",),
        until=min(t.at for t in recent[-guards.flapping_transitions :]) + guards.flapping_within,
        remedy="A quiet time lifts this; an alarm that flaps guards little.",
    )
    return (hold,)


def _hours(guards: GuardPolicy) -> str:
    return f"{guards.flapping_within.total_seconds() / 3600:g}"


def _oddities(alarm: AlarmObservation) -> tuple[Alert, ...]:
    objects = (f"alarm/{alarm.name}",)
    disabled = Alert(
        code=ReasonCode.ALARM_ACTIONS_DISABLED,
        message=f"The actions of {alarm.name} are disabled: driftgate still reads its state, but it tells nobody.",
        objects=objects,
        remedy="Enable its actions when the maintenance that disabled them is over.",
    )
    muted = Alert(
        code=ReasonCode.ALARM_MUTED,
        message=f"The alarm {alarm.name} is muted by a mute rule.",
        objects=objects,
        remedy="Nothing: driftgate reads its state, whatever is muted.",
    )
    shown = () if alarm.actions_enabled else (disabled,)
    return shown + ((muted,) if alarm.muted and alarm.state != "ALARM" else ())
