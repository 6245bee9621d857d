"""The printed objects and the page on them are made of one table each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from driftgate.cli.main import app
from driftgate.cli.permissions_page import page
from driftgate.domain.admission_policy import RULES, admission_policy

PAGE = Path(__file__).parents[2] / "docs" / "permissions.md"
HARMLESS = {"get", "list", "watch", "patch"}


def printed(*options: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["cluster-manifests", *options], catch_exceptions=False)
    assert result.exit_code == 0
    return {made["kind"]: made for made in yaml.safe_load_all(result.stdout)}


def test_the_page_is_what_the_tables_say():
    written = PAGE.read_text(encoding="utf-8")

    assert written == page(), "Run: python -m driftgate.cli.permissions_page > docs/permissions.md"


def test_four_objects_are_printed():
    assert list(printed()) == [
        "ClusterRole",
        "ClusterRoleBinding",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]


def test_the_only_write_is_a_patch_of_nodepools():
    rules = printed()["ClusterRole"]["rules"]

    assert {verb for rule in rules for verb in rule["verbs"]} == HARMLESS
    assert [rule["resources"] for rule in rules if "patch" in rule["verbs"]] == [["nodepools"]]
    assert "*" not in str(rules)


@pytest.mark.parametrize("group", ["driftgate", "platform:driftgate", 'odd"name'])
def test_binding_and_policy_are_for_the_group_named(group: str):
    objects = printed("--group", group)

    (subject,) = objects["ClusterRoleBinding"]["subjects"]
    (condition,) = objects["ValidatingAdmissionPolicy"]["spec"]["matchConditions"]
    quoted = group.replace('"', '\\"')
    assert (subject["kind"], subject["name"]) == ("Group", group)
    assert condition["expression"] == (f'has(request.userInfo.groups) && "{quoted}" in request.userInfo.groups')


def test_the_policy_refuses_where_it_cannot_be_evaluated():
    spec: Any = admission_policy("driftgate")["spec"]

    assert spec["failurePolicy"] == "Fail"
    assert printed()["ValidatingAdmissionPolicyBinding"]["spec"] == {
        "policyName": "driftgate",
        "validationActions": ["Deny"],
    }


def test_every_refusal_has_a_message_of_its_own():
    assert len({rule.message for rule in RULES}) == len(RULES)
