"""Each handler as deployed: built from its environment, AWS in moto, the simulated cluster over HTTP."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from driftgate import bootstrap
from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.kubernetes_client import KubernetesClient
from driftgate.adapters.kubernetes_cluster import KubernetesCluster
from driftgate.adapters.kubernetes_parts import new_configuration
from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
from driftgate.adapters.system_clock import SystemClock
from driftgate.domain.roll import RollState
from driftgate.ports import PutLook
from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.timings import Timings
from functions.close_budgets.handler import handler as close_budgets
from functions.evaluate_drift.handler import handler as evaluate_drift
from functions.reconcile_cluster.handler import handler as reconcile_cluster
from functions.watch_amis.handler import handler as watch_amis
from infra.local.cloud.publishing import publish_image, publish_parameter
from tests.factories import NEW_NAME, OLD_NAME, at
from tests.fakes.pipeline import OneCluster
from tests.functions.conftest import event
from tests.functions.deployed import ALWAYS, NEVER, REGION, TABLE, deployed
from tests.functions.worlds import queue_event
from tests.sim_clusters import APP, SHUT, get

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
OWN = "/driftgate/local/seen/eu-central-1/x"
HEARTBEAT = """
import json, sys
from functions.evaluate_drift.handler import handler
class Context:
    function_name = memory_limit_in_mb = invoked_function_arn = aws_request_id = "x"
answer = handler({"driftgate": "heartbeat", "scheduledAt": "2026-10-17T02:10:00Z"}, Context())
print(json.dumps({"answer": answer, "loaded": sorted({name.partition(".")[0] for name in sys.modules})}))
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "driftgate.yaml"
    path.write_text(ALWAYS)
    return path


@pytest.fixture
def aws(config, monkeypatch):
    with deployed(config) as found:
        for name, value in found.env.items():
            monkeypatch.setenv(name, value)
        yield found
        bootstrap.use(None)


@pytest.fixture
def reach():
    """Puts a served cluster in EKS's place; everything else is built from the environment."""
    clusters = []

    def serve(timings=None):
        clock = WallClock()
        sim = SimCluster(clock, karpenter="1.14.1", timings=timings or Timings(idle_s=0.5))
        clusters.append(sim)
        sim.add_node_class()
        sim.add_nodepool("app", SHUT)
        for number in range(3):
            sim.add_node("app", f"a{number}", drifted_since=clock.now() - timedelta(hours=100 - number))
        served = sim.serve()
        configuration = new_configuration(host=served.url, api_key={"authorization": f"Bearer {served.token}"})
        cluster = KubernetesCluster(KubernetesClient(configuration))
        bootstrap.use(replace(bootstrap.lambda_pipeline(os.environ), clusters=OneCluster(cluster)))
        return sim

    yield serve
    for sim in clusters:
        sim.close()


def ledger():
    clock = SystemClock()
    return DynamoDbLedger(AwsSession(clock, REGION), TABLE, clock)


def changes(context) -> dict[str, Any]:
    """What one poll found changed."""
    found: Any = watch_amis(event("schedule_poll"), context)["changed"]
    return dict(found)


def test_an_own_parameter_that_changed_asks_for_a_look_through_the_real_queue(aws, context):
    changed = event("parameter_store_change_update")
    changed["detail"]["name"] = OWN

    answer = evaluate_drift(changed, context)
    evaluate_drift(changed, context)

    assert answer["queued"] == ["demo"]
    assert [json.loads(body)["dedup"] for body in aws.queued()] == [f"{changed['id']}:demo"]


def test_the_process_builds_its_pieces_once(aws):
    assert bootstrap.pipeline() is bootstrap.pipeline()
    assert bootstrap.deployment() is bootstrap.deployment()
    assert bootstrap.deployment() == bootstrap.Deployment(name="local", region=REGION)
    assert bootstrap.pipeline().policy("demo").deployment == "local"


def test_a_message_rolls_one_node_of_a_cluster_over_http_and_tells_people(aws, reach, context):
    sim = reach()

    answer = reconcile_cluster(event("sqs_work_message"), context)

    assert answer == {"batchItemFailures": []}
    assert sim.witness.nodes() == ["a0"]
    assert get(sim, APP)["spec"]["disruption"]["budgets"] == SHUT
    assert [roll.state for roll in ledger().load("demo").rolls] == [RollState.IN_FLIGHT]
    assert any("the gate is shut" in told for told in aws.told())


