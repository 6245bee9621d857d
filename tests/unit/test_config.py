from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from driftgate.config import ClusterSetup, Config, default_policy, load_config
from driftgate.config.deployment import Placement
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.policy import (
    AlarmGuard,
    ClusterPolicy,
    GuardPolicy,
    ImagePolicy,
    InsufficientData,
    Mode,
    OpenPolicy,
    PoolPolicy,
    RespectPolicy,
)
from driftgate.domain.window import Blackout, MaintenanceWindow
from tests.factories import at

EXAMPLE = Path(__file__).parents[2] / "docs" / "driftgate.example.yaml"
DEFAULTS = PoolPolicy(
    mode=Mode.OBSERVE,
    windows=(),
    blackouts=(),
    open=OpenPolicy(
        per_window=1,
        open_timeout=timedelta(minutes=10),
        pause_between=timedelta(minutes=45),
        expected_roll=timedelta(minutes=20),
        settle_timeout=timedelta(minutes=20),
        allow_single_node_pool=False,
    ),
    guards=GuardPolicy(
        alarms=None,
        calendars=(),
        flapping_transitions=3,
        flapping_within=timedelta(hours=6),
        bake=timedelta(hours=4),
    ),
    ami=ImagePolicy(min_age=timedelta(0), deny=()),
    respect=RespectPolicy(freeze=True, do_not_disrupt=True),
)
BERLIN_SATURDAY = MaintenanceWindow(
    name="sat", timezone="Europe/Berlin", cron="0 2 * * sat", duration=timedelta(hours=3)
)


def config(text: str) -> Config:
    return load_config(text, "driftgate.yaml")


def pool(text: str, name: str = "app") -> PoolPolicy:
    """What holds for a pool of the only cluster in the text."""
    policy = config(text).cluster().of(name)
    assert policy is not None
    return policy


# --- the file as a whole ---------------------------------------------------------------------------


def test_file_with_nothing_but_a_cluster_gives_the_defaults():
    assert config("cluster: demo").cluster() == ClusterPolicy(
        cluster="demo", default=DEFAULTS, pools=None, observe_every=timedelta(minutes=30), configured=True
    )


def test_example_loads_and_spells_out_the_defaults():
    sale = Blackout(
        name="sale",
        owner="shop",
        reason="autumn sale",
        start=at("2026-11-19T23:00:00Z"),
        end=at("2026-12-01T23:00:00Z"),
    )
    guards = replace(DEFAULTS.guards, alarms=(AlarmGuard(name="demo-5xx"),))
    expected = replace(DEFAULTS, windows=(BERLIN_SATURDAY,), blackouts=(sale,), guards=guards)

    policy = load_config(EXAMPLE.read_text(encoding="utf-8"), EXAMPLE.name).cluster()

    assert policy == ClusterPolicy(cluster="demo", default=expected, pools=(("app", expected),))


def test_without_a_file_every_pool_is_observed_and_nothing_opens():
    policy = default_policy("demo")

    assert policy.of("any") == replace(DEFAULTS, guards=replace(DEFAULTS.guards, alarms=()))
    assert not policy.configured


def test_every_value_is_read():
    text = """
cluster: demo
mode: act
open: {per_window: all, open_timeout: 5m, pause_between: 1h30m, expected_roll: 90s, settle_timeout: 1h,
       allow_single_node_pool: true}
guards: {calendars: [freeze], flapping: {transitions: 5, within: 12h}, bake: 0h}
ami: {min_age: 72h, deny: ["*v20260923*", ami-0bbb00000000000b2]}
respect: {freeze: false, do_not_disrupt: false}
observe_every: 10m
"""

    assert config(text).cluster() == ClusterPolicy(
        cluster="demo",
        observe_every=timedelta(minutes=10),
        default=PoolPolicy(
            mode=Mode.ACT,
            open=OpenPolicy(
                per_window=None,
                open_timeout=timedelta(minutes=5),
                pause_between=timedelta(minutes=90),
                expected_roll=timedelta(seconds=90),
                settle_timeout=timedelta(hours=1),
                allow_single_node_pool=True,
            ),
            guards=GuardPolicy(
                calendars=("freeze",),
                flapping_transitions=5,
                flapping_within=timedelta(hours=12),
                bake=timedelta(0),
            ),
            ami=ImagePolicy(min_age=timedelta(hours=72), deny=("*v20260923*", "ami-0bbb00000000000b2")),
            respect=RespectPolicy(freeze=False, do_not_disrupt=False),
        ),
    )


