"""An account of its own on this machine, a driftgate.yaml, and a package that needs no synthesis."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.cloudformation.models import Event, cloudformation_backends

from infra.deploying.__main__ import World, run
from infra.packaging.bundle import Bundle
from infra.packaging.wheels import PackagingError

ACCOUNT, REGION = "123456789012", "eu-central-1"
BOOTSTRAP = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"
CONFIG = "cluster: demo\ndeployment: {name: prod, emails: [ops@example.org]}\n"
STACK = "driftgate-prod"
FAILED = "The role may not be made."


@dataclass(slots=True)
class Account:
    """AWS as somebody finds it who deploys. `answers` are what that person says, in order; None: nobody is there."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    session: Any
    answers: list[str] | None = None
    template: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    on_sleep: Callable[[], None] = lambda: None
    unbuildable: PackagingError | None = None

    def bucket(self, name: str = BOOTSTRAP, region: str = REGION) -> None:
        place = {"LocationConstraint": region}
        self.session.client("s3", region_name=region).create_bucket(Bucket=name, CreateBucketConfiguration=place)

    def deploy(self, *more: str) -> tuple[int, str, str]:
        """The exit code, what was said, and what was complained of."""
        self.capsys.readouterr()
        code = run(["--config", str(self.folder / "driftgate.yaml"), *more], self.world())
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def world(self) -> World:
        return World(
            new_session=lambda _: self.session,
            package=lambda _config, _out: self._package(),
            ask=None if self.answers is None else self._ask,
            sleep=lambda _: self.on_sleep(),
        )

    def _ask(self, question: str) -> str:
        self.asked.append(question)
        assert self.answers is not None
        return self.answers.pop(0)

    def _package(self) -> Bundle:
        if self.unbuildable is not None:
            raise self.unbuildable
        template, archive = self.folder / f"{STACK}.template.json", self.folder / "driftgate-0123456789abcdef.zip"
        template.write_text(json.dumps(self.template), encoding="utf-8")
        archive.write_bytes(b"code")
        return Bundle(template=template, archives=(archive,))

    def status(self) -> str | None:
        stacks = self.session.client("cloudformation").describe_stacks()["Stacks"]
        return next((stack["StackStatus"] for stack in stacks if stack["StackName"] == STACK), None)

    def set_status(self, status: str) -> None:
        """The stack is in this state, however it came there: moto's own are always successes."""
        self.made().status = status

    def made(self) -> Any:
        """The stack as moto has it."""
        stacks: Any = cloudformation_backends[ACCOUNT][REGION].stacks
        return next(stack for stack in stacks.values() if stack.name == STACK)

    def fail_when_executed(self, status: str) -> None:
        """CloudFormation works on the change for a while, a resource fails, and all is taken back."""
        self.on("ExecuteChangeSet", lambda: self.set_status("UPDATE_IN_PROGRESS"))

        def taken_back() -> None:
            stack = self.made()
            stack.events.append(
                Event(stack.stack_id, STACK, "Queue", "queue", "AWS::SQS::Queue", "UPDATE_FAILED", FAILED, None)
            )
            self.set_status(status)

        self.on_sleep = taken_back

    def refuse(self, reason: str) -> None:
        """CloudFormation takes the change set, and says only afterwards that it is none."""

        def refused() -> None:
            made: Any = cloudformation_backends[ACCOUNT][REGION].change_sets
            for each in made.values():
                each.status, each.status_reason = "FAILED", reason

        self.on("CreateChangeSet", refused)

    def on(self, operation: str, then: Callable[[], None]) -> None:
        """Happens after each such call, in AWS."""
        self.session.events.register(f"after-call.cloudformation.{operation}", lambda **_: then())


def template(*queues: str) -> dict[str, Any]:
    """As `make package` writes it, only smaller."""
    return {
        "Parameters": {"CodeBucket": {"Type": "String"}, "CodePrefix": {"Type": "String", "Default": ""}},
        "Resources": {
            name: {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": f"driftgate-{name.lower()}"}}
            for name in queues
        },
        "Outputs": {"LedgerTableName": {"Value": "driftgate-ledger"}},
    }


@pytest.fixture
def account(tmp_path, capsys, monkeypatch) -> Iterator[Account]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "driftgate.yaml").write_text(CONFIG, encoding="utf-8")
    with mock_aws():
        made: Any = boto3.Session
        session = made(region_name=REGION, aws_access_key_id="local", aws_secret_access_key="local")
        found = Account(folder=tmp_path, capsys=capsys, session=session, template=template("Queue"))
        found.on("ExecuteChangeSet", lambda: _give_outputs(found.made()))
        yield found


def _give_outputs(stack: Any) -> None:
    """moto gives a stack that came from a change set none."""
    stack._parse_template()
    stack.output_map = stack._create_output_map()
