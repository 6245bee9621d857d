import pytest

from driftgate.config import load_config
from driftgate.domain.errors import InvalidSettingsError


def faults(text: str) -> list[str]:
    """Every problem of the text, one line each."""
    with pytest.raises(InvalidSettingsError) as refused:
        load_config(text, "driftgate.yaml")
    return [str(problem) for problem in refused.value.problems]


def fault(text: str) -> str:
    """The only problem of a text that is right but for this, without place and path."""
    (found,) = faults(f"cluster: demo\n{text}")
    return found.split(": ", 2)[2]


def window(**values: str) -> str:
    entry = {"name": "sat", "timezone": "UTC", "cron": '"0 2 * * sat"', "duration": "3h"} | values
    return "windows: [{" + ", ".join(f"{key}: {value}" for key, value in entry.items() if value) + "}]"


# --- all at once -----------------------------------------------------------------------------------


def test_every_problem_is_told_at_once_with_its_line_and_remedy():
    text = """cluster: demo
mode: off
window: []
windows:
  - name: sat
    timezone: Europe/Berln
    cron: "0 2 * * sat-sun"
    duration: 3d
  - name: sat
    timezone: UTC
    cron: "0 2 * * sat"
guards:
  alarms: demo-5xx
"""

    assert faults(text) == [
        "driftgate.yaml:2:7: mode: should be observe or act, not 'off' · Write observe or act.",
        "driftgate.yaml:3:1: window: is not a key here · Did you mean windows?",
        "driftgate.yaml:6:15: windows[0].timezone: 'Europe/Berln' is not a zone · Did you mean Europe/Berlin?",
        "driftgate.yaml:7:11: windows[0].cron: day of week, character 9: 'sat-sun' runs backwards (6 to 0)"
        " · Write 'sat,sun' instead.",
        "driftgate.yaml:8:15: windows[0].duration: '3d' is not a duration: days differ in length · Write 72h.",
        "driftgate.yaml:9:5: windows[1]: the name sat stands twice"
        " · Rename one of them; the first is at driftgate.yaml:5:5.",
        "driftgate.yaml:9:5: windows[1].duration: is missing · Add duration: 3h.",
        "driftgate.yaml:13:11: guards.alarms: should be a list of alarms, or none, not 'demo-5xx'"
        " · Write [demo-5xx], or none.",
    ]


def test_message_counts_the_problems_and_has_one_on_each_line():
    with pytest.raises(InvalidSettingsError) as refused:
        load_config("cluster: demo\nmode: on\nobserve_every: 0m", "conf/driftgate.yaml")

    assert str(refused.value) == (
        "conf/driftgate.yaml: 2 problems\n"
        "  conf/driftgate.yaml:2:7: mode: should be observe or act, not 'on' · Write observe or act.\n"
        "  conf/driftgate.yaml:3:16: observe_every: is zero, so nothing could ever happen in it"
        " · Write it like 10m, 3h or 1h30m."
    )


# --- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cron", "said"),
    [
        ('"60 2 * * sat"', "minute, character 1: 60 is above 59"),
        ('"0 2 * * 7"', "day of week, character 9: 7 is above 6"),
        ('"0 0 2 * * sat"', "schedule, character 1: a schedule has five fields, this has 6"),
        ('"0 0 30 2 *"', "'0 0 30 2 *' names a date that never comes · Check day and month."),
        ('"@every 6h"', "'@every 6h' has no fixed start · Write five fields, such as 0 */6 * * *."),
        (
            '"* 2 * * sat"',
            "'* 2 * * sat' starts again every minute, and each start counts anew"
            " · Write one minute, such as 0 2 * * sat.",
        ),
        ("2", "should be text, not 2 · Put it in quotes."),
    ],
)
def test_cron_is_refused_where_it_is_wrong(cron, said):
    assert fault(window(cron=cron)).startswith(said)


def test_every_minute_of_the_year_may_be_a_start():
    load_config("cluster: demo\n" + window(cron='"* * * * *"'), "driftgate.yaml")


@pytest.mark.parametrize(
    ("duration", "said"),
    [
        ("3", "3 is not a duration · Add a unit: 3h, 3m or 3s."),
        ("1:30", "'1:30' is not a duration · Write hours and minutes, such as 3h or 1h30m."),
        ("2w", "'2w' is not a duration: days differ in length · Write 336h."),
        ("three hours", "'three hours' is not a duration · Write hours and minutes, such as 3h or 1h30m."),
        ("-3h", "'-3h' is not between 0h and 8736h · Write what is meant in hours, such as 72h."),
        ("9000h", "'9000h' is not between 0h and 8736h · Write what is meant in hours, such as 72h."),
        ("0h", "is zero, so nothing could ever happen in it · Write it like 10m, 3h or 1h30m."),
        ("true", "True is not a duration · Write it like 10m, 3h or 1h30m."),
    ],
)
def test_duration_is_refused_with_the_spelling_that_is_meant(duration, said):
    assert fault(window(duration=duration)) == said


