"""One CloudFormation stack: what state it is in, what a template would change, and the change itself.

Source: aws docs, AWSCloudFormation/latest/UserGuide/view-stack-events, using-cfn-updating-stacks-changesets (2026).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from infra.deploying.needs import Missing

POLL_S = 5.0
_NOTHING = ("No updates are to be performed", "didn't contain changes")
_REMEDIES = {
    "ROLLBACK_COMPLETE": "Its creation failed. Remove its rest: aws cloudformation delete-stack --stack-name {name}",
    "UPDATE_ROLLBACK_FAILED": "aws cloudformation continue-update-rollback --stack-name {name}",
    "DELETE_FAILED": "Its removal failed: see its events, then aws cloudformation delete-stack --stack-name {name}",
}
_USABLE = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE"}
_EMPTY = "REVIEW_IN_PROGRESS"

Client = Any


class DeploymentError(Exception):
    """CloudFormation did not take the change; the message says why, and what stands now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the execution of a change set ended. `outputs` are the stack's."""

    status: str
    outputs: Mapping[str, str]

    @property
    def is_done(self) -> bool:
        return self.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE")


class Stack:
    """The stack of this name; it need not exist. `sleep` waits for AWS, `say` hears what goes wrong meanwhile."""

    def __init__(
        self, client: Client, name: str, *, sleep: Callable[[float], None], say: Callable[[str], None]
    ) -> None:
        self._client = client
        self._name = name
        self._sleep = sleep
        self._say = say
        self._change_set = f"driftgate-{uuid4().hex[:12]}"

    def status(self) -> str | None:
        """As CloudFormation calls it; None where there is no such stack."""
        found = self._described()
        return None if found is None else str(found["StackStatus"])

    def unusable(self) -> list[Missing]:
        """Why this stack cannot be created or changed now; nothing where it can."""
        status = self.status()
        if status is None or status == _EMPTY or status in _USABLE:
            return []
        remedy = _REMEDIES.get(status, _REMEDIES["ROLLBACK_COMPLETE"])
        if status.endswith("_IN_PROGRESS"):
            remedy = "Somebody changes it right now. Wait until that is over, and run this again."
        return [Missing(what=f"The stack {self._name} is in {status}.", remedy=remedy.format(name=self._name))]

    def propose(self, template_url: str, parameters: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        """What the template would change; empty where that is nothing. The change set waits to be executed.

        Raises:
            DeploymentError: CloudFormation refuses the template.
        """
        is_new = self.status() in (None, _EMPTY)
        try:
            self._client.create_change_set(
                StackName=self._name,
                ChangeSetName=self._change_set,
                ChangeSetType="CREATE" if is_new else "UPDATE",
                TemplateURL=template_url,
                Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
                Capabilities=["CAPABILITY_NAMED_IAM"],
            )
        except ClientError as error:
            return _nothing_or_raise(error.response["Error"]["Message"])
        return self._changes()

    def execute(self) -> Ended:
        """The change is made, or CloudFormation has taken it back; what failed was said as it failed."""
        seen = {event["EventId"] for event in self._events()}
        self._client.execute_change_set(StackName=self._name, ChangeSetName=self._change_set)
        while (status := str(self._required()["StackStatus"])).endswith("_IN_PROGRESS"):
            self._sleep(POLL_S)
            seen |= self._tell_failures(seen)
        self._tell_failures(seen)
        outputs = {found["OutputKey"]: found["OutputValue"] for found in self._required().get("Outputs", ())}
        return Ended(status=status, outputs=outputs)

    def discard(self) -> None:
        """The change set is gone, and with it a stack that it alone had made."""
        self._client.delete_change_set(StackName=self._name, ChangeSetName=self._change_set)
        if self.status() == _EMPTY:
            self._client.delete_stack(StackName=self._name)

    def _changes(self) -> Sequence[Mapping[str, Any]]:
        while (page := self._page())["Status"] in ("CREATE_PENDING", "CREATE_IN_PROGRESS"):
            self._sleep(POLL_S)
        if page["Status"] == "FAILED":
            self.discard()
            return _nothing_or_raise(page.get("StatusReason", "no reason was given"))
        found = list(page["Changes"])
        while page.get("NextToken"):
            page = self._page(NextToken=page["NextToken"])
            found += page["Changes"]
        return found

    def _page(self, **token: str) -> Mapping[str, Any]:
        page: Mapping[str, Any] = self._client.describe_change_set(
            StackName=self._name, ChangeSetName=self._change_set, **token
        )
        return page

    def _tell_failures(self, seen: set[str]) -> set[str]:
        """Says every new event of a failure, the first one first; gives the ids of all."""
        new = [event for event in self._events() if event["EventId"] not in seen]
        for event in reversed(new):
            if event["ResourceStatus"].endswith("_FAILED"):
                reason = event.get("ResourceStatusReason", "no reason was given")
                self._say(f"{event['ResourceStatus']} {event['LogicalResourceId']}: {reason}")
        return {event["EventId"] for event in new}

    def _events(self) -> Iterator[Mapping[str, Any]]:
        """The newest first."""
        for page in self._client.get_paginator("describe_stack_events").paginate(StackName=self._name):
            yield from page["StackEvents"]

    def _required(self) -> Mapping[str, Any]:
        found = self._described()
        if found is None:
            raise DeploymentError(f"The stack {self._name} went away meanwhile.")
        return found

    def _described(self) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self._client.describe_stacks(StackName=self._name)["Stacks"][0]
        except ClientError as error:
            if "does not exist" in error.response["Error"]["Message"]:
                return None
            raise
        return found


def _nothing_or_raise(reason: str) -> Sequence[Mapping[str, Any]]:
    if any(said in reason for said in _NOTHING):
        return ()
    raise DeploymentError(f"CloudFormation refuses the change: {reason}")
