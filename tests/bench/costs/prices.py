"""List prices of us-east-1 in USD, without any free tier. Free tiers only make it cheaper."""

from __future__ import annotations

from collections.abc import Mapping

from tests.bench.costs.usage import Unit, Usage

MILLION = 1e6
PRICES: Mapping[Unit, float] = {
    Unit.LAMBDA_REQUEST: 0.20 / MILLION,
    Unit.LAMBDA_GB_S: 0.0000133334,
    Unit.LOG_BYTE: 0.50 / 1e9,
    Unit.CLOUDWATCH_CALL: 0.01 / 1000,
    Unit.TRACE: 5.00 / MILLION,
    Unit.TABLE_READ: 0.125 / MILLION,
    Unit.TABLE_WRITE: 0.625 / MILLION,
    Unit.FIFO_REQUEST: 0.50 / MILLION,
    Unit.EVENT: 1.00 / MILLION,
    Unit.PUBLISH: 0.50 / MILLION,
    Unit.KEY_USE: 0.03 / 10_000,
    Unit.SCHEDULED: 1.00 / MILLION,
    Unit.FREE: 0.0,
}
"""Source: the services' pricing pages as of 2026 (dates and doubts: docs/cost.md)."""

ALARM, METRIC, DASHBOARD, KEY = 0.10, 0.30, 3.00, 1.00
"""A month each."""


def cost(used: Usage) -> float:
    """USD."""
    return sum(PRICES[unit] * amount for unit, amount in used.amounts.items())
