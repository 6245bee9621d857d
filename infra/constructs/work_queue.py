"""Where looks at clusters wait: FIFO, one group per cluster, so that a cluster has one worker at a time."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_sqs as sqs
from constructs import Construct

VISIBILITY = cdk.Duration.minutes(2)
"""After which a message whose worker is dead is given to the next."""

MOST_RECEIVES = 3
"""A message that fails blocks its cluster's group for so many times VISIBILITY; the heartbeat sends others anyway."""

STALE = cdk.Duration.minutes(15)
"""After which a look that nobody took is worth nothing: a backlog must not outlive what it waited for."""

KEPT = cdk.Duration.days(14)


class WorkQueue(Construct):
    """The queue, and behind it one for what failed too often (FIFO, as SQS wants it)."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            fifo=True,
            retention_period=KEPT,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            fifo=True,
            visibility_timeout=VISIBILITY,
            retention_period=STALE,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=MOST_RECEIVES),
        )


class FailureQueue(Construct):
    """Where rules, schedules and functions leave what they could not deliver or do.

    Standard: rules and schedules do not take a FIFO queue. Source: aws docs, eb-rule-dlq, configuring-schedule-dlq.
    """

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        self.queue = sqs.Queue(
            self, "Queue", retention_period=KEPT, encryption=sqs.QueueEncryption.SQS_MANAGED, enforce_ssl=True
        )
        cdk.Validations.of(self.queue).acknowledge(
            cdk.Acknowledgment(id="AwsSolutions-SQS3", reason="This is where failures end: nothing takes them from it.")
        )
