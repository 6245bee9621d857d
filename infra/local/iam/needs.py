"""What a call has to be allowed: IAM's actions and ARNs, which are not always those of the API.

An operation that is not listed here is refused by name: nothing passes because nobody thought of it.

Source: aws docs, Service Authorization Reference (2026), by service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from infra.local.iam.calls import Call
from infra.local.iam.evaluation import Need


class UnmappedCallError(Exception):
    """A call whose needs nobody wrote down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a call is made: every ARN of it begins here."""

    account: str
    region: str

    def arn(self, service: str, rest: str) -> str:
        return f"arn:aws:{service}:{self.region}:{self.account}:{rest}"


Keys = Mapping[str, str]
"""The ARN of the key that encrypts a topic, a queue, a table or a secret, by that one's ARN."""

Rule = Callable[[Mapping[str, Any], Place], Iterable[Need]]


def needs_of(call: Call, account: str, keys: Keys) -> tuple[Need, ...]:
    """Everything that the caller must be allowed for this call. Raises UnmappedCallError.

    AWS is reached by HTTPS alone; the loopback stands for that.
    """
    rule = _RULES.get((call.service, call.operation))
    if rule is None:
        raise UnmappedCallError(
            f"{call.service}:{call.operation} is not known here: say in {__name__} which actions and ARNs it needs"
        )
    place = Place(account=account, region=call.region)
    own = tuple(rule(call.params, place))
    common = {"aws:requestedregion": (call.region,), "aws:securetransport": ("true",)}
    return tuple(replace(need, context={**common, **need.context}) for need in (*own, *_of_keys(call, own, keys)))


def _of_keys(call: Call, own: Iterable[Need], keys: Keys) -> Iterator[Need]:
    """A topic, queue or secret under a customer's key needs the key, too; a table's key is DynamoDB's own affair.

    Source: aws docs, sns-key-management, sqs-key-management, secretsmanager/security-encryption.
    """
    actions = _KEY_ACTIONS.get((call.service, call.operation), ())
    for need in own if actions else ():
        key = keys.get(need.resource)
        via = {"kms:viaservice": (f"{call.service}.{call.region}.amazonaws.com",)}
        yield from (Need(action=action, resource=key, context=via) for action in actions if key is not None)


_KEY_ACTIONS = {
    ("sns", "Publish"): ("kms:GenerateDataKey", "kms:Decrypt"),
    ("sqs", "SendMessage"): ("kms:GenerateDataKey", "kms:Decrypt"),
    ("sqs", "ReceiveMessage"): ("kms:Decrypt",),
    ("secretsmanager", "GetSecretValue"): ("kms:Decrypt",),
}


def _on_any(action: str) -> Rule:
    """An action that knows no resources."""
    return lambda _params, _place: (Need(action=action, resource="*"),)


def _on(action: str, service: str, rest: str, parameter: str) -> Rule:
    """An action on the one thing that a parameter names, by its name or its ARN."""
    return lambda params, place: (Need(action=action, resource=_named(str(params[parameter]), place, service, rest)),)


def _named(name: str, place: Place, service: str, rest: str) -> str:
    return name if name.startswith("arn:") else place.arn(service, f"{rest}{name}")


def _on_queue(action: str) -> Rule:
    return lambda params, place: (
        Need(action=action, resource=place.arn("sqs", str(params["QueueUrl"]).rsplit("/", 1)[-1])),
    )


