"""Full nodes: a real scheduler, real controllers, a PDB; the replacement, the drain and the new pods are real."""

import pytest

from tests.e2e.harness.api import Api
from tests.e2e.harness.controlplane import ControlPlane
from tests.e2e.harness.fixtures import require
from tests.e2e.harness.scenario import nodeclaims, wait_for
from tests.e2e.harness.workload import DEPLOYMENTS, PDBS, deployment, pdb, running
from tests.e2e.rolls import Rolling, other_limits
from tests.e2e.sightings import Onlooker

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scheduling(control_plane: ControlPlane, rolling: Rolling) -> Rolling:
    """The same, with kube-scheduler and kube-controller-manager at work."""
    require("kube-scheduler", "kube-controller-manager")
    control_plane.start_kubernetes_controllers()
    return rolling


def test_a_full_node_is_replaced_before_its_pods_move(scheduling: Rolling, onlooker: Onlooker, record_property):
    rolling, pool = scheduling, "full"
    full_nodes(rolling, pool, nodes=3, max_unavailable=1)
    baseline = rolling.budgets(pool)

    result = rolling.roll(pool).result()
    onlooker.watch_on()

    shown, claims = result.shown, {claim["metadata"]["name"]: claim for claim in nodeclaims(rolling.admin, pool)}
    (gone,) = onlooker.left(pool)
    record_property("three full nodes, a Deployment and a PDB", (
        f"1 node went, replaced by one on the new image, its pod runs again; roll {shown['state']}; "
        f"shut {shown['secondsOpenAfterSign']:.3f} s after the sign"
    ))  # fmt: skip
    assert result.code == 0, result.told
    assert shown["node"] == gone.node
    assert claims[shown["replacement"]]["status"]["imageID"] == "ami-new"
    assert sorted(claim["status"]["imageID"] for claim in claims.values()) == ["ami-new", "ami-old", "ami-old"]
    assert wait_for(lambda: running(rolling.admin, pool, 3), "three running pods")
    assert shown["secondsOpenAfterSign"] <= 1
    assert rolling.budgets(pool) == baseline
    assert len(onlooker.openings(pool)) == 1
    assert other_limits(onlooker, pool, 10) == {(2, 0)}


def test_a_pdb_that_never_allows_keeps_the_gate_shut(scheduling: Rolling, onlooker: Onlooker, record_property):
    rolling, pool = scheduling, "kept"
    full_nodes(rolling, pool, nodes=2, max_unavailable=0)

    held = rolling.roll(pool).result()

    record_property("a PDB that blocks every node", f"held, {', '.join(held.reasons)}; no opening")
    assert held.reasons == ["NOTHING_ELIGIBLE"]
    assert onlooker.openings(pool) == []


def full_nodes(rolling: Rolling, pool: str, *, nodes: int, max_unavailable: int) -> None:
    """Drifted nodes with one large pod on each, all of one Deployment behind one PDB."""
    rolling.trapped(pool, nodes)
    rolling.admin.create(DEPLOYMENTS, deployment(pool, nodes))
    rolling.admin.create(PDBS, pdb(pool, max_unavailable))
    wait_for(lambda: running(rolling.admin, pool, nodes), f"{nodes} running pods of {pool}", timeout_s=90)
    wait_for(lambda: pdb_knows(rolling.admin, pool, nodes), "the PDB's status")


def pdb_knows(api: Api, name: str, pods: int) -> bool | None:
    return True if api.get(f"{PDBS}/{name}").get("status", {}).get("currentHealthy") == pods else None
