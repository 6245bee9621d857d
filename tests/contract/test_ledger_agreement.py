"""Whatever is done to them, the file and DynamoDB agree with the ledger in memory."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from driftgate.adapters.aws_session import AwsSession
from driftgate.domain.errors import DriftgateError
from driftgate.domain.ledger import FLEET, Approval, CounterRecord, ImageVerdict, Stop, StopCause
from driftgate.domain.roll import RollState
from driftgate.ports import (
    ExpectLease,
    ExpectStops,
    PutCounter,
    PutImageVerdict,
    PutLook,
    PutRoll,
    PutStop,
    PutTold,
    RemoveStop,
    Told,
)
from tests.factories import NOW, roll
from tests.fakes.ledgers import KINDS, ledger_store, moto_session

CLUSTERS = st.sampled_from(["demo", "größe#1"])
SCOPES = st.sampled_from([FLEET, "demo", "größe#1"])
WORKERS = st.sampled_from(["worker-1", "worker-2"])
KEYS = st.sampled_from(["a", "b#%23", "測"])
SMALL = st.integers(0, 3)
TIMES = st.integers(0, 10).map(lambda minutes: NOW + timedelta(minutes=minutes))
STOPS = st.builds(Stop, cause=st.sampled_from(StopCause), ref=KEYS, cluster=SCOPES, pool=st.none() | KEYS, at=TIMES)
COUNTERS = st.builds(CounterRecord, window_key=KEYS, taken=SMALL, unused=SMALL)
ROLLS = st.builds(
    lambda id_, state, version, node: roll(state, id=id_, version=version, node=node, ended_at=NOW),
    KEYS,
    st.sampled_from([RollState.OPENED, RollState.DONE]),
    SMALL,
    KEYS,
)
CHANGES = st.one_of(
    st.builds(PutRoll, ROLLS),
    st.builds(PutCounter, COUNTERS, st.none() | COUNTERS),
    st.builds(PutStop, STOPS),
    st.builds(RemoveStop, STOPS),
    st.builds(
        PutImageVerdict, st.builds(ImageVerdict, image=KEYS, verdict=st.sampled_from(Approval), pool=st.none() | KEYS)
    ),
    st.builds(PutLook, TIMES, st.just(()) | st.tuples(KEYS), st.none() | TIMES, st.just("") | KEYS),
    st.builds(PutTold, st.builds(Told, KEYS, KEYS, TIMES)),
    st.builds(ExpectLease, WORKERS, SMALL),
)


class Ledgers(RuleBasedStateMachine):
    """Every step is done to all three; each must answer as the one in memory does."""

    aws: AwsSession

    @initialize()
    def open(self):
        self.opened = ExitStack()
        self.stores = [self.opened.enter_context(ledger_store(kind, self.aws)) for kind in KINDS]
        self.ledgers = [store.open() for store in self.stores]
        self.revisions = {}
        self.leases = []

    def teardown(self):
        self.opened.close()

    def everywhere(self, act):
        """What memory answered, after checking that the others answered the same."""
        answers = [self.answer(act, ledger) for ledger in self.ledgers]
        assert answers[1:] == answers[:1] * 2
        return answers[0]

    @staticmethod
    def answer(act, ledger):
        try:
            return act(ledger)
        except DriftgateError as error:
            return type(error)

    def commit_everywhere(self, cluster, *changes):
        self.everywhere(lambda ledger: ledger.commit(cluster, *changes))

    @rule(cluster=CLUSTERS, changes=st.lists(CHANGES, max_size=5))
    def commit(self, cluster, changes):
        self.commit_everywhere(cluster, *changes)

    @rule(cluster=CLUSTERS, id_=KEYS, state=st.sampled_from([RollState.IN_FLIGHT, RollState.DONE]))
    def continue_a_roll(self, cluster, id_, state):
        for known in self.ledgers[0].load(cluster).rolls:
            if known.id == id_:
                self.commit_everywhere(cluster, PutRoll(replace(known, state=state)))

    @rule(cluster=CLUSTERS, add=SMALL)
    def take_a_slot(self, cluster, add):
        for known in self.ledgers[0].load(cluster).counters:
            self.commit_everywhere(cluster, PutCounter(replace(known, taken=known.taken + add), expected=known))

    @rule(cluster=CLUSTERS)
    def remember_the_stops(self, cluster):
        self.revisions[cluster] = self.everywhere(lambda ledger: ledger.load(cluster).stops_revision)

    @rule(cluster=CLUSTERS, changes=st.lists(CHANGES, max_size=3))
    def commit_unless_a_stop_came(self, cluster, changes):
        expected = ExpectStops(self.revisions.get(cluster, ""))
        self.commit_everywhere(cluster, expected, *changes)

    @rule(cluster=CLUSTERS, worker=WORKERS, now=TIMES)
    def acquire(self, cluster, worker, now):
        lease = self.everywhere(lambda ledger: ledger.acquire_lease(cluster, worker, now, timedelta(minutes=2)))
        if not isinstance(lease, type):
            assert all(lease.token >= old.token for old in self.leases if old.cluster == cluster)
            self.leases.append(lease)

    @rule(index=SMALL)
    def release(self, index):
        if index < len(self.leases):
            lease = self.leases[-1 - index]
            self.everywhere(lambda ledger: ledger.release_lease(lease))

    @precondition(lambda self: self.stores[0].clock.now() < NOW + timedelta(days=120))
    @rule(days=st.sampled_from([1, 60]))
    def let_time_pass(self, days):
        """Past the 90 days of a finished roll, never as far as the 180 when a ledger may forget it."""
        for store in self.stores:
            store.clock.advance(timedelta(days=days))

    @invariant()
    def all_show_the_same(self):
        for cluster in ("demo", "größe#1", FLEET):
            self.everywhere(lambda ledger, name=cluster: ledger.load(name))
        self.everywhere(lambda ledger: ledger.load_fleet())


@pytest.mark.slow
def test_all_ledgers_agree_on_whatever_is_done_to_them():
    with moto_session() as aws:
        Ledgers.aws = aws
        run_state_machine_as_test(Ledgers, settings=settings(max_examples=15, stateful_step_count=20, deadline=None))
