"""Events as AWS documents them become typed values; everything else is dropped or refused by name."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.errors import InvalidEventError
from driftgate.events import (
    AlarmChanged,
    CalendarChanged,
    Heartbeat,
    Origin,
    ParameterChanged,
    Poll,
    UnknownEvent,
    close_request_to_object,
    parse_event,
    work_message_from_body,
    work_message_to_body,
)
from driftgate.ports import CloseRequest, WorkMessage

EVENTS = Path(__file__).parent.parent / "events"


def recorded(name):
    return json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))


def origin(number: int, at: datetime) -> Origin:
    return Origin(id=f"6f1d0c1e-0000-4000-8000-{number:012d}", at=at, account="111122223333", region="eu-central-1")


def test_parameter_update_names_the_parameter():
    event = parse_event(recorded("parameter_store_change_update"))

    assert event == ParameterChanged(
        origin=origin(1, datetime(2026, 10, 16, 20, 15, 2, tzinfo=UTC)),
        name="/driftgate/driftgate/seen/eu-central-1/eks/optimized-ami/1.34/amazon-linux-2023"
        "/x86_64/standard/recommended/image_id",
        operation="Update",
    )


@pytest.mark.parametrize(
    ("operation", "has_new_value"),
    [("Create", True), ("Update", True), ("Delete", False), ("LabelParameterVersion", False)],
)
def test_only_create_and_update_bring_a_new_value(operation, has_new_value):
    payload = recorded("parameter_store_change_delete")
    payload["detail"]["operation"] = operation

    event = parse_event(payload)

    assert isinstance(event, ParameterChanged)
    assert event.has_new_value is has_new_value


def test_metric_alarm_tells_new_and_previous_state():
    event = parse_event(recorded("alarm_state_change_metric"))

    assert event == AlarmChanged(
        origin=origin(3, datetime(2026, 10, 17, 2, 10, 5, tzinfo=UTC)),
        name="demo-5xx",
        state="ALARM",
        previous_state="OK",
    )


def test_muted_alarm_names_the_mute_rule():
    event = parse_event(recorded("alarm_state_change_muted"))

    assert isinstance(event, AlarmChanged)
    assert event.muted_by == "arn:aws:cloudwatch:eu-central-1:111122223333:alarm-mute-rule:load-test"


def test_composite_alarm_tells_what_suppresses_its_actions():
    event = parse_event(recorded("alarm_state_change_composite"))

    assert isinstance(event, AlarmChanged)
    assert (event.name, event.state, event.suppressed_by) == ("demo-service", "ALARM", "Alarm")


def test_log_alarm_without_metrics_is_read_like_any_other():
    event = parse_event(recorded("alarm_state_change_log"))

    assert isinstance(event, AlarmChanged)
    assert (event.name, event.state, event.previous_state) == ("demo-panics", "ALARM", "INSUFFICIENT_DATA")


def test_alarm_without_previous_state_and_configuration_is_still_an_alarm():
    payload = recorded("alarm_state_change_metric")
    del payload["detail"]["previousState"], payload["detail"]["configuration"]

    event = parse_event(payload)

    assert isinstance(event, AlarmChanged)
    assert (event.state, event.previous_state) == ("ALARM", "")


def test_calendar_change_names_its_document_and_the_next_transition():
    event = parse_event(recorded("calendar_state_change"))

    assert event == CalendarChanged(
        origin=origin(7, datetime(2026, 10, 17, 2, 0, 3, tzinfo=UTC)),
        calendar="arn:aws:ssm:eu-central-1:111122223333:document/maintenance",
        state="CLOSED",
        next_transition=datetime(2026, 10, 17, 5, 0, tzinfo=UTC),
    )


def test_heartbeat_stands_for_its_scheduled_minute():
    event = parse_event(recorded("schedule_heartbeat"))

    assert event == Heartbeat(scheduled_at=datetime(2026, 10, 17, 2, 10, tzinfo=UTC))


def test_poll_is_told_apart_from_the_heartbeat():
    event = parse_event(recorded("schedule_poll"))

    assert event == Poll(scheduled_at=datetime(2026, 10, 17, 2, 15, tzinfo=UTC))


def test_replayed_alarm_is_dropped_although_it_is_a_known_event():
    event = parse_event(recorded("alarm_state_change_replayed"))

    assert event == UnknownEvent(
        why="replayed from the archive as after-the-incident",
        id="6f1d0c1e-0000-4000-8000-000000000003",
        source="aws.cloudwatch",
        detail_type="CloudWatch Alarm State Change",
    )


def test_event_of_another_kind_is_unknown_with_its_source():
    event = parse_event(recorded("alarm_configuration_change"))

    assert isinstance(event, UnknownEvent)
    assert (event.source, event.detail_type) == ("aws.cloudwatch", "CloudWatch Alarm Configuration Change")


@pytest.mark.parametrize("payload", [{}, {"driftgate": "dance"}, {"driftgate": None}, {"source": ["aws.ssm"]}])
def test_payload_that_nobody_knows_is_unknown(payload):
    assert isinstance(parse_event(payload), UnknownEvent)


@pytest.mark.parametrize(
    ("name", "path", "place"),
    [
        ("parameter_store_change_update", ("detail", "name"), "event.detail"),
        ("parameter_store_change_update", ("detail", "operation"), "event.detail"),
        ("parameter_store_change_update", ("detail",), "event.detail"),
        ("parameter_store_change_update", ("id",), "event"),
        ("parameter_store_change_update", ("time",), "event"),
        ("alarm_state_change_metric", ("detail", "alarmName"), "event.detail"),
        ("alarm_state_change_metric", ("detail", "state"), "event.detail.state"),
        ("alarm_state_change_metric", ("detail", "state", "value"), "event.detail.state"),
        ("calendar_state_change", ("resources",), "event.resources"),
        ("calendar_state_change", ("detail", "state"), "event.detail"),
        ("schedule_heartbeat", ("scheduledAt",), "event"),
    ],
)
def test_missing_promised_field_is_refused_with_its_place(name, path, place):
    payload = recorded(name)
    parent = payload
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]

    with pytest.raises(InvalidEventError) as caught:
        parse_event(payload)

    assert caught.value.place == place
    assert caught.value.remedy


def test_time_without_a_zone_is_refused():
    with pytest.raises(InvalidEventError, match="a time with a zone"):
        parse_event({"driftgate": "heartbeat", "scheduledAt": "2026-10-17T02:10:00"})


@pytest.mark.parametrize("payload", [None, [], "heartbeat", 7])
def test_payload_that_is_no_object_is_refused(payload):
    with pytest.raises(InvalidEventError):
        parse_event(payload)


def damaged(value, path, junk):
    """A copy of the event with one value replaced."""
    event = copy.deepcopy(value)
    parent = event
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = junk
    return event


def paths(value, so_far=()):
    if not isinstance(value, dict):
        return []
    return [p for key, inner in value.items() for p in [(*so_far, key), *paths(inner, (*so_far, key))]]


ALL = [(event, path) for event in map(recorded, sorted(p.stem for p in EVENTS.iterdir())) for path in paths(event)]


@given(st.sampled_from(ALL), st.sampled_from([None, 7, "x", [], [1], {}, True, ""]))
def test_damaged_event_is_read_dropped_or_refused_but_never_breaks(target, junk):
    event, path = target

    with suppress(InvalidEventError):
        parse_event(damaged(event, path, junk))


def test_close_request_survives_the_way_to_the_closer():
    request = CloseRequest(cluster="demo", cause="alarm", ref="demo-5xx", pool="app")

    assert close_request_to_object(request) == {
        "driftgate": "close",
        "cluster": "demo",
        "cause": "alarm",
        "ref": "demo-5xx",
        "pool": "app",
    }
    assert parse_event(close_request_to_object(request)) == request


def test_close_request_without_a_pool_is_for_every_pool():
    request = CloseRequest(cluster="demo", cause="roll", ref="20261017T021000Z-app")

    assert "pool" not in close_request_to_object(request)
    assert parse_event(close_request_to_object(request)) == request


def test_close_request_without_a_cluster_is_refused():
    with pytest.raises(InvalidEventError, match="cluster is missing"):
        parse_event({"driftgate": "close", "cause": "roll", "ref": "x"})


def test_work_message_is_read_from_the_queue_record():
    record = recorded("sqs_work_message")["Records"][0]

    message = work_message_from_body(record["body"])

    assert message == WorkMessage(cluster="demo", dedup="demo:202610170210", cause="heartbeat")


def test_work_message_survives_the_queue_in_any_script():
    message = WorkMessage(cluster="größe-測試", dedup="r1:2", cause="continuation", roll_id="r1")

    assert work_message_from_body(work_message_to_body(message)) == message


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "7", '{"cluster": "demo"}', '{"cluster": 7, "dedup": "d", "cause": "c"}']
)
def test_queue_message_that_is_no_work_message_is_refused(body):
    with pytest.raises(InvalidEventError):
        work_message_from_body(body)
