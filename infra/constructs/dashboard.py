"""One page that shows how driftgate is: its alarms, its gates, what holds rolls back, and its own machinery.

Source: aws docs, AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure (2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from aws_cdk import Aws, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from driftgate.contract import METRIC_NAMESPACE, Dimension, Metric
from infra.constructs.alarms import Watched

WIDTH, HEIGHT = 24, 6
PERIOD_S = 300
Widget = Mapping[str, object]
Line = list[object]


class PipelineDashboard(Construct):
    """About the whole fleet, as the alarms are."""

    def __init__(
        self, scope: Construct, id_: str, *, name: str, watched: Watched, alarms: Iterable[cloudwatch.CfnAlarm]
    ) -> None:
        super().__init__(scope, id_)
        body = {"start": "-P7D", "widgets": list(_placed(_rows(watched, [alarm.attr_arn for alarm in alarms])))}
        cloudwatch.CfnDashboard(
            self, "Dashboard", dashboard_name=name, dashboard_body=Stack.of(self).to_json_string(body)
        )


def _rows(watched: Watched, alarms: Sequence[str]) -> Iterator[list[Widget]]:
    yield [{"type": "alarm", "properties": {"title": "Alarms", "alarms": alarms}}]
    yield from _of_rolls(watched.service)
    yield from _of_machinery(watched)


def _of_rolls(service: str) -> Iterator[list[Widget]]:
    def counts(*metrics: Metric) -> list[Line]:
        return [_own(metric, service) for metric in metrics]

    def spread(metric: Metric) -> list[Line]:
        return [[*_own(metric, service), {"stat": stat, "label": stat}] for stat in ("p50", "p99", "Maximum")]

    yield [
        _graph("Gates", counts(Metric.BUDGETS_OPENED, Metric.SIGN_SEEN, Metric.BUDGETS_CLOSED)),
        _graph("Rolls that ended", counts(Metric.ROLL_ENDED, Metric.ROLL_FAILED)),
        _graph("Gates left open", counts(Metric.GATE_LEFT_OPEN, Metric.ROLL_OVERDUE)),
    ]
    yield [
        _graph("Seconds from the sign to the closed gate", spread(Metric.SIGN_TO_CLOSED)),
        _graph("Seconds of a roll", spread(Metric.ROLL_DURATION)),
        _graph("What holds rolls back", [[{"expression": _by_reason(service), "label": ""}]]),
    ]
    yield [
        _graph("Heartbeats and polls", counts(Metric.HEARTBEAT_DONE, Metric.IMAGES_POLLED), period_s=3600),
        _graph("Images that changed", counts(Metric.IMAGE_CHANGED), period_s=3600),
        _graph("Not read, not told", counts(Metric.CLUSTER_UNREAD, Metric.MESSAGE_FAILED)),
    ]


def _of_machinery(watched: Watched) -> Iterator[list[Widget]]:
    functions = {name: each.function.function_name for name, each in watched.functions.items()}

    def lines(metric: str, stat: str) -> list[Line]:
        about = {"stat": stat}
        return [["AWS/Lambda", metric, "FunctionName", name, about | {"label": f}] for f, name in functions.items()]

    yield [
        _graph("Failed invocations", lines("Errors", "Sum")),
        _graph("Throttled invocations", lines("Throttles", "Sum")),
        _graph("Milliseconds of an invocation, p99", lines("Duration", "p99")),
    ]
    yield [
        _graph("Seconds that looks wait", list(_queues("ApproximateAgeOfOldestMessage", watched.work_queues))),
        _graph("Failed, and kept", list(_queues("ApproximateNumberOfMessagesVisible", watched.failures()))),
    ]


def _own(metric: Metric, service: str) -> Line:
    return [METRIC_NAMESPACE, metric.value, Dimension.SERVICE.value, service]


def _by_reason(service: str) -> str:
    schema = f"{METRIC_NAMESPACE},{Dimension.SERVICE.value},{Dimension.REASON.value}"
    wanted = f'MetricName="{Metric.ROLL_HELD.value}" {Dimension.SERVICE.value}="{service}"'
    return f"SEARCH('{{{schema}}} {wanted}', 'Sum', {PERIOD_S})"


def _queues(metric: str, queues: Mapping[str, sqs.IQueue]) -> Iterator[Line]:
    for name, queue in queues.items():
        yield ["AWS/SQS", metric, "QueueName", queue.queue_name, {"stat": "Maximum", "label": name}]


def _graph(title: str, lines: Sequence[Line], period_s: int = PERIOD_S) -> Widget:
    shown = {"title": title, "metrics": lines, "stat": "Sum", "period": period_s, "region": Aws.REGION}
    return {"type": "metric", "properties": {**shown, "view": "timeSeries"}}


def _placed(rows: Iterable[list[Widget]]) -> Iterator[Widget]:
    """The widgets of a row share its width."""
    for number, row in enumerate(rows):
        width = WIDTH // len(row)
        for place, widget in enumerate(row):
            yield {**widget, "x": place * width, "y": number * HEIGHT, "width": width, "height": HEIGHT}
