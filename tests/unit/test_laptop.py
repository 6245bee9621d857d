"""What one process on a laptop is put together from."""

from __future__ import annotations

import pytest

from driftgate import laptop
from driftgate.adapters.ledger_dynamodb import DynamoDbLedger
from driftgate.adapters.ledger_file import FileLedger
from driftgate.adapters.local_process import UnaskedImages, UnaskedParameters
from driftgate.config.load import load_config
from driftgate.domain.errors import InvalidInputError
from driftgate.domain.observation import Observation
from driftgate.laptop import Reach, default_ledger, laptop_pipeline
from driftgate.sim.cluster import kubeconfig
from tests.factories import NOW
from tests.fakes.cluster import FakeCluster


@pytest.fixture
def home(tmp_path):
    (tmp_path / "kubeconfig").write_text(kubeconfig("http://127.0.0.1:1", "token"))
    return {"KUBECONFIG": str(tmp_path / "kubeconfig"), "XDG_STATE_HOME": str(tmp_path / "state")}


def test_without_a_file_the_contexts_cluster_is_observed(home):
    pipeline = laptop_pipeline(Reach(), None, home)

    assert pipeline.cluster_names == ("sim",)
    assert pipeline.policy("sim").configured is False


def test_the_configured_cluster_is_what_the_context_reaches(home):
    config = load_config("mode: act\ncluster: demo\nguards: {alarms: none}\n", "driftgate.yaml")

    pipeline = laptop_pipeline(Reach(), config, home)

    assert pipeline.cluster_names == ("demo",)
    assert pipeline.clusters.connect("demo") is pipeline.clusters.connect("demo")


@pytest.mark.parametrize(
    ("cluster", "name"),
    [("sim", "sim"), ("arn:aws:eks:eu-west-1:1:cluster/prod", "arn-aws-eks-eu-west-1-1-cluster-prod"), ("", "cluster")],
)
def test_the_ledger_of_a_cluster_is_a_file_of_this_user(cluster, name):
    assert default_ledger(cluster, {"XDG_STATE_HOME": "/state"}) == f"file:/state/driftgate/{name}.json"


@pytest.mark.parametrize(
    ("spec", "kind"), [(None, FileLedger), ("", FileLedger), ("dynamodb:driftgate", DynamoDbLedger)]
)
def test_the_ledger_is_a_file_or_a_table(home, spec, kind):
    assert isinstance(laptop_pipeline(Reach(ledger=spec), None, home).ledger, kind)


@pytest.mark.parametrize("spec", ["file:", "dynamodb:", "redis:x", "ledger.json"])
def test_another_kind_of_ledger_is_refused(home, spec):
    with pytest.raises(InvalidInputError, match=r"--ledger: .* names no ledger"):
        laptop_pipeline(Reach(ledger=spec), None, home)


def test_a_folder_that_cannot_be_made_does_not_keep_a_reader_away(home):
    pipeline = laptop_pipeline(Reach(ledger="file:/proc/none/ledger.json"), None, home)

    assert pipeline.ledger.load("sim").rolls == ()


def test_without_a_region_aws_is_not_asked_for_images_and_parameters(home):
    pipeline = laptop_pipeline(Reach(), None, home)

    assert isinstance(pipeline.images, UnaskedImages)
    assert isinstance(pipeline.parameters, UnaskedParameters)


@pytest.mark.parametrize("name", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_with_a_region_it_is(home, name):
    assert not isinstance(laptop_pipeline(Reach(), None, home | {name: "eu-central-1"}).images, UnaskedImages)


def test_only_a_cluster_behind_the_api_can_be_written_down():
    with pytest.raises(TypeError, match="only a cluster behind the API"):
        laptop.write_snapshot(FakeCluster(), Observation(at=NOW), redact=False)


KUBECONFIG_OF_EKS = """
apiVersion: v1
kind: Config
current-context: staging
clusters: [{name: "arn:aws:eks:eu-central-1:111122223333:cluster/shop", cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: ada, user: {token: t}}]
contexts:
  - {name: staging, context: {cluster: "arn:aws:eks:eu-central-1:111122223333:cluster/shop", user: ada}}
"""


@pytest.mark.parametrize(
    ("configured", "named", "is_told"), [("shop", None, False), ("prod", None, True), ("prod", "prod", False)]
)
def test_a_configuration_for_another_cluster_than_the_context_reaches_is_told_unless_it_was_named(
    tmp_path, configured, named, is_told
):
    file = tmp_path / "config"
    file.write_text(KUBECONFIG_OF_EKS)
    config = load_config(f"cluster: {configured}\nguards: {{alarms: none}}\n", "driftgate.yaml")

    said = laptop.mismatch(laptop.Reach(kubeconfig=str(file), cluster=named), config, {})

    assert (said is not None) is is_told
