"""Karpenter's commands: a node is marked, its replacement waited for, and only then deleted.

A started command never looks at budgets again; until the deletion it may still be taken back.
Source: karpenter v1.14.1, pkg/controllers/disruption/queue.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from driftgate.domain.nodes import DISRUPTED_TAINT
from driftgate.sim.kinds import NODECLAIMS, NODEPOOLS, NODES
from driftgate.sim.members import Member
from driftgate.sim.objects import (
    add_taint,
    condition_is_true,
    condition_of,
    is_deleting,
    remove_condition,
    remove_taint,
    set_condition,
    taint_keys,
)
from driftgate.sim.witness import Disruption, Ending, budgets_of
from driftgate.sim.world import World
from driftgate.sim.writes import CONTROLLER, Edit

CreateClaim = Callable[[str], str]


@dataclass(slots=True, kw_only=True)
class Command:
    """One node to take, for a reason, with so many replacements."""

    member: Member
    reason: str
    new_nodes: int = 0
    started_at: datetime
    replacements: list[str] = field(default_factory=list)
    is_committed: bool = False

    @property
    def claim(self) -> str:
        return self.member.claim.name


class Queue:
    """Commands under way, kept in memory only: a restart loses them."""

    def __init__(self, world: World, create_claim: CreateClaim) -> None:
        self._world = world
        self._create_claim = create_claim
        self._running: dict[str, Command] = {}
        self._is_polling = False

    def holds(self, claim: str) -> bool:
        return claim in self._running

    def forget(self) -> None:
        """Karpenter went away, and with it everything it had in memory."""
        for claim in list(self._running):
            self._take_back(claim)
        self._world.marked.clear()

    def start(self, command: Command, then: Callable[[], None]) -> None:
        """Taint, condition, replacements, mark, in that order and each a moment apart; then `then`."""
        if self._world.node(command.member.name) is None or self._world.claim(command.claim) is None:
            then()
            return
        self._record(command)
        self._world.marked.add(command.claim)
        self._running[command.claim] = command
        self._edit_node(command.member.name, lambda node: add_taint(node, DISRUPTED_TAINT, "NoSchedule"))
        self._world.agenda.after(self._world.timings.write_s, lambda: self._committed(command, then))

    def _committed(self, command: Command, then: Callable[[], None]) -> None:
        if self._running.get(command.claim) is not command:
            then()
            return
        if self._world.behaviour.has_disruption_reason:
            now = self._world.now()
            self._edit_claim(
                command.claim, lambda claim: set_condition(claim, "DisruptionReason", "True", now, command.reason)
            )
        command.is_committed = True
        command.replacements = [self._create_claim(command.member.pool) for _ in range(command.new_nodes)]
        delay = self._world.timings.write_s if not command.new_nodes else self._world.timings.queue_poll_s
        self._poll_in(delay)
        then()

    def _poll_in(self, seconds: float) -> None:
        if not self._is_polling:
            self._is_polling = True
            self._world.agenda.after(seconds, self._poll)

    def _poll(self) -> None:
        self._is_polling = False
        for command in [command for command in self._running.values() if command.is_committed]:
            self._look_at(command)
        if self._running:
            self._poll_in(self._world.timings.queue_poll_s)

    def _look_at(self, command: Command) -> None:
        claim = self._world.claim(command.claim)
        if claim is None or is_deleting(claim.obj):
            self._running.pop(command.claim, None)
            return
        replacements = [self._world.claim(name) for name in command.replacements]
        late = self._world.now() - command.started_at >= timedelta(seconds=self._world.timings.rollback_s)
        if any(entry is None or is_deleting(entry.obj) for entry in replacements):
            self._roll_back(command)
        elif all(entry is not None and condition_is_true(entry.obj, "Initialized") for entry in replacements):
            self._running.pop(command.claim, None)
            self._world.writes.delete(NODECLAIMS, command.claim, CONTROLLER)
        elif late:
            self._roll_back(command)

    def _roll_back(self, command: Command) -> None:
        """The node serves on; a replacement that is there stays."""
        self._take_back(command.claim)
        self._world.marked.discard(command.claim)
        self._release(command.member.name, command.claim)

    def strip_leftovers(self, members: list[Member]) -> None:
        """Takes taint and condition from nodes that no command holds: after a restart, mostly."""
        for member in members:
            if self.holds(member.claim.name) or member.is_deleting or member.claim.name in self._world.marked:
                continue
            tainted = member.node is not None and DISRUPTED_TAINT in taint_keys(member.node.obj)
            if tainted or condition_of(member.claim.obj, "DisruptionReason") is not None:
                self._release(member.name, member.claim.name)

    def _release(self, node: str, claim: str) -> None:
        self._edit_node(node, lambda obj: remove_taint(obj, DISRUPTED_TAINT))
        self._edit_claim(claim, lambda obj: remove_condition(obj, "DisruptionReason"))

    def _take_back(self, claim: str) -> None:
        command = self._running.pop(claim)
        ending = Ending(
            at=self._world.now(),
            pool=command.member.pool,
            node=command.member.name,
            claim=claim,
            reason=command.reason,
            kind="rolled_back",
        )
        self._world.witness.ended(ending)

    def _record(self, command: Command) -> None:
        pool = command.member.pool
        stored, seen = self._world.store.get(NODEPOOLS, pool), self._world.view.get(NODEPOOLS, pool)
        self._world.witness.started(
            Disruption(
                at=self._world.now(),
                pool=pool,
                node=command.member.name,
                claim=command.claim,
                reason=command.reason,
                budgets=budgets_of(stored.obj) if stored is not None else (),
                seen_budgets=budgets_of(seen.obj) if seen is not None else (),
                replacements=command.new_nodes,
            )
        )

    def _edit_node(self, name: str, edit: Edit) -> None:
        self._world.writes.change(NODES, name, edit, CONTROLLER)

    def _edit_claim(self, name: str, edit: Edit) -> None:
        self._world.writes.change(NODECLAIMS, name, edit, CONTROLLER, subresource="status")
