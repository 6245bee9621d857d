"""The simulated API over HTTP: connections, trouble on request, the log, and the real client's way in."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import timedelta

import pytest
import yaml
from kubernetes import client, config

from driftgate.sim.access import ADMIN
from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import SimCluster
from driftgate.sim.faults import Fault
from tests.sim_clusters import APP, NOW, POOLS, bare_cluster, get

BUDGETS = [{"op": "replace", "path": "/spec/disruption/budgets", "value": [{"nodes": "01"}]}]


@pytest.fixture
def sim() -> Iterator[SimCluster]:
    with bare_cluster() as cluster:
        cluster.serve()
        yield cluster


def connect(sim):
    served = sim.serve()
    host, port = served.url.removeprefix("http://").split(":")
    return closing(http.client.HTTPConnection(host, int(port), timeout=5))


def ask(connection, method, path, body=None):
    headers = {"Authorization": "Bearer driftgate-sim-token", "Content-Type": "application/json-patch+json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    return connection.getresponse()


def add_fault(sim, **order):
    return sim.serve().server.faults.add(Fault(**order))


def stored_budgets(sim):
    return get(sim, APP)["spec"]["disruption"]["budgets"]


def test_many_requests_use_one_connection(sim):
    with connect(sim) as connection:
        answers = [(answer.status, answer.read()) for answer in (ask(connection, "GET", APP) for _ in range(3))]

    assert [status for status, _ in answers] == [200, 200, 200]


def test_the_server_is_on_the_loopback_only(sim):
    assert sim.serve().url.startswith("http://127.0.0.1:")


def test_the_real_client_finds_its_way_by_the_kubeconfig(sim):
    api = config.new_client_from_config_dict(yaml.safe_load(sim.serve().kubeconfig))

    with closing(api):
        pools = client.CustomObjectsApi(api).list_cluster_custom_object("karpenter.sh", "v1", "nodepools")
        version = client.VersionApi(api).get_code()

    assert [pool["metadata"]["name"] for pool in pools["items"]] == ["app"]
    assert version.git_version == "v1.36.3"


def test_every_request_is_in_the_log(sim):
    with connect(sim) as connection:
        ask(connection, "PATCH", f"{APP}?fieldManager=driftgate", BUDGETS).read()

    logged = sim.serve().server.requests[-1]
    assert (logged.request.method, logged.request.path, logged.status) == ("PATCH", APP, 200)
    assert logged.request.query == {"fieldManager": "driftgate"}
    assert logged.request.content_type == "application/json-patch+json"
    assert json.loads(logged.request.body) == BUDGETS
    assert logged.at == NOW


@pytest.mark.parametrize(
    ("code", "reason"), [(429, "TooManyRequests"), (500, "InternalError"), (503, "ServiceUnavailable")]
)
def test_a_status_on_request_is_given_once_and_nothing_happens(sim, code, reason):
    add_fault(sim, action="status", method="PATCH", path=APP, code=code)

    with connect(sim) as connection:
        refused = ask(connection, "PATCH", APP, BUDGETS)
        said = json.loads(refused.read())
        untouched = stored_budgets(sim)
        taken = ask(connection, "PATCH", APP, BUDGETS).status

    assert (refused.status, said["reason"]) == (code, reason)
    assert refused.headers.get("Retry-After") == (None if code == 500 else "1")
    assert untouched == [{"nodes": "0", "reasons": ["Drifted"]}]
    assert taken == 200


def test_a_refusal_may_have_words_of_its_own(sim):
    add_fault(sim, action="status", code=422, message="denied by the platform's policy")

    with connect(sim) as connection:
        assert json.loads(ask(connection, "PATCH", APP, BUDGETS).read())["message"] == "denied by the platform's policy"


def test_the_second_matching_request_may_be_the_one_that_is_hit(sim):
    add_fault(sim, action="status", path="/apis/karpenter.sh/*", skip=1, code=500)

    with connect(sim) as connection:
        statuses = []
        for path in (APP, "/version", POOLS, APP):
            answer = ask(connection, "GET", path)
            answer.read()
            statuses.append(answer.status)

    assert statuses == [200, 200, 500, 200]


def test_a_connection_closed_before_leaves_everything_as_it_was(sim):
    add_fault(sim, action="close_before", method="PATCH")

    with connect(sim) as connection, pytest.raises(http.client.RemoteDisconnected):
        ask(connection, "PATCH", APP, BUDGETS)

    assert stored_budgets(sim) == [{"nodes": "0", "reasons": ["Drifted"]}]


def test_a_lost_answer_has_happened(sim):
    add_fault(sim, action="close_after", method="PATCH")

    with connect(sim) as connection, pytest.raises(http.client.RemoteDisconnected):
        ask(connection, "PATCH", APP, BUDGETS)

    assert stored_budgets(sim) == [{"nodes": "01"}]


def test_a_write_may_land_after_its_sender_gave_up(sim):
    add_fault(sim, action="land_late", method="PATCH", delay_s=30)

    with connect(sim) as connection, pytest.raises(http.client.RemoteDisconnected):
        ask(connection, "PATCH", APP, BUDGETS)
    sim.advance(29)
    before = stored_budgets(sim)
    sim.advance(1)

    assert before == [{"nodes": "0", "reasons": ["Drifted"]}]
    assert stored_budgets(sim) == [{"nodes": "01"}]


def test_a_hanging_request_hangs_until_it_is_released(sim):
    fault = add_fault(sim, action="hang", method="GET", path=APP)
    outcomes = []

    def asking():
        with connect(sim) as connection:
            try:
                outcomes.append(ask(connection, "GET", APP).status)
            except http.client.RemoteDisconnected:
                outcomes.append("disconnected")

    thread = threading.Thread(target=asking)
    thread.start()
    with connect(sim) as other:
        assert ask(other, "GET", POOLS).status == 200
    still_hanging = list(outcomes)
    fault.release()
    thread.join()

    assert still_hanging == []
    assert outcomes == ["disconnected"]


def test_a_watch_sees_a_change_as_it_happens(sim):
    since = get(sim, POOLS)["metadata"]["resourceVersion"]

    with connect(sim) as connection:
        answer = ask(connection, "GET", f"{POOLS}?watch=true&resourceVersion={since}&timeoutSeconds=5")
        sim.add_nodepool("new")
        event = json.loads(answer.readline())

    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "new")


def test_a_watch_ends_in_order_at_its_time(sim):
    with connect(sim) as connection:
        answer = ask(connection, "GET", f"{POOLS}?watch=true&resourceVersion=0&timeoutSeconds=0.1")

        assert json.loads(answer.readline())["type"] == "ADDED"
        assert answer.read() == b""


def test_a_watch_may_be_cut_off_after_some_events(sim):
    add_fault(sim, action="cut_watch", path=POOLS, events=1)
    sim.add_nodepool("new")

    with connect(sim) as connection:
        answer = ask(connection, "GET", f"{POOLS}?watch=true&timeoutSeconds=5")
        first = json.loads(answer.readline())
        with pytest.raises(http.client.IncompleteRead):
            answer.read()

    assert first["type"] == "ADDED"


def test_closing_the_cluster_ends_open_watches():
    with bare_cluster() as sim, connect(sim) as connection:
        answer = ask(connection, "GET", f"{POOLS}?watch=true")
        answer.readline()

        sim.close()

        with suppress(http.client.IncompleteRead):
            assert answer.read() == b""


def test_a_cluster_on_a_running_clock_lives_by_itself():
    sim = SimCluster(WallClock(start=NOW, speed=200), karpenter="1.14.1")
    sim.access.grant("t", "admin", ADMIN)
    sim.add_node_class()
    sim.add_nodepool("app", [{"nodes": "1"}])
    sim.add_node("app", "a0", drifted_since=NOW - timedelta(days=3))

    with sim, connect(sim) as connection:
        since = get(sim, "/api/v1/nodes")["metadata"]["resourceVersion"]
        answer = ask(connection, "GET", f"/api/v1/nodes?watch=true&resourceVersion={since}&timeoutSeconds=20")
        events = [json.loads(answer.readline())["type"]]
        while events[-1] != "DELETED":
            events.append(json.loads(answer.readline())["type"])

    assert events[-1] == "DELETED"
    assert sim.witness.nodes() == ["a0"]
