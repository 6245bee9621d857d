"""By what one event is told from another."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from driftgate.domain.message import DomainEvent, EventKind
from tests.factories import NOW


def event(**fields: Any) -> DomainEvent:
    known = DomainEvent(kind=EventKind.ALERT, at=NOW, cluster="demo", pool="app", title="t", text="x", thread="r")
    return replace(known, **fields)


def test_the_same_event_has_the_same_id_in_every_process():
    assert event().id == event().id == "066db14820940783726f355ecc6a96a2"


@pytest.mark.parametrize(
    "other",
    [
        {"kind": EventKind.POOL_CLEAN},
        {"at": NOW + timedelta(microseconds=1)},
        {"cluster": "shop"},
        {"pool": "batch"},
        {"thread": "r2"},
        {"code": "ALARM"},
        {"title": "u"},
        {"text": "y"},
    ],
)
def test_another_event_has_another_id(other):
    assert event(**other).id != event().id


def test_what_is_for_machines_alone_makes_no_other_event():
    assert event(facts={"state": "opened"}).id == event().id
