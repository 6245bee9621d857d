"""What every ledger does: in memory, in a file, in DynamoDB."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest

from driftgate.adapters.system_clock import SystemClock
from driftgate.domain.errors import InvariantError, LeaseHeldError, LedgerConflictError
from driftgate.domain.ledger import FLEET, Approval, StopCause
from driftgate.domain.roll import RollState
from driftgate.ports import (
    ExpectLease,
    ExpectStops,
    LedgerState,
    PutCounter,
    PutImageVerdict,
    PutLook,
    PutRoll,
    PutStop,
    PutTold,
    RemoveStop,
    Told,
)
from tests.factories import NOW, counter, image_verdict, roll, stop
from tests.fakes.ledgers import KINDS, ledger_store, moto_session

TTL = timedelta(minutes=2)
WINDOW = "app/sat/2026-10-17T02:00:00Z"


@pytest.fixture(scope="module")
def aws():
    with moto_session() as session:
        yield session


@pytest.fixture(params=KINDS)
def store(request, aws):
    with ledger_store(request.param, aws) as opened:
        yield opened


@pytest.fixture
def ledger(store):
    return store.open()


# --- rolls -----------------------------------------------------------------------------------------


def test_cluster_without_records_is_empty(ledger):
    state = ledger.load("demo")

    assert replace(state, stops_revision="") == LedgerState(cluster="demo")


def test_roll_is_read_back_as_it_was_with_the_next_version(ledger):
    ledger.commit("demo", PutRoll(roll()))

    assert ledger.load("demo").rolls == (roll(version=1),)


def test_each_write_of_a_roll_counts_its_version_up(ledger):
    ledger.commit("demo", PutRoll(roll()))
    ledger.commit("demo", PutRoll(roll(RollState.IN_FLIGHT, version=1)))

    assert ledger.load("demo").rolls == (roll(RollState.IN_FLIGHT, version=2),)


def test_roll_written_from_an_old_version_is_refused_and_changes_nothing(ledger):
    ledger.commit("demo", PutRoll(roll()))
    ledger.commit("demo", PutRoll(roll(version=1, node="a1")))

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutRoll(roll(version=1, node="a2")))

    assert ledger.load("demo").rolls == (roll(version=2, node="a1"),)


def test_new_roll_is_refused_where_there_is_one_of_that_id(ledger):
    ledger.commit("demo", PutRoll(roll()))

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutRoll(roll(pool="web")))


def test_roll_that_nobody_wrote_cannot_be_continued(ledger):
    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutRoll(roll(version=1)))

    assert ledger.load("demo").rolls == ()


def test_finished_roll_is_still_loaded(ledger):
    ledger.commit("demo", PutRoll(roll()))
    ledger.commit("demo", PutRoll(roll(RollState.DONE, version=1, ended_at=NOW)))

    assert ledger.load("demo").rolls == (roll(RollState.DONE, version=2, ended_at=NOW),)


def test_finished_roll_may_be_written_again(ledger):
    ledger.commit("demo", PutRoll(roll(RollState.DONE, ended_at=NOW)))
    ledger.commit("demo", PutRoll(roll(RollState.DONE, ended_at=NOW, version=1, replacement="b1")))

    assert [found.replacement for found in ledger.load("demo").rolls] == ["b1"]


def test_finished_roll_is_loaded_for_ninety_days_and_an_unfinished_one_for_ever(store, ledger):
    ledger.commit("demo", PutRoll(roll(RollState.DONE, id="1-app", ended_at=NOW)), PutRoll(roll(id="2-app")))

    store.clock.advance(timedelta(days=90))
    assert [found.id for found in ledger.load("demo").rolls] == ["1-app", "2-app"]

    store.clock.advance(timedelta(seconds=1))
    assert [found.id for found in ledger.load("demo").rolls] == ["2-app"]


def test_rolls_are_loaded_in_the_order_of_their_ids(ledger):
    for id_ in ("20261017T0230-app", "20261010T0210-app", "20261017T0210-app"):
        ledger.commit("demo", PutRoll(roll(id=id_)))

    assert [found.id for found in ledger.load("demo").rolls] == [
        "20261010T0210-app",
        "20261017T0210-app",
        "20261017T0230-app",
    ]


def test_rolls_of_one_cluster_are_not_seen_from_another(ledger):
    ledger.commit("demo", PutRoll(roll()))
    ledger.commit("demo#2", PutRoll(roll(cluster="demo#2", pool="web")))

    assert [found.pool for found in ledger.load("demo").rolls] == ["app"]
    assert [found.pool for found in ledger.load("demo#2").rolls] == ["web"]


# --- counters --------------------------------------------------------------------------------------


def test_counter_is_compared_with_what_is_stored_and_then_set(ledger):
    ledger.commit("demo", PutCounter(counter(taken=1), expected=None))
    ledger.commit("demo", PutCounter(counter(taken=2), expected=counter(taken=1)))

    assert ledger.load("demo").counters == (counter(taken=2),)


@pytest.mark.parametrize("expected", [None, counter(taken=0), counter(taken=1, unused=1), counter(taken=2)])
def test_counter_that_is_not_as_expected_is_not_set(ledger, expected):
    ledger.commit("demo", PutCounter(counter(taken=1), expected=None))

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutCounter(counter(taken=9), expected=expected))

    assert ledger.load("demo").counters == (counter(taken=1),)


def test_counter_that_should_be_there_and_is_not_is_not_set(ledger):
    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutCounter(counter(taken=1), expected=counter(taken=0)))


def test_two_workers_cannot_take_the_same_slot(store):
    first, second = store.open(), store.open()
    seen_by_first, seen_by_second = first.load("demo"), second.load("demo")
    assert seen_by_first.counters == seen_by_second.counters == ()

    first.commit("demo", PutRoll(roll(id="1-app")), PutCounter(counter(taken=1), expected=None))
    with pytest.raises(LedgerConflictError):
        second.commit("demo", PutRoll(roll(id="2-app")), PutCounter(counter(taken=1), expected=None))

    assert [found.id for found in second.load("demo").rolls] == ["1-app"]


# --- a commit is whole or nothing ------------------------------------------------------------------


def everything(version=0):
    """One change of every kind, the conditional one last."""
    return (
        PutLook(NOW),
        PutTold(Told("app/TRAPPED", "3 of 12", NOW)),
        PutImageVerdict(image_verdict()),
        PutStop(stop()),
        PutCounter(counter(taken=1), expected=None),
        PutRoll(roll(version=version)),
    )


def test_commit_of_several_changes_is_whole(ledger):
    ledger.commit("demo", *everything())

    state = ledger.load("demo")
    assert state.looked_at == NOW
    assert state.told == {"app/TRAPPED": Told("app/TRAPPED", "3 of 12", NOW)}
    assert state.image_verdicts == (image_verdict(),)
    assert state.stops == (stop(),)
    assert state.counters == (counter(taken=1),)
    assert state.rolls == (roll(version=1),)


def test_commit_with_one_refused_change_is_nothing(ledger):
    before = ledger.load("demo")

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", *everything(version=7))

    assert ledger.load("demo") == before


def test_commit_of_nothing_is_fine(ledger):
    ledger.commit("demo")

    assert ledger.load("demo").rolls == ()


def test_last_word_on_a_stop_counts_within_a_commit(ledger):
    ledger.commit("demo", PutStop(stop(reason="first")), RemoveStop(stop()), PutStop(stop(reason="last")))

    assert [found.reason for found in ledger.load("demo").stops] == ["last"]


@pytest.mark.parametrize(
    "twice",
    [
        (PutRoll(roll()), PutRoll(roll(version=1))),
        (PutCounter(counter(), expected=None), PutCounter(counter(taken=1), expected=counter())),
    ],
)
def test_two_conditional_changes_of_one_record_are_a_bug_of_the_caller(ledger, twice):
    with pytest.raises(InvariantError):
        ledger.commit("demo", *twice)

    assert ledger.load("demo").rolls == ()


# --- stops -----------------------------------------------------------------------------------------


def test_stop_written_between_load_and_commit_refuses_the_opening(store):
    worker, closer = store.open(), store.open()
    loaded = worker.load("demo")

    closer.commit("demo", PutStop(stop(StopCause.ALARM, "demo-5xx")))
    with pytest.raises(LedgerConflictError):
        worker.commit("demo", PutRoll(roll()), ExpectStops(loaded.stops_revision))

    assert worker.load("demo").rolls == ()


def test_stop_of_the_fleet_refuses_the_opening_in_every_cluster(store):
    worker, person = store.open(), store.open()
    loaded = worker.load("demo")

    person.commit("other", PutStop(stop(cluster=FLEET)))

    with pytest.raises(LedgerConflictError):
        worker.commit("demo", PutRoll(roll()), ExpectStops(loaded.stops_revision))


def test_stop_removed_between_load_and_commit_is_a_change_too(ledger):
    ledger.commit("demo", PutStop(stop()))
    loaded = ledger.load("demo")

    ledger.commit("demo", RemoveStop(stop()))

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", ExpectStops(loaded.stops_revision), PutLook(NOW))


def test_stop_of_another_cluster_does_not_refuse_the_opening(ledger):
    loaded = ledger.load("demo")

    ledger.commit("other", PutStop(stop(cluster="other")))
    ledger.commit("demo", PutRoll(roll()), ExpectStops(loaded.stops_revision))

    assert [found.id for found in ledger.load("demo").rolls] == [roll().id]


def test_own_stop_in_the_same_commit_does_not_break_the_expectation(ledger):
    ledger.commit("demo", PutStop(stop(ref="bo")))
    loaded = ledger.load("demo")

    ledger.commit("demo", ExpectStops(loaded.stops_revision), PutStop(stop()), RemoveStop(stop(ref="bo")))

    assert ledger.load("demo").stops == (stop(),)


def test_own_stop_is_refused_with_the_expectation_that_fails(ledger):
    loaded = ledger.load("demo")
    ledger.commit("demo", PutStop(stop(ref="bo")))

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", ExpectStops(loaded.stops_revision), PutStop(stop()))

    assert ledger.load("demo").stops == (stop(ref="bo"),)


def test_stop_of_the_fleet_covers_every_cluster(ledger):
    fleet = stop(cluster=FLEET, ref="bo")
    ledger.commit("demo", PutStop(stop()), PutStop(fleet))

    assert ledger.load("demo").stops == (fleet, stop())
    assert ledger.load("other").stops == (fleet,)
    assert ledger.load(FLEET).stops == (fleet,)


def test_stop_may_carry_another_cluster_than_the_commit(ledger):
    ledger.commit("demo", PutStop(stop(cluster="other")))

    assert ledger.load("demo").stops == ()
    assert ledger.load("other").stops == (stop(cluster="other"),)


def test_stop_of_the_same_scope_cause_and_ref_is_replaced(ledger):
    ledger.commit("demo", PutStop(stop(reason="first")))
    ledger.commit("demo", PutStop(stop(reason="second", until=NOW + TTL)))

    assert ledger.load("demo").stops == (stop(reason="second", until=NOW + TTL),)


def test_expired_stop_is_loaded_too(store, ledger):
    ledger.commit("demo", PutStop(stop(until=NOW + TTL)))

    store.clock.advance(timedelta(days=400))

    assert ledger.load("demo").stops == (stop(until=NOW + TTL),)


def test_removing_a_stop_that_is_not_there_does_nothing(ledger):
    ledger.commit("demo", PutStop(stop()))
    ledger.commit("demo", RemoveStop(stop(ref="nobody")))

    assert ledger.load("demo").stops == (stop(),)


# --- leases ----------------------------------------------------------------------------------------


def test_free_cluster_is_leased(ledger):
    lease = ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    assert (lease.holder, lease.acquired_at, lease.expires_at) == ("worker-1", NOW, NOW + TTL)
    assert ledger.load("demo").lease == lease


def test_held_lease_is_refused_with_its_holder_and_since_when(store):
    store.open().acquire_lease("demo", "worker-1", NOW, TTL)

    with pytest.raises(LeaseHeldError) as caught:
        store.open().acquire_lease("demo", "worker-2", NOW + TTL - timedelta(seconds=1), TTL)

    assert (caught.value.cluster, caught.value.holder, caught.value.since) == ("demo", "worker-1", NOW)


def test_expired_lease_is_taken_over_with_a_greater_token(ledger):
    first = ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    second = ledger.acquire_lease("demo", "worker-2", NOW + TTL, TTL)

    assert second.holder == "worker-2"
    assert second.token > first.token


def test_token_grows_also_after_a_release(ledger):
    first = ledger.acquire_lease("demo", "worker-1", NOW, TTL)
    ledger.release_lease(first)

    second = ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    assert second.token > first.token


def test_own_lease_is_renewed_under_the_same_token(ledger):
    first = ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    second = ledger.acquire_lease("demo", "worker-1", NOW + timedelta(minutes=1), TTL)

    assert second == replace(first, expires_at=NOW + timedelta(minutes=3))
    assert ledger.load("demo").lease == second


def test_released_lease_is_free_at_once(ledger):
    ledger.release_lease(ledger.acquire_lease("demo", "worker-1", NOW, TTL))

    assert ledger.load("demo").lease is None
    assert ledger.acquire_lease("demo", "worker-2", NOW, TTL).holder == "worker-2"


def test_releasing_a_lease_that_was_taken_over_does_nothing(ledger):
    old = ledger.acquire_lease("demo", "worker-1", NOW, TTL)
    new = ledger.acquire_lease("demo", "worker-2", NOW + TTL, TTL)

    ledger.release_lease(old)

    assert ledger.load("demo").lease == new


def test_releasing_twice_does_nothing(ledger):
    lease = ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    ledger.release_lease(lease)
    ledger.release_lease(lease)

    assert ledger.load("demo").lease is None


def test_leases_of_two_clusters_are_independent(ledger):
    ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    assert ledger.acquire_lease("other", "worker-2", NOW, TTL).holder == "worker-2"


def test_commit_of_the_lease_holder_is_taken(ledger):
    lease = ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    ledger.commit("demo", PutLook(NOW), ExpectLease(lease.holder, lease.token))

    assert ledger.load("demo").looked_at == NOW


def test_commit_of_an_old_holder_is_refused_after_a_takeover(ledger):
    old = ledger.acquire_lease("demo", "worker-1", NOW, TTL)
    ledger.acquire_lease("demo", "worker-2", NOW + TTL, TTL)

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutRoll(roll()), ExpectLease(old.holder, old.token))

    assert ledger.load("demo").rolls == ()


def test_commit_of_an_old_lease_is_refused_although_the_same_worker_came_back(ledger):
    old = ledger.acquire_lease("demo", "worker-1", NOW, TTL)
    ledger.release_lease(old)
    ledger.acquire_lease("demo", "worker-1", NOW, TTL)

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutLook(NOW), ExpectLease(old.holder, old.token))


def test_commit_after_a_release_is_refused(ledger):
    lease = ledger.acquire_lease("demo", "worker-1", NOW, TTL)
    ledger.release_lease(lease)

    with pytest.raises(LedgerConflictError):
        ledger.commit("demo", PutLook(NOW), ExpectLease(lease.holder, lease.token))


# --- verdicts, looks, what was told ----------------------------------------------------------------


def test_last_word_on_an_image_and_pool_counts(ledger):
    ledger.commit("demo", PutImageVerdict(image_verdict(pool="app")), PutImageVerdict(image_verdict()))
    ledger.commit("demo", PutImageVerdict(image_verdict(verdict=Approval.CLEARED, pool="app", by="ada")))

    assert ledger.load("demo").image_verdicts == (
        image_verdict(),
        image_verdict(verdict=Approval.CLEARED, pool="app", by="ada"),
    )


def test_last_word_on_a_subject_counts(ledger):
    ledger.commit("demo", PutTold(Told("app", "3 of 12", NOW)))
    ledger.commit("demo", PutTold(Told("app", "2 of 12", NOW + TTL)))

    assert ledger.load("demo").told == {"app": Told("app", "2 of 12", NOW + TTL)}


def test_last_look_counts_with_the_parameters_seen_then(ledger):
    ledger.commit("demo", PutLook(NOW, ("/aws/service/a",)))
    ledger.commit("demo", PutLook(NOW + TTL, ("/aws/service/b",)))

    state = ledger.load("demo")
    assert (state.looked_at, state.parameters) == (NOW + TTL, ("/aws/service/b",))


def test_look_says_when_the_next_is_due_and_by_which_configuration(ledger):
    ledger.commit("demo", PutLook(NOW, due_at=NOW + TTL, config="3f8a"))

    for state in (ledger.load("demo"), ledger.load_fleet()["demo"]):
        assert (state.due_at, state.config) == (NOW + TTL, "3f8a")


def test_look_that_does_not_say_when_the_next_is_due_leaves_nothing_of_the_one_before(ledger):
    ledger.commit("demo", PutLook(NOW, due_at=NOW + TTL, config="3f8a"))
    ledger.commit("demo", PutLook(NOW + TTL))

    state = ledger.load("demo")
    assert (state.looked_at, state.due_at, state.config) == (NOW + TTL, None, "")


# --- the fleet -------------------------------------------------------------------------------------


def test_empty_fleet_has_only_the_fleet_itself(ledger):
    fleet = ledger.load_fleet()

    assert list(fleet) == [FLEET]
    assert fleet[FLEET].stops == ()


def test_fleet_shows_unfinished_rolls_stops_leases_and_looks_of_every_cluster(ledger):
    other = roll(cluster="other", pool="web")
    ledger.commit("demo", PutRoll(roll()), PutLook(NOW, ("/aws/service/a", "/aws/service/b")))
    ledger.commit("other", PutRoll(other), PutStop(stop(cluster=FLEET)))
    lease = ledger.acquire_lease("third", "worker-1", NOW, TTL)

    fleet = ledger.load_fleet()

    assert sorted(fleet) == [FLEET, "demo", "other", "third"]
    assert (fleet["demo"].rolls, fleet["demo"].looked_at) == ((roll(version=1),), NOW)
    assert fleet["demo"].parameters == ("/aws/service/a", "/aws/service/b")
    assert fleet["other"].rolls == (replace(other, version=1),)
    assert fleet["third"].lease == lease
    assert all(state.stops == (stop(cluster=FLEET),) for state in fleet.values())


def test_fleet_leaves_out_finished_rolls_and_what_a_heartbeat_does_not_need(ledger):
    ledger.commit("demo", *everything())
    ledger.commit("demo", PutRoll(roll(RollState.DONE, version=1, ended_at=NOW)))

    state = ledger.load_fleet()["demo"]

    assert (state.rolls, state.counters, state.image_verdicts, state.told) == ((), (), (), {})
    assert (state.stops, state.looked_at) == ((stop(),), NOW)


def test_revision_from_the_fleet_is_good_for_a_commit(ledger):
    ledger.commit("demo", PutStop(stop()))
    loaded = ledger.load_fleet()["demo"]

    ledger.commit("demo", ExpectStops(loaded.stops_revision), PutLook(NOW))

    assert ledger.load("demo").looked_at == NOW


# --- any script ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["größe-測試-🚪", "a#b", "a%23b", 'quo"te\\', "arn:aws:eks:eu-central-1:111122223333:x/y"]
)
def test_names_in_any_script_are_kept_apart_and_read_back(ledger, name):
    stopped = stop(cluster=name, pool=name, ref=name, reason=name)
    ledger.commit(name, PutRoll(roll(id=name, cluster=name, node=name)), PutStop(stopped))
    ledger.commit(name, PutTold(Told(name, name, NOW)), PutCounter(counter(name, taken=1), None))

    state = ledger.load(name)

    assert state.rolls == (roll(id=name, cluster=name, node=name, version=1),)
    assert state.stops == (stopped,)
    assert state.told == {name: Told(name, name, NOW)}
    assert state.counters == (counter(name, taken=1),)
    assert ledger.load("demo").stops == ()


# --- at the same moment ----------------------------------------------------------------------------


@pytest.mark.parametrize("store", ["memory", "file"], indirect=True)
def test_of_many_workers_at_the_same_moment_one_gets_the_slot_and_one_the_lease(store):
    """moto is no judge of this: it does not isolate its transactions between threads."""
    store.clock = SystemClock()  # whoever waits for the lock must really wait
    gate = Barrier(8)

    def work(number):
        ledger = store.open()
        gate.wait()
        return attempt(ledger.acquire_lease, "demo", f"worker-{number}", NOW, TTL), attempt(
            ledger.commit, "demo", PutRoll(roll(id=f"{number}-app")), PutCounter(counter(taken=1), expected=None)
        )

    with ThreadPoolExecutor(8) as pool:
        leases, commits = zip(*pool.map(work, range(8)), strict=True)

    assert sorted(leases) == [False] * 7 + [True]
    assert sorted(commits) == [False] * 7 + [True]
    assert len(store.open().load("demo").rolls) == 1


def attempt(act, *arguments):
    """Whether it was granted; a refusal of any other kind is an error of the test."""
    try:
        act(*arguments)
    except (LeaseHeldError, LedgerConflictError):
        return False
    return True
