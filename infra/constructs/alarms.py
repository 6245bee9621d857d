"""Alarms on driftgate itself: a gate that stands open, silence, and what could not be done or told.

All are about the whole fleet, so their number and their price do not grow by cluster. The metrics are counted by
`driftgate.observability` under the one dimension `service`, or by AWS. Each alarm's kind is a heading of
docs/operate.md, which says what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from driftgate.contract import METRIC_NAMESPACE, Dimension, Metric
from infra.constructs.function import PipelineFunction
from infra.constructs.topic import MessageTopic

CLOSER = "close-budgets"
"""Functions whose name begins so have no failure to spare."""

Missing = Literal["breaching", "notBreaching"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a number comes from."""

    namespace: str
    metric: str
    dimensions: Mapping[str, str]
    statistic: str = "Sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When an alarm fires: in `datapoints` of the last `periods` periods of `period_s` seconds the number is bad.

    Bad is `at_least` and more; None: less than one. `subject` tells alarms of one kind apart. Without data an alarm
    is as `missing` says: a counter that nobody counted is 0, a sign of life that did not come is bad.
    """

    kind: str
    says: str
    source: Source
    subject: str = ""
    at_least: float | None = 1
    period_s: int = 60
    periods: int = 1
    datapoints: int = 1
    missing: Missing = "notBreaching"

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.subject}" if self.subject else self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What the alarms watch. Queues and functions are by the name that their alarm ends in."""

    functions: Mapping[str, PipelineFunction]
    work_queues: Mapping[str, sqs.IQueue]
    dead_looks: Mapping[str, sqs.IQueue]
    undelivered: sqs.IQueue
    untold: sqs.IQueue | None = None
    poll_minutes: int
    topic: MessageTopic
    service: str

    def failures(self) -> dict[str, sqs.IQueue]:
        """Where what failed is kept until a person looks at it."""
        untold = {} if self.untold is None else {"messages not told": self.untold}
        looks = {f"looks, {name}": queue for name, queue in self.dead_looks.items()}
        return {**looks, "not delivered": self.undelivered, **untold}


class PipelineAlarms(Construct):
    """`prefix` begins every alarm's name. Each tells the topic when it fires and when it is over."""

    def __init__(self, scope: Construct, id_: str, *, prefix: str, watched: Watched) -> None:
        super().__init__(scope, id_)
        self.alarms = [self._alarm(rule, prefix, watched.topic) for rule in _rules(watched)]

    def _alarm(self, rule: Rule, prefix: str, topic: MessageTopic) -> cloudwatch.CfnAlarm:
        source, is_low = rule.source, rule.at_least is None
        return cloudwatch.CfnAlarm(
            self,
            rule.name,
            alarm_name=f"{prefix}-{rule.name}",
            alarm_description=f"{rule.says} What to do: docs/operate.md, {rule.kind}.",
            namespace=source.namespace,
            metric_name=source.metric,
            dimensions=[
                cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value)
                for name, value in source.dimensions.items()
            ],
            statistic=source.statistic,
            comparison_operator="LessThanThreshold" if is_low else "GreaterThanOrEqualToThreshold",
            threshold=1 if rule.at_least is None else rule.at_least,
            period=rule.period_s,
            evaluation_periods=rule.periods,
            datapoints_to_alarm=rule.datapoints,
            treat_missing_data=rule.missing,
            alarm_actions=[topic.arn],
            ok_actions=[topic.arn],
        )


def _rules(watched: Watched) -> Iterator[Rule]:
    yield from _gates(watched.service)
    yield from _signs_of_life(watched.service, watched.poll_minutes)
    yield from _queues(watched)
    yield from _messages(watched)
    for name, function in watched.functions.items():
        yield from _of_function(name, function)


def _gates(service: str) -> Iterable[Rule]:
    yield Rule(
        kind="gate-overdue",
        says="A gate stands open more than 2 minutes past the time at which it had to be shut.",
        source=_own(Metric.ROLL_OVERDUE, service),
    )
    yield Rule(
        kind="gate-left-open",
        says="For 3 minutes every heartbeat found a gate open that nobody attends to, and asked in vain to shut it.",
        source=_own(Metric.GATE_LEFT_OPEN, service),
        periods=3,
        datapoints=3,
    )


