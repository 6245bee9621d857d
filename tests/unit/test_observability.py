"""What a run is counted and measured as, and when the tracer is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from driftgate.contract import Metric
from driftgate.domain.plan import Action, ActionKind, ClusterPlan, Hold, PoolPlan, Verdict
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.roll import Roll, RollState
from driftgate.observability import count, measure_rolls, measured, metrics, record_run, traced
from tests.factories import NOW, roll

ROOT = Path(__file__).resolve().parents[2]
SAMPLED = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled={}"
TRACED = """
import sys
from driftgate.observability import traced
handler = traced(lambda event, context: {})
handler({}, None)
print("aws_xray_sdk.core" in sys.modules)
"""


@dataclass
class Report:
    """A run's report."""

    plan: ClusterPlan | None = None
    rolls: list[Roll] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def to_object(self) -> dict[str, object]:
        return {}


@pytest.fixture(autouse=True)
def _clean():
    metrics.clear_metrics()
    yield
    metrics.clear_metrics()


def echo(event: dict[str, object], _context: LambdaContext) -> dict[str, object]:
    return {"seen": event}


def counted() -> dict[str, list[float]]:
    return {name: metric["Value"] for name, metric in metrics.metric_set.items()}


def at_sign(**fields) -> Roll:
    known: dict[str, Any] = {
        "state": RollState.IN_FLIGHT,
        "sign_at": NOW,
        "closed_at": NOW + timedelta(milliseconds=250),
    }
    return roll(**(known | fields))


def test_nothing_is_counted_for_nothing():
    record_run(Report())

    assert counted() == {}


def held(name: str, code: ReasonCode, verdict: Verdict = Verdict.TRAPPED) -> PoolPlan:
    hold = Hold(code=code, message="")
    return PoolPlan(name=name, verdict=verdict, action=Action(kind=ActionKind.HOLD, reasons=(hold,)))


def test_pools_that_are_held_for_one_reason_are_one_line_of_the_log(capsys):
    pools = (
        held("a", ReasonCode.OUTSIDE_WINDOW),
        held("b", ReasonCode.ALARM),
        held("c", ReasonCode.OUTSIDE_WINDOW),
    )

    record_run(Report(plan=ClusterPlan(at=NOW, cluster="demo", pools=pools)))

    blobs = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"RollHeld"' in line]
    assert [(blob["reason"], blob["RollHeld"]) for blob in blobs] == [("OUTSIDE_WINDOW", [2.0]), ("ALARM", [1.0])]


def test_pools_that_could_not_be_read_are_counted():
    pools = (held("a", ReasonCode.UNKNOWN, Verdict.UNKNOWN), held("b", ReasonCode.UNKNOWN, Verdict.UNKNOWN))

    record_run(Report(plan=ClusterPlan(at=NOW, cluster="demo", pools=pools)))

    assert counted()["ClusterUnread"] == [2.0]


def test_the_time_from_sign_to_closed_is_measured_by_whoever_closed():
    measure_rolls([at_sign()], ["app"])

    assert counted() == {"SignSeen": [1.0], "SignToClosed": [0.25]}


def test_a_roll_that_is_merely_followed_is_not_measured_again():
    measure_rolls([at_sign()], [])

    assert counted() == {}


def test_a_gate_closed_before_its_sign_was_written_took_no_time():
    measure_rolls([at_sign(closed_at=NOW - timedelta(seconds=3))], ["app"])

    assert counted()["SignToClosed"] == [0.0]


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (RollState.DONE, "RollEnded"),
        (RollState.CLOSED_UNUSED, "RollEnded"),
        (RollState.FAILED, "RollFailed"),
        (RollState.SUSPECT, "RollFailed"),
    ],
)
def test_a_roll_that_ended_is_counted_with_its_length(state, name):
    measure_rolls([roll(state=state, opened_at=NOW, ended_at=NOW + timedelta(minutes=12))], [])

    assert counted() == {"RollDuration": [720.0], name: [1.0]}


def test_metrics_are_emitted_also_when_the_handler_raises(capsys):
    @measured
    def handler(event, context):
        count(Metric.BUDGETS_CLOSED, 2)
        raise ValueError("later")

    with pytest.raises(ValueError, match="later"):
        handler({}, LambdaContext())

    assert json.loads(capsys.readouterr().out)["BudgetsClosed"] == [2.0]


def test_an_invocation_without_metrics_emits_nothing(capsys):
    measured(echo)({}, LambdaContext())

    assert capsys.readouterr().out == ""


def test_a_handler_without_a_trace_is_called_as_it_is():
    assert traced(echo)({"a": 1}, LambdaContext()) == {"seen": {"a": 1}}


@pytest.mark.parametrize(
    ("header", "loaded"), [("", "False"), (SAMPLED.format(0), "False"), (SAMPLED.format(1), "True")]
)
def test_the_tracer_is_loaded_only_for_a_sampled_request(header, loaded):
    ran = subprocess.run(
        [sys.executable, "-c", TRACED],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "shared"), "_X_AMZN_TRACE_ID": header},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.strip() == loaded


def test_the_environment_may_name_the_service():
    ran = subprocess.run(
        [sys.executable, "-c", "from driftgate.observability import logger; logger.info('x')"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "shared"), "POWERTOOLS_SERVICE_NAME": "fleet-a"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(ran.stdout)["service"] == "fleet-a"
