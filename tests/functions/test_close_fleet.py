"""close_fleet: CloudFormation asks, every gate is shut, nothing opens any more, and CloudFormation is answered."""

import json
from contextlib import contextmanager

import pytest

from driftgate.app.close_budgets import close_budgets
from driftgate.domain.errors import LedgerUnavailableError
from functions.close_fleet.handler import handler
from functions.reconcile_cluster.handler import handler as reconcile
from tests.fakes.canned_server import CannedServer, Reply
from tests.fakes.pipeline import FakeCloser
from tests.functions.conftest import event
from tests.functions.worlds import ASLEEP, budgets, saturday
from tests.sim_clusters import SHUT, drifted_cluster


class DeployedCloser(FakeCloser):
    """The placement's closer, at once: Lambda would call it a moment later."""

    def __init__(self, around):
        super().__init__()
        self._around = around

    def invoke(self, request):
        close_budgets(self._around.pipeline("closer"), request).raise_failures()


class Silent:
    """A ledger that does not answer."""

    def commit(self, cluster, *changes):
        raise LedgerUnavailableError("the table does not answer")


@pytest.fixture
def opened(use, context, output):
    """A world whose gate stands open."""
    around = saturday(drifted_cluster(3, timings=ASLEEP))
    around.closer = DeployedCloser(around)
    use(around)
    reconcile(event("sqs_work_message"), context)
    output()
    assert budgets(around) != SHUT
    return around


@contextmanager
def cloudformation(kind="Delete"):
    """An event of CloudFormation, and what it was answered."""
    answers: list[dict[str, str]] = []
    with CannedServer({"/answer": [Reply()]}) as server:
        yield event("cloudformation_delete") | {"RequestType": kind, "ResponseURL": f"{server.url}/answer"}, answers
        answers += [json.loads(asked.body) for asked in server.asked]


def test_the_removal_shuts_the_open_gate_and_only_then_lets_the_stack_go(opened, context):
    with cloudformation() as (asked, answers):
        handler(asked, context)

    assert budgets(opened) == SHUT
    assert [answer["Status"] for answer in answers] == ["SUCCESS"]


def test_nothing_opens_after_it(opened, context):
    with cloudformation() as (asked, _):
        handler(asked, context)

    opened.cluster.sim.advance(600)
    reconcile(event("sqs_work_message"), context)

    assert budgets(opened) == SHUT


def test_a_stack_that_is_made_has_nothing_to_shut(opened, context):
    with cloudformation("Create") as (asked, answers):
        handler(asked, context)

    assert budgets(opened) != SHUT
    assert [answer["Status"] for answer in answers] == ["SUCCESS"]


def test_a_gate_that_cannot_be_shut_keeps_the_stack(opened, use, context, output):
    opened.closer = FakeCloser()
    use(opened)

    with cloudformation() as (asked, answers):
        handler(asked, context)

    (answer,) = answers
    assert answer["Status"] == "FAILED"
    assert answer["Reason"].startswith("Still open: ")
    assert output().log("Handled a request of CloudFormation")[0]["leftOpen"] != []


def test_a_ledger_that_does_not_answer_is_answered_for(opened, use, context):
    opened.ledger = Silent()
    use(opened)

    with cloudformation() as (asked, answers), pytest.raises(LedgerUnavailableError):
        handler(asked, context)

    (answer,) = answers
    assert (answer["Status"], answer["Reason"]) == (
        "FAILED",
        "It is not known whether a gate stands open: the table does not answer",
    )
