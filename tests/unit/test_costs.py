"""The arithmetic of docs/cost.md: units by size, a month by its parts, and that the page is what it comes to."""

from __future__ import annotations

import pytest

from tests.bench.costs import record
from tests.bench.costs.month import Counted, Seconds, Span, month, of_clusters, of_fleet
from tests.bench.costs.page import PAGE, page
from tests.bench.costs.prices import PRICES, cost
from tests.bench.costs.tables import batch_reads, item_bytes, reads, transaction_writes, writes
from tests.bench.costs.usage import Unit, Usage

NOTHING = Usage()
HOUR = Span(minutes=60, window_min=10, bake_min=20, rolls=2)


def counted(**parts):
    given = dict.fromkeys(("heartbeat", "poll", "look", "roll"), NOTHING) | parts
    return Counted(fleet_bytes=given.pop("fleet_bytes", 0.0), **given)


def text(length):
    return {"pk": {"S": "x" * (length - 2)}}


def test_an_item_is_as_large_as_its_names_and_values_in_utf8():
    assert item_bytes({"pk": {"S": "größe"}, "n": {"N": "42"}}) == 2 + 7 + 1 + 2


@pytest.mark.parametrize(("size", "units"), [(0, 1), (4096, 1), (4097, 2)])
def test_a_read_takes_a_unit_for_every_4_kb_begun(size, units):
    assert reads(size) == units


@pytest.mark.parametrize(("size", "units"), [(1, 1), (1024, 1), (1025, 2)])
def test_a_write_takes_a_unit_for_every_kb_begun(size, units):
    assert writes(size) == units


def test_an_item_that_is_not_there_is_read_too():
    assert batch_reads(3, [text(10), text(5000)]) == 1 + 2 + 1


def test_a_write_in_a_transaction_counts_twice():
    request = {"TransactItems": [{"Put": {"Item": text(1500)}}, {"ConditionCheck": {"Key": {}}}, {"Update": {}}]}

    assert transaction_writes(request) == 2 * (2 + 1 + 1)


def test_a_cluster_is_looked_at_each_minute_of_a_window_every_fifth_of_a_bake_and_every_half_hour_at_rest():
    assert HOUR.looks == 10 + 20 / 5 + 30 / 30


def test_looks_and_rolls_grow_with_the_clusters_and_heartbeats_do_not():
    parts = counted(
        heartbeat=Usage({Unit.EVENT: 1.0, Unit.TABLE_READ: 1.0}),
        poll=Usage({Unit.EVENT: 10.0}),
        look=Usage({Unit.PUBLISH: 1.0}),
        roll=Usage({Unit.PUBLISH: 100.0}),
    )

    assert of_fleet(7, parts, HOUR).of(Unit.EVENT) == 60 + 10 * 4
    assert of_clusters(7, parts, HOUR).of(Unit.PUBLISH) == 7 * (15 + 200)


def test_a_heartbeat_reads_what_every_cluster_has_in_the_ledger():
    parts = counted(heartbeat=Usage({Unit.TABLE_READ: 1.0}), fleet_bytes=800.0)

    assert of_fleet(1, parts, HOUR).of(Unit.TABLE_READ) == 60
    assert of_fleet(100, parts, HOUR).of(Unit.TABLE_READ) == 60 * 20


def test_processor_time_is_shared_by_memory_and_waiting_is_not():
    assert Seconds(cpu_s=1.0, waiting_s=2.0, memory_mb=1769).gb_s == pytest.approx(3 * 1769 / 1024)
    assert Seconds(cpu_s=1.0, waiting_s=0.0, memory_mb=512).gb_s == pytest.approx(1769 / 1024)


def test_everything_that_is_counted_has_a_price():
    assert set(PRICES) == set(Unit)
    assert cost(Usage({Unit.TRACE: 1_000_000.0, Unit.FREE: 5.0})) == pytest.approx(5.0)


def test_each_cluster_more_costs_the_same():
    parts = record.read()

    ten, twenty, thirty = (cost(month(number, parts)) for number in (1000, 2000, 3000))

    assert twenty - ten == pytest.approx(thirty - twenty, rel=0.01)


def test_the_page_is_what_was_counted_last():
    assert PAGE.read_text(encoding="utf-8") == page(record.read()), "Run: python -m tests.bench.costs --page"