def _signs_of_life(service: str, poll_minutes: int) -> Iterable[Rule]:
    yield Rule(
        kind="heartbeat-silent",
        says="No heartbeat was done for 5 minutes: overdue gates are shut by their guards alone, and no roll begins.",
        source=_own(Metric.HEARTBEAT_DONE, service),
        at_least=None,
        periods=5,
        datapoints=5,
        missing="breaching",
    )
    yield Rule(
        kind="image-poll-stale",
        says=f"No poll of the image parameters was done for {4 * poll_minutes} minutes: new images are not seen.",
        source=_own(Metric.IMAGES_POLLED, service),
        at_least=None,
        period_s=60 * poll_minutes,
        periods=4,
        datapoints=4,
        missing="breaching",
    )


def _queues(watched: Watched) -> Iterable[Rule]:
    for name, queue in watched.work_queues.items():
        yield Rule(
            kind="looks-waiting",
            subject=name,
            says="A look at a cluster waits for more than 10 minutes: nobody takes it.",
            source=_of_queue(queue, "ApproximateAgeOfOldestMessage"),
            at_least=600,
            period_s=300,
        )
    for name, queue in watched.dead_looks.items():
        yield Rule(
            kind="look-failed",
            subject=name,
            says="Looks at a cluster failed three times and were given up.",
            source=_of_queue(queue, "ApproximateNumberOfMessagesVisible"),
            period_s=300,
        )
    yield Rule(
        kind="not-delivered",
        says="An event, a tick, a request to a function or a message could not be delivered or failed after all tries.",
        source=_of_queue(watched.undelivered, "ApproximateNumberOfMessagesVisible"),
        period_s=300,
    )


def _messages(watched: Watched) -> Iterable[Rule]:
    yield Rule(
        kind="message-failed",
        says="A message to people could not be sent, or could not be told in Slack at the first try.",
        source=_own(Metric.MESSAGE_FAILED, watched.service),
        period_s=300,
    )
    yield Rule(
        kind="delivery-failed",
        says="The topic could not hand a message to one of its subscribers.",
        source=Source(
            namespace="AWS/SNS",
            metric="NumberOfNotificationsFailed",
            dimensions={"TopicName": watched.topic.topic.topic_name},
        ),
        period_s=300,
    )
    if watched.untold is not None:
        yield Rule(
            kind="message-not-told",
            says="A message could not be told in Slack after all its tries. It waits in its queue.",
            source=_of_queue(watched.untold, "ApproximateNumberOfMessagesVisible"),
            period_s=300,
        )


def _of_function(name: str, function: PipelineFunction) -> Iterable[Rule]:
    def source(metric: str) -> Source:
        dimensions = {"FunctionName": function.function.function_name}
        return Source(namespace="AWS/Lambda", metric=metric, dimensions=dimensions)

    is_closer = name.startswith(CLOSER)
    yield Rule(
        kind="function-errors",
        subject=name,
        says="A gate could not be shut at the first try."
        if is_closer
        else "A function failed three times in 15 minutes.",
        source=source("Errors"),
        at_least=1 if is_closer else 3,
        period_s=300 if is_closer else 900,
    )
    yield Rule(
        kind="function-throttled",
        subject=name,
        says="Lambda had no room for a function: a limit of concurrency was reached.",
        source=source("Throttles"),
        period_s=300,
    )


def _own(metric: Metric, service: str) -> Source:
    return Source(namespace=METRIC_NAMESPACE, metric=metric.value, dimensions={Dimension.SERVICE.value: service})


def _of_queue(queue: sqs.IQueue, metric: str) -> Source:
    dimensions = {"QueueName": queue.queue_name}
    return Source(namespace="AWS/SQS", metric=metric, dimensions=dimensions, statistic="Maximum")
