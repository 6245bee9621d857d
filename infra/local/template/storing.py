"""Tables, parameters, log groups, alarms and dashboards."""

from __future__ import annotations

from infra.local.cloud.server import REGION
from infra.local.template.document import TemplateError
from infra.local.template.intrinsics import Physical
from infra.local.template.making import Creator, Making, arn, as_json


def _global_table(making: Making) -> Physical:
    """A table with its one replica here."""
    found = making.only(
        "AttributeDefinitions",
        "BillingMode",
        "GlobalSecondaryIndexes",
        "KeySchema",
        "Replicas",
        "SSESpecification",
        "StreamSpecification",
        "TableName",
        "TimeToLiveSpecification",
        "WarmThroughput",
    )
    (replica,) = found["Replicas"]
    if replica["Region"] != REGION:
        raise TemplateError(f"{making.logical_id}: a replica in {replica['Region']} cannot be made here")
    name, client = making.name(found.get("TableName"), 255), making.client("dynamodb")
    given = making.without("TableName", "Replicas", "TimeToLiveSpecification", "SSESpecification", "WarmThroughput")
    protect = {"DeletionProtectionEnabled": replica.get("DeletionProtectionEnabled", False)}
    made = client.create_table(TableName=name, **given, **protect)["TableDescription"]["TableArn"]
    if "TimeToLiveSpecification" in found:
        client.update_time_to_live(TableName=name, TimeToLiveSpecification=found["TimeToLiveSpecification"])
    if "PointInTimeRecoverySpecification" in replica:
        client.update_continuous_backups(
            TableName=name, PointInTimeRecoverySpecification=replica["PointInTimeRecoverySpecification"]
        )
    return Physical(ref=name, attributes={"Arn": made})


def _parameter(making: Making) -> Physical:
    found = making.only("Name", "Type", "Value", "Description", "Tier", "DataType", "AllowedPattern")
    name = making.name(found.get("Name"), 1000)
    making.client("ssm").put_parameter(Name=name, **making.without("Name"))
    return Physical(ref=name, attributes={"Type": found["Type"], "Value": found["Value"]})


def _log_group(making: Making) -> Physical:
    found = making.only("LogGroupName", "RetentionInDays", "LogGroupClass", "KmsKeyId", "Tags")
    name, client = making.name(found.get("LogGroupName"), 512), making.client("logs")
    client.create_log_group(logGroupName=name)
    if "RetentionInDays" in found:
        client.put_retention_policy(logGroupName=name, retentionInDays=found["RetentionInDays"])
    return Physical(ref=name, attributes={"Arn": arn("logs", f"log-group:{name}:*")})


def _alarm(making: Making) -> Physical:
    name = making.name(making.properties.get("AlarmName"), 255)
    making.client("cloudwatch").put_metric_alarm(AlarmName=name, **making.without("AlarmName"))
    return Physical(ref=name, attributes={"Arn": arn("cloudwatch", f"alarm:{name}")})


def _dashboard(making: Making) -> Physical:
    found = making.only("DashboardName", "DashboardBody")
    name = making.name(found.get("DashboardName"), 255)
    making.client("cloudwatch").put_dashboard(DashboardName=name, DashboardBody=as_json(found["DashboardBody"]))
    return Physical(ref=name)


CREATORS: dict[str, Creator] = {
    "AWS::DynamoDB::GlobalTable": _global_table,
    "AWS::SSM::Parameter": _parameter,
    "AWS::Logs::LogGroup": _log_group,
    "AWS::CloudWatch::Alarm": _alarm,
    "AWS::CloudWatch::Dashboard": _dashboard,
}
