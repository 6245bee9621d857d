"""How the Kubernetes adapter keeps watching a pool through everything that breaks a watch."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import timedelta
from itertools import islice
from typing import Any, cast

import pytest

from driftgate.adapters.kubernetes_stream import WatchTimes
from driftgate.domain.errors import (
    ClusterForbiddenError,
    ClusterUnauthorizedError,
    ClusterUnavailableError,
    DriftgateError,
    KarpenterMissingError,
)
from driftgate.ports import ClaimChanged, NodeChanged, PoolChange, PoolMembers, Quiet, Relisted
from tests.contract.cluster_wire import (
    CLAIMS,
    EXPIRED,
    HTML,
    NODES,
    UNAUTHORIZED,
    WATCH_CLAIMS,
    WATCH_NODES,
    Wire,
    forbidden,
    listing,
    status,
    watching_threads,
    wire,
)
from tests.fakes.canned_server import DROP, HANG, NOT_SERVED, Canned, Reply, Stream

SINCE = PoolMembers(claims=(), nodes=(), claims_version="100", nodes_version="90")
SILENT = Stream(then="hang")
CALM = Stream()


def event(kind: str, name: str, version: str) -> dict[str, Any]:
    return {"type": kind, "object": claim(name, version)}


def claim(name: str, version: str = "100") -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": version, "labels": {"karpenter.sh/nodepool": "app"}}}


def bookmark(version: str) -> dict[str, Any]:
    return {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": version}}}


def changes(on: Wire, timeout_s: float = 20.0) -> Generator[PoolChange, None, None]:
    found = on.cluster.watch_pool("app", SINCE, timedelta(seconds=timeout_s))
    return cast("Generator[PoolChange, None, None]", found)


def news(found: Iterator[PoolChange]) -> Iterator[PoolChange]:
    return (change for change in found if not isinstance(change, Quiet))


def first_news(on: Wire) -> PoolChange:
    with closing(changes(on)) as found:
        return next(news(found))


def versions(on: Wire, watch: str = WATCH_CLAIMS) -> list[str]:
    """From where the watches were asked for, in order."""
    return [asked.query["resourceVersion"] for asked in on.asked(watch)]


# --- in good order -----------------------------------------------------------------------------------


def test_both_kinds_are_watched_from_where_they_were_read() -> None:
    news = Stream(parts=[event("MODIFIED", "app-a1", "101")], then="hang")
    with wire({WATCH_CLAIMS: [news], WATCH_NODES: [SILENT]}) as on:
        first_news(on)

    asked = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "1",
        "labelSelector": "karpenter.sh/nodepool=app",
    }
    assert [watch.query for watch in on.asked(WATCH_CLAIMS)] == [asked | {"resourceVersion": "100"}]
    assert [watch.query for watch in on.asked(WATCH_NODES)] == [asked | {"resourceVersion": "90"}]


def test_nodes_and_claims_come_as_what_they_are() -> None:
    node = {"type": "DELETED", "object": {"metadata": {"name": "a1", "resourceVersion": "91"}}}
    with wire({WATCH_CLAIMS: [SILENT], WATCH_NODES: [Stream(parts=[node], then="hang")]}) as on:
        change = first_news(on)

    assert isinstance(change, NodeChanged)
    assert (change.node.name, change.deleted) == ("a1", True)


def test_a_stream_that_ended_in_good_order_is_taken_up_after_its_last_event() -> None:
    first = Stream(parts=[event("ADDED", "app-a1", "101"), bookmark("140")])
    more = Stream(parts=[event("ADDED", "app-a2", "150")], then="hang")
    with wire({WATCH_CLAIMS: [first, more], WATCH_NODES: [CALM]}) as on, closing(changes(on)) as found:
        seen = list(islice(news(found), 2))

    assert [change.claim.name for change in seen if isinstance(change, ClaimChanged)] == ["app-a1", "app-a2"]
    assert versions(on) == ["100", "140"]
    assert on.asked(CLAIMS) == []


def test_an_event_may_arrive_in_pieces() -> None:
    pieces = [b'{"type":"ADDED","object":{"metadata"', b':{"name":"app-a1","resourceVersion":"101"}}}\n']
    with wire({WATCH_CLAIMS: [Stream(parts=pieces, then="hang")], WATCH_NODES: [SILENT]}) as on:
        change = first_news(on)

    assert isinstance(change, ClaimChanged)
    assert change.claim.name == "app-a1"


# --- broken: listed again ----------------------------------------------------------------------------

GONE = {"type": "ERROR", "object": EXPIRED.body}


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(EXPIRED, id="answered 410"),
        pytest.param(Stream(parts=[GONE], then="hang"), id="410 as an event"),
        pytest.param(Stream(then="cut"), id="cut off"),
        pytest.param(Stream(parts=[b'{"type":"MODIF']), id="a torn line"),
        pytest.param(Stream(parts=[b'{"type":"MODIF'], then="cut"), id="cut off within a line"),
        pytest.param(Stream(parts=[{"type": "NEWS", "object": {"a": 1}}], then="hang"), id="an unknown event"),
        pytest.param(Stream(parts=[b"null\n"], then="hang"), id="no event"),
        pytest.param(SILENT, id="silent"),
        pytest.param(HANG, id="no answer"),
        pytest.param(DROP, id="dropped"),
        pytest.param(HTML, id="a page of a proxy"),
        pytest.param(status(500, "InternalError", "leader changed"), id="answered 500"),
        pytest.param(status(429, "TooManyRequests", "busy"), id="answered 429"),
    ],
)
def test_a_broken_watch_gives_the_whole_present_state(broken: Canned) -> None:
    present = listing("NodeClaim", claim("app-a2"), version="200")
    lists = {CLAIMS: [present], NODES: [listing("Node")]}
    with wire({WATCH_CLAIMS: [broken, CALM], WATCH_NODES: [CALM], **lists}) as on:
        change = first_news(on)

    assert isinstance(change, Relisted)
    assert [found.name for found in change.claims] == ["app-a2"]
    assert change.nodes == ()


def test_after_a_break_the_watch_goes_on_from_the_new_list() -> None:
    lists = {
        CLAIMS: [listing("NodeClaim", claim("app-a2"), version="200")],
        NODES: [listing("Node", version="190")],
    }
    later = Stream(parts=[event("DELETED", "app-a2", "201")], then="hang")
    with wire(lists | {WATCH_CLAIMS: [EXPIRED, later], WATCH_NODES: [CALM]}) as on, closing(changes(on)) as found:
        seen = list(islice(news(found), 2))

    assert [type(change) for change in seen] == [Relisted, ClaimChanged]
    assert versions(on) == ["100", "200"]
    assert versions(on, WATCH_NODES)[-1] == "190"


def test_a_watch_of_nodes_that_breaks_lists_both() -> None:
    lists = {CLAIMS: [listing("NodeClaim", claim("app-a2"))], NODES: [listing("Node", claim("a2"))]}
    with wire(lists | {WATCH_CLAIMS: [CALM], WATCH_NODES: [EXPIRED, CALM]}) as on:
        change = first_news(on)

    assert isinstance(change, Relisted)
    assert ([claim.name for claim in change.claims], [node.name for node in change.nodes]) == (["app-a2"], ["a2"])


def test_a_server_that_is_away_for_a_moment_is_waited_for() -> None:
    lists = {CLAIMS: [status(503), status(503), status(503), listing("NodeClaim")], NODES: [listing("Node")]}
    with wire(lists | {WATCH_CLAIMS: [DROP, CALM], WATCH_NODES: [CALM]}) as on:
        assert isinstance(first_news(on), Relisted)


def test_while_a_server_does_not_answer_the_caller_may_look_at_its_clock_and_then_hears_of_it() -> None:
    with wire({CLAIMS: [HANG], WATCH_CLAIMS: [DROP], WATCH_NODES: [CALM]}) as on, closing(changes(on)) as found:
        assert isinstance(next(found), Quiet)
        assert isinstance(next(found), Quiet)
        with pytest.raises(ClusterUnavailableError):
            next(news(found))


def test_a_list_that_takes_long_keeps_nobody_waiting() -> None:
    with (
        wire({CLAIMS: [HANG], WATCH_CLAIMS: [DROP], WATCH_NODES: [CALM]}, read_s=20) as on,
        closing(changes(on)) as found,
    ):
        seen = [next(found) for _ in range(3)]
        with pytest.raises(ClusterUnavailableError):
            next(news(found))

    assert set(map(type, seen)) == {Quiet}


# --- refused: raised ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (UNAUTHORIZED, ClusterUnauthorizedError),
        (forbidden("watch", "nodeclaims"), ClusterForbiddenError),
        (NOT_SERVED, KarpenterMissingError),
    ],
)
def test_a_refusal_is_raised(reply: Reply, error: type[DriftgateError]) -> None:
    with wire({WATCH_CLAIMS: [reply], WATCH_NODES: [CALM]}) as on, pytest.raises(error):
        first_news(on)


def test_a_refusal_of_the_list_after_a_break_is_raised() -> None:
    lists = {CLAIMS: [UNAUTHORIZED], NODES: [listing("Node")]}
    with wire({WATCH_CLAIMS: [EXPIRED], WATCH_NODES: [CALM], **lists}) as on, pytest.raises(ClusterUnauthorizedError):
        first_news(on)


# --- closed ------------------------------------------------------------------------------------------


def test_closing_ends_both_watches_and_their_connections() -> None:
    long = WatchTimes(stream_s=30, silence_s=60)
    news = Stream(parts=[event("ADDED", "app-a1", "101")], then="hang")
    with wire({WATCH_CLAIMS: [news], WATCH_NODES: [SILENT]}, times=long) as on:
        with closing(changes(on)) as found:
            next(found)
            assert len(watching_threads()) == 2

        assert watching_threads() == []