# --- pools -----------------------------------------------------------------------------------------


def test_without_pools_every_pool_is_covered():
    assert config("cluster: demo").cluster().of("whatever") == DEFAULTS


def test_only_the_named_pools_are_covered():
    policy = config("cluster: demo\npools: [app, {name: web}]").cluster()

    assert policy.of("app") == policy.of("web") == DEFAULTS
    assert policy.of("batch") is None


def test_pool_overrides_one_key_of_a_map_and_keeps_the_others():
    text = """
cluster: demo
open: {per_window: 2, pause_between: 1h}
guards: {alarms: [demo-5xx], flapping: {transitions: 5}}
pools: [web, {name: app, open: {per_window: 3}, guards: {flapping: {within: 1h}}}]
"""
    expected = replace(
        DEFAULTS,
        open=replace(DEFAULTS.open, per_window=3, pause_between=timedelta(hours=1)),
        guards=replace(
            DEFAULTS.guards,
            alarms=(AlarmGuard(name="demo-5xx"),),
            flapping_transitions=5,
            flapping_within=timedelta(hours=1),
        ),
    )

    assert pool(text, "app") == expected
    assert pool(text, "web").open.per_window == 2


def test_pool_replaces_a_list_whole():
    text = """
cluster: demo
windows: [{name: sat, timezone: Europe/Berlin, cron: "0 2 * * sat", duration: 3h}]
guards: {alarms: [demo-5xx]}
pools: [{name: app, windows: [], guards: {alarms: none}}, web]
"""

    assert pool(text, "app").windows == ()
    assert pool(text, "app").guards.alarms == ()
    assert pool(text, "web").windows == (BERLIN_SATURDAY,)


def test_pool_may_act_while_its_cluster_observes():
    policy = config("cluster: demo\npools: [web, {name: app, mode: act}]").cluster()

    assert [(name, settings.mode) for name, settings in policy.pools or ()] == [
        ("web", Mode.OBSERVE),
        ("app", Mode.ACT),
    ]


# --- clusters --------------------------------------------------------------------------------------

FLEET = """
deployment:
  name: prod
  placements: [{name: vpc-a, subnets: [subnet-0a1b2c3d], security_groups: [sg-0a1b2c3d]}]
mode: act
region: eu-central-1
open: {per_window: 2}
pools: [app]
observe_every: 10m
clusters:
  - prod
  - name: test
    region: eu-west-1
    account_role: arn:aws:iam::111122223333:role/driftgate
    placement: vpc-a
    open: {per_window: all}
    pools: [{name: batch, open: {pause_between: 0m}}]
    observe_every: 1h
    notify: {sns: false}
"""


def test_clusters_are_named_in_the_order_of_the_file():
    assert config(FLEET).cluster_names() == ("prod", "test")


def test_cluster_takes_the_settings_at_the_top_where_it_says_nothing():
    policy = config(FLEET).cluster("prod")
    expected = replace(DEFAULTS, mode=Mode.ACT, open=replace(DEFAULTS.open, per_window=2))

    assert policy.pools == (("app", expected),)
    assert policy.observe_every == timedelta(minutes=10)
    assert config(FLEET).settings_of("prod") == ClusterSetup(region="eu-central-1")


def test_cluster_overrides_the_top_and_its_pool_overrides_the_cluster():
    policy = config(FLEET).cluster("test")
    batch = replace(DEFAULTS, mode=Mode.ACT, open=replace(DEFAULTS.open, per_window=None, pause_between=timedelta(0)))

    assert policy.pools == (("batch", batch),)
    assert policy.observe_every == timedelta(hours=1)
    assert config(FLEET).settings_of("test") == ClusterSetup(
        region="eu-west-1",
        account_role="arn:aws:iam::111122223333:role/driftgate",
        placement="vpc-a",
        notify_sns=False,
    )


def test_policy_carries_the_name_of_the_deployment():
    assert config(FLEET).cluster("prod").deployment == "prod"
    assert config("cluster: demo").cluster().deployment == "driftgate"


def test_deployment_has_its_placements():
    (placement,) = config(FLEET).deployment.placements

    assert placement == Placement(name="vpc-a", subnets=("subnet-0a1b2c3d",), security_groups=("sg-0a1b2c3d",))


def test_one_cluster_needs_no_name():
    assert config("clusters: [{name: demo}]").cluster().cluster == "demo"


def test_of_several_clusters_one_must_be_named():
    with pytest.raises(InvalidInputError) as refused:
        config(FLEET).cluster()

    assert str(refused.value) == "driftgate.yaml: several clusters stand here · Name one of prod, test."


