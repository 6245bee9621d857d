"""What AWS bills, in its own units, and how much of each somebody used. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Unit(StrEnum):
    """One kind of thing on a bill. FREE is a call that costs nothing."""

    LAMBDA_REQUEST = "Lambda requests"
    LAMBDA_GB_S = "Lambda, GB-seconds on arm64"
    LOG_BYTE = "CloudWatch Logs, bytes taken in"
    CLOUDWATCH_CALL = "CloudWatch API requests"
    TRACE = "X-Ray traces"
    TABLE_READ = "DynamoDB read units"
    TABLE_WRITE = "DynamoDB write units"
    FIFO_REQUEST = "SQS FIFO requests"
    EVENT = "EventBridge events of our own"
    PUBLISH = "SNS publishes"
    KEY_USE = "KMS requests"
    SCHEDULED = "EventBridge Scheduler invocations"
    FREE = "free calls (SSM, EC2, EKS, STS)"


@dataclass(frozen=True, slots=True)
class Usage:
    """So much of each unit; what is not named is none."""

    amounts: Mapping[Unit, float] = field(default_factory=dict)

    def of(self, unit: Unit) -> float:
        return self.amounts.get(unit, 0.0)

    def __add__(self, other: Usage) -> Usage:
        return Usage({unit: self.of(unit) + other.of(unit) for unit in {*self.amounts, *other.amounts}})

    def __sub__(self, other: Usage) -> Usage:
        return self + other * -1

    def __mul__(self, times: float) -> Usage:
        return Usage({unit: amount * times for unit, amount in self.amounts.items()})
