"""Trouble with the API server and with the ledger: said in words, with an exit code, and the gate never left open."""

import json

import pytest

from tests.cli.desk import ASLEEP, ROLL, SHUT, new_cluster

WORDS = {
    401: "the API server does not know who we are",
    403: "`driftgate cluster-manifests` prints the ClusterRole",
    409: "the server reported a conflict",
    410: "expired",
    422: "could not answer (422",
    429: "could not answer (429",
    500: "could not answer (500",
}


@pytest.mark.parametrize("code", WORDS)
def test_a_report_without_nodepools_is_unknown_and_says_why(desk, code):
    desk.trouble(action="status", path="*nodepools", code=code, times=99)

    ran = desk.run("report")

    assert ran.code == 3
    assert "*     UNKNOWN  ?        ?        ?" in ran.out
    assert WORDS[code] in ran.out
    assert WORDS[code] in ran.err


def test_the_same_cause_is_told_once(desk):
    desk.trouble(action="status", code=401, times=99)

    ran = desk.run("report")

    assert ran.err.startswith("driftgate: nodepools, nodeclasses, nodeclaims, nodes, karpenter could not be read: ")
    assert ran.err.count("\n") == 1


def test_a_closed_connection_is_unknown(desk):
    desk.trouble(action="close_before", path="*nodepools", times=99)

    ran = desk.run("report")

    assert ran.code == 3
    assert "the connection broke" in ran.err


def test_pods_that_may_not_be_read_are_unknown_and_named(desk):
    desk.trouble(action="status", path="/api/v1/pods", code=403, times=99)

    ran = desk.run("report")

    assert ran.code == 3
    assert "pods could not be read: not allowed (403" in ran.err


def test_a_snapshot_names_what_could_not_be_read_and_gives_the_same_plan(desk):
    desk.trouble(action="status", path="*ec2nodeclasses", code=403, times=99)
    desk.trouble(action="status", path="/api/v1/pods", code=403, times=99)
    live = desk.run("plan", "--at", "2099-10-17T02:10:00Z", "-o", "json")

    written = desk.run("snapshot")
    from_file = desk.run(
        "plan", "--from", "-", "--cluster", "sim", "--at", "2099-10-17T02:10:00Z", "-o", "json", stdin=written.out
    )

    assert (written.code, live.code) == (3, 3)
    assert "nodeclasses could not be read" in written.err
    assert from_file.out == live.out


@pytest.mark.parametrize("code", [401, 403, 409, 422])
def test_a_refused_opening_fails_the_roll_and_leaves_the_budgets(desk, code):
    desk.trouble(action="status", method="PATCH", code=code, times=99)

    ran = desk.run(*ROLL)
    answer = json.loads(desk.run(*ROLL, "--until", "sign", "-o", "json").out)

    assert ran.code == 4
    assert "app: The gate was not opened: the write was refused, and the budgets are as they were." in ran.out
    assert (answer["state"], answer["openedAt"]) == ("closed_unused", None)
    assert desk.budgets == SHUT


def test_a_gate_that_cannot_be_shut_says_who_shuts_it_and_how(new_desk):
    desk = new_desk(new_cluster(ASLEEP))
    desk.trouble(action="status", method="PATCH", code=500, times=99)

    ran = desk.run(*ROLL)

    assert ran.code == 3
    assert "The gate of app may still stand open. Karpenter itself shuts it at 20" in ran.err
    assert "To shut it yourself: driftgate close --pool app" in ran.err


@pytest.mark.parametrize("command", [("report",), ("status",), ROLL, ("pause", "--reason", "x"), ("resume",)])
def test_a_ledger_cut_short_is_told_with_its_place_and_nothing_is_overwritten(desk, command):
    desk.run("pause", "--reason", "x")
    whole = desk.ledger.read_text()
    desk.ledger.write_text(whole[: len(whole) // 2])

    ran = desk.run(*command)

    assert ran.code == 3
    assert f"the ledger {desk.ledger} is cut short or not JSON at line " in ran.err
    assert "Nothing was overwritten." in ran.err
    assert desk.ledger.read_text() == whole[: len(whole) // 2]


def test_close_goes_on_without_a_ledger_that_is_cut_short(desk):
    desk.ledger.parent.mkdir(parents=True)
    desk.ledger.write_text('{"schemaVersion": 1, "clus')

    ran = desk.run("close", "--pool", "app")

    assert ran.code == 0
    assert "the ledger was not read, so the NodePool's own record counts" in ran.err


def test_a_ledger_of_a_later_version_is_left_alone(desk):
    desk.ledger.parent.mkdir(parents=True)
    desk.ledger.write_text('{"schemaVersion": 99, "clusters": {}}')

    ran = desk.run("status")

    assert ran.code == 3
    assert "schemaVersion is 99, this driftgate knows 1" in ran.err
    assert desk.ledger.read_text() == '{"schemaVersion": 99, "clusters": {}}'


@pytest.mark.parametrize("command", [ROLL, ("pause", "--reason", "x")])
def test_a_ledger_that_cannot_be_written_stops_before_the_cluster(desk, command):
    ran = desk.run(*command, "--ledger", "file:/proc/none/ledger.json")

    assert ran.code == 3
    assert "/proc/none/ledger.json" in ran.err
    assert (desk.patches, desk.budgets) == (0, SHUT)


def test_a_pause_that_cannot_reach_the_cluster_stands_and_says_so(desk):
    desk.trouble(action="status", code=403, times=99)

    ran = desk.run("pause", "--reason", "incident")

    assert ran.code == 3
    assert ran.out.startswith("Paused sim until it is lifted: incident\n")
    assert "the pause stands, but whether a gate stands open is not known; nothing new opens." in ran.err
    assert "Stopped: sim, paused by " in desk.run("status").out