@pytest.mark.parametrize(("asked", "remedy"), [("prdo", "Did you mean prod?"), ("staging", "It has prod, test.")])
def test_unknown_cluster_is_refused_with_the_known_ones(asked, remedy):
    with pytest.raises(InvalidInputError) as refused:
        config(FLEET).settings_of(asked)

    assert refused.value.remedy == remedy


# --- alarms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guards", "alarms"),
    [
        ("{}", None),
        ("{alarms: []}", None),
        ("{alarms: none}", ()),
        ("{alarms: [a, b]}", (AlarmGuard(name="a"), AlarmGuard(name="b"))),
    ],
)
def test_only_the_word_none_says_that_no_alarm_is_wanted(guards, alarms):
    assert pool(f"cluster: demo\nguards: {guards}").guards.alarms == alarms


def test_alarm_may_differ_from_the_rest_of_its_guards():
    text = """
cluster: demo
guards:
  insufficient_data: allow
  alarms:
    - sparse
    - name: dense
      insufficient_data: hold
      region: us-east-1
      account_role: arn:aws:iam::111122223333:role/reader
"""

    assert pool(text).guards.alarms == (
        AlarmGuard(name="sparse", insufficient_data=InsufficientData.ALLOW),
        AlarmGuard(
            name="dense",
            insufficient_data=InsufficientData.HOLD,
            region="us-east-1",
            account_role="arn:aws:iam::111122223333:role/reader",
        ),
    )


def test_pool_decides_how_inherited_alarms_without_data_are_taken():
    text = "cluster: demo\nguards: {alarms: [a]}\npools: [{name: app, guards: {insufficient_data: allow}}]"

    assert pool(text).guards.alarms == (AlarmGuard(name="a", insufficient_data=InsufficientData.ALLOW),)


def test_alarms_of_one_name_in_two_regions_are_two():
    text = "cluster: demo\nguards: {alarms: [{name: a, region: eu-west-1}, {name: a, region: eu-west-2}]}"

    assert len(pool(text).guards.alarms or ()) == 2


# --- blackouts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("span", "start", "end"),
    [
        ("from: 2026-11-20, to: 2026-12-01, timezone: Europe/Berlin", "2026-11-19T23:00:00Z", "2026-12-01T23:00:00Z"),
        ("from: 2026-11-20, to: 2026-11-20, timezone: UTC", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"),
        ("from: 2026-11-20, timezone: UTC", "2026-11-20T00:00:00Z", None),
        (
            "from: 2026-11-20T08:00, to: '2026-11-20 18:30', timezone: Asia/Kathmandu",
            "2026-11-20T02:15:00Z",
            "2026-11-20T12:45:00Z",
        ),
        ("from: 2026-11-20T08:00:00Z, to: 2026-11-20T18:00+01:00", "2026-11-20T08:00:00Z", "2026-11-20T17:00:00Z"),
        # of the hour that comes twice, the blackout has both
        (
            "from: 2026-10-25T02:00, to: 2026-10-25T02:30, timezone: Europe/Berlin",
            "2026-10-25T00:00:00Z",
            "2026-10-25T01:30:00Z",
        ),
        # a day of 25 hours, and a day whose midnight is left out
        ("from: 2026-10-25, to: 2026-10-25, timezone: Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        ("from: 2027-03-14, to: 2027-03-14, timezone: America/Havana", "2027-03-14T05:00:00Z", "2027-03-15T04:00:00Z"),
    ],
)
def test_blackout_includes_its_last_day_in_its_zone(span, start, end):
    blackouts = pool(f"cluster: demo\nblackouts: [{{name: sale, {span}}}]").blackouts

    assert blackouts == (Blackout(name="sale", start=at(start), end=end and at(end)),)


# --- YAML ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["no", "off", "on", "yes", "n", "NO"])
def test_word_that_older_yaml_takes_for_a_boolean_stays_a_word(word):
    assert config(f"cluster: {word}").cluster().cluster == word


def test_anchors_may_share_a_list():
    text = """
cluster: demo
windows: &nights [{name: sat, timezone: Europe/Berlin, cron: "0 2 * * sat", duration: 3h}]
pools: [{name: app, windows: *nights}]
"""

    assert pool(text).windows == (BERLIN_SATURDAY,)


def test_json_is_read_too():
    assert pool('{"cluster": "demo", "pools": [{"name": "app", "open": {"per_window": 4}}]}').open.per_window == 4
