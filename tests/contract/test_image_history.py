"""What every history of image parameters does: the fake, and the ledger's table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from driftgate.adapters.image_history_dynamodb import DynamoDbImageHistory
from driftgate.adapters.ledger_dynamodb import DynamoDbLedger, create_table
from driftgate.adapters.local_process import NoImageHistory
from driftgate.domain.errors import (
    AnswerLostError,
    AwsForbiddenError,
    InvariantError,
    LedgerConflictError,
    LedgerCorruptError,
    LedgerUnavailableError,
)
from driftgate.domain.seen_images import SeenImage, SeenParameter
from tests.factories import at
from tests.fakes.aws_faults import BROKEN, DENIED, AwsFaults, refusal, timeout
from tests.fakes.clock import FakeClock
from tests.fakes.image_history import FakeImageHistory
from tests.fakes.ledgers import moto_session

TABLE = "driftgate"
OLD = SeenImage(image="ami-0aaa")
NEW = SeenImage(
    image="ami-0bbb",
    name="golden-v20260923",
    created_at=at("2026-09-24T10:00:00Z"),
    deprecated_at=at("2028-09-24T10:00:00Z"),
    since=at("2026-09-24T11:00:00.250Z"),
)
FULL = SeenParameter(
    region="us-east-1", account="444455556666", name="/golden/id", images=(OLD, NEW), told="ami-0aaa", trouble="missing"
)


@pytest.fixture
def aws():
    with moto_session() as session:
        create_table(session.client("dynamodb", attempts=1), TABLE)
        yield session


@pytest.fixture(params=["fake", "dynamodb"])
def history(request):
    if request.param == "fake":
        return FakeImageHistory()
    return DynamoDbImageHistory(request.getfixturevalue("aws"), TABLE, FakeClock())


def test_what_was_never_seen_is_left_out(history):
    assert history.load([FULL.key]) == {}


def test_what_was_seen_is_loaded_as_it_was_saved(history):
    history.save(FULL)

    assert history.load([FULL.key]) == {FULL.key: replace(FULL, version=1)}


def test_parameters_of_one_name_are_apart_by_region_and_account(history):
    history.save(FULL)
    history.save(replace(FULL, region="eu-central-1", account="", told="x"))

    found = history.load([("eu-central-1", "", "/golden/id"), ("eu-central-1", "444455556666", "/golden/id")])

    assert [seen.told for seen in found.values()] == ["x"]


def test_nothing_is_loaded_for_no_keys(history):
    assert history.load([]) == {}


def test_more_keys_than_one_call_takes_are_loaded(history):
    seen = [SeenParameter(region="eu-central-1", name=f"/p/{number}") for number in range(101)]
    for each in seen:
        history.save(each)

    assert len(history.load([each.key for each in seen])) == 101


def test_of_two_who_saw_it_first_only_one_may_store_it(history):
    history.save(replace(FULL, told="first"))

    with pytest.raises(LedgerConflictError, match="/golden/id"):
        history.save(replace(FULL, told="second"))

    assert history.load([FULL.key])[FULL.key].told == "first"


def test_what_follows_from_an_older_reading_is_not_stored(history):
    history.save(FULL)
    stored = history.load([FULL.key])[FULL.key]
    history.save(stored)

    with pytest.raises(LedgerConflictError):
        history.save(stored)


def test_a_laptop_without_a_deployments_ledger_knows_no_history_and_writes_none():
    assert NoImageHistory().load([FULL.key]) == {}
    with pytest.raises(InvariantError):
        NoImageHistory().save(FULL)


# --- DynamoDB --------------------------------------------------------------------------------------


@pytest.fixture
def table(aws):
    return DynamoDbImageHistory(aws, TABLE, FakeClock())


def test_no_heartbeat_and_no_look_reads_it(aws, table):
    table.save(FULL)
    ledger = DynamoDbLedger(aws, TABLE, FakeClock())

    assert list(ledger.load_fleet()) == ["*"]
    assert ledger.load("us-east-1").told == {}


def test_a_record_that_cannot_be_read_is_named_with_what_to_do(aws, table):
    table.save(FULL)
    item = aws.client("dynamodb").scan(TableName=TABLE)["Items"][0]
    aws.client("dynamodb").put_item(TableName=TABLE, Item=item | {"body": {"S": "{"}})

    with pytest.raises(LedgerCorruptError, match=r"images#us-east-1/seen#444455556666#/golden/id.*Delete it"):
        table.load([FULL.key])


def test_a_write_whose_answer_was_lost_may_have_happened(aws, table):
    AwsFaults(aws.client("dynamodb", attempts=1), after=[timeout()])

    with pytest.raises(AnswerLostError):
        table.save(FULL)


@pytest.mark.parametrize(
    ("act", "code", "raised"),
    [
        (lambda table: table.load([FULL.key]), DENIED, AwsForbiddenError),
        (lambda table: table.save(FULL), DENIED, AwsForbiddenError),
        (lambda table: table.load([FULL.key]), BROKEN, LedgerUnavailableError),
        (lambda table: table.save(FULL), BROKEN, AnswerLostError),
    ],
)
def test_a_table_that_does_not_answer_or_may_not_be_asked(aws, table, act, code, raised):
    AwsFaults(aws.client("dynamodb", attempts=1), before=[refusal(*code)] * 5)

    with pytest.raises(raised):
        act(table)
