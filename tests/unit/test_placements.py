"""What concerns a cluster goes to the queue and the closer of its placement."""

from __future__ import annotations

import pytest

from driftgate.adapters.placements import PlacedCloser, PlacedWorkQueue
from driftgate.domain.errors import InvalidSettingsError
from driftgate.ports import CloseRequest, WorkMessage
from tests.fakes.pipeline import FakeCloser, FakeQueue

PLACEMENTS = {"shop": "eu", "test": "default"}


def message(cluster: str) -> WorkMessage:
    return WorkMessage(cluster=cluster, dedup=f"{cluster}:1", cause="heartbeat")


def request(cluster: str) -> CloseRequest:
    return CloseRequest(cluster=cluster, cause="roll", ref="r1")


def nobody_asks(cluster: str) -> str:
    raise AssertionError(f"the placement of {cluster} was asked for")


def test_a_message_goes_to_the_queue_of_its_placement():
    here, there = FakeQueue(), FakeQueue()
    queue = PlacedWorkQueue({"default": here, "eu": there}, PLACEMENTS.__getitem__)

    queue.send(message("shop"))
    queue.send(message("test"))

    assert there.sent == [message("shop")]
    assert here.sent == [message("test")]


def test_a_request_goes_to_the_closer_of_its_placement():
    here, there = FakeCloser(), FakeCloser()
    closer = PlacedCloser({"default": here, "eu": there}, PLACEMENTS.__getitem__)

    closer.invoke(request("shop"))

    assert there.asked == [request("shop")]
    assert here.asked == []


def test_one_for_all_needs_no_placement():
    queue, closer = FakeQueue(), FakeCloser()

    PlacedWorkQueue({"": queue}, nobody_asks).send(message("shop"))
    PlacedCloser({"": closer}, nobody_asks).invoke(request("shop"))

    assert queue.sent == [message("shop")]
    assert closer.asked == [request("shop")]


def test_a_placement_without_a_closer_is_told():
    closer = PlacedCloser({"default": FakeCloser()}, PLACEMENTS.__getitem__)

    with pytest.raises(InvalidSettingsError, match="DRIFTGATE_CLOSER: has nothing for shop, whose placement is eu"):
        closer.invoke(request("shop"))


def test_a_function_without_a_queue_tells_so_at_the_first_message():
    with pytest.raises(InvalidSettingsError, match="DRIFTGATE_QUEUE_URL: has nothing for shop"):
        PlacedWorkQueue({}, nobody_asks).send(message("shop"))
