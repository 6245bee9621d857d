"""The store's history: how far back it goes, and what older readers are told."""

import pytest

from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.status import ApiError
from driftgate.sim.store import Store, Stored
from tests.sim_clusters import NOW


def write(store, name, size):
    obj = {"metadata": {"name": name}, "size": size}
    store.put(Stored(NODEPOOLS, obj, store.next_version()), NOW, "tests")


def sizes(stored):
    return {entry.name: entry.obj["size"] for entry in stored}


def test_an_earlier_version_is_rebuilt_from_the_changes_since():
    store = Store(first_version=0)
    write(store, "a", 1)
    write(store, "b", 1)
    write(store, "a", 2)
    store.remove(Stored(NODEPOOLS, {"metadata": {"name": "b"}}, store.next_version()), NOW, "tests")

    states = [sizes(store.list_at(NODEPOOLS, version)) for version in range(5)]

    assert states == [{}, {"a": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 2}]


def test_changes_are_told_from_a_version_on():
    store = Store(first_version=0)
    write(store, "a", 1)
    write(store, "a", 2)

    told = [(change.version, change.type) for change in store.changes_since(NODEPOOLS, 1)]

    assert told == [(2, "MODIFIED")]


def test_a_long_history_forgets_its_older_half():
    store = Store(first_version=0, keep=4)
    for size in range(5):
        write(store, "a", size)

    with pytest.raises(ApiError) as expired:
        store.changes_since(NODEPOOLS, 2)

    assert expired.value.code == 410
    assert [change.version for change in store.changes_since(NODEPOOLS, 3)] == [4, 5]


def test_listeners_hear_every_change_with_its_writer():
    store, heard = Store(), []
    store.listeners.append(lambda change: heard.append((change.type, change.manager)))

    write(store, "a", 1)
    write(store, "a", 2)

    assert heard == [("ADDED", "tests"), ("MODIFIED", "tests")]
