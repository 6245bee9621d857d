"""Every command of the pages on deploying and operating exists, with every option, and says what the pages say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import botocore.session
import pytest
from botocore import xform_name
from typer.main import get_command

from driftgate.cli.main import app
from driftgate.config.load import load_config
from tests.docs.test_readme import BLOCK, ROOT

PAGES = [ROOT / "docs/deploy.md", ROOT / "docs/operate.md"]
INLINE = re.compile(r"`((?:driftgate|aws|make) [^`]+)`")
GLOBAL_OPTIONS = {"query", "region", "output", "profile"}
OWN_COMMANDS = {
    ("cloudformation", "deploy"): {"stack-name", "template-file", "s3-bucket", "capabilities", "parameter-overrides"}
}
CLI_ONLY = {("lambda", "invoke"): {"cli-binary-format"}}


def commands(page: Path, program: str) -> list[str]:
    """In blocks and in sentences, each without what follows a pipe or a redirection."""
    text = page.read_text(encoding="utf-8")
    lines = [line.strip() for _, block in BLOCK.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    inline = [" ".join(found.split()) for found in INLINE.findall(text)]
    found = [re.split(r" [|>] ", line)[0] for line in (*lines, *inline)]
    return sorted({line for line in found if line.startswith(f"{program} ")})


def all_commands(program: str) -> list[str]:
    return sorted({line for page in PAGES for line in commands(page, program)})


def test_there_is_something_to_check():
    assert len(all_commands("driftgate")) >= 12
    assert len(all_commands("aws")) >= 6


@pytest.mark.parametrize("line", all_commands("driftgate"))
def test_a_command_of_driftgate_takes_these_options(line):
    name, *arguments = shlex.split(line)[1:]
    group = get_command(app)
    command = group.commands[name]  # type: ignore[attr-defined]

    command.make_context(name, list(arguments))


@pytest.mark.parametrize("line", all_commands("aws"))
def test_a_command_of_aws_exists_with_these_options(line):
    _, service, operation, *rest = shlex.split(line)
    given = {word[2:] for word in rest if word.startswith("--")}
    if (service, operation) in OWN_COMMANDS:
        assert given <= OWN_COMMANDS[service, operation]
        return
    model = botocore.session.get_session().get_service_model(service)
    (found,) = (name for name in model.operation_names if xform_name(name, "-") == operation)
    shape = model.operation_model(found).input_shape
    members = () if shape is None else shape.members
    known = {xform_name(name, "-") for name in members} | CLI_ONLY.get((service, operation), set())

    assert given <= known | GLOBAL_OPTIONS


@pytest.mark.parametrize("line", all_commands("make"))
def test_a_make_command_sets_variables_that_its_target_reads(line):
    target, *settings = re.findall(r"[^\s&]+", line.partition("&&")[0])[1:]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition(f"\n{target}: $(READY)")[2].partition("\n\n")[0]

    assert f"\n{target}:" in makefile
    assert [each for each in settings if f"$({each.partition('=')[0]})" not in recipe and "=" in each] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_of_driftgate_yaml_can_be_deployed(page):
    for language, example in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "yaml":
            assert load_config(example, page.name, is_deployed=True).cluster_names()


def test_the_endpoints_that_a_vpc_needs_are_those_of_what_its_functions_may_call(fleet):
    named = {"cloudwatch": "monitoring"}
    not_ours = {"logs", "xray", "kms"}  # Lambda writes and traces itself, and SNS uses its key
    actions = {
        action
        for name, role in fleet.of_type("AWS::IAM::Role").items()
        if name.startswith("Placement")
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    services = {named.get(service, service) for service in (action.partition(":")[0] for action in actions)}
    text = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    listed = text.partition("the hour): ")[2].partition(". `sts` is")[0]

    assert set(re.findall(r"`([a-z0-9]+)`", listed)) == services - not_ours


def test_the_roles_that_another_account_trusts_have_the_names_that_the_page_says(fleet):
    text = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    names = {role.get("RoleName") for role in fleet.of_type("AWS::IAM::Role").values()}

    told = set(re.findall(r"`(driftgate-prod-(?:worker|closer)-default)`", text))

    assert len(told) == 2
    assert told <= names
