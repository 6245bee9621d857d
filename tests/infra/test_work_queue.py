"""The queue of a placement: its times against those of the worker, and what happens to what fails."""

from __future__ import annotations

import pytest

from driftgate.app.watch_gate import SLICE

LONGEST_BESIDE_THE_WATCH_S = 30
"""Reading before a watch and closing after it; more would be a worker in trouble."""


@pytest.fixture
def queue(small):
    return small.one("AWS::SQS::Queue", "PlacementdefaultWorkQueue")


@pytest.fixture
def worker(small):
    return small.functions()["reconcile_cluster@default"]


@pytest.fixture
def source(small):
    return small.one("AWS::Lambda::EventSourceMapping", "Placementdefault")


def test_a_dead_worker_is_replaced_after_two_minutes(queue):
    assert queue["VisibilityTimeout"] == 120


def test_a_slice_ends_before_its_worker_does_and_that_before_the_message_comes_again(queue, worker):
    assert SLICE.total_seconds() + LONGEST_BESIDE_THE_WATCH_S <= worker["Timeout"] < queue["VisibilityTimeout"]


def test_a_message_is_given_up_after_three_tries_and_before_it_is_stale(queue):
    receives = queue["RedrivePolicy"]["maxReceiveCount"]

    assert receives == 3
    assert receives * queue["VisibilityTimeout"] < queue["MessageRetentionPeriod"] == 900


def test_what_is_given_up_is_kept_in_a_queue_of_the_same_kind(small, queue):
    letters = small.one("AWS::SQS::Queue", "PlacementdefaultWorkDeadLetters")

    assert queue["RedrivePolicy"]["deadLetterTargetArn"] == "PlacementdefaultWorkDeadLetters.Arn"
    assert queue["FifoQueue"] is True
    assert letters["FifoQueue"] is True
    assert letters["MessageRetentionPeriod"] == 14 * 24 * 3600


def test_deduplication_is_by_the_ids_of_the_messages_not_by_their_content(queue):
    assert "ContentBasedDeduplication" not in queue


def test_a_worker_takes_one_message_at_a_time_and_says_which_must_come_again(source):
    assert source["BatchSize"] == 1
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source["EventSourceArn"] == "PlacementdefaultWorkQueue.Arn"
    assert source["FunctionName"] == "PlacementdefaultWorkerFunction"
    assert "MaximumBatchingWindowInSeconds" not in source


def test_one_cluster_has_as_few_workers_as_lambda_takes(source):
    assert source["ScalingConfig"] == {"MaximumConcurrency": 2}


def test_what_rules_schedules_and_functions_leave_goes_to_a_standard_queue(small):
    failures = small.one("AWS::SQS::Queue", "FailuresQueue")

    assert "FifoQueue" not in failures
    assert failures["MessageRetentionPeriod"] == 14 * 24 * 3600


def test_every_queue_is_encrypted_and_takes_tls_alone(fleet):
    queues = fleet.of_type("AWS::SQS::Queue")
    policies = fleet.of_type("AWS::SQS::QueuePolicy").values()
    denied = {
        queue
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        for queue in policy["Queues"]
    }

    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())
    assert denied == set(queues)


def test_only_rules_of_this_deployment_may_leave_what_they_could_not_deliver(small):
    policy = small.one("AWS::SQS::QueuePolicy", "FailuresQueuePolicy")
    (statement,) = (each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow")

    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Condition"] == {
        "ArnLike": {"aws:SourceArn": "arn:aws:events:eu-central-1:111122223333:rule/driftgate.*"}
    }
