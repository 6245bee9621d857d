"""A template with every option: nothing in it is unknown here, and what only an option brings is at work, too."""

from __future__ import annotations

import threading

import pytest

from driftgate.sim.agenda import Agenda
from driftgate.sim.clock import ManualClock
from infra.local.cloud.server import CloudServer
from infra.local.routing.router import Router
from infra.local.synthesis import synthesized
from infra.local.template.loading import load
from infra.local.tempo import Tempo
from tests.local.stand import NOW, Functions

pytestmark = pytest.mark.slow
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:slack-a1B2c3"
CONFIG = f"""\
mode: act
clusters: [demo, {{name: inner, placement: eu-private}}]
deployment:
  name: full
  archive_days: 30
  emails: [ops@example.org]
  chat: {{workspace: T0123ABCD, channel: C0123ABCD}}
  slack: {{secret: "{SECRET}", channel: C0123ABCD}}
  placements:
    - {{name: eu-private, subnets: [subnet-0a1b2c3d4e5f60718], security_groups: [sg-0a1b2c3d4e5f60718]}}
windows: [{{name: always, timezone: UTC, cron: "0 0 * * *", duration: 24h}}]
guards: {{alarms: [shop-5xx], calendars: [freeze]}}
"""


@pytest.fixture
def at_work():
    """The router, the clock's agenda, and what functions were invoked with."""
    with CloudServer() as cloud:
        clock = ManualClock(NOW)
        agenda = Agenda(clock, threading.RLock())
        functions = Functions(clock, {})
        router = Router(
            load(synthesized(CONFIG), cloud, "driftgate-full"), cloud, Tempo(agenda, is_threaded=False), functions
        )
        for function in router.functions:
            cloud.front.admit(function.key, function.role_arn, function.name)
        yield cloud, router, agenda, functions


def invoked(router, functions):
    names = {function.name: function.log_name for function in router.functions}
    return [names[name] for name, _ in functions.seen]


def test_a_fired_alarm_reaches_the_closer_of_every_placement(at_work):
    cloud, router, agenda, functions = at_work
    cloudwatch = cloud.client("cloudwatch")
    cloudwatch.put_metric_alarm(
        AlarmName="shop-5xx", ComparisonOperator="GreaterThanThreshold", EvaluationPeriods=1, MetricName="m",
        Namespace="n", Period=60, Statistic="Sum", Threshold=1,
    )  # fmt: skip

    cloudwatch.set_alarm_state(AlarmName="shop-5xx", StateValue="ALARM", StateReason="test")
    agenda.run_until(NOW.replace(minute=11))

    assert sorted(invoked(router, functions)) == ["close_budgets", "close_budgets-eu-private", "evaluate_drift"]
    assert router.troubles() == []


def test_an_alarm_of_driftgates_own_reaches_the_function_that_tells_slack(at_work):
    cloud, router, agenda, functions = at_work
    cloudwatch = cloud.client("cloudwatch")
    own = [alarm["AlarmName"] for alarm in cloudwatch.describe_alarms()["MetricAlarms"] if alarm["AlarmActions"]]

    for name in own:
        cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="test")
    agenda.run_until(NOW.replace(minute=11))

    assert own
    assert invoked(router, functions) == ["notify_slack"] * len(own)
    assert router.troubles() == []


def test_each_placement_has_a_queue_that_only_its_own_worker_empties(at_work):
    cloud, router, agenda, functions = at_work

    for poller in router.pollers:
        cloud.client("sqs").send_message(
            QueueUrl=poller.mapped.queue_url, MessageBody="{}", MessageGroupId="c", MessageDeduplicationId="1"
        )
    agenda.run_until(NOW.replace(minute=11))

    assert sorted(invoked(router, functions)) == ["reconcile_cluster", "reconcile_cluster-eu-private"]
    assert router.troubles() == []
