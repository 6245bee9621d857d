"""close_budgets: shuts gates for an alarm, for the heartbeat, for a person; never for a replay."""

import pytest

from driftgate.domain.errors import ClusterUnavailableError
from driftgate.domain.ledger import StopCause
from driftgate.events import close_request_to_object
from driftgate.ports import CloseRequest
from functions.close_budgets.handler import handler
from functions.reconcile_cluster.handler import handler as reconcile
from tests.fakes.sim_gateway import SimGateway
from tests.functions.conftest import event
from tests.functions.worlds import ASLEEP, advance, budgets, saturday
from tests.sim_clusters import SHUT, drifted_cluster


class UnansweringGateway(SimGateway):
    """A cluster that takes no patch any more."""

    def patch_nodepool(self, name, patch, *, dry_run=False):
        raise ClusterUnavailableError("no answer")


@pytest.fixture
def opened(use, context, output):
    """A world whose gate stands open."""
    around = use(saturday(drifted_cluster(3, timings=ASLEEP)))
    reconcile(event("sqs_work_message"), context)
    output()
    assert budgets(around) != SHUT
    return around


def test_an_alarm_shuts_the_gate_that_it_guards(opened, context, output):
    answer = handler(event("alarm_state_change_metric"), context)

    seen = output()
    assert answer == {"closed": ["demo/app"], "problems": [], "failures": []}
    assert budgets(opened) == SHUT
    assert seen.values() == {"BudgetsClosed": [1.0]}
    told = seen.log("Handled a request to close")
    assert [(line["closed"], line["correlation_id"]) for line in told] == [
        (["demo/app"], "6f1d0c1e-0000-4000-8000-000000000003")
    ]


def test_the_same_alarm_twice_closes_once(opened, context):
    handler(event("alarm_state_change_metric"), context)

    assert handler(event("alarm_state_change_metric"), context)["closed"] == []
    assert budgets(opened) == SHUT


def test_an_alarm_leaves_its_word_also_where_nothing_is_open(use, context):
    around = use(saturday())

    handler(event("alarm_state_change_metric"), context)

    stops = around.ledger.load("demo").stops
    assert [(stop.cause, stop.ref, stop.cluster) for stop in stops] == [(StopCause.ALARM, "demo-5xx", "demo")]


def test_an_alarm_of_others_shuts_nothing(opened, context):
    assert handler(event("alarm_state_change_composite"), context)["closed"] == []
    assert budgets(opened) != SHUT


def test_an_alarm_that_is_ok_again_shuts_nothing(opened, context):
    recovered = event("alarm_state_change_metric")
    recovered["detail"]["state"]["value"] = "OK"

    assert handler(recovered, context)["closed"] == []
    assert budgets(opened) != SHUT


def test_a_replayed_alarm_shuts_nothing_and_says_so(opened, context):
    answer = handler(event("alarm_state_change_replayed"), context)

    assert answer == {"closed": [], "problems": ["UnknownEvent asks for no closing"], "failures": []}
    assert budgets(opened) != SHUT


def test_the_heartbeats_request_shuts_that_roll(opened, context):
    roll = opened.ledger.load("demo").rolls[0]
    request = CloseRequest(cluster="demo", cause=StopCause.ROLL, ref=roll.id, pool="app")

    answer = handler(close_request_to_object(request), context)

    assert answer["closed"] == ["demo/app"]
    assert budgets(opened) == SHUT


def test_a_gate_that_could_not_be_shut_raises_so_that_lambda_tries_again(opened, use, context, output):
    advance(opened, seconds=1)
    opened.cluster = UnansweringGateway(opened.cluster.sim)
    use(opened)

    with pytest.raises(ClusterUnavailableError, match="demo/app"):
        handler(event("alarm_state_change_metric"), context)

    seen = output()
    assert [line["failures"] for line in seen.log("Handled a request to close")] == [["demo/app: no answer"]]
    assert seen.metrics == []
