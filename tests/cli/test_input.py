"""What a person types and writes: every mistake gets one clear line with its place and what to do, and exit code 2."""

import pytest

from tests.cli.desk import SHUT

CONFIG = """\
mode: act
cluster: sim
windws: []
windows: [{name: sat, timezone: Europe/Berln, cron: "0 25 * * sat", duration: 3 h}]
guards: {alarms: none}
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "--context", "nope"), "there is no context 'nope' · Contexts here: sim. Name one with --context."),
        (("report", "--kubeconfig", "nope"), "there is no such kubeconfig file · Give one with --kubeconfig"),
        (("report", "--config", "nope.yaml"), "nope.yaml: cannot be read: No such file or directory"),
        (("report", "--config", "."), ".: cannot be read: Is a directory"),
        (("report", "--at", "yesterday"), "--at: 'yesterday' is not a time with a zone · Write it like 2026-10-17T"),
        (("plan", "--at", "2026-10-17T02:10:00"), "is not a time with a zone"),
        (("status", "--ledger", "redis:x"), "--ledger: 'redis:x' names no ledger · Write file:PATH or dynamodb:TABLE."),
        (("status", "--ledger", "file:"), "--ledger: 'file:' names no ledger"),
        (("report", "--from", "nope"), "nope: cannot be read: No such file or directory · Name a readable YAML file."),
        (("lint", "nope"), "nope: cannot be read: No such file or directory · Name a readable YAML file."),
        (("lint", "kubeconfig"), "kubeconfig: there is no NodePool here · Name NodePool manifests."),
        (("roll", "--pool", "ap", "--now", "--reason", "x", "--yes"), "--pool: there is no NodePool 'ap' in sim"),
        (("close", "--pool", "ap"), "--pool: there is no NodePool 'ap' in sim · Did you mean app?"),
        (("close", "--pool", "zzz"), "It has app, web."),
        (("roll", "--pool", "../x", "--now", "--reason", "x", "--yes"), "there is no NodePool '../x'"),
        (("roll", "--pool", "app"), "there is no driftgate.yaml, so no window"),
        (("roll", "--pool", "app", "--now"), '--now needs a reason · Say why: --reason "…".'),
        (("roll", "--pool", "app", "--now", "--reason", "x"), "nobody is there to be asked · Say --yes."),
        (("pause", "--reason", " "), "--reason: the reason is empty"),
        (("pause", "--reason", "x", "--for", "3days"), "--for: '3days' is not a duration · Write hours and minutes"),
        (("pause", "--reason", "x", "--for", "-3h"), "--for: '-3h' is over at once"),
        (("pause", "--reason", "x", "--for", "0s"), "--for: '0s' is over at once"),
        (("image", "clear", "ami-1", "--reason", "x"), "nothing is said of 'ami-1' in sim · `driftgate image list`"),
        (("nonsense",), "No such command 'nonsense'."),
        (("report", "-o", "xml"), "'xml' is not one of 'table', 'json', 'yaml', 'markdown'"),
        (("close",), "Missing option '--pool'."),
    ],
)
def test_a_mistake_is_told_with_its_place_and_remedy(desk, arguments, said):
    ran = desk.run(*arguments)

    assert said in ran.err
    assert (ran.code, ran.out, desk.patches) == (2, "", 0)


@pytest.mark.parametrize("command", [("lint", "bad"), ("report", "--from", "bad"), ("plan", "--config", "bad")])
@pytest.mark.parametrize(("content", "said"), [(b"a: [b\n", "YAML"), (b"\xff\xfe\x00", "is not UTF-8 text")])
def test_a_file_that_is_not_yaml_is_told_as_such(desk, command, content, said):
    (desk.home / "bad").write_bytes(content)

    ran = desk.run(*command)

    assert ran.code == 2
    assert "bad" in ran.err
    assert said in ran.err


def test_everything_wrong_in_driftgate_yaml_is_told_at_once_by_line(desk):
    desk.write("driftgate.yaml", CONFIG)

    ran = desk.run("plan")

    assert ran.code == 2
    assert "driftgate.yaml:3:1: windws: is not a key here · Did you mean windows?" in ran.err
    assert "driftgate.yaml:4:33: windows[0].timezone: 'Europe/Berln' is not a zone · Did you mean Europe/Berlin?" in (
        ran.err
    )
    assert "windows[0].cron: hour, character 3: 25 is above 23" in ran.err
    assert "windows[0].duration: '3 h' is not a duration" in ran.err


def test_a_broken_driftgate_yaml_does_not_keep_a_gate_open(desk):
    desk.write("driftgate.yaml", CONFIG)

    ran = desk.run("close", "--pool", "app")

    assert ran.code == 0
    assert "going on without the configuration, which closing does not need" in ran.err
    assert desk.budgets == SHUT


def test_a_pool_that_the_configuration_does_not_have_is_not_rolled(desk):
    desk.write("driftgate.yaml", "mode: act\ncluster: sim\npools: [web]\nguards: {alarms: none}\n")

    ran = desk.run("roll", "--pool", "app", "--now", "--reason", "x", "--yes")

    assert ran.code == 2
    assert "driftgate.yaml does not have 'app' among its pools · It has web." in ran.err


def test_of_several_clusters_in_the_file_one_must_be_named(desk):
    desk.write("driftgate.yaml", "clusters: [prod, test]\nguards: {alarms: none}\n")

    assert "several clusters stand here · Name one of prod, test." in desk.run("plan").err
    assert desk.run("plan", "--cluster", "test", "-o", "json").code == 1


def test_an_empty_command_line_shows_what_there_is(desk):
    ran = desk.run()

    assert ran.code == 2
    assert "cluster-manifests  Print the rights that driftgate needs in a cluster." in ran.err + ran.out
