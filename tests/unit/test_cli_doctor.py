"""`driftgate doctor` over HTTP, against the simulated API server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from driftgate.cli.main import app
from driftgate.domain.rights import RIGHTS
from driftgate.sim.access import Rule
from driftgate.sim.clock import WallClock
from driftgate.sim.cluster import SimCluster

TOKEN = "a-token-of-driftgate"
Doctor = Callable[..., Any]


def granted(*without: str) -> tuple[Rule, ...]:
    return tuple(
        Rule(groups=(right.group,), resources=(right.resource,), verbs=(right.verb,))
        for right in RIGHTS
        if str(right) not in without
    )


@pytest.fixture
def sim() -> Iterator[SimCluster]:
    with SimCluster(WallClock()) as sim:
        sim.add_node_class()
        sim.add_nodepool("app", [{"nodes": "0", "reasons": ["Drifted"]}])
        sim.access.grant(TOKEN, "driftgate", granted())
        yield sim


@pytest.fixture
def doctor(sim: SimCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    monkeypatch.chdir(tmp_path)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(kubeconfig_of(sim.serve().url)), encoding="utf-8")
    where = ["--kubeconfig", str(kubeconfig), "--ledger", f"file:{tmp_path / 'ledger.json'}"]
    return lambda *options: CliRunner().invoke(app, ["doctor", *where, *options], catch_exceptions=False)


def kubeconfig_of(url: str) -> dict[str, Any]:
    return {
        "clusters": [{"name": "sim", "cluster": {"server": url}}],
        "users": [{"name": "driftgate", "user": {"token": TOKEN}}],
        "contexts": [{"name": "sim", "context": {"cluster": "sim", "user": "driftgate"}}],
        "current-context": "sim",
    }


def outcomes(result: Any) -> dict[str, str]:
    return {check["name"]: check["outcome"] for check in json.loads(result.stdout)["checks"]}


def test_with_every_right_the_exit_code_is_0(doctor: Doctor):
    result = doctor("-o", "json")

    assert outcomes(result)["rights"] == "ok"
    assert outcomes(result)["write"] == "ok"
    assert result.exit_code == 0


def test_a_missing_reading_right_is_exit_code_3_and_yaml(sim: SimCluster, doctor: Doctor):
    sim.access.grant(TOKEN, "driftgate", granted("list pods"))

    result = doctor()

    manifest = result.stdout.partition("Missing in the ClusterRole:")[2]
    assert yaml.safe_load(manifest) == {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]}
    assert result.exit_code == 3


def test_without_the_right_to_patch_it_is_exit_code_4(sim: SimCluster, doctor: Doctor):
    sim.access.grant(TOKEN, "driftgate", granted("patch nodepools.karpenter.sh"))

    result = doctor("-o", "json")

    assert (outcomes(result)["rights"], outcomes(result)["write"]) == ("refused", "refused")
    assert result.exit_code == 4


def test_an_unknown_identity_is_exit_code_3(sim: SimCluster, doctor: Doctor):
    sim.access.revoke(TOKEN)

    result = doctor("-o", "json")

    assert outcomes(result) == {"connection": "unreadable", "ledger": "ok"}
    assert "does not know who we are" in result.stdout
    assert result.exit_code == 3


def test_a_kubeconfig_that_is_not_there_is_exit_code_2(tmp_path: Path):
    result = CliRunner().invoke(app, ["doctor", "--kubeconfig", str(tmp_path / "nowhere")], catch_exceptions=False)

    assert "there is no such kubeconfig file" in result.stderr
    assert result.exit_code == 2


def test_the_yaml_answer_is_the_json_answer(doctor: Doctor):
    shown, same = yaml.safe_load(doctor("-o", "yaml").stdout), json.loads(doctor("-o", "json").stdout)

    assert [check["name"] for check in shown["checks"]] == [check["name"] for check in same["checks"]]
    assert shown.keys() == same.keys()


PLACED = """
cluster: sim
region: eu-central-1
placement: eu
guards: {alarms: none}
deployment: {placements: [{name: eu, subnets: [subnet-0a1b2c3d], security_groups: [sg-0a1b2c3d]}]}
"""


def test_a_cluster_in_a_placement_is_told_the_endpoints_of_its_vpc(doctor: Doctor, tmp_path: Path):
    (tmp_path / "driftgate.yaml").write_text(PLACED, encoding="utf-8")

    found = json.loads(doctor("-o", "json").stdout)["endpoints"]

    assert [(each["service"], each["kind"]) for each in found] == [
        ("com.amazonaws.eu-central-1.dynamodb", "Gateway"),
        ("com.amazonaws.eu-central-1.eks", "Interface"),
        ("com.amazonaws.eu-central-1.sqs", "Interface"),
        ("com.amazonaws.eu-central-1.events", "Interface"),
        ("com.amazonaws.eu-central-1.sns", "Interface"),
        ("com.amazonaws.eu-central-1.ssm", "Interface"),
        ("com.amazonaws.eu-central-1.monitoring", "Interface"),
        ("com.amazonaws.eu-central-1.ec2", "Interface"),
    ]
    assert "com.amazonaws.eu-central-1.eks" in doctor().stdout


def test_the_role_of_another_account_needs_one_endpoint_more(doctor: Doctor, tmp_path: Path):
    role = 'account_role: "arn:aws:iam::444455556666:role/driftgate"\n'
    (tmp_path / "driftgate.yaml").write_text(PLACED + role, encoding="utf-8")

    found = json.loads(doctor("-o", "json").stdout)["endpoints"]

    assert found[-1]["service"] == "com.amazonaws.eu-central-1.sts"


def test_a_cluster_outside_of_vpcs_needs_no_endpoints(doctor: Doctor):
    assert json.loads(doctor("-o", "json").stdout)["endpoints"] == []
