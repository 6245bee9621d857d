"""reconcile_cluster: one look per message, over the simulated cluster."""

import json
from dataclasses import replace

import pytest
from aws_lambda_powertools.utilities.batch.exceptions import BatchProcessingError

from driftgate.contract import Metric
from driftgate.domain.errors import ClusterUnavailableError
from driftgate.domain.roll import RollState
from functions.reconcile_cluster.handler import handler
from tests.factories import NOW, SATURDAY, at, cluster_policy, pool_policy
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import world
from tests.functions.conftest import event
from tests.functions.worlds import ASLEEP, advance, budgets, queue_event, saturday, sim_of
from tests.sim_clusters import SHUT, drifted_cluster

SOON = replace(SATURDAY, cron="30 2 * * sat")
LOOK = json.dumps({"cluster": "demo", "dedup": "demo:202610170210", "cause": "heartbeat", "rollId": ""})


def test_a_look_in_the_window_rolls_exactly_one_node_and_puts_the_baseline_back(use, context):
    around = use(saturday())

    answer = handler(event("sqs_work_message"), context)

    assert answer == {"batchItemFailures": []}
    assert sim_of(around).witness.nodes() == ["a0"]
    assert budgets(around) == SHUT


def test_the_same_message_twice_rolls_one_node(use, context):
    around = use(saturday())

    handler(event("sqs_work_message"), context)
    handler(event("sqs_work_message"), context)

    assert sim_of(around).witness.nodes() == ["a0"]
    assert [roll.pool for roll in around.ledger.load("demo").rolls] == ["app"]


@pytest.mark.parametrize(("windows", "due"), [((), "02:40:01"), ((SOON,), "02:30:00"), ((SATURDAY,), "02:10:01")])
def test_a_look_writes_down_when_the_next_is_due_and_by_which_configuration(use, context, windows, due):
    around = saturday(windows=windows)
    around.config_digest = "3f8a"
    use(around)

    handler(event("sqs_work_message"), context)

    known = around.ledger.load("demo")
    assert known.looked_at == at("2026-10-17T02:10:01Z")
    assert (known.due_at, known.config) == (at(f"2026-10-17T{due}Z"), "3f8a")


def test_each_decision_is_one_line_with_its_reason_and_the_message_it_answers(use, context, output):
    use(saturday(windows=()))

    handler(event("sqs_work_message"), context)

    seen = output()
    decided = seen.log("Decided on a pool")
    assert [(line["nodepool"], line["verdict"], line["action"], line["reasons"]) for line in decided] == [
        ("app", "TRAPPED", "HOLD", ["OUTSIDE_WINDOW"])
    ]
    assert {line["correlation_id"] for line in seen.logs} == {"demo:202610170210"}
    assert {(line["cluster"], line["cause"]) for line in seen.logs} == {("demo", "heartbeat")}


def test_log_lines_hold_no_whole_objects(use, context, output):
    use(saturday())

    handler(event("sqs_work_message"), context)

    for line in output().logs:
        assert "budgets" not in line
        assert len(json.dumps(line)) < 2000


def test_an_opening_and_its_closing_are_measured_once(use, context, output):
    around = use(saturday())
    handler(event("sqs_work_message"), context)
    first = output()

    advance(around, minutes=1)
    handler(event("sqs_work_message"), context)

    assert first.values()["BudgetsOpened"] == [1.0]
    assert first.values()["BudgetsClosed"] == [1.0]
    assert first.values()["SignSeen"] == [1.0]
    assert 0 <= first.values()["SignToClosed"][0] < 1
    again = set(output().values())
    assert not again & {"BudgetsOpened", "SignSeen", "SignToClosed"}


def test_every_metric_is_in_the_contract_and_has_no_cluster_dimension(use, context, output):
    use(saturday())

    handler(event("sqs_work_message"), context)
    handler(event("sqs_work_message"), context)

    seen = output()
    assert set(seen.values()) <= set(Metric)
    assert seen.dimensions() == {"service", "reason"}
    assert {blob["service"] for blob in seen.metrics} == {"driftgate"}
    assert {blob["_aws"]["CloudWatchMetrics"][0]["Namespace"] for blob in seen.metrics} == {"driftgate"}


def test_a_hold_is_counted_by_its_first_reason(use, context, output):
    use(saturday(windows=()))

    handler(event("sqs_work_message"), context)

    held = [blob for blob in output().metrics if "RollHeld" in blob]
    assert [(blob["reason"], blob["RollHeld"]) for blob in held] == [("OUTSIDE_WINDOW", [1.0])]


def test_a_cluster_that_cannot_be_read_is_unknown_and_counted(use, context, output):
    cluster = FakeCluster()
    cluster.failures["list_nodepools"] = ClusterUnavailableError("no answer")
    use(world(cluster, FakeClock(NOW), cluster_policy("app", policy=pool_policy())))

    handler(event("sqs_work_message"), context)

    seen = output()
    assert seen.values()["ClusterUnread"] == [1.0]
    assert "UNKNOWN" in seen.log("Decided on a pool")[0]["verdict"]


def test_a_gate_still_open_after_its_slice_is_handed_on(use, context):
    around = use(saturday(drifted_cluster(3, timings=ASLEEP)))

    handler(event("sqs_work_message"), context)

    roll = around.ledger.load("demo").rolls[0]
    assert roll.state is RollState.OPENED
    assert [message.dedup for message in around.queue.sent] == [f"{roll.id}:1"]


def test_a_failed_message_comes_again_and_stops_only_its_group(use, context, output):
    around = use(saturday())

    answer = handler(queue_event(("broken", "{"), ("broken", LOOK), ("demo", LOOK)), context)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}, {"itemIdentifier": "m2"}]}
    assert sim_of(around).witness.nodes() == ["a0"]
    failed = output().log("A look failed; its message comes again")
    assert [(line["cluster"], line["correlation_id"], line["level"]) for line in failed] == [("broken", "m1", "ERROR")]


@pytest.mark.parametrize("body", ["", "[]", '{"cluster": "demo"}', '{"dedup": "x", "cause": "y"}'])
def test_a_batch_that_failed_whole_raises(use, context, body):
    use(saturday())

    with pytest.raises(BatchProcessingError):
        handler(queue_event(("demo", body)), context)


def test_the_keys_of_one_message_do_not_stand_in_the_lines_of_the_next(use, context, output):
    use(saturday())

    handler(queue_event(("demo", LOOK), ("broken", "{")), context)

    failed = output().log("A look failed; its message comes again")[0]
    assert (failed["cluster"], failed["cause"]) == ("broken", "")
