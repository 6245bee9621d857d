"""What every memory of Slack threads does: the fake, and the ledger's table."""

from __future__ import annotations

import pytest

from driftgate.adapters.ledger_dynamodb import DynamoDbLedger, create_table
from driftgate.adapters.slack_threads import DynamoDbThreads
from driftgate.domain.chat_turn import Thread
from driftgate.domain.errors import (
    AnswerLostError,
    AwsForbiddenError,
    LedgerConflictError,
    LedgerCorruptError,
    LedgerUnavailableError,
)
from tests.factories import NOW, at
from tests.fakes.aws_faults import BROKEN, DENIED, AwsFaults, refusal, timeout
from tests.fakes.clock import FakeClock
from tests.fakes.ledgers import moto_session
from tests.fakes.slack import MemorySlackThreads

TABLE = "driftgate"
ROLL = "20261017T021000000Z-app"
FULL = Thread(
    name=ROLL,
    root="1792203000.000001",
    root_at=at("2026-10-17T02:10:00.250Z"),
    said=("e1", "e2"),
    holder="worker",
    until=at("2026-10-17T02:11:00Z"),
)


@pytest.fixture
def aws():
    with moto_session() as session:
        create_table(session.client("dynamodb", attempts=1), TABLE)
        yield session


@pytest.fixture(params=["memory", "dynamodb"])
def threads(request):
    if request.param == "memory":
        return MemorySlackThreads()
    return DynamoDbThreads(request.getfixturevalue("aws"), TABLE, FakeClock())


def test_a_thread_that_nobody_knows_has_no_version_and_no_first_message(threads):
    assert threads.read(ROLL) == Thread(name=ROLL)


def test_a_thread_is_read_as_it_was_written(threads):
    stored = threads.write(FULL)

    assert stored.version == 1
    assert threads.read(ROLL) == stored
    assert (stored.root, stored.root_at, stored.said) == (FULL.root, FULL.root_at, ("e1", "e2"))


def test_of_two_that_found_no_thread_only_the_first_may_begin_it(threads):
    threads.write(Thread(name=ROLL, holder="first"))

    with pytest.raises(LedgerConflictError, match=ROLL if isinstance(threads, DynamoDbThreads) else None):
        threads.write(Thread(name=ROLL, holder="second"))

    assert threads.read(ROLL).holder == "first"


def test_a_write_on_an_older_reading_is_refused(threads):
    stored = threads.write(FULL)
    threads.write(stored)

    with pytest.raises(LedgerConflictError):
        threads.write(stored)


def test_threads_are_apart_whatever_their_names_hold(threads):
    threads.write(Thread(name="demo#app", holder="x"))

    assert threads.read("demo") == Thread(name="demo")
    assert threads.read("demo#app").holder == "x"
    assert threads.read("demo%23app") == Thread(name="demo%23app")


# --- the table -------------------------------------------------------------------------------------


def test_no_look_at_a_cluster_reads_the_threads(aws):
    DynamoDbThreads(aws, TABLE, FakeClock()).write(FULL)
    ledger = DynamoDbLedger(aws, TABLE, FakeClock())

    assert ledger.load("demo").rolls == ()
    assert set(ledger.load_fleet()) == {"*"}


def test_an_item_is_cleaned_away_after_90_days_and_lies_in_a_partition_of_its_own(aws):
    DynamoDbThreads(aws, TABLE, FakeClock()).write(FULL)

    (item,) = aws.client("dynamodb").scan(TableName=TABLE)["Items"]
    assert item["pk"] == {"S": f"slack#{ROLL}"}
    assert item["ttl"] == {"N": str(int(NOW.timestamp()) + 90 * 86400)}


def test_a_write_whose_first_answer_was_lost_is_told_as_such(aws):
    AwsFaults(aws.client("dynamodb", attempts=1), after=[timeout()])

    with pytest.raises(AnswerLostError, match="read again"):
        DynamoDbThreads(aws, TABLE, FakeClock()).write(FULL)


def test_a_table_that_does_not_answer_is_unavailable(aws):
    AwsFaults(aws.client("dynamodb", attempts=1), before=[refusal(*BROKEN)] * 5)

    with pytest.raises(LedgerUnavailableError):
        DynamoDbThreads(aws, TABLE, FakeClock()).read(ROLL)


def test_a_denied_read_names_the_action(aws):
    AwsFaults(aws.client("dynamodb", attempts=1), before=[refusal(*DENIED)])

    with pytest.raises(AwsForbiddenError, match="dynamodb:BatchGetItem"):
        DynamoDbThreads(aws, TABLE, FakeClock()).read(ROLL)


@pytest.mark.parametrize("body", ["no JSON", "[]", '{"said": 3}', '{"rootAt": "yesterday"}'])
def test_an_item_that_cannot_be_read_is_told_with_the_remedy(aws, body):
    aws.client("dynamodb").put_item(
        TableName=TABLE,
        Item={"pk": {"S": f"slack#{ROLL}"}, "sk": {"S": "thread"}, "version": {"N": "1"}, "body": {"S": body}},
    )

    with pytest.raises(LedgerCorruptError, match="Delete its item"):
        DynamoDbThreads(aws, TABLE, FakeClock()).read(ROLL)
