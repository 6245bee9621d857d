"""Names that cross a border: environment variables, event sources and detail-types, parameters, metrics.

Infrastructure, functions and people's dashboards spell them the same; none is ever renamed. The detail-types of
our own events are the values of `domain.message.EventKind`. No logic, no imports but the standard library.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

SERVICE = "driftgate"
"""Service name in logs, metrics and traces, where the environment gives no other."""

EVENT_SOURCE = "driftgate"
"""`source` of everything on our own event bus."""

CONFIG_FILE = "driftgate.yaml"

METRIC_NAMESPACE = "driftgate"

SLACK_PARTITION = "slack"
"""What keys of the ledger's table begin with where the notifier remembers threads; it may touch no others."""

DEFAULT_PLACEMENT = "default"
"""The placement outside of VPCs, of clusters that name none."""


class Env(StrEnum):
    """Environment variables of the functions.

    `CLUSTERS` is optional: the names of all clusters in driftgate.yaml, comma separated, so that a function that only
    needs to know whom to look at need not read that file. `PLACEMENT` is optional too: whose clusters a function looks
    after; without it, all. `QUEUE_URL` and `CLOSER` have one value, which serves every placement, or one for each:
    `default=VALUE,eu-private=VALUE`. `SLACK_URL` is for a Slack elsewhere than at slack.com. A function has those that
    it uses.
    """

    DEPLOYMENT = "DRIFTGATE_DEPLOYMENT"
    TABLE = "DRIFTGATE_TABLE"
    QUEUE_URL = "DRIFTGATE_QUEUE_URL"
    TOPIC_ARN = "DRIFTGATE_TOPIC_ARN"
    FAILURES_URL = "DRIFTGATE_FAILURES_URL"
    EVENT_BUS = "DRIFTGATE_EVENT_BUS"
    CLOSER = "DRIFTGATE_CLOSER"
    CONFIG = "DRIFTGATE_CONFIG"
    CLUSTERS = "DRIFTGATE_CLUSTERS"
    PLACEMENT = "DRIFTGATE_PLACEMENT"
    SLACK_SECRET = "DRIFTGATE_SLACK_SECRET"
    SLACK_CHANNEL = "DRIFTGATE_SLACK_CHANNEL"
    SLACK_URL = "DRIFTGATE_SLACK_URL"
    SERVICE = "POWERTOOLS_SERVICE_NAME"
    TASK_ROOT = "LAMBDA_TASK_ROOT"


class EventType(NamedTuple):
    """What a rule matches and a parser chooses by."""

    source: str
    detail_type: str


# Source: aws docs, monitoring-systems-manager-event-examples and cloudwatch-and-eventbridge (2026).
PARAMETER_CHANGED = EventType("aws.ssm", "Parameter Store Change")
CALENDAR_CHANGED = EventType("aws.ssm", "Calendar State Change")
ALARM_CHANGED = EventType("aws.cloudwatch", "CloudWatch Alarm State Change")


class Metric(StrEnum):
    """What is counted and measured: PascalCase, past."""

    BUDGETS_OPENED = "BudgetsOpened"
    BUDGETS_CLOSED = "BudgetsClosed"
    SIGN_SEEN = "SignSeen"
    SIGN_TO_CLOSED = "SignToClosed"
    ROLL_HELD = "RollHeld"
    ROLL_ENDED = "RollEnded"
    ROLL_FAILED = "RollFailed"
    ROLL_DURATION = "RollDuration"
    ROLL_OVERDUE = "RollOverdue"
    GATE_LEFT_OPEN = "GateLeftOpen"
    HEARTBEAT_DONE = "HeartbeatDone"
    IMAGES_POLLED = "ImagesPolled"
    CLUSTER_UNREAD = "ClusterUnread"
    IMAGE_CHANGED = "ImageChanged"
    MESSAGE_FAILED = "MessageFailed"


class Dimension(StrEnum):
    """The only dimensions of our metrics: each combination is billed, so a cluster or a node is none."""

    SERVICE = "service"
    REASON = "reason"


def seen_prefix(deployment: str) -> str:
    """Under which the images that AWS offers are mirrored: `/driftgate/<deployment>/seen/`."""
    return f"/driftgate/{deployment}/seen/"


def channel_prefix(deployment: str) -> str:
    """Under which promoted images stand, for EC2NodeClasses to follow: `/driftgate/<deployment>/channel/`."""
    return f"/driftgate/{deployment}/channel/"
