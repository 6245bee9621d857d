"""What is written into a driftgate.yaml, by a person or by a program, is what holds."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from driftgate.config import load_config
from driftgate.config.load import Config
from driftgate.domain.duration import format_duration
from driftgate.domain.errors import InvalidSettingsError
from driftgate.domain.policy import AlarmGuard
from driftgate.domain.window import Blackout, MaintenanceWindow
from tests.gate_strategies import usual

labels = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,12}", fullmatch=True)
pool_names = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,12}[a-z0-9])?", fullmatch=True)
words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20)
lengths = st.integers(min_value=1, max_value=8736 * 3600).map(lambda seconds: timedelta(seconds=seconds))
instants = st.integers(min_value=0, max_value=15 * 365 * 86_400).map(
    lambda seconds: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)
windows = st.builds(
    MaintenanceWindow,
    name=labels,
    timezone=st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"]),
    cron=st.sampled_from(["0 2 * * sat", "30 22 * * 0,6", "@daily", "*/15 1-3 1 * *", "0 0 29 2 *"]),
    duration=lengths,
)
blackouts = st.builds(
    lambda name, start, length, owner, reason: Blackout(
        name=name, start=start, end=length and start + length, owner=owner, reason=reason
    ),
    labels,
    instants,
    st.none() | lengths,
    words,
    words,
)


def unique(entries: st.SearchStrategy, key: str = "name") -> st.SearchStrategy[list[Any]]:
    return st.lists(entries, max_size=3, unique_by=lambda entry: getattr(entry, key))


def window_entry(window: MaintenanceWindow) -> dict[str, str]:
    return {
        "name": window.name,
        "timezone": window.timezone,
        "cron": window.cron,
        "duration": format_duration(window.duration),
    }


def blackout_entry(blackout: Blackout) -> dict[str, str]:
    entry = {"name": blackout.name, "owner": blackout.owner, "reason": blackout.reason}
    entry |= {"from": blackout.start.isoformat()}
    return entry | ({} if blackout.end is None else {"to": blackout.end.isoformat()})


def load(document: dict[str, Any], spelling: str) -> Config:
    text = json.dumps(document) if spelling == "json" else yaml.safe_dump(document, allow_unicode=True)
    return load_config(text, "driftgate.yaml")


spellings = st.sampled_from(["json", "yaml"])


@usual
@given(unique(windows), unique(blackouts), st.lists(words, max_size=3, unique=True), spellings)
def test_what_a_program_writes_is_read_back(several, denied, alarms, spelling):
    alarms = [name for name in alarms if name != "none"]
    document = {
        "cluster": "demo",
        "windows": [window_entry(window) for window in several],
        "blackouts": [blackout_entry(blackout) for blackout in denied],
        "guards": {"alarms": [{"name": name} for name in alarms] or "none"},
    }

    policy = load(document, spelling).cluster().default

    assert policy.windows == tuple(several)
    assert policy.blackouts == tuple(denied)
    assert policy.guards.alarms == tuple(AlarmGuard(name=name) for name in alarms)


@usual
@given(
    st.none() | unique(windows),
    st.none() | unique(windows),
    st.none() | unique(windows),
    st.none() | st.integers(min_value=1, max_value=9),
    st.none() | st.integers(min_value=1, max_value=9),
    st.none() | st.integers(min_value=1, max_value=9),
)
def test_the_nearest_level_that_says_something_wins(
    top_windows, cluster_windows, pool_windows, top_count, cluster_count, pool_count
):
    def level(several, count):
        entry = {} if several is None else {"windows": [window_entry(window) for window in several]}
        return entry | ({} if count is None else {"open": {"per_window": count}})

    pool = {"name": "app"} | level(pool_windows, pool_count)
    cluster = {"name": "demo", "pools": [pool]} | level(cluster_windows, cluster_count)
    policy = load({"clusters": [cluster]} | level(top_windows, top_count), "yaml").cluster("demo").of("app")

    said = [several for several in (pool_windows, cluster_windows, top_windows) if several is not None]
    counts = [count for count in (pool_count, cluster_count, top_count) if count is not None]
    assert policy is not None
    assert policy.windows == tuple(said[0] if said else ())
    assert policy.open.per_window == (counts[0] if counts else 1)


@usual
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_and_never_breaks(text):
    with pytest.raises(InvalidSettingsError) as refused:
        load_config(text, "driftgate.yaml")

    assert all(problem.message and problem.remedy for problem in refused.value.problems)


KEYS = [
    *("cluster", "clusters", "pools", "windows", "blackouts", "open", "guards", "alarms", "name", "flapping"),
    *("from", "to", "timezone", "cron", "duration", "per_window", "mode", "ami", "deny", "other"),
]
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.sampled_from(KEYS), values, max_size=6),
    max_leaves=20,
)


@usual
@given(trees)
def test_any_tree_without_a_cluster_is_refused_with_a_remedy_for_each_problem(tree):
    document = {"open": tree, "windows": tree, "pools": tree, "guards": tree, "other": tree}

    with pytest.raises(InvalidSettingsError) as refused:
        load(document, "yaml")

    assert all(problem.message and problem.remedy for problem in refused.value.problems)
