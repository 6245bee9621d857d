"""What only DynamoDB can do: lose answers, throttle, deny, page; and what a call of the ledger costs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from driftgate.adapters.ledger_dynamodb import DynamoDbLedger, create_table
from driftgate.domain.errors import (
    AnswerLostError,
    AwsForbiddenError,
    InvariantError,
    LeaseHeldError,
    LedgerConflictError,
    LedgerCorruptError,
    LedgerUnavailableError,
    PermanentError,
)
from driftgate.domain.roll import RollState
from driftgate.ports import ExpectStops, PutCounter, PutLook, PutRoll, PutStop
from tests.factories import NOW, counter, roll, stop
from tests.fakes.aws_faults import BROKEN, DENIED, THROTTLED, AwsFaults, refusal, timeout, unreachable
from tests.fakes.clock import FakeClock
from tests.fakes.ledgers import moto_session

TABLE = "driftgate-ledger"
TTL = timedelta(minutes=2)
ALWAYS = 10


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def aws():
    with moto_session() as session:
        yield session


@pytest.fixture
def client(aws):
    made = aws.client("dynamodb", attempts=1)
    create_table(made, TABLE)
    return made


@pytest.fixture
def ledger(aws, client, clock):
    return DynamoDbLedger(aws, TABLE, clock)


def items(client):
    return client.scan(TableName=TABLE)["Items"]


def test_load_is_two_requests_a_fleet_one_and_a_commit_one(client, ledger):
    sent = AwsFaults(client).requests

    ledger.load("demo")
    ledger.load_fleet()
    ledger.commit("demo", PutRoll(roll()), PutCounter(counter(), None), PutStop(stop()), PutLook(NOW))

    assert sent == ["BatchGetItem", "Query", "Query", "TransactWriteItems"]


def test_every_read_is_consistent(client, ledger):
    asked = AwsFaults(client).parameters

    ledger.load("demo")

    assert asked[0]["RequestItems"][TABLE]["ConsistentRead"] is True
    assert asked[1]["ConsistentRead"] is True


def test_ledger_larger_than_a_page_is_read_whole(client, ledger):
    large = roll(claims_at_open=tuple(f"app-{number:05}" for number in range(5000)))
    for number in range(30):
        ledger.commit("demo", PutRoll(roll(id=f"{number:02}-app", claims_at_open=large.claims_at_open)))
    sent = AwsFaults(client).requests

    loaded, fleet = ledger.load("demo"), ledger.load_fleet()

    assert len(loaded.rolls) == len(fleet["demo"].rolls) == 30
    assert sent.count("Query") > 2


def leave_unread(client, times):
    """The first answers of BatchGetItem leave every key unread, as under load."""
    left = iter(range(times))

    def answer(parsed, **_):
        if next(left, None) is not None:
            keys = [{name: found[name] for name in ("pk", "sk")} for found in parsed["Responses"].get(TABLE, [])]
            parsed["Responses"], parsed["UnprocessedKeys"] = {}, {TABLE: {"Keys": keys, "ConsistentRead": True}}

    client.meta.events.register("after-call.dynamodb.BatchGetItem", answer)


def test_keys_that_an_answer_left_unread_are_asked_for_again(client, ledger):
    ledger.commit("demo", PutLook(NOW), PutStop(stop()))
    leave_unread(client, 2)

    state = ledger.load("demo")

    assert (state.looked_at, state.stops) == (NOW, (stop(),))


def test_keys_that_stay_unread_are_not_taken_for_absent(client, ledger):
    ledger.commit("demo", PutStop(stop()))
    leave_unread(client, 100)

    with pytest.raises(LedgerUnavailableError, match="leaves keys unread"):
        ledger.load("demo")


def test_commit_of_more_than_a_transaction_takes_is_refused_before_it_is_sent(client, ledger):
    sent = AwsFaults(client).requests

    with pytest.raises(InvariantError, match="102 writes"):
        ledger.commit("demo", *(PutRoll(roll(id=f"{number:03}")) for number in range(51)))

    assert sent == []


# --- answers that never come -----------------------------------------------------------------------


def test_write_without_any_answer_may_have_happened(client, ledger):
    AwsFaults(client, before=[timeout()] * ALWAYS)

    with pytest.raises(AnswerLostError):
        ledger.commit("demo", PutRoll(roll()))


def test_write_is_repeated_under_the_same_token(client, ledger):
    faults = AwsFaults(client, before=[timeout()])

    ledger.commit("demo", PutRoll(roll()))

    assert faults.requests == ["TransactWriteItems"] * 2
    assert len({asked["ClientRequestToken"] for asked in faults.parameters}) == 1


def test_two_commits_have_tokens_of_their_own(client, ledger):
    faults = AwsFaults(client)

    ledger.commit("demo", PutLook(NOW))
    ledger.commit("demo", PutLook(NOW))

    assert len({asked["ClientRequestToken"] for asked in faults.parameters}) == 2


def test_repeated_write_that_meets_a_conflict_does_not_claim_that_nothing_was_written(client, ledger):
    """Without the server's memory of the token (as here) the first attempt itself is what the second one meets."""
    AwsFaults(client, after=[timeout()])

    with pytest.raises(AnswerLostError):
        ledger.commit("demo", PutRoll(roll()))

    assert ledger.load("demo").rolls == (roll(version=1),)


