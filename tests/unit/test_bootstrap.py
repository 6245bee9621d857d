"""What the composition root builds from an environment, and when."""

from __future__ import annotations

import hashlib

import pytest

from driftgate import bootstrap
from driftgate.bootstrap import Deployment
from driftgate.domain.errors import InvalidInputError, InvalidSettingsError
from tests.factories import cluster_policy
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.pipeline import world

CONFIG = "mode: act\nclusters: [{name: prod, region: eu-west-1}, test]\nguards: {alarms: none}\n"


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "driftgate.yaml").write_text(CONFIG)
    return {
        "DRIFTGATE_DEPLOYMENT": "fleet",
        "DRIFTGATE_TABLE": "driftgate",
        "DRIFTGATE_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/111122223333/driftgate.fifo",
        "DRIFTGATE_EVENT_BUS": "driftgate",
        "DRIFTGATE_CLOSER": "driftgate-close",
        "LAMBDA_TASK_ROOT": str(tmp_path),
        "AWS_LAMBDA_LOG_STREAM_NAME": "2026/10/17/[$LATEST]abc",
    }


@pytest.fixture(autouse=True)
def _cold():
    yield
    bootstrap.use(None)


def test_the_pipeline_knows_every_cluster_of_the_file_and_its_deployment(environment):
    pipeline = bootstrap.lambda_pipeline(environment)

    assert pipeline.cluster_names == ("prod", "test")
    assert pipeline.policy("test").deployment == "fleet"
    assert pipeline.holder == "2026/10/17/[$LATEST]abc"


def test_a_cluster_that_nobody_configured_is_refused(environment):
    with pytest.raises(InvalidInputError, match="there is no cluster 'prd' here"):
        bootstrap.lambda_pipeline(environment).policy("prd")


def test_clusters_that_the_environment_names_need_no_configuration(environment, tmp_path):
    (tmp_path / "driftgate.yaml").write_text("mode: [")

    pipeline = bootstrap.lambda_pipeline(environment | {"DRIFTGATE_CLUSTERS": "prod,test"})

    assert pipeline.cluster_names == ("prod", "test")
    with pytest.raises(InvalidSettingsError, match=r"driftgate\.yaml"):
        pipeline.policy("prod")


PLACED = """
deployment: {placements: [{name: eu, subnets: [subnet-0a1b2c3d], security_groups: [sg-0a1b2c3d]}]}
clusters: [{name: prod, placement: eu}, test]
"""


@pytest.mark.parametrize(("placement", "names"), [("eu", ("prod",)), ("default", ("test",)), ("", ("prod", "test"))])
def test_a_function_of_a_placement_looks_after_its_clusters_alone(environment, tmp_path, placement, names):
    (tmp_path / "driftgate.yaml").write_text(PLACED)

    pipeline = bootstrap.lambda_pipeline(environment | {"DRIFTGATE_PLACEMENT": placement})

    assert pipeline.cluster_names == names


def test_a_configuration_is_known_by_the_digest_of_its_bytes(environment, tmp_path):
    (tmp_path / "driftgate.yaml").write_bytes(b"cluster: demo\n")

    digest = bootstrap.lambda_pipeline(environment).config_digest

    assert digest == hashlib.sha256(b"cluster: demo\n").hexdigest()


def test_nothing_is_called_while_it_is_built(environment):
    bootstrap.lambda_pipeline(environment | {"AWS_ENDPOINT_URL": "http://nowhere.invalid"})


def test_what_is_missing_is_told_at_once(environment):
    del environment["DRIFTGATE_TABLE"], environment["DRIFTGATE_EVENT_BUS"]

    with pytest.raises(InvalidSettingsError) as raised:
        bootstrap.lambda_pipeline(environment)

    assert [problem.path for problem in raised.value.problems] == ["DRIFTGATE_TABLE", "DRIFTGATE_EVENT_BUS"]


def test_a_deployment_without_its_file_says_which(environment, tmp_path):
    (tmp_path / "driftgate.yaml").unlink()

    with pytest.raises(InvalidInputError, match=r"driftgate\.yaml: cannot be read: No such file"):
        bootstrap.lambda_pipeline(environment)


def test_pieces_put_in_by_a_test_stand_in_place_of_the_environment():
    pipeline = world(FakeCluster(), FakeClock(), cluster_policy()).pipeline()

    bootstrap.use(pipeline, Deployment(name="x", region="y"))

    assert bootstrap.pipeline() is pipeline
    assert bootstrap.deployment() == Deployment(name="x", region="y")


def test_without_a_region_the_deployment_has_none(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_REGION", raising=False)

    assert bootstrap.deployment() == Deployment(name="fleet", region="")


def test_a_holder_is_a_process_of_a_machine():
    user, _, rest = bootstrap.holder().partition("@")

    assert user
    assert rest.rpartition(":")[2].isdecimal()


def test_what_is_built_tells_the_time_by_the_clock_that_was_put_in(environment):
    clock = FakeClock()

    bootstrap.use_clock(clock)
    try:
        assert bootstrap.lambda_pipeline(environment).clock is clock
    finally:
        bootstrap.use_clock(None)
    assert bootstrap.lambda_pipeline(environment).clock is not clock
