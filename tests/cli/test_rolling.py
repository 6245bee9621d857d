"""Commands that write: roll, close, pause, resume, image."""

import getpass
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from driftgate.adapters.ledger_file import FileLedger
from driftgate.adapters.system_clock import SystemClock
from driftgate.domain.ledger import Approval, ImageVerdict
from driftgate.ports import PutImageVerdict
from tests.cli.desk import ASLEEP, OPEN_MARK, QUICK, ROLL, SHUT, new_cluster, wait_until

NEW_IMAGE = "ami-0bbb00000000000b2"


def test_roll_rolls_one_node_and_puts_the_budgets_back(desk):
    ran = desk.run(*ROLL)

    assert ran.code == 0
    assert ran.out.startswith("app: a0: The roll is done.")
    assert desk.sim.witness.nodes() == ["a0"]
    assert desk.budgets == SHUT


def test_roll_answers_machines_with_exactly_one_object_at_the_sign(desk):
    ran = desk.run(*ROLL, "--until", "sign", "-o", "json")

    answer = json.loads(ran.out)
    assert ran.out.count("\n") == 1
    assert (answer["pool"], answer["state"], answer["node"]) == ("app", "in_flight", "a0")
    assert answer["baselineRestored"] is True
    assert 0 <= answer["secondsOpenAfterSign"] < 1
    assert "the gate opens for one node" in ran.err


def test_roll_does_not_stay_for_the_bake_unless_asked(new_desk):
    desk = new_desk(new_cluster(replace(QUICK, simulation_s=2)))
    for node in ("a0", "a1", "a2"):
        desk.sim.add_pod(node, cpu_m=3000)

    ran = desk.run(*ROLL)

    assert ran.code == 0
    assert "Its replacement is Ready and bakes: the next node of this pool waits for that." in ran.out


def test_dry_run_prints_the_patch_and_its_revert_and_writes_nothing(desk):
    ran = desk.run(*ROLL, "--dry-run", "-o", "json")

    answer = json.loads(ran.out)
    patch, revert = answer["patch"], answer["revert"]
    assert ran.code == 0
    assert [operation["op"] for operation in patch] == ["test", "test", "test", "add", "replace"]
    assert patch[-1]["value"][:2] == [OPEN_MARK, {"nodes": "20%"}]
    assert revert[0] == {"op": "test", "path": "/metadata/generation", "value": patch[0]["value"] + 1}
    assert revert[1]["value"] == patch[-1]["value"]
    assert revert[-1] == {"op": "replace", "path": "/spec/disruption/budgets", "value": SHUT}
    assert (desk.patches, desk.budgets, desk.ledger.exists()) == (0, SHUT, False)


def test_dry_run_says_why_it_would_not_open(desk):
    ran = desk.run("roll", "--pool", "web", "--now", "--reason", "x", "--dry-run")

    assert (ran.code, ran.out) == (0, "web would not be opened: it is CLEAN.\n")


def test_a_roll_outside_its_window_is_held_and_says_until_when(desk):
    desk.write(
        "driftgate.yaml",
        "mode: act\ncluster: sim\nwindows: [{name: y2k, timezone: UTC, cron: '0 2 1 1 *', duration: 1h}]\n"
        "guards: {alarms: none}\n",
    )

    held = desk.run("roll", "--pool", "app", "--yes")
    answer = json.loads(desk.run("roll", "--pool", "app", "--yes", "-o", "json").out)

    assert held.code == 0
    assert held.out.startswith("app was not opened.\n  OUTSIDE_WINDOW: ")
    assert (answer["roll"], answer["state"], answer["reasons"][0]["code"]) == (None, "held", "OUTSIDE_WINDOW")
    assert desk.patches == 0


def test_mode_observe_holds_also_what_a_person_wants_now(desk):
    desk.write("driftgate.yaml", "cluster: sim\nguards: {alarms: none}\n")

    ran = desk.run(*ROLL)

    assert ran.code == 0
    assert ran.out.startswith("app was not opened.\n  OBSERVE_MODE: ")
    assert desk.patches == 0


def test_a_second_roll_refuses_with_the_holder_and_its_age(new_desk):
    desk = new_desk(new_cluster(ASLEEP))
    first = desk.start(*ROLL)
    wait_until(desk.is_open)

    second = desk.run(*ROLL)

    assert second.code == 4
    assert f":{first.pid}, for " in second.err
    assert "nothing was opened" in second.err
    assert desk.patches == 1


