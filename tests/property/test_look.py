"""The time that a look writes down against the rule it stands for."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from driftgate.app.evaluate_drift import evaluate_drift
from driftgate.domain.look import is_look_due, next_look
from driftgate.domain.policy import ClusterPolicy, PoolPolicy
from driftgate.events import Heartbeat
from driftgate.ports import PutLook
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import world
from tests.gate_strategies import usual
from tests.property.test_windows import instants, windows

SECOND = timedelta(seconds=1)
pool_policies = st.builds(lambda some: PoolPolicy(windows=tuple(some)), st.lists(windows, max_size=2))
policies = st.builds(
    lambda default, pools, minutes: ClusterPolicy(
        cluster="demo", default=default, pools=pools, observe_every=timedelta(minutes=minutes)
    ),
    pool_policies,
    st.none() | st.lists(pool_policies, max_size=2).map(lambda some: tuple(zip("ab", some, strict=False))),
    st.integers(min_value=1, max_value=3 * 60),
)
delays = st.integers(min_value=0, max_value=3 * 60 * 60).map(lambda seconds: seconds * SECOND)


def queued(policy: ClusterPolicy, look: PutLook, now: datetime, digest: str) -> list[str]:
    """Whom a heartbeat queues in a process whose configuration has this digest."""
    around = world(FakeCluster(), FakeClock(now), policy)
    around.config_digest = digest
    around.ledger.commit("demo", look)
    return evaluate_drift(around.pipeline(), Heartbeat(scheduled_at=now)).queued


@usual
@given(policies, instants, delays)
def test_a_heartbeat_that_asks_the_look_queues_whoever_one_that_asks_the_policy_does(policy, looked_at, delay):
    look = PutLook(looked_at, due_at=next_look(policy, looked_at), config="3f8a")

    by_policy = queued(policy, look, looked_at + delay, digest="")
    by_look = queued(policy, look, looked_at + delay, digest="3f8a")

    assert set(by_policy) <= set(by_look)


@usual
@given(policies, instants)
def test_the_next_look_is_due_at_the_first_instant_at_which_the_policy_asks_for_one(policy, looked_at):
    due = next_look(policy, looked_at)

    assert is_look_due(policy, looked_at, due)
    assert looked_at <= due <= looked_at + policy.observe_every
    assert due == looked_at or not is_look_due(policy, looked_at, due - SECOND)


def test_a_cluster_without_windows_is_due_after_observe_every():
    assert next_look(ClusterPolicy(cluster="demo"), datetime(2026, 10, 17, tzinfo=UTC)) == datetime(
        2026, 10, 17, 0, 30, tzinfo=UTC
    )