def _on_table(operation: str) -> Rule:
    def rule(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
        index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
        table = _named(str(params["TableName"]), place, "dynamodb", "table/")
        yield Need(action=f"dynamodb:{operation}", resource=table + index, context=_leading_keys(params))

    return rule


def _leading_keys(params: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The partitions that a request of the ledger's table names; its partition key is called `pk`.

    Source: aws docs, amazondynamodb/latest/developerguide/specifying-conditions (2026).
    """
    named = [*params.get("Keys", ()), *(params[part] for part in ("Key", "Item") if part in params)]
    keys = tuple(str(each["pk"]["S"]) for each in named if "pk" in each)
    return {"dynamodb:leadingkeys": keys} if keys else {}


_TRANSACTED = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}


def _transaction(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
    """A transaction has no action of its own: each of its items needs the one it stands for."""
    for item in params["TransactItems"]:
        for kind, request in item.items():
            yield from _on_table(_TRANSACTED[kind])(request, place)


def _batch(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
    for table, asked in params["RequestItems"].items():
        yield from _on_table("BatchGetItem")({"TableName": table, "Keys": asked["Keys"]}, place)


def _parameter(name: str, place: Place) -> str:
    """A public parameter belongs to no account."""
    owner = Place(account="", region=place.region) if name.startswith("/aws/service/") else place
    return _named(name, owner, "ssm", "parameter" if name.startswith("/") else "parameter/")


def _get_parameters(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
    for name in params["Names"]:
        yield Need(action="ssm:GetParameters", resource=_parameter(name, place))


def _put_parameter(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
    overwrite = {"ssm:overwrite": ("true" if params.get("Overwrite") else "false",)}
    yield Need(action="ssm:PutParameter", resource=_parameter(params["Name"], place), context=overwrite)
    if params.get("Tags"):
        yield Need(action="ssm:AddTagsToResource", resource=_parameter(params["Name"], place))


def _calendars(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
    for name in params["CalendarNames"]:
        yield Need(action="ssm:GetCalendarState", resource=_named(name, place, "ssm", "document/"))


def _alarms(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
    """Composite alarms are answered only to who may ask for all."""
    is_all = "CompositeAlarm" in params.get("AlarmTypes", ()) or not params.get("AlarmNames")
    for name in ("*",) if is_all else params["AlarmNames"]:
        resource = "*" if is_all else place.arn("cloudwatch", f"alarm:{name}")
        yield Need(action="cloudwatch:DescribeAlarms", resource=resource)


def _alarm_history(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
    is_all = "CompositeAlarm" in params.get("AlarmTypes", ()) or "AlarmName" not in params
    resource = "*" if is_all else place.arn("cloudwatch", f"alarm:{params['AlarmName']}")
    yield Need(action="cloudwatch:DescribeAlarmHistory", resource=resource)


def _events(params: Mapping[str, Any], place: Place) -> Iterator[Need]:
    for entry in params["Entries"]:
        yield Need(
            action="events:PutEvents",
            resource=_named(entry.get("EventBusName", "default"), place, "events", "event-bus/"),
            context={"events:source": (entry["Source"],), "events:detail-type": (entry["DetailType"],)},
        )


def _log_stream(action: str) -> Rule:
    return lambda params, place: (
        Need(
            action=action,
            resource=place.arn(
                "logs", f"log-group:{params['logGroupName']}:log-stream:{params.get('logStreamName', '')}"
            ),
        ),
    )


def _nothing(_params: Mapping[str, Any], _place: Place) -> tuple[Need, ...]:
    """Who am I: allowed to everybody, whatever a policy says."""
    return ()


_RULES: dict[tuple[str, str], Rule] = {
    ("cloudwatch", "DescribeAlarms"): _alarms,
    ("cloudwatch", "DescribeAlarmHistory"): _alarm_history,
    ("cloudwatch", "ListAlarmMuteRules"): _on_any("cloudwatch:ListAlarmMuteRules"),
    **{
        ("dynamodb", operation): _on_table(operation)
        for operation in ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "DescribeTable")
    },
    ("dynamodb", "BatchGetItem"): _batch,
    ("dynamodb", "TransactWriteItems"): _transaction,
    ("ec2", "DescribeImages"): _on_any("ec2:DescribeImages"),
    ("eks", "DescribeCluster"): _on("eks:DescribeCluster", "eks", "cluster/", "name"),
    ("events", "PutEvents"): _events,
    ("lambda", "Invoke"): _on("lambda:InvokeFunction", "lambda", "function:", "FunctionName"),
    ("logs", "CreateLogStream"): _log_stream("logs:CreateLogStream"),
    ("logs", "PutLogEvents"): _log_stream("logs:PutLogEvents"),
    ("secretsmanager", "GetSecretValue"): _on("secretsmanager:GetSecretValue", "secretsmanager", "secret:", "SecretId"),
    ("sns", "Publish"): _on("sns:Publish", "sns", "", "TopicArn"),
    **{
        ("sqs", operation): _on_queue(f"sqs:{operation}")
        for operation in (
            "SendMessage",
            "ReceiveMessage",
            "DeleteMessage",
            "GetQueueAttributes",
            "GetQueueUrl",
            "ChangeMessageVisibility",
        )
    },
    ("ssm", "GetCalendarState"): _calendars,
    ("ssm", "GetParameters"): _get_parameters,
    ("ssm", "PutParameter"): _put_parameter,
    ("sts", "AssumeRole"): _on("sts:AssumeRole", "iam", "role/", "RoleArn"),
    ("sts", "GetCallerIdentity"): _nothing,
    ("xray", "PutTraceSegments"): _on_any("xray:PutTraceSegments"),
    ("xray", "PutTelemetryRecords"): _on_any("xray:PutTelemetryRecords"),
}