def test_close_puts_the_budgets_back_while_somebody_else_holds_the_cluster(new_desk):
    desk = new_desk(new_cluster(ASLEEP))
    desk.start(*ROLL)
    wait_until(desk.is_open)

    ran = desk.run("close", "--pool", "app", "-o", "json")

    answer = json.loads(ran.out)
    assert ran.code == 0
    assert (answer["wrote"], answer["baselineRestored"], answer["budgets"]) == (True, True, SHUT)
    assert desk.budgets == SHUT


def test_close_says_when_nothing_stood_open(desk):
    ran = desk.run("close", "--pool", "app")

    assert (ran.code, ran.out) == (0, "app: Nothing of driftgate stood open; nothing was written.\n")


def test_close_works_when_the_ledger_is_lost(new_desk):
    desk = new_desk(new_cluster(ASLEEP))
    process = desk.start(*ROLL)
    wait_until(desk.is_open)
    process.kill()
    process.wait()
    desk.ledger.unlink()

    ran = desk.run("close", "--pool", "app")

    assert (ran.code, ran.out) == (0, "app: The gate is shut; the budgets are back as they were.\n")
    assert desk.budgets == SHUT


def test_pause_shuts_an_open_gate_and_keeps_it_shut_until_resumed(new_desk):
    desk = new_desk(new_cluster(ASLEEP))
    desk.start(*ROLL)
    wait_until(desk.is_open)

    paused = desk.run("pause", "--reason", "incident", "--for", "3h")
    held = desk.run("roll", "--pool", "app", "--now", "--reason", "x", "--dry-run", "-o", "json")
    status = desk.run("status")
    resumed = desk.run("resume")

    assert paused.out.startswith("Paused sim until 20")
    assert "Shut the gate of sim/app, which stood open." in paused.out
    assert f"file:{desk.ledger}" in paused.out
    assert desk.budgets == SHUT
    assert "PAUSED" in [reason["code"] for reason in json.loads(held.out)["reasons"]]
    assert f"Stopped: sim, paused by {getpass.getuser()} " in status.out
    assert resumed.out.startswith("Resumed sim, which ")
    assert "Stopped" not in desk.run("status").out


def test_resume_lifts_only_its_own_scope(desk):
    desk.run("pause", "--reason", "incident", "--pool", "app")

    whole = desk.run("resume")
    pool = desk.run("resume", "--pool", "app")

    assert whole.out.startswith("No pause of exactly this scope: sim. `driftgate status` lists every stop.")
    assert pool.out.startswith("Resumed pool app of sim, which ")


def test_status_of_an_empty_ledger_is_said_in_words(desk):
    assert desk.run("status").out == (
        "No roll of sim is under way, and none ended in the last 90 days.\nNobody works on the cluster now.\n"
    )


def test_status_shows_the_roll_under_way(desk):
    desk.run(*ROLL, "--until", "sign")

    shown = json.loads(desk.run("status", "-o", "json").out)

    assert [(roll["pool"], roll["state"], roll["node"]) for roll in shown["rolls"]] == [("app", "in_flight", "a0")]
    assert shown["lease"] is None


def test_a_suspect_image_is_listed_and_cleared(desk):
    ledger = FileLedger(desk.ledger, SystemClock())
    desk.ledger.parent.mkdir(parents=True)
    at = datetime(2026, 10, 17, 2, 10, tzinfo=UTC)
    suspect = ImageVerdict(image=NEW_IMAGE, verdict=Approval.SUSPECT, at=at, reason="BAKE_FAILED", by="roll-1")
    ledger.commit("sim", PutImageVerdict(suspect))
    held = json.loads(desk.run(*ROLL, "--dry-run", "-o", "json").out)["reasons"]

    listed = desk.run("image", "list")
    cleared = desk.run("image", "clear", NEW_IMAGE, "--reason", "bad disk, not the image")

    assert "SUSPECT_AMI" in [reason["code"] for reason in held]
    assert f"{NEW_IMAGE}  SUSPECT  every pool  2026-10-17T02:10:00Z  roll-1  BAKE_FAILED" in listed.out
    assert cleared.out == f"Cleared {NEW_IMAGE} in sim: bad disk, not the image\n"
    assert json.loads(desk.run(*ROLL, "--dry-run", "-o", "json").out)["wouldOpen"] is True
    assert json.loads(desk.run("image", "list", "-o", "json").out)["imageVerdicts"][0]["verdict"] == "CLEARED"


@pytest.mark.parametrize("image", ["ami-0bbb00000000000b", "ami-9"])
def test_an_image_of_which_nothing_is_said_cannot_be_cleared(desk, image):
    ran = desk.run("image", "clear", image, "--reason", "x")

    assert ran.code == 2
    assert f"nothing is said of '{image}' in sim" in ran.err
