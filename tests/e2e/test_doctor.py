"""`driftgate doctor` against a real API server: with the printed rights all is well, without one it names it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from driftgate.cli.main import app
from driftgate.domain.rights import RIGHTS
from tests.contract.cluster_objects import deployment_object
from tests.e2e.guarded import POOL, Guarded, forbidding, without
from tests.factories import budget

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SHUT = [budget("0", "Drifted"), budget("10%")]


@dataclass(frozen=True, slots=True)
class Answer:
    exit_code: int
    text: str

    @property
    def outcomes(self) -> dict[str, str]:
        return {check["name"]: check["outcome"] for check in self.whole["checks"]}

    @property
    def whole(self) -> Any:
        return json.loads(self.text)


Ask = Callable[..., Answer]


@pytest.fixture
def doctor(guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """The command as driftgate's own identity, unless the test names another user."""
    monkeypatch.chdir(tmp_path)
    guarded.stand(SHUT)

    def ask(*options: str, user: str = "driftgate") -> Answer:
        where = ["--kubeconfig", str(guarded.plane.kubeconfig(user)), "--ledger", f"file:{tmp_path / 'ledger.json'}"]
        result = CliRunner().invoke(app, ["doctor", *where, *options], catch_exceptions=False)
        return Answer(result.exit_code, result.stdout)

    return ask


def test_with_the_printed_rights_and_policy_all_is_well(guarded: Guarded, doctor: Ask):
    karpenter = deployment_object("1.14.1")
    guarded.api.create(DEPLOYMENTS, karpenter)

    answer = doctor("-o", "json")
    guarded.api.delete(f"{DEPLOYMENTS}/{karpenter['metadata']['name']}")

    assert set(answer.outcomes) == {"connection", "clock", "rights", "karpenter", "write", "policy", "ledger"}
    assert set(answer.outcomes.values()) == {"ok"}
    assert (answer.whole["missingRights"], answer.whole["missingRules"]) == ([], [])
    assert answer.exit_code == 0


def test_it_stores_nothing(guarded: Guarded, doctor: Ask):
    before = guarded.admin.get_nodepool(POOL)

    doctor()

    assert guarded.admin.get_nodepool(POOL) == before


@pytest.mark.parametrize("right", RIGHTS, ids=str)
def test_any_missing_right_is_named_and_given_as_yaml(guarded: Guarded, doctor: Ask, right: Any):
    with without(guarded, right):
        answer = doctor()

    text, _, manifest = answer.text.partition("Missing in the ClusterRole:")
    rule = {"apiGroups": [right.group], "resources": [right.resource], "verbs": [right.verb]}
    assert f"  {right}: {right.why}\n" in text
    assert yaml.safe_load(manifest) == {"rules": [rule]}
    assert answer.exit_code == (4 if right.verb == "patch" else 3)


def test_an_identity_that_no_policy_binds_is_told_so(doctor: Ask):
    answer = doctor("-o", "json", user="admin")

    assert answer.outcomes["policy"] == "warning"
    assert answer.exit_code == 0


def test_a_policy_of_somebody_else_that_refuses_openings_is_told_in_its_words(guarded: Guarded, doctor: Ask):
    with forbidding(guarded, "the shop is on sale"):
        answer = doctor("-o", "json")

    (check,) = (check for check in answer.whole["checks"] if check["name"] == "write")
    assert check["outcome"] == "refused"
    assert "the shop is on sale" in check["message"]
    assert answer.exit_code == 4
