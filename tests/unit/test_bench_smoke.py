"""The bench's own arithmetic, and its cheap parts on small clusters: that they measure, never how long it takes."""

from __future__ import annotations

import json
import sys

from driftgate.domain.nodes import DISRUPTED_TAINT
from driftgate.sim.kinds import NODES
from driftgate.sim.objects import add_taint
from tests.bench import decisions, reports
from tests.bench.cluster_process import Account
from tests.bench.cold_start import troubles
from tests.bench.figures import Figure, as_json, as_table, median, percentile
from tests.bench.helper import Helper
from tests.sim_clusters import SHUT, drifted_cluster


def test_a_percentile_is_a_value_that_was_measured():
    values = [float(number) for number in range(1, 101)]

    assert (median(values), percentile(values, 99), percentile(values, 100)) == (50.0, 99.0, 100.0)


def test_the_percentile_of_one_value_is_that_value():
    assert percentile([7.0], 99) == 7.0


def test_the_table_says_which_goal_was_missed():
    met = Figure(key="a", what="quick", value=12.34, at_most=50.0)
    missed = Figure(key="b", what="slow", value=1234.5, at_most=50.0)
    without = Figure(key="c", what="counted", value=3, unit="")

    table = as_table([met, missed, without])

    assert table.splitlines()[1:] == [
        "quick     12.3 ms  ≤ 50 ms  met",
        "slow     1,234 ms  ≤ 50 ms  MISSED",
        "counted         3",
    ]


def test_the_json_is_one_object_with_every_figure():
    found = json.loads(as_json([Figure(key="a", what="quick", value=12.3456, at_most=50.0)], quick=True))

    assert found["quick"] is True
    assert found["figures"] == [
        {"key": "a", "what": "quick", "value": 12.346, "unit": "ms", "atMost": 50.0, "met": True}
    ]


def test_decisions_on_a_small_pool_are_measured():
    found = decisions.measure(30, rounds=2)

    assert [figure.key for figure in found] == [
        "decisionUsual",
        "decisionUsualP99",
        "decisionWorst",
        "decisionWorstP99",
        "neverOpens",
    ]


def test_a_report_on_a_small_cluster_is_measured_and_its_requests_are_counted():
    found = {figure.key: figure.value for figure in reports.measure(3, drifted=1, pods=1)}

    # pools, classes, claims, nodes, Karpenter's Deployment, pods of one node, PDBs, volume attachments
    assert found["report3drifted1Requests"] == 8
    assert found["report3drifted1Peak"] > 10


MARKS = [{"nodes": "01", "reasons": ["Drifted"]}]


def take(sim, node):
    """Karpenter takes the node: the taint comes first."""
    sim.writes.change(NODES, node, lambda obj: add_taint(obj, DISRUPTED_TAINT, "NoSchedule"), "karpenter")


def test_the_account_times_a_closing_from_the_sign_that_came_after_the_opening():
    sim = drifted_cluster(2)
    account = Account(sim)
    take(sim, "a0")

    sim.set_budgets("app", MARKS)
    take(sim, "a1")
    sim.set_budgets("app", SHUT)

    assert (len(account.openings), len(account.closings), len(account.sign_to_closed)) == (1, 1, 1)
    assert 0 <= account.sign_to_closed[0] <= account.closings[0] - account.openings[0]


def test_the_account_times_no_closing_without_a_sign():
    sim = drifted_cluster(2)
    account = Account(sim)
    take(sim, "a0")

    sim.set_budgets("app", MARKS)
    sim.set_budgets("app", SHUT)

    assert (len(account.closings), account.sign_to_closed) == (1, [])


def test_a_command_s_account_names_how_it_ended():
    with Helper("tests.bench.spent", sys.executable, "-c", "raise SystemExit(3)") as spent:
        assert spent.ready["exit"] == 3


def test_what_went_wrong_in_a_cold_start_is_found_wherever_the_answer_says_it():
    answer = {
        "told": [{"problems": []}, {"problems": ["Slack is down"]}],
        "batchItemFailures": [{"itemIdentifier": "1"}],
    }

    assert troubles(answer) == [[{"itemIdentifier": "1"}], ["Slack is down"]]
    assert troubles({"queued": ["a"], "failures": [], "why": "problems"}) == []
