"""The stack for people without CDK says what the one that CDK deploys says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from infra.app import synthesize
from infra.packaging import LAMBDA
from infra.packaging.bundle import Bundle, write_bundle
from infra.packaging.contents import ROOT
from tests.infra.packaged import CONFIG

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bundle")


@pytest.fixture(scope="module")
def asset(folder) -> Path:
    """Code in place of ours: what a template says does not depend on it."""
    path: Path = folder / "code.zip"
    with ZipFile(path, "w") as code:
        code.writestr("driftgate.yaml", CONFIG.read_bytes())
    return path


@pytest.fixture(scope="module")
def deployed(folder, asset) -> Path:
    """The template as CDK deploys it."""
    return synthesize(CONFIG, folder / "cdk.out", asset)


@pytest.fixture(scope="module")
def bundle(folder, deployed) -> Bundle:
    return write_bundle(deployed, folder / "dist")


def functions(template):
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Lambda::Function"
    }


def test_both_templates_say_the_same_but_for_code_and_bootstrap(bundle, deployed):
    plain, theirs = json.loads(bundle.template.read_text()), json.loads(deployed.read_text())

    assert len(functions(plain)) >= 4
    for template in (plain, theirs):
        for properties in functions(template).values():
            del properties["Code"]
    for name in ("CodeBucket", "CodePrefix"):
        del plain["Parameters"][name]
    del theirs["Parameters"]["BootstrapVersion"]
    del theirs["Rules"]["CheckBootstrapVersion"]
    assert {name: said for name, said in plain.items() if said} == {name: said for name, said in theirs.items() if said}


def test_every_function_s_code_is_an_archive_that_came_along(bundle, asset):
    (archive,) = bundle.archives
    code = {"S3Bucket": {"Ref": "CodeBucket"}, "S3Key": {"Fn::Sub": f"${{CodePrefix}}{archive.name}"}}

    found = [properties["Code"] for properties in functions(json.loads(bundle.template.read_text())).values()]

    assert found == [code] * len(found)
    assert archive.read_bytes() == asset.read_bytes()


def test_nothing_in_it_is_cdk_s(bundle):
    text = bundle.template.read_text()

    assert [
        word for word in ("cdk-", "aws:cdk", "aws:asset", "hnb659fds", "Bootstrap", "AWS::CDK") if word in text
    ] == []


def test_cloudformation_finds_no_error_in_it(bundle):
    found = lint(bundle.template.read_text(), config=ManualArgs(regions=["eu-central-1", "us-east-1"]))

    assert [match for match in found if match.rule.id.startswith("E")] == []


def test_functions_run_on_what_their_code_was_built_for(bundle):
    found = functions(json.loads(bundle.template.read_text())).values()

    assert {properties["Runtime"] for properties in found} == {LAMBDA.runtime}
    assert [properties["Architectures"] for properties in found] == [[LAMBDA.architecture]] * len(found)


def test_every_handler_that_the_template_names_is_one_of_ours(bundle):
    handlers = {properties["Handler"] for properties in functions(json.loads(bundle.template.read_text())).values()}

    assert handlers
    assert [name for name in handlers if not is_a_handler(name)] == []


def is_a_handler(name: str) -> bool:
    module, _, function = name.rpartition(".")
    path = ROOT / f"{module.replace('.', '/')}.py"
    return path.is_file() and f"def {function}(" in path.read_text()


def package(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "infra.packaging", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_one_command_writes_the_code_and_its_template_and_says_what_comes_next(tmp_path):
    done = package("--config", str(CONFIG), "--out", str(tmp_path))

    (archive,), (template,) = tmp_path.glob("*.zip"), tmp_path.glob("*.template.json")
    assert done.returncode == 0, done.stderr
    assert f"{archive}: " in done.stdout
    assert f"--template-file {template}" in done.stdout
    assert "functions/evaluate_drift/handler.py" in ZipFile(archive).namelist()
    assert {path.name for path in tmp_path.iterdir()} == {archive.name, template.name}


def test_a_driftgate_yaml_with_a_fault_is_refused_with_its_line(tmp_path):
    config = tmp_path / "driftgate.yaml"
    config.write_text("mode: perhaps\ncluster: demo\n")

    done = package("--config", str(config), "--out", str(tmp_path / "dist"))

    assert done.returncode == 2
    assert f"{config}:1" in done.stderr
    assert not (tmp_path / "dist").exists()
