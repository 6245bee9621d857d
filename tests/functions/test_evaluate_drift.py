"""evaluate_drift: which hint asks for which look, and what is dropped."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from driftgate.domain.errors import AwsUnavailableError, InvalidEventError
from driftgate.domain.policy import AlarmGuard, GuardPolicy
from driftgate.domain.roll import RollState
from driftgate.ports import CloseRequest, PutLook, PutRoll
from functions.evaluate_drift.handler import handler
from tests.factories import NOW, roll
from tests.functions.conftest import event
from tests.functions.worlds import advance, saturday

PARAMETER = "6f1d0c1e-0000-4000-8000-000000000001"
BOTH = GuardPolicy(
    alarms=(AlarmGuard(name="demo-5xx"), AlarmGuard(name="demo-service"), AlarmGuard(name="demo-panics")),
    calendars=("maintenance",),
)


class DeadCloser:
    """Nobody to ask."""

    def invoke(self, request):
        raise AwsUnavailableError("lambda:InvokeFunction got no answer")


def asked(world):
    return [(message.cluster, message.dedup) for message in world.queue.sent]


def test_a_heartbeat_in_a_window_asks_for_one_look_a_minute(use, context):
    world = use(saturday())

    answer = handler(event("schedule_heartbeat"), context)
    handler(event("schedule_heartbeat"), context)

    assert answer == {"queued": ["demo"], "closing": [], "why": "heartbeat"}
    assert asked(world) == [("demo", "demo:20261017T0210Z")]


def test_a_heartbeat_that_finds_nothing_says_one_line_and_that_it_was_done(use, context, output):
    world = use(saturday(windows=()))
    world.ledger.commit("demo", PutLook(world.clock.now()))

    answer = handler(event("schedule_heartbeat"), context)

    seen = output()
    assert answer == {"queued": [], "closing": [], "why": "heartbeat"}
    assert asked(world) == []
    assert [line["message"] for line in seen.logs] == ["Evaluated an event"]
    assert seen.values() == {"HeartbeatDone": [1.0]}
    assert seen.dimensions() == {"service"}


def test_an_old_look_is_repeated_outside_windows_too(use, context):
    world = use(saturday(windows=()))
    world.ledger.commit("demo", PutLook(world.clock.now()))
    advance(world, minutes=30)

    assert handler(event("schedule_heartbeat"), context)["queued"] == ["demo"]


def followed(world, state):
    """Outside of windows, just looked at, with a roll in this state whose gate is shut."""
    now = world.clock.now()
    world.ledger.commit("demo", PutRoll(roll(state, closed_at=now, closed_by="worker-1", version=0)))
    world.ledger.commit("demo", PutLook(now))
    return world


@pytest.mark.parametrize("state", [RollState.CLOSED, RollState.IN_FLIGHT, RollState.SETTLING])
def test_a_roll_under_way_is_looked_at_every_minute(use, context, state):
    world = use(followed(saturday(windows=()), state))
    advance(world, minutes=1)

    assert handler(event("schedule_heartbeat"), context)["queued"] == ["demo"]


def test_a_roll_that_only_bakes_is_looked_at_every_five_minutes(use, context):
    world = use(followed(saturday(windows=()), RollState.BAKING))

    advance(world, minutes=4)
    early = handler(event("schedule_heartbeat"), context)
    advance(world, minutes=1)
    late = handler(event("schedule_heartbeat"), context)

    assert (early["queued"], late["queued"]) == ([], ["demo"])


def test_a_bake_keeps_nothing_waiting_while_a_window_is_open(use, context):
    world = use(followed(saturday(), RollState.BAKING))
    advance(world, minutes=1)

    assert handler(event("schedule_heartbeat"), context)["queued"] == ["demo"]


def knowing(world, *, due_in, config="3f8a"):
    """The world after a look by the configuration `3f8a`, which is in force; only that look knows when one is due."""
    now = world.clock.now()
    world.config_digest = "3f8a"
    world.ledger.commit("demo", PutLook(now, due_at=now + timedelta(minutes=due_in), config=config))
    world.policy = replace(world.policy, observe_every=timedelta(days=1))
    return world


def test_a_look_that_says_when_the_next_is_due_is_taken_at_its_word(use, context):
    world = use(knowing(saturday(windows=()), due_in=5))

    advance(world, minutes=4)
    early = handler(event("schedule_heartbeat"), context)
    advance(world, minutes=1)
    late = handler(event("schedule_heartbeat"), context)

    assert (early["queued"], late["queued"]) == ([], ["demo"])


@pytest.mark.parametrize("config", ["", "77c0"])
def test_a_look_by_another_configuration_is_not_taken_at_its_word(use, context, config):
    world = use(knowing(saturday(), due_in=60, config=config))

    advance(world, minutes=1)

    assert handler(event("schedule_heartbeat"), context)["queued"] == ["demo"]


def test_where_no_digest_tells_configurations_apart_no_look_is_taken_at_its_word(use, context):
    world = saturday()
    world.ledger.commit("demo", PutLook(NOW, due_at=NOW + timedelta(hours=1)))
    use(world)

    assert handler(event("schedule_heartbeat"), context)["queued"] == ["demo"]


def test_a_look_ahead_of_our_clock_is_not_taken_at_its_word(use, context):
    world = saturday()
    world.config_digest, ahead = "3f8a", world.clock.now() + timedelta(seconds=1)
    world.ledger.commit("demo", PutLook(ahead, due_at=ahead, config="3f8a"))
    use(world)

    assert handler(event("schedule_heartbeat"), context)["queued"] == ["demo"]


@pytest.mark.parametrize(("late", "counted"), [(119, {}), (120, {"RollOverdue": [1.0]})])
def test_an_overdue_roll_is_handed_to_the_closer_and_counted(use, context, output, late, counted):
    world = use(saturday())
    world.ledger.commit("demo", PutRoll(roll(revert_by=world.clock.now() - timedelta(seconds=late))))

    answer = handler(event("schedule_heartbeat"), context)

    assert answer["closing"] == [roll().id]
    assert world.closer.asked == [CloseRequest(cluster="demo", cause="roll", ref=roll().id, pool="app")]
    assert output().values() == {"GateLeftOpen": [1.0], "HeartbeatDone": [1.0], **counted}


def test_a_gate_that_nobody_could_be_asked_to_shut_is_counted_and_the_heartbeat_is_not(use, context, output):
    world = use(saturday())
    world.ledger.commit("demo", PutRoll(roll(beat_at=NOW - timedelta(minutes=5))))
    world.closer = DeadCloser()
    use(world)

    with pytest.raises(AwsUnavailableError):
        handler(event("schedule_heartbeat"), context)

    assert output().values() == {"GateLeftOpen": [1.0]}


def test_an_event_is_no_heartbeat(use, context, output):
    use(saturday())

    handler(event("alarm_state_change_metric"), context)

    assert output().metrics == []


@pytest.mark.parametrize(
    ("name", "dedup"),
    [
        ("parameter_store_change_update", f"{PARAMETER}:demo"),
        ("alarm_state_change_metric", "6f1d0c1e-0000-4000-8000-000000000003:demo"),
        ("alarm_state_change_composite", "6f1d0c1e-0000-4000-8000-000000000005:demo"),
        ("alarm_state_change_log", "6f1d0c1e-0000-4000-8000-000000000006:demo"),
        ("alarm_state_change_muted", "6f1d0c1e-0000-4000-8000-000000000004:demo"),
        ("calendar_state_change", "6f1d0c1e-0000-4000-8000-000000000007:demo"),
    ],
)
def test_an_event_asks_once_for_a_look_under_its_own_id(use, context, name, dedup):
    world = use(saturday(guards=BOTH))

    handler(event(name), context)
    handler(event(name), context)

    assert asked(world) == [("demo", dedup)]


def test_what_a_log_line_tells_of_an_event_can_be_followed_by_its_id(use, context, output):
    use(saturday())

    handler(event("alarm_state_change_metric"), context)

    told = output().log("Evaluated an event")[0]
    assert told["correlation_id"] == "6f1d0c1e-0000-4000-8000-000000000003"
    assert (told["queued"], told["why"]) == (["demo"], "alarm: demo-5xx is ALARM")


@pytest.mark.parametrize(
    "name", ["alarm_state_change_composite", "calendar_state_change", "parameter_store_change_delete"]
)
def test_what_concerns_no_pool_asks_for_nothing(use, context, name):
    world = use(saturday())

    assert handler(event(name), context)["queued"] == []
    assert asked(world) == []


def test_a_parameter_of_another_deployment_asks_for_nothing(use, context):
    world = use(saturday())
    foreign = event("parameter_store_change_update")
    foreign["detail"]["name"] = foreign["detail"]["name"].replace("/driftgate/driftgate/", "/driftgate/other/")

    assert handler(foreign, context)["queued"] == []
    assert asked(world) == []


@pytest.mark.parametrize(
    ("dropped", "why"),
    [
        (event("alarm_state_change_replayed"), "replayed from the archive as after-the-incident"),
        (event("alarm_configuration_change"), "no such source and detail-type is handled here"),
        ({"driftgate": "sing"}, "driftgate has no payload 'sing'"),
    ],
)
def test_a_replayed_or_unknown_event_is_logged_and_dropped(use, context, output, dropped, why):
    world = use(saturday())

    answer = handler(dropped, context)

    assert answer == {"queued": [], "closing": [], "why": why}
    assert asked(world) == []
    assert [line["why"] for line in output().log("Dropped an event")] == [why]


@pytest.mark.parametrize(("missing", "place"), [("alarmName", "event.detail"), ("state", "event.detail.state")])
def test_an_event_without_what_its_type_promises_raises_with_the_place(use, context, missing, place):
    use(saturday())
    malformed = event("alarm_state_change_metric")
    del malformed["detail"][missing]

    with pytest.raises(InvalidEventError) as raised:
        handler(malformed, context)

    assert raised.value.place == place


def test_a_warm_process_forgets_the_event_before(use, context, output):
    use(saturday())

    handler(event("alarm_state_change_metric"), context)
    handler(event("schedule_heartbeat"), context)

    first, second = output().log("Evaluated an event")
    assert first["correlation_id"] == "6f1d0c1e-0000-4000-8000-000000000003"
    assert (second["cold_start"], second.get("correlation_id")) == (False, None)
    assert "demo-5xx" not in json.dumps(second)
