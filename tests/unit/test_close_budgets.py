"""Which gates a closer shuts: those that it was asked for, whether its ledger knows them or not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from driftgate.app.close_budgets import close_budgets
from driftgate.app.observe import observe
from driftgate.app.open_gate import OpeningResult, Worker, open_gate
from driftgate.app.pipeline import Pipeline
from driftgate.domain.errors import ClusterUnavailableError
from driftgate.domain.judge import judge
from driftgate.domain.message import DomainEvent
from driftgate.domain.policy import AlarmGuard, ClusterPolicy, GuardPolicy, Mode, PoolPolicy
from driftgate.domain.roll import Roll
from driftgate.domain.window import MaintenanceWindow
from driftgate.events import AlarmChanged, Event, Origin
from driftgate.ports import CloseRequest, Cluster, PutRoll
from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODEPOOLS
from driftgate.sim.witness import budgets_of
from tests.fakes.pipeline import FakeWorld, world
from tests.fakes.sim_gateway import SimGateway
from tests.sim_clusters import NOW, SHUT, drifted_cluster

WINDOW = MaintenanceWindow(name="night", timezone="UTC", cron="0 2 * * *", duration=timedelta(hours=3))
GUARDS = GuardPolicy(alarms=(AlarmGuard(name="demo-5xx"),))
POLICY = ClusterPolicy(cluster="demo", default=PoolPolicy(mode=Mode.ACT, windows=(WINDOW,), guards=GUARDS))
ALARM = AlarmChanged(origin=Origin(id="e1", at=NOW), name="demo-5xx", state="ALARM")


@pytest.fixture
def sim() -> SimCluster:
    return drifted_cluster(3)


def opened_by_a_laptop(sim: SimCluster, deployment: str = "driftgate") -> Roll:
    """The gate of `app` stands open by a roll that is in the laptop's own ledger alone."""
    policy = replace(POLICY, deployment=deployment)
    laptop = world(SimGateway(sim), sim.clock, policy)
    pipeline, cluster = laptop.pipeline("laptop"), laptop.cluster
    lease = laptop.ledger.acquire_lease("demo", "laptop", sim.clock.now(), timedelta(minutes=2))
    known = laptop.ledger.load("demo")
    judgement = judge(observe(pipeline.sources(cluster), policy, known, sim.clock.now()), policy)
    planned = judgement.plan.pools[0].action.roll
    assert planned is not None
    worker = Worker(
        cluster=cluster,
        ledger=laptop.ledger,
        clock=sim.clock,
        name="demo",
        deployment=deployment,
        holder="laptop",
        token=lease.token,
    )
    opening = open_gate(worker, judgement.nodepool("app"), planned, known)
    assert opening.result is OpeningResult.OPENED
    return opening.roll


def is_open(sim: SimCluster) -> bool:
    pool = sim.store.get(NODEPOOLS, "app")
    assert pool is not None
    return list(budgets_of(pool.obj)) != SHUT


def asked(sim: SimCluster, event: Event) -> FakeWorld:
    """The deployed closer, whose ledger knows no roll, after the event."""
    deployed = world(SimGateway(sim), sim.clock, POLICY)
    close_budgets(deployed.pipeline("closer"), event).raise_failures()
    return deployed


def test_an_alarm_shuts_an_opening_of_this_deployment_that_the_ledger_does_not_know_and_tells_it(sim: SimCluster):
    opened_by_a_laptop(sim)

    deployed = asked(sim, ALARM)

    assert not is_open(sim)
    assert [event.code for event in deployed.publisher.told] == ["GATE_LEFT_OPEN"]


def test_an_opening_of_another_deployment_is_not_ours_to_shut(sim: SimCluster):
    opened_by_a_laptop(sim, deployment="staging")

    asked(sim, ALARM)

    assert is_open(sim)


def test_a_request_about_one_roll_leaves_the_opening_of_another_alone(sim: SimCluster):
    opened_by_a_laptop(sim)

    asked(sim, CloseRequest(cluster="demo", cause="roll", ref="20261017T010000000Z-app", pool="app"))

    assert is_open(sim)


def test_a_request_about_that_very_roll_shuts_it(sim: SimCluster):
    roll = opened_by_a_laptop(sim)

    asked(sim, CloseRequest(cluster="demo", cause="roll", ref=roll.id, pool="app"))

    assert not is_open(sim)


def test_a_persons_pause_of_another_pool_leaves_it_alone(sim: SimCluster):
    opened_by_a_laptop(sim)

    asked(sim, CloseRequest(cluster="demo", cause="pause", ref="ada", pool="web"))

    assert is_open(sim)


def test_an_alarm_that_is_over_shuts_nothing(sim: SimCluster):
    opened_by_a_laptop(sim)

    asked(sim, replace(ALARM, state="OK"))

    assert is_open(sim)


class TwoClusters:
    """Two clusters by name; one that is `lost` cannot be reached. `order` is what was done, in its order."""

    def __init__(self, **sims: SimCluster) -> None:
        self.order: list[str] = []
        self.lost: str | None = None
        self._gateways = {name: SimGateway(sim) for name, sim in sims.items()}
        for name, gateway in self._gateways.items():
            gateway.after = lambda method, _, name=name: self.order.append(f"{method} {name}")  # type: ignore[misc]

    def connect(self, cluster: str) -> Cluster:
        if cluster == self.lost:
            raise ClusterUnavailableError(f"EKS gives no endpoint for {cluster} yet")
        return self._gateways[cluster]

    def publish(self, event: DomainEvent) -> None:
        self.order.append(f"told {event.cluster}")


def both_open(clusters: TwoClusters, **sims: SimCluster) -> Pipeline:
    """The deployed closer of two clusters, in each of which a gate stands open that the ledger knows."""
    deployed = world(SimGateway(sims["demo"]), sims["demo"].clock, POLICY)
    for name, sim in sims.items():
        deployed.ledger.commit(name, PutRoll(replace(opened_by_a_laptop(sim), cluster=name, version=0)))
    clusters.order.clear()
    return replace(
        deployed.pipeline("closer"),
        clusters=clusters,
        publisher=clusters,
        policy=lambda name: replace(POLICY, cluster=name),
        cluster_names=tuple(sims),
    )


def test_every_gate_that_an_alarm_guards_is_shut_before_anybody_is_told_of_one():
    sims = {"demo": drifted_cluster(3), "other": drifted_cluster(3)}
    clusters = TwoClusters(**sims)

    close_budgets(both_open(clusters, **sims), ALARM).raise_failures()

    assert [is_open(sim) for sim in sims.values()] == [False, False]
    assert clusters.order[:2] == ["PATCH demo", "PATCH other"]
    assert set(clusters.order[2:]) == {"told demo", "told other"}


def test_a_cluster_that_cannot_be_reached_keeps_no_other_gate_open():
    sims = {"demo": drifted_cluster(3), "other": drifted_cluster(3)}
    clusters = TwoClusters(**sims)
    clusters.lost = "demo"

    report = close_budgets(both_open(clusters, **sims), ALARM)

    assert (report.closed, is_open(sims["other"])) == (["other/app"], False)
    assert report.failures == ["demo/app: EKS gives no endpoint for demo yet"]