@pytest.mark.parametrize("key", ["name", "timezone", "cron", "duration"])
def test_window_needs_all_four_keys(key):
    assert fault(window(**{key: ""})).startswith("is missing · Add ")


@pytest.mark.parametrize("name", ["a/b", '"now:1"', '""', "x" * 64])
def test_window_name_that_could_not_stand_in_a_key_is_refused(name):
    assert "is not a name for this" in fault(window(name=name))


@pytest.mark.parametrize(
    ("text", "wrong", "remedy"),
    [
        (
            "open: {per_window: 0}",
            "should be a number of 1 or more, or all, not 0",
            "To open nothing, write mode: observe.",
        ),
        (
            "open: {per_window: two}",
            "should be a number of 1 or more, or all, not 'two'",
            "To open nothing, write mode: observe.",
        ),
        ("open: {allow_single_node_pool: yes}", "should be true or false, not 'yes'", "Write true or false."),
        ("open: {openTimeout: 3m}", "is not a key here", "Did you mean open_timeout?"),
        ("open: 3", "should be a map, not 3", "Write keys with values, such as {name: app}."),
        ("guards: {flapping: {transitions: 0}}", "should be 1 or more, not 0", "Write 1."),
        ("guards: {flapping: {transitions: 1.5}}", "should be a whole number, not 1.5", "Write it in digits."),
        (
            "guards: {flapping: {transitions: 9999999999}}",
            "should be a whole number, not '9999999999'",
            "Write it in digits.",
        ),
        ("guards: {insufficient_data: ignore}", "should be hold or allow, not 'ignore'", "Write hold or allow."),
        (
            "guards: {alarms: [none]}",
            "has none in a list, where it would be an alarm's name",
            "Write none without the brackets.",
        ),
        ("guards: {alarms: None}", "should be a list of alarms, or none, not 'None'", "Write [None], or none."),
        (
            "guards: {alarms: false}",
            "should be a list of alarms, or none, not False",
            "Write alarm names in [], or none.",
        ),
        (
            "guards: {alarms: [a, a]}",
            "the name a stands twice",
            "Rename one of them; the first is at driftgate.yaml:2:19.",
        ),
        (
            "ami: {deny: x}",
            "should be a list, not 'x'",
            "Write it in [], or each entry on a line of its own after a dash.",
        ),
        ("ami: {deny: ['']}", "'' is not a text", "Write something there, or take it out."),
        ("region: Frankfurt", "'Frankfurt' is not an AWS region", "Write it like eu-central-1."),
        (
            "account_role: admin",
            "'admin' is not the ARN of a role",
            "Write it like arn:aws:iam::111122223333:role/driftgate.",
        ),
        ("pools: []", "is empty, so nothing would be looked at", "Name one, or take the key out."),
        (
            "pools: [1]",
            "should be a name, or a map with a name, not 1",
            "Put a name that YAML takes for something else in quotes.",
        ),
        ("pools: [{mode: act}]", "is missing", "Add name: app."),
        (
            "pools: [app, {name: app}]",
            "the name app stands twice",
            "Rename one of them; the first is at driftgate.yaml:2:9.",
        ),
        (
            "pools: [{name: app, zone: a}]",
            "is not a key here",
            "Known here: mode, windows, blackouts, open, guards, ami, respect, name.",
        ),
    ],
)
def test_value_is_refused_with_what_to_write(text, wrong, remedy):
    assert fault(text) == f"{wrong} · {remedy}"


@pytest.mark.parametrize("name", ["App", "app-*", "-app", "app_1"])
def test_pool_name_that_kubernetes_could_not_have_is_refused(name):
    assert "is not a NodePool's name" in fault(f"pools: ['{name}']")


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ("from: 2026-12-01, to: 2026-11-20, timezone: UTC", "ends before it begins"),
        ("from: 2026-12-01T10:00, to: 2026-12-01T10:00, timezone: UTC", "ends before it begins"),
        ("from: 2026-11-20, to: 2026-12-01", "has local times but no timezone"),
        ("from: 2026-11-20T08:00:00Z, to: 2026-12-01", "has local times but no timezone"),
        ("from: 2026-11-31, timezone: UTC", "'2026-11-31' does not exist: day is out of range for month"),
        ("from: 20.11.2026, timezone: UTC", "'20.11.2026' is neither a date nor a time"),
        ("from: 2026-11, timezone: UTC", "'2026-11' is neither a date nor a time"),
        ("from: 10:30, timezone: UTC", "'10:30' is neither a date nor a time"),
        ("from: 20261120, timezone: UTC", "20261120 is neither a date nor a time"),
        ("to: 2026-12-01, timezone: UTC", "is missing · Add from: 2026-11-20."),
    ],
)
def test_blackout_without_a_span_is_refused(span, said):
    assert fault(f"blackouts: [{{name: sale, {span}}}]").startswith(said)