@pytest.mark.parametrize("last", [unreachable(), refusal(*THROTTLED)])
def test_write_that_got_no_answer_once_stays_in_doubt_whatever_comes_after(client, ledger, last):
    AwsFaults(client, before=[timeout()] + [last] * ALWAYS)

    with pytest.raises(AnswerLostError):
        ledger.commit("demo", PutRoll(roll()))


def test_server_error_on_a_write_leaves_it_in_doubt(client, ledger):
    AwsFaults(client, before=[refusal(*BROKEN)] * ALWAYS)

    with pytest.raises(AnswerLostError):
        ledger.commit("demo", PutRoll(roll()))


@pytest.mark.parametrize("fault", [unreachable(), refusal(*THROTTLED)])
def test_write_that_surely_never_happened_is_unavailable(client, ledger, fault):
    AwsFaults(client, before=[fault] * ALWAYS)

    with pytest.raises(LedgerUnavailableError, match=TABLE):
        ledger.commit("demo", PutRoll(roll()))


@pytest.mark.parametrize("fault", [unreachable(), timeout(), refusal(*THROTTLED), refusal(*BROKEN)])
def test_read_without_an_answer_is_unavailable(client, ledger, fault):
    AwsFaults(client, before=[fault] * ALWAYS)

    with pytest.raises(LedgerUnavailableError, match=TABLE):
        ledger.load("demo")


@pytest.mark.parametrize("fault", [unreachable(), timeout(), refusal(*THROTTLED), refusal(*BROKEN)])
def test_passing_trouble_is_waited_out(client, ledger, clock, fault):
    AwsFaults(client, before=[fault] * 2)

    ledger.commit("demo", PutLook(NOW))

    assert ledger.load("demo").looked_at == NOW
    assert timedelta(0) < clock.now() - NOW < timedelta(seconds=1)


def cancelled(*reasons):
    listed = [{"Code": reason} for reason in reasons]
    return refusal("TransactionCanceledException", CancellationReasons=listed)


def test_collision_with_another_transaction_is_tried_again(client, ledger):
    AwsFaults(client, before=[cancelled("None", "TransactionConflict")])

    ledger.commit("demo", PutRoll(roll()))

    assert ledger.load("demo").rolls == (roll(version=1),)


def test_endless_collision_is_a_conflict(client, ledger):
    AwsFaults(client, before=[cancelled("TransactionConflict")] * ALWAYS)

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutLook(NOW))


def test_failed_condition_is_not_tried_again_and_names_what_was_expected(client, ledger):
    ledger.commit("demo", PutRoll(roll()))
    faults = AwsFaults(client)

    with pytest.raises(LedgerConflictError, match="roll 20261017T021000Z-app at version 7"):
        ledger.commit("demo", PutRoll(roll(version=7)), ExpectStops("0.0"))

    assert faults.requests == ["TransactWriteItems"]


def test_lease_whose_answer_was_lost_is_recognised_as_our_own(client, ledger):
    AwsFaults(client, after=[None, timeout()])

    lease = ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    assert (lease.holder, lease.token) == ("worker-1", 1)
    assert ledger.load("demo").lease == lease


