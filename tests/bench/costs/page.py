"""docs/cost.md, from what was counted. Nothing in it is written by hand that could be computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from infra.packaging.contents import ROOT
from tests.bench.costs.month import HEARTBEAT, LOOK, MONTH, POLL, ROLL_WATCH, Counted, month
from tests.bench.costs.prices import ALARM, DASHBOARD, KEY, METRIC, PRICES, cost
from tests.bench.costs.usage import Unit, Usage

PAGE = ROOT / "docs" / "cost.md"
FLEETS = (1, 100, 1000)
GOAL = 0.05
ALARMS, METRICS = 17, 23
"""Of a deployment without placements in VPCs and without Slack of its own."""
SHOWN = [unit for unit in Unit if unit is not Unit.FREE]


def page(counted: Counted) -> str:
    return "\n".join(_lines(counted)) + "\n"


def per_cluster(clusters: int, counted: Counted) -> float:
    """USD of a cluster-month, the fixed part of CloudWatch apart."""
    return cost(month(clusters, counted)) / clusters


def _lines(counted: Counted) -> Iterator[str]:
    yield from (HEAD.strip("\n"), "")
    yield from _table(
        ("", *("1 cluster" if number == 1 else f"{number:,} clusters" for number in FLEETS)), _costs(counted)
    )
    yield from ("", _verdict(counted), "", UNITS.strip("\n"), "")
    yield from _table(("one", *(unit.value for unit in COUNTED_UNITS)), _units(counted))
    yield from ("", _how().strip("\n"), "", _less(counted).strip("\n"))


COUNTED_UNITS = (
    Unit.TABLE_READ,
    Unit.TABLE_WRITE,
    Unit.CLOUDWATCH_CALL,
    Unit.FIFO_REQUEST,
    Unit.PUBLISH,
    Unit.EVENT,
    Unit.LOG_BYTE,
)


def _costs(counted: Counted) -> Iterator[tuple[str, ...]]:
    months = [month(number, counted) for number in FLEETS]
    for unit in SHOWN:
        yield (unit.value, *(_usd(PRICES[unit] * used.of(unit)) for used in months))
    yield ("**together, a month**", *(f"**{_usd(cost(used))}**" for used in months))
    each = [cost(used) / number for used, number in zip(months, FLEETS, strict=True)]
    yield ("**for each cluster**", *(f"**{value:.3f}**" for value in each))


def _units(counted: Counted) -> Iterator[tuple[str, ...]]:
    named = {"heartbeat, 1 cluster": counted.heartbeat, "poll": counted.poll, "look": counted.look}
    for name, used in {**named, "roll, beside its looks": counted.roll}.items():
        yield (name, *(f"{used.of(unit):,.0f}" for unit in COUNTED_UNITS))


def _verdict(counted: Counted) -> str:
    found = per_cluster(1000, counted)
    largest = sorted(SHOWN, key=lambda unit: -PRICES[unit] * month(1000, counted).of(unit))[:3]
    said = "met" if found <= GOAL else f"**missed by a factor of {found / GOAL:.1f}**"
    return (
        f"The goal is 0.05 USD for each cluster at 1,000 clusters; it is {said}.\n"
        f"Nearly all of it is looks, {MONTH.looks:,.0f} for each cluster, and of them most:\n"
        f"{'; '.join(unit.value for unit in largest)}."
    )


def _less(counted: Counted) -> str:
    seldom = replace(MONTH, observe_every_min=240)
    quiet = replace(seldom, window_min=MONTH.window_min / 4, bake_min=MONTH.bake_min / 4, rolls=MONTH.rolls / 4)
    rows = [
        ("as above", _usd3(month(1000, counted))),
        ("`observe_every: 4h`", _usd3(month(1000, counted, seldom))),
        ("and one window a month instead of four", _usd3(month(1000, counted, quiet))),
    ]
    return LESS + "\n".join(_table(("at 1,000 clusters", "USD for each cluster"), rows)) + "\n" + TAIL


def _usd3(used: Usage) -> str:
    return f"{cost(used) / 1000:.3f}"


def _usd(value: float) -> str:
    return f"{value:,.2f}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join(['---', *['---:'] * (len(head) - 1)])}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


HEAD = """
# Cost

What a deployment costs in AWS a month, in USD by list price of us-east-1, without any free tier. This page is made by
`python -m tests.bench.costs`, from calls that are counted by a deployment at work, not guessed.

The month is a hard one: 20 NodePools of 100 nodes in each cluster, one alarm, a window of three hours a week, a new
image before each of them, so that every pool rolls a node in every window, and four hours of bake after it.
"""
UNITS = """
## What was counted

One of each, in a cluster of that size with twelve weeks of rolls in its ledger:
"""
LESS = """
## What makes it less

Looks are the bill. One is due every `observe_every` at rest, every minute of a window and of a roll, every five
minutes while an image bakes. Alarms, calendars and new images ask for looks by themselves, whatever it says.

"""
TAIL = """
Trace sampling is yours to turn down: a sampling rule of X-Ray for the service's name.
"""


def _how() -> str:
    lasts = ", ".join(
        f"{name} {each.gb_s:.2f}"
        for name, each in {"heartbeat": HEARTBEAT, "poll": POLL, "look": LOOK, "watch of a roll": ROLL_WATCH}.items()
    )
    fixed = ALARMS * ALARM + METRICS * METRIC + DASHBOARD + KEY
    return f"""
## How

- The deployment runs on one machine by its synthesized template, in virtual time, and every call to AWS is heard where
  it arrives. DynamoDB's units follow from the sizes of the items. A queue's receive and delete are counted beside each
  send, two uses of the key beside each publish, 1,000 bytes of Lambda's own lines beside each run.
- A month is 43,200 heartbeats, 2,880 polls, and in each cluster {MONTH.looks:,.0f} looks and {MONTH.rolls:,.0f} rolls:
  multiplied. `make bench` lets a small fleet run by itself for three hours and compares: the product must agree.
- Not counted but estimated: how long runs last. Processor time was measured on a busy machine and shared as Lambda
  shares it at 512 MB. GB-seconds of one: {lasts}.
- One call for each look is counted though AWS would save it: the history of an alarm that did not change for six hours
  is not asked for there, and the local AWS does not tell when an alarm last changed.
- Not in the table, and the same for any number of clusters: {ALARMS} alarms, about {METRICS} metrics, a dashboard and
  a key, together about {fixed:.0f} USD; 0.40 for a Slack secret. Interface endpoints of a VPC without NAT cost about
  117 USD a month for each VPC, and are shared with whatever else uses them.
- Prices are as known in 2026: [M] Lambda, SQS, SNS, EventBridge, CloudWatch, X-Ray; [L], from memory, DynamoDB and KMS.
"""