# --- the file --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode: act", ["driftgate.yaml:1:1: names no cluster · Add cluster: with its name, or clusters: with a list."]),
        ("", ["driftgate.yaml: is empty · See docs/configuration.md for an example."]),
        ("# nothing\n", ["driftgate.yaml: is empty · See docs/configuration.md for an example."]),
        (
            "cluster: a\nclusters: [b]",
            ["driftgate.yaml:2:1: clusters: stands beside cluster · Keep one of the two."],
        ),
        (
            "clusters: [a, {name: a}]",
            [
                "driftgate.yaml:1:15: clusters[1]: the name a stands twice"
                " · Rename one of them; the first is at driftgate.yaml:1:12."
            ],
        ),
        (
            "cluster: a\nmode: act\nmode: observe",
            ["driftgate.yaml:3:1: mode: stands twice · Keep one of them; the first is at driftgate.yaml:2:1."],
        ),
    ],
)
def test_file_that_does_not_say_what_it_is_about_is_refused(text, said):
    assert faults(text) == said


def test_list_in_place_of_the_file_is_refused():
    assert any("should be a map, not a list" in each for each in faults("- cluster: demo"))


@pytest.mark.parametrize("key", ["pools", "windows", "region", "guards"])
def test_key_without_a_value_is_refused_and_not_taken_for_a_default(key):
    assert fault(f"{key}:").startswith("has no value · Write one, or take the key out")


def test_comma_that_cuts_a_schedule_is_told():
    found = faults("cluster: demo\nwindows: [{name: w, timezone: UTC, cron: 0 2 * * sat,sun, duration: 3h}]")

    assert any("if a comma ended the text before it, put that whole text in quotes" in each for each in found)


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ("cron: @daily", ":2:7", "Put the value in quotes"),
        ("cron: * 2 * * sat", ":2:8", "Put the value in quotes"),
        ("deny: [*v20260923*]", ":2:18", "Put the value in quotes"),
        ("reason: sale: autumn", ":2:13", "Put the value in quotes if it contains a colon"),
        ("open:\n\tper_window: 1", ":3:1", "Indent with spaces, not tabs."),
        ("pools: [app", ":2:12", "Check indentation, quotes and brackets"),
        ("---\ncluster: other", ":2:1", "Keep one document"),
        ("region: !foo x", ":2:9", "Take the tag out."),
        ("ami: &a {deny: *a}", "", "See docs/configuration.md"),
        ("region: 'a\x00'", "", "Save it as UTF-8 text."),
    ],
)
def test_fault_of_the_yaml_itself_has_a_place_and_a_remedy(text, place, remedy):
    found = faults(f"cluster: demo\n{text}")

    assert found[0].startswith(f"driftgate.yaml{place}: ")
    assert remedy in found[0]


def test_file_that_grows_without_bound_by_its_aliases_is_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]

    (found,) = faults("\n".join(lines))

    assert "has too many values (aliases count too)" in found


# --- deployment ------------------------------------------------------------------------------------


def placement(**values: str) -> str:
    entry = {"name": "eu", "subnets": "[subnet-0a1b2c3d]", "security_groups": "[sg-0a1b2c3d]"} | values
    return "deployment: {placements: [{" + ", ".join(f"{key}: {value}" for key, value in entry.items()) + "}]}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "deployment: {name: Prod}",
            "deployment.name: 'Prod' is not a deployment's name"
            " · Use up to 24 lower-case letters, digits and dashes, a letter first: it becomes part of names in AWS.",
        ),
        (
            placement(name="default"),
            "deployment.placements[0].name: 'default' is not a placement's name"
            " · Use up to 20 lower-case letters, digits and dashes, a letter first;"
            " default is the one outside of VPCs.",
        ),
        (
            placement(subnets="[]"),
            "deployment.placements[0].subnets: is empty · Name one.",
        ),
        (
            placement(security_groups="[web]"),
            "deployment.placements[0].security_groups[0]: 'web' is not a security group's id"
            " · Write it like sg-0a1b2c3d4e5f60718.",
        ),
        (
            "deployment: {emails: [team]}",
            "deployment.emails[0]: 'team' is not an e-mail address · Write it like team@example.com.",
        ),
        (
            "deployment: {slack: {secret: driftgate/slack}}",
            "deployment.slack.secret: 'driftgate/slack' is not the ARN of a secret · Write it whole, with the six"
            " characters at its end, as `aws secretsmanager describe-secret` shows it.",
        ),
        (
            "deployment: {chat: {workspace: T0123}}",
            "deployment.chat.channel: is missing · Add channel: C0123ABCD.",
        ),
        (
            "deployment: {kubernetes_group: 'system:masters'}",
            "deployment.kubernetes_group: 'system:masters' is not a group for this · Write it like driftgate.",
        ),
        (
            f"placement: us\n{placement()}",
            "placement: us is no placement of the deployment · Add it to deployment.placements, or name one of eu.",
        ),
    ],
)
def test_deployment_is_refused_with_its_remedy(text, expected):
    (found,) = faults(f"cluster: demo\n{text}")

    assert found.split(": ", 1)[1] == expected


def test_placement_that_a_cluster_names_must_be_there():
    assert faults("clusters:\n  - {name: demo, placement: eu}\n") == [
        "driftgate.yaml:2:29: clusters[0].placement: eu is no placement of the deployment"
        " · Add it to deployment.placements."
    ]