def test_a_request_shuts_a_gate_that_stands_open_though_the_ledger_lost_it(aws, reach, context):
    sim = reach(Timings(idle_s=3600))
    marked = json.dumps(
        {
            "deployment": "local",
            "id": "20261017T021000000Z-app",
            "openedAt": "2026-10-17T02:10:00Z",
            "guardAt": "2026-10-17T02:11:00Z",
            "revertBy": "2026-10-17T02:20:00Z",
            "baseline": SHUT,
            "opened": [{"nodes": "01", "reasons": ["Drifted"]}],
            "windowKey": "app/always/2026-10-17T00:00:00Z",
            "count": 1,
        }
    )
    sim.add_nodepool("app2", [{"nodes": "01", "reasons": ["Drifted"]}], annotations={"driftgate.dev/roll": marked})

    answer = close_budgets({"driftgate": "close", "cluster": "demo", "cause": "person", "ref": "ada"}, context)

    assert answer == {"closed": ["demo/app2"], "problems": [], "failures": []}
    assert get(sim, f"{APP}2")["spec"]["disruption"]["budgets"] == SHUT


IMAGE = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
MIRROR = f"/driftgate/local/seen/{REGION}/{IMAGE.removeprefix('/aws/service/')}"
SECOND = "us-east-1"


def test_a_poll_mirrors_each_region_once_tells_what_is_new_and_remembers_it(aws, config, context):
    config.write_text(f"clusters: [demo, {{name: far, region: {SECOND}}}]\nguards: {{alarms: none}}\n")
    for cluster in ("demo", "far"):
        ledger().commit(cluster, PutLook(SystemClock().now(), (IMAGE,)))
    old = publish_image(aws.client("ec2"), OLD_NAME, at("2026-09-02T10:00:00Z"))
    new = publish_image(aws.client("ec2"), NEW_NAME, at("2026-09-24T10:00:00Z"))
    publish_parameter(IMAGE, old)
    publish_parameter(IMAGE, "ami-0eee", SECOND)

    first = changes(context)
    publish_parameter(IMAGE, new)
    second, third = changes(context), changes(context)

    assert first == {
        f"{REGION}{IMAGE}": {"before": None, "now": old},
        f"{SECOND}{IMAGE}": {"before": None, "now": "ami-0eee"},
    }
    assert (second, third) == ({f"{REGION}{IMAGE}": {"before": old, "now": new}}, {})
    ssm = aws.client("ssm")
    assert ssm.get_parameter(Name=MIRROR)["Parameter"]["Version"] == 2
    assert ssm.get_parameter(Name=MIRROR.replace(REGION, SECOND))["Parameter"]["Value"] == "ami-0eee"
    (told,) = aws.told()
    assert "AL2023 for Kubernetes 1.34: a newer node image in eu-central-1" in told
    history = bootstrap.pipeline().history.load([(REGION, "", IMAGE)])[REGION, "", IMAGE]
    assert [entry.image for entry in history.images] == [old, new]
    assert all(entry.since is not None for entry in history.images)


def test_two_messages_in_one_process_share_connections_but_no_memory(aws, reach, context):
    sim = reach()

    reconcile_cluster(queue_event(("demo", '{"cluster": "demo", "dedup": "1", "cause": "heartbeat"}')), context)
    reconcile_cluster(queue_event(("demo", '{"cluster": "demo", "dedup": "2", "cause": "heartbeat"}')), context)

    assert sim.witness.nodes() == ["a0"]
    assert len(ledger().load("demo").rolls) == 1


def quiet_heartbeat(env: dict[str, str]) -> set[str]:
    """What a fresh process loads for a heartbeat that finds nothing."""
    paths = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT / 'shared'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", HEARTBEAT]
    ran = subprocess.run(command, env=paths | env, capture_output=True, text=True, check=True)
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["answer"] == {"queued": [], "closing": [], "why": "heartbeat"}
    assert ran.stderr == ""
    return set(told["loaded"])


NEEDLESS = {"kubernetes", "aws_xray_sdk", "requests", "typer", "rich", "moto", "asyncio", "yarl"}


def test_a_heartbeat_that_finds_nothing_loads_no_kubernetes_client(aws, config):
    config.write_text(NEVER)
    ledger().commit("demo", PutLook(SystemClock().now()))

    assert NEEDLESS.isdisjoint(quiet_heartbeat(aws.env))


def test_a_heartbeat_after_a_look_does_not_read_the_configuration(aws, config, reach, context):
    config.write_text(NEVER)
    reach()
    reconcile_cluster(queue_event(("demo", '{"cluster": "demo", "dedup": "1", "cause": "heartbeat"}')), context)

    loaded = quiet_heartbeat(aws.env | {"DRIFTGATE_CLUSTERS": "demo"})

    assert (NEEDLESS | {"pydantic", "yaml", "zoneinfo"}).isdisjoint(loaded)


def test_an_environment_that_is_wrong_is_refused_whole(monkeypatch, context):
    for name in list(os.environ):
        if name.startswith("DRIFTGATE_"):
            monkeypatch.delenv(name)
    bootstrap.use(None)

    with pytest.raises(Exception, match="DRIFTGATE_TABLE: is missing") as raised:
        evaluate_drift(event("schedule_heartbeat"), context)

    assert type(raised.value).__name__ == "InvalidSettingsError"
