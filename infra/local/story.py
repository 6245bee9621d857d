"""The night, step by step. Nothing is acted out: every line is read from the cluster, from AWS, or from a handler."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from driftgate.contract import seen_prefix
from driftgate.domain.budget import Budget, DisruptionReason, applies_to, to_objects
from driftgate.domain.jsonvalue import compact
from driftgate.domain.marks import is_mark
from driftgate.domain.nodepool import NodePoolSnapshot
from driftgate.domain.roll import Roll, RollState
from driftgate.ports import Cluster
from infra.local.cloud.publishing import publish_parameter
from infra.local.cluster import NEW_NAME, OLD_NAME, PARAMETER
from infra.local.settings import ALARM, CLUSTER, POOL
from infra.local.world import World

T = TypeVar("T")
PATIENCE_S = 400.0


@dataclass(slots=True)
class Facts:
    """What the night came to, for the last line."""

    seconds_open_after_sign: float | None = None
    alarm_to_closed_seconds: float | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)


class Story:
    """One cluster, one night. `tell` says a line to whoever watches."""

    def __init__(self, world: World, tell: Callable[[str], None]) -> None:
        self._world = world
        self._pipeline = world.pipeline
        self._tell = tell
        self._cluster: Cluster = self._pipeline.clusters.connect(CLUSTER)
        self.baseline = self.pool().budgets
        self.facts = Facts()

    def pool(self) -> NodePoolSnapshot:
        return self._cluster.get_nodepool(POOL)

    def the_trap(self) -> None:
        """What stands there before anything happens."""
        self._tell(f"A cluster with the pool {POOL}: five nodes on {OLD_NAME}, kubelet 1.34.2.")
        self._tell(f"Its budgets: {compact(to_objects(self.baseline))}")
        self._tell("Drifted is 0, so Karpenter waits. ledger-0 sits under a PDB that allows nothing; one node is")
        self._tell("annotated do-not-disrupt. Nobody was told for 46 days.")

    def an_image_appears(self, image: str) -> None:
        """AWS's parameter names the new image; the poll mirrors it; our own parameter's event sets all going."""
        self._step("An image appears")
        self._tell(f"AWS's public parameter now names {image} ({NEW_NAME}). It raises no event here.")
        publish_parameter(PARAMETER, image)
        # both come by themselves, every minute and every quarter of an hour: too long to watch
        self._world.router.scheduler.fire("heartbeat")
        self._wait("the first look at the cluster", lambda: self._looked() or None)
        self._world.router.scheduler.fire("poll")
        for name, value in self._wait("the poll of the images", lambda: self._mirror() or None).items():
            self._tell(f"watch_amis mirrored {name.rsplit('/', 3)[1]}/…: {value}")
        self._tell("The mirror is a parameter of our own: its event reaches evaluate_drift, which queues the cluster.")

    def one_node_rolls(self) -> None:
        """The first roll, from the opening to the replacement."""
        self._step("The gate opens for one node")
        opened = self._wait("the gate to open", lambda: self._opening(0))
        self._tell(f"The budgets become: {compact(to_objects(opened.opened))}")
        self._tell('"01" opens Drifted for one; "00" is the guard by which Karpenter itself would shut it.')
        roll = self._wait("the gate to be shut", lambda: self._opening(0, lambda roll: roll.closed_at is not None))
        self.facts.seconds_open_after_sign = _seconds(roll.sign_at, roll.closed_at)
        self._tell(f"Karpenter took {roll.node}. The gate was shut {self.facts.seconds_open_after_sign} s later,")
        self._tell(f"having stood open for {_seconds(roll.opened_at, roll.closed_at)} s.")
        self._tell(f"The budgets are again: {compact(to_objects(roll.baseline))}")
        ended = self._wait("the replacement to be Ready", lambda: self._opening(0, lambda roll: roll.is_finished))
        if ended.replacement:
            self._tell(f"{ended.node} is gone; {ended.replacement} is Ready on the new image and has been watched.")
        else:
            self._tell(f"{ended.node} is gone; its pods found room elsewhere, so no replacement was needed.")

    def an_alarm_fires(self) -> None:
        """The second roll, shut by an alarm before (or just after) Karpenter took a node."""
        self._step("An alarm fires in the middle of the second roll")
        self._wait("the gate to open again", lambda: self._opening(1))
        began = time.monotonic()
        self._tell(f"The gate is open again. The alarm {ALARM} goes to ALARM.")
        self._world.cloud.client("cloudwatch").set_alarm_state(
            AlarmName=ALARM, StateValue="ALARM", StateReason="Threshold crossed"
        )
        shut = self._wait("the gate to be shut", self._shut)
        self.facts.alarm_to_closed_seconds = round(time.monotonic() - began, 3)
        self._tell(f"The gate is shut {self.facts.alarm_to_closed_seconds} s after the event.")
        self._tell(f"The budgets are again: {compact(to_objects(shut.budgets))}")
        roll = self._wait("the proof of what was taken", lambda: self._opening(1, _is_proved))
        taken = f"{roll.node} had been taken already and goes on." if roll.sign_at else "No node was taken."
        self._tell(f"{taken} Nothing opens until the alarm is OK again.")

    def messages(self) -> None:
        """What people were told, as Slack shows it."""
        self._step("What the channel was told")
        self.facts.messages = self._heard()
        for message in self.facts.messages:
            content = message["content"]
            self._tell(f"│ {content.get('title', '')}")
            for line in str(content["description"]).splitlines():
                self._tell(f"│   {line}")
            for step in content.get("nextSteps", []):
                self._tell(f"│   → {step}")

    def rolled(self) -> list[str]:
        """The nodes that Karpenter took for drift, by the simulated cluster's own account."""
        return [taken.node for taken in self._world.sim.witness.disruptions if taken.reason == "Drifted"]

    def other_reasons_changed(self) -> bool:
        """Whether what applies to Empty or Underutilized was ever different, by the cluster's own account."""
        return any(_others(change.before) != _others(change.after) for change in self._world.sim.witness.budgets)

    def baseline_restored(self) -> bool:
        return self.pool().budgets == self.baseline

    def _step(self, title: str) -> None:
        self._tell("")
        self._tell(f"── {title}")

    def _looked(self) -> bool:
        return self._pipeline.ledger.load(CLUSTER).looked_at is not None

    def openings(self) -> list[Roll]:
        """Every roll whose gate was really opened, in the order of time."""
        rolls = self._pipeline.ledger.load(CLUSTER).rolls
        opened = [roll for roll in rolls if roll.opened_at is not None and roll.state not in _NOT_YET]
        return sorted(opened, key=lambda roll: roll.id)

    def _opening(self, number: int, is_so: Callable[[Roll], bool] = lambda _: True) -> Roll | None:
        found = self.openings()[number : number + 1]
        return found[0] if found and is_so(found[0]) else None

    def _shut(self) -> NodePoolSnapshot | None:
        pool = self.pool()
        return None if any(is_mark(budget) for budget in pool.budgets) else pool

    def _mirror(self) -> dict[str, str]:
        """The parameters that the poll has written."""
        pages = self._world.cloud.client("ssm").get_paginator("get_parameters_by_path")
        found = pages.paginate(Path=seen_prefix("demo"), Recursive=True)
        return {entry["Name"]: entry["Value"] for page in found for entry in page["Parameters"]}

    def _heard(self) -> list[dict[str, Any]]:
        """What the template's Slack channel was told, in order."""
        found: list[dict[str, Any]] = []
        sqs = self._world.cloud.client("sqs")
        for channel in self._world.stack.of_type("AWS::Chatbot::SlackChannelConfiguration"):
            url = channel.physical.attributes["ChannelQueueUrl"]
            while batch := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
                for message in batch:
                    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                    found.append(json.loads(json.loads(message["Body"])["Message"]))
        return found

    def _wait(self, what: str, look: Callable[[], T | None]) -> T:
        """Looks until there is an answer; the deployment goes on by itself meanwhile."""
        clock = self._pipeline.clock
        until = clock.now() + timedelta(seconds=PATIENCE_S)
        while clock.now() < until:
            found = look()
            if found is not None:
                return found
            clock.sleep(0.2)
        raise RuntimeError(
            f"waited in vain for {what}: {'; '.join(self._world.router.troubles()) or 'no error was seen'}"
        )


_NOT_YET = (RollState.PLANNED, RollState.OPENING)


def _is_proved(roll: Roll) -> bool:
    return roll.is_finished or roll.sign_at is not None


def _others(budgets: Any) -> list[tuple[str, str, str, str]]:
    entries = [Budget.from_object(entry) for entry in budgets]
    reasons = (DisruptionReason.EMPTY, DisruptionReason.UNDERUTILIZED)
    return sorted(
        (reason.value, b.nodes, b.schedule or "", b.duration or "")
        for reason in reasons
        for b in entries
        if applies_to(b, reason)
    )


def _seconds(start: datetime | None, end: datetime | None) -> float:
    return 0.0 if start is None or end is None else round(max(0.0, (end - start).total_seconds()), 3)
