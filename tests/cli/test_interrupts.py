"""A person, the system, or a fault ends a roll in the middle of an open gate: processes of their own, over HTTP."""

import signal

import pytest

from tests.cli.desk import ASLEEP, ROLL, SHUT, new_cluster, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def open_roll(new_desk):
    """A desk, and a roll on it whose gate stands open."""
    desk = new_desk(new_cluster(ASLEEP))
    process = desk.start(*ROLL)
    wait_until(desk.is_open)
    return desk, process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_gate_is_shut_before_an_interrupted_roll_exits(open_roll, number):
    desk, process = open_roll

    process.send_signal(number)
    out, err = process.communicate()

    assert process.returncode == 130
    assert desk.budgets == SHUT
    assert "Stopping. The gate of app is shut first …" in err
    assert "The gate is shut and the baseline is back." in err
    assert (out, "Traceback" in err) == ("", False)


def test_impatience_does_not_keep_the_gate_from_being_shut(open_roll):
    desk, process = open_roll
    held = desk.trouble(action="hang", method="PATCH")

    process.send_signal(signal.SIGINT)
    wait_until(lambda: held.hits == 1)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    held.release()
    process.communicate()

    assert process.returncode == 130
    assert desk.budgets == SHUT


def test_after_a_kill_close_shuts_the_gate(open_roll):
    desk, process = open_roll
    process.kill()
    process.wait()

    ran = desk.run("close", "--pool", "app")

    assert (ran.code, ran.out) == (0, "app: The gate is shut; the budgets are back as they were.\n")
    assert desk.budgets == SHUT


def test_after_a_kill_the_next_roll_shuts_the_gate_first_and_says_so(open_roll):
    desk, process = open_roll
    process.kill()
    process.wait()

    following = desk.start(*ROLL)
    assert following.stderr is not None
    said = [following.stderr.readline() for _ in range(3)]

    assert f":{process.pid} was killed in the middle of its work. What it left open is shut first." in said[1]
    assert "sim/app" in said[2]
    assert desk.budgets == SHUT


def test_a_reader_that_goes_away_is_no_traceback(new_desk):
    desk = new_desk(new_cluster())
    process = desk.start("snapshot")
    assert process.stdout is not None
    process.stdout.close()

    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