def test_lease_lost_to_another_in_the_same_moment_is_held(aws, client, ledger, clock):
    other = DynamoDbLedger(aws, TABLE, clock)

    class Overtaking(AwsFaults):
        def _sending(self, event_name, **more):
            if event_name.endswith("PutItem") and not self.requests.count("PutItem"):
                self.requests.append("PutItem")
                other.acquire_lease("demo", "worker-2", NOW, TTL)
            super()._sending(event_name, **more)

    Overtaking(client)
    with pytest.raises(LeaseHeldError, match="worker-2"):
        ledger.acquire_lease("demo", "worker-1", NOW, TTL)


# --- what a person must change ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "action"),
    [
        (lambda ledger: ledger.load("demo"), "dynamodb:BatchGetItem"),
        (lambda ledger: ledger.load_fleet(), "dynamodb:Query"),
        (lambda ledger: ledger.commit("demo", PutLook(NOW)), "dynamodb:PutItem"),
        (lambda ledger: ledger.acquire_lease("demo", "w", NOW, TTL), "dynamodb:BatchGetItem"),
    ],
)
def test_denied_call_names_the_action_and_is_not_repeated(client, ledger, act, action):
    faults = AwsFaults(client, before=[refusal(*DENIED)] * ALWAYS)

    with pytest.raises(AwsForbiddenError, match=TABLE) as caught:
        act(ledger)

    assert caught.value.action.startswith(action)
    assert len(faults.requests) == 1


@pytest.mark.parametrize(
    "act", [lambda ledger: ledger.load("demo"), lambda ledger: ledger.commit("demo", PutLook(NOW))]
)
def test_missing_table_is_named(aws, client, clock, act):
    with pytest.raises(PermanentError, match="no DynamoDB table elsewhere"):
        act(DynamoDbLedger(aws, "elsewhere", clock))


def test_refusal_of_the_request_itself_is_not_repeated(client, ledger):
    faults = AwsFaults(client, before=[refusal("ValidationException")])

    with pytest.raises(PermanentError, match=r"was refused.*ValidationException"):
        ledger.load_fleet()

    assert faults.requests == ["Query"]


def test_item_of_a_newer_schema_is_refused_by_its_key(client, ledger):
    ledger.commit("demo", PutRoll(roll()))
    newer = next(item for item in items(client) if item["pk"]["S"] == "cluster#demo")
    client.put_item(TableName=TABLE, Item=newer | {"v": {"N": "2"}})

    with pytest.raises(LedgerCorruptError, match=r"cluster#demo/roll#20261017T021000Z-app has schema version 2"):
        ledger.load("demo")


@pytest.mark.parametrize(
    "damage", [{"body": {"S": "{"}}, {"body": {"S": "{}"}}, {"body": {"N": "1"}}, {"v": {"S": "?"}}]
)
def test_item_that_cannot_be_read_is_refused_by_its_key(client, ledger, damage):
    ledger.commit("demo", PutRoll(roll()))
    found = next(item for item in items(client) if item["pk"]["S"] == "fleet")
    client.put_item(TableName=TABLE, Item=found | damage)

    with pytest.raises(LedgerCorruptError, match="fleet/roll#demo#20261017T021000Z-app"):
        ledger.load_fleet()


# --- cleaning --------------------------------------------------------------------------------------


def test_only_a_finished_roll_may_be_cleaned_away_and_not_before_its_ninety_days(client, ledger):
    ledger.commit("demo", PutRoll(roll(id="1-app")), PutRoll(roll(RollState.DONE, id="2-app", ended_at=NOW)))

    until = {item["sk"]["S"]: item.get("ttl") for item in items(client) if item["pk"]["S"] == "cluster#demo"}

    assert until["roll#1-app"] is None
    assert until["roll#2-app"] == {"N": str(int(datetime(2027, 1, 16, 2, 10, tzinfo=UTC).timestamp()))}


def test_finished_roll_leaves_the_partition_that_a_heartbeat_reads(client, ledger):
    ledger.commit("demo", PutRoll(roll()))
    ledger.commit("demo", PutRoll(roll(RollState.DONE, version=1, ended_at=NOW)))

    assert {item["pk"]["S"] for item in items(client)} == {"cluster#demo"}


def test_bodies_are_json_that_a_person_can_read_in_the_console(client, ledger):
    ledger.commit("demo", PutRoll(roll(node="größe")))

    body = items(client)[0]["body"]["S"]

    assert "größe" in body
    assert json.loads(body)["windowKey"] == "app/sat/2026-10-17T02:00:00Z"
