"""driftgate dies, or sleeps, at the worst moments; Karpenter and the API server are real."""

import signal
from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e.harness.scenario import wait_for
from tests.e2e.held_patch import door
from tests.e2e.rolls import Rolling, freeze, other_limits
from tests.e2e.sightings import PASS_S, Onlooker

pytestmark = pytest.mark.slow


def test_a_killed_roll_is_shut_by_its_guard_and_the_next_run_closes_first(
    rolling: Rolling, onlooker: Onlooker, record_property
):
    rolling.trapped("killed", 12)
    baseline = rolling.budgets("killed")
    with rolling.karpenter_asleep():  # so that it is killed before any sign
        dying = rolling.roll("killed", ledger="killed")
        wait_for(lambda: True if onlooker.is_open("killed") else None, "opening of killed")
        dying.kill(signal.SIGKILL)
    (opening,) = onlooker.openings("killed")
    guard_at = wait_for(lambda: rolling.rolls("killed")[0].guard_at, "guard in the ledger")

    wait_for(lambda: True if datetime.now(UTC) > guard_at + timedelta(seconds=2) else None, "the guard", timeout_s=100)
    before = onlooker.left("killed")
    onlooker.watch_on(passes=3)
    after = [departure for departure in onlooker.left("killed") if departure not in before]
    stood_open = onlooker.is_open("killed")
    next_run = rolling.roll("killed", ledger="killed").result()

    until_guard = (guard_at - opening.at).total_seconds()
    record_property("SIGKILL right after the opening", (
        f"guard after {until_guard:.0f} s: {len(before)} nodes went before its minute, {len(after)} in the "
        f"{3 * PASS_S} s after it; the next run shut it first: roll {next_run.shown['state']}"
    ))  # fmt: skip
    assert until_guard <= 90
    assert stood_open, "the mark stands until somebody of ours comes; it is the guard that shuts the gate"
    assert after == []
    assert rolling.budgets("killed") == baseline
    assert (
        f":{dying.process.pid} was killed in the middle of its work. What it left open is shut first." in next_run.told
    )
    assert next_run.shown["state"] == "done"
    assert f"{len(before)} nodes of killed have gone or are going" in next_run.told
    assert len(onlooker.openings("killed")) == 1
    assert other_limits(onlooker, "killed", 10) == {(2, 0)}


def test_a_frozen_worker_whose_turn_has_passed_cannot_open_when_it_wakes(
    rolling: Rolling, onlooker: Onlooker, record_property
):
    rolling.trapped("frozen", 6)
    baseline = rolling.budgets("frozen")
    with door(rolling.plane) as (held, through_it):
        sleeper = rolling.roll("frozen", ledger="sleeper", kubeconfig=through_it)
        assert held.arrived.wait(60)
        freeze(sleeper.process.pid)
        other = rolling.roll("frozen", ledger="other").result()
        sleeper.kill(signal.SIGCONT)
        held.let_go.set()
        woken = sleeper.result()
    onlooker.watch_on()

    record_property("SIGSTOP before the opening patch, another opens and closes", (
        f"the sleeper's PATCH was answered {held.answers[0]}; it ended {woken.shown['state']}; "
        f"{len(onlooker.openings('frozen'))} opening in all, {len(onlooker.left('frozen'))} node went"
    ))  # fmt: skip
    assert other.shown["state"] == "done"
    assert held.answers[0] == 422
    assert woken.code in (0, 4), woken.told
    assert len(onlooker.openings("frozen")) == len(onlooker.left("frozen")) == 1
    assert rolling.budgets("frozen") == baseline
