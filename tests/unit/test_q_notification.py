"""Every notification fits the schema that Amazon Q takes; one that does not would never appear in Slack."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from driftgate.adapters.q_notification import cut, notification_of, title_of
from driftgate.domain.message import DomainEvent, EventKind
from tests.factories import NOW

TEXTS = st.text(max_size=40) | st.integers(0, 9_000).map(lambda length: "ü" * length)
FACTS = st.dictionaries(
    TEXTS, TEXTS | st.integers() | st.booleans() | st.lists(TEXTS) | st.just({"deep": 1}), max_size=60
)
EVENTS = st.builds(
    DomainEvent,
    kind=st.sampled_from(EventKind),
    at=st.just(NOW),
    cluster=st.text(min_size=1, max_size=40),
    pool=TEXTS,
    title=TEXTS,
    text=TEXTS,
    thread=TEXTS,
    code=TEXTS,
    next_steps=st.lists(TEXTS, max_size=30).map(tuple),
    facts=FACTS,
)


@given(EVENTS)
def test_every_event_fits_the_schema(event):
    notification = notification_of(event)

    content, metadata = notification["content"], notification["metadata"]
    assert isinstance(content, dict)
    assert isinstance(metadata, dict)
    assert (notification["version"], notification["source"], content["textType"]) == (
        "1.0",
        "custom",
        "client-markdown",
    )
    assert 1 <= len(content["title"]) <= 250
    assert 1 <= len(content["description"]) <= 8_000
    assert all(1 <= len(step) <= 350 for step in content.get("nextSteps", ["x"]))
    assert metadata["threadId"]
    assert all(isinstance(value, str) for value in metadata["additionalContext"].values())
    assert len(json.dumps(notification, ensure_ascii=False).encode()) < 256_000


def test_largest_event_fits_a_message():
    endless = "\x00" * 10_000
    facts: dict[str, object] = {f"{number}{endless}": endless for number in range(100)}
    event = DomainEvent(
        kind=EventKind.ALERT,
        at=NOW,
        cluster=endless,
        pool=endless,
        title=endless,
        text=endless,
        thread=endless,
        code=endless,
        next_steps=(endless,) * 100,
        facts=facts,
    )

    assert len(json.dumps(notification_of(event), ensure_ascii=False).encode()) < 256_000


def test_cut_text_says_that_it_goes_on():
    assert cut("a" * 251, 250) == "a" * 249 + "…"
    assert cut("a" * 250, 250) == "a" * 250


def test_event_without_a_roll_is_threaded_by_its_pool():
    event = DomainEvent(kind=EventKind.POOL_TRAPPED, at=NOW, cluster="demo", pool="app", title="t", text="x")

    assert notification_of(event)["metadata"]["threadId"] == "demo/app"  # type: ignore[index]


def test_texts_lists_and_numbers_are_shown_as_context_and_objects_are_not():
    event = DomainEvent(
        kind=EventKind.ALERT,
        at=NOW,
        cluster="demo",
        title="t",
        text="x",
        facts={"nodes": ["a1", "a2"], "behind": 46, "plan": {"pools": []}},
    )

    assert notification_of(event)["metadata"]["additionalContext"] == {  # type: ignore[index]
        "cluster": "demo",
        "nodes": "a1, a2",
        "behind": "46",
    }


def test_what_clusters_and_people_wrote_pings_nobody():
    event = DomainEvent(
        kind=EventKind.ALERT,
        at=NOW,
        cluster="demo",
        title="<!here>",
        text="<!channel> a < b",
        next_steps=("<@U1>",),
        facts={"who": "<@U2>"},
    )

    assert "<" not in json.dumps(notification_of(event))
    assert notification_of(event)["content"]["description"] == "‹!channel› a ‹ b"  # type: ignore[index]


def test_a_cluster_stands_before_the_title_and_the_fleet_does_not():
    event = DomainEvent(kind=EventKind.IMAGE_CHANGED, at=NOW, cluster="*", title="A new image", text="x")

    assert title_of(event) == "A new image"
    assert title_of(replace(event, cluster="demo")) == "[demo] A new image"
