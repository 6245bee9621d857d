"""Functions, and what feeds them. moto would run them in Docker: they are named here, and run by the runtime."""

from __future__ import annotations

from infra.local.template.intrinsics import Physical
from infra.local.template.making import Creator, Making, arn


def _function(making: Making) -> Physical:
    """Its properties are read by the runtime, which refuses what it does not know."""
    name = making.name(making.properties.get("FunctionName"), 64)
    return Physical(ref=name, attributes={"Arn": arn("lambda", f"function:{name}")})


def _permission(making: Making) -> Physical:
    making.only("Action", "FunctionName", "Principal", "SourceArn", "SourceAccount")
    return Physical(ref=making.name(None, 100))


def _invoke_config(making: Making) -> Physical:
    making.only("FunctionName", "Qualifier", "DestinationConfig", "MaximumEventAgeInSeconds", "MaximumRetryAttempts")
    return Physical(ref=making.name(None, 100))


def _mapping(making: Making) -> Physical:
    making.only(
        "FunctionName",
        "EventSourceArn",
        "BatchSize",
        "Enabled",
        "FunctionResponseTypes",
        "MaximumBatchingWindowInSeconds",
        "ScalingConfig",
        "Tags",
    )
    return Physical(ref=making.name(None, 100))


CREATORS: dict[str, Creator] = {
    "AWS::Lambda::Function": _function,
    "AWS::Lambda::Permission": _permission,
    "AWS::Lambda::EventInvokeConfig": _invoke_config,
    "AWS::Lambda::EventSourceMapping": _mapping,
}
