"""Commands that read: the same answer as table, Markdown, JSON and YAML, from a cluster or from a snapshot."""

import json

import pytest
import yaml

from tests.cli.desk import SHUT

AT = "2099-10-17T02:10:00Z"
NODEPOOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: app}
spec: {disruption: {budgets: [{nodes: "0", reasons: [Drifted]}]}}
"""
BROKEN = NODEPOOL.replace('nodes: "0"', 'nodes: "0", schedule: "0 25 * * *", duration: 1h')


def test_report_names_each_pool_with_its_verdict_and_why(desk):
    ran = desk.run("report")

    lines = ran.out.splitlines()
    assert lines[0].split("  ")[0] == "POOL"
    assert lines[1].startswith("app   TRAPPED  3        3        3      4            -            No maintenance")
    assert lines[2].startswith("web   CLEAN    0        0        0      -            -            nothing waits")
    assert (ran.code, ran.err) == (1, "")


@pytest.mark.parametrize("command", ["report", "plan"])
def test_json_and_yaml_say_the_same(desk, command):
    as_json = json.loads(desk.run(command, "--at", AT, "-o", "json").out)
    as_yaml = yaml.safe_load(desk.run(command, "--at", AT, "-o", "yaml").out)

    assert as_json == as_yaml
    assert (as_json["at"], as_json["cluster"]) == (AT, "sim")
    assert [pool["verdict"] for pool in as_json["pools"]] == ["TRAPPED", "CLEAN"]


@pytest.mark.parametrize("command", [("report",), ("plan",), ("lint", "pool.yaml"), ("status",)])
def test_markdown_is_a_table(desk, command):
    desk.write("pool.yaml", NODEPOOL)
    desk.run("roll", "--pool", "app", "--now", "--reason", "x", "--yes", "--until", "sign")

    lines = desk.run(*command, "-o", "markdown").out.splitlines()

    assert lines[0].startswith("| ")
    assert set(lines[1]) == {"|", "-", " "}
    assert lines[2].count("|") == lines[0].count("|")


def test_a_pipe_gets_no_colour(desk):
    assert "\x1b" not in desk.run("report").out + desk.run("plan").out


def test_plan_says_every_reason_in_words_with_what_lifts_it(desk):
    ran = desk.run("plan")

    assert (
        "app: OUTSIDE_WINDOW: No maintenance window is open, and none is to come. "
        "Configure a window: without one nothing ever opens."
    ) in ran.out
    assert "app: error NEVER_OPENS: Drifted stays at 0 in every minute of the coming year" in ran.out


def test_plan_decides_as_if_the_mode_were_act_and_writes_nothing(desk):
    desk.write(
        "driftgate.yaml",
        "cluster: sim\nwindows: [{name: all, timezone: UTC, cron: '0 0 * * *', duration: 24h}]\n"
        "guards: {alarms: none}\nopen: {expected_roll: 1m}\n",
    )

    action = json.loads(desk.run("plan", "-o", "json", "--at", "2099-10-17T12:00:00Z").out)["pools"][0]["action"]

    assert action["kind"] == "OPEN"
    assert [operation["op"] for operation in action["patch"]] == ["test", "test", "test", "add", "replace"]
    assert desk.patches == 0


@pytest.mark.parametrize("how", [(), ("--redact",)])
def test_a_snapshot_gives_the_same_plan_as_the_cluster(desk, how):
    live = desk.run("plan", "--at", AT, "-o", "json")
    written = desk.run("snapshot", *how)

    from_file = desk.run(
        "plan", "--from", desk.write("now.yaml", written.out), "--cluster", "sim", "--at", AT, "-o", "json"
    )
    from_pipe = desk.run("plan", "--from", "-", "--cluster", "sim", "--at", AT, "-o", "json", stdin=written.out)

    assert (written.code, written.err) == (0, "")
    assert from_file.out == live.out
    assert from_pipe.out == live.out
    assert from_file.code == live.code == 1


def test_report_reads_a_snapshot_too(desk):
    desk.write("now.yaml", desk.run("snapshot").out)

    assert desk.run("report", "--from", "now.yaml", "--at", AT).out == desk.run("report", "--at", AT).out


def test_a_redacted_snapshot_holds_no_env(desk):
    desk.sim.add_pod("a0", "web-1")

    written = desk.run("snapshot", "--redact").out

    kinds = {document["kind"] for document in yaml.safe_load_all(written)}
    assert {"Observation", "NodePool", "EC2NodeClass", "NodeClaim", "Node", "Pod"} <= kinds
    assert "env:" not in written


def test_reading_never_writes_to_the_cluster_nor_to_the_home_ledger(desk):
    for command in ("report", "plan", "snapshot", "status"):
        desk.run(command)

    asked = {logged.request.method for logged in desk.sim.serve().server.requests}
    assert asked == {"GET"}
    assert not desk.ledger.exists()
    assert desk.budgets == SHUT


def test_reading_needs_no_folder_to_write_in(desk, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/none")

    assert desk.run("report").code == 1
    assert desk.run("status").out.startswith("No roll of sim is under way")


def test_lint_says_what_is_wrong_with_a_budget_and_where(desk):
    desk.write("pool.yaml", BROKEN)

    ran = desk.run("lint", "pool.yaml")

    assert ran.code == 1
    assert "pool.yaml: app: error INVALID_SCHEDULE: budgets[0]" in ran.out
    assert "25 is above 23" in ran.out


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_lint_answers_machines_with_one_list(desk, output):
    ran = desk.run("lint", "-", "-o", output, stdin=BROKEN)

    found = (json.loads if output == "json" else yaml.safe_load)(ran.out)
    assert [(entry["file"], entry["pool"]) for entry in found] == [("-", "app")]
    assert "INVALID_SCHEDULE" in [finding["code"] for finding in found[0]["findings"]]


def test_lint_knows_that_a_configured_window_opens_the_pool(desk):
    desk.write("pool.yaml", NODEPOOL)
    without = desk.run("lint", "pool.yaml")
    desk.write(
        "driftgate.yaml",
        "cluster: sim\nwindows: [{name: sat, timezone: UTC, cron: '0 2 * * sat', duration: 3h}]\n"
        "guards: {alarms: none}\n",
    )

    within = desk.run("lint", "pool.yaml")

    assert "error NEVER_OPENS" in without.out
    assert "info NEVER_OPENS" in within.out
    assert (without.code, within.code) == (1, 0)


def test_manifests_need_no_cluster(home, run):
    documents = list(yaml.safe_load_all(run("cluster-manifests").out))

    assert "ClusterRole" in [document["kind"] for document in documents]


def test_version_is_one_line(run):
    assert run("--version").out == "driftgate 0.1.0\n"
