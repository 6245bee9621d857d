"""The app as it is started: without Node, Docker, AWS and network; what it refuses, and that cdk-nag watches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs

from driftgate.domain.errors import InvalidInputError, InvalidSettingsError
from infra.app import check, new_app, read_config
from tests.infra.templates import FLEET, SMALL, template_of

ROOT = Path(__file__).parents[2]


def run(folder: Path, config: str) -> subprocess.CompletedProcess[str]:
    """The app with nothing on the path, as the CDK command starts it."""
    (folder / "driftgate.yaml").write_text(config, encoding="utf-8")
    (folder / "code").mkdir()
    (folder / "code" / "stub").touch()
    given = ["--config", str(folder / "driftgate.yaml"), "--asset", str(folder / "code")]
    command = [sys.executable, "-m", "infra.app", *given]
    environment = {
        "PATH": "",
        "HOME": str(folder),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'shared'}",
        "CDK_OUTDIR": str(folder / "out"),
    }
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


def test_the_template_needs_nothing_but_python_and_no_rule_of_cdk_nag_objects(tmp_path):
    ran = run(tmp_path, FLEET)

    assert ran.stdout.splitlines()[-1] == str(tmp_path / "out" / "driftgate-prod.template.json")
    assert ran.returncode == 0
    assert "aws eks create-access-entry --cluster-name other" in ran.stderr


def test_a_wrong_file_is_refused_with_line_and_remedy(tmp_path):
    ran = run(tmp_path, "cluster: demo\nplacement: eu\n")

    assert ran.returncode == 2
    assert ran.stderr.splitlines()[1].endswith(
        "driftgate.yaml:2:12: placement: eu is no placement of the deployment · Add it to deployment.placements."
    )
    assert not (tmp_path / "out").exists()


def test_a_name_that_eks_does_not_have_is_refused(tmp_path):
    (tmp_path / "driftgate.yaml").write_text("clusters:\n  - prod\n  - {name: 'arn:aws/prod'}\n", encoding="utf-8")

    with pytest.raises(InvalidSettingsError) as refused:
        read_config(tmp_path / "driftgate.yaml")

    (problem,) = refused.value.problems
    assert str(problem).endswith(
        "driftgate.yaml:3:12: clusters[1].name: 'arn:aws/prod' is no name of an EKS cluster"
        " · Write the cluster's name as EKS has it: letters, digits, dashes and underscores."
    )


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InvalidInputError, match="cannot be read · Name the file with --config"):
        read_config(tmp_path / "driftgate.yaml")


def test_the_same_file_gives_the_same_template(small, tmp_path):
    assert template_of(SMALL, tmp_path) == small


def test_the_app_has_the_flags_of_cdk_json_whoever_starts_it(tmp_path):
    app = new_app(tmp_path)

    assert app.node.try_get_context("@aws-cdk/core:validateAgainstDefaultRules") is True
    assert app.node.try_get_context("@aws-cdk/aws-iam:minimizePolicies") is True


def test_a_wildcard_that_nobody_explained_fails(tmp_path):
    app = new_app(tmp_path)
    role = iam.Role(Stack(app, "Stack"), "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"]))
    check(app)

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()


def test_a_template_that_cloudformation_would_refuse_fails(tmp_path):
    app = new_app(tmp_path)
    queue = sqs.CfnQueue(Stack(app, "Stack"), "Queue")
    queue.add_property_override("VisibilityTimeout", "soon")

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
