"""Karpenter's disruption controller: one pass after the other, one method after the other, until one acts.

Source: karpenter v1.14.1, pkg/controllers/disruption/controller.go.
"""

from __future__ import annotations

from collections.abc import Callable

from driftgate.sim import methods
from driftgate.sim.commands import Command, Queue
from driftgate.sim.drifting import Drifting
from driftgate.sim.launching import Launching
from driftgate.sim.leaving import Leaving
from driftgate.sim.pool_status import PoolStatus
from driftgate.sim.provisioning import Provisioning
from driftgate.sim.termination import Termination
from driftgate.sim.workload import Workload
from driftgate.sim.world import World


class Karpenter:
    """All of Karpenter, and the workload it works for. It runs from its creation on."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.launching = Launching(world)
        self.termination = Termination(world)
        self.leaving = Leaving(world, self.termination)
        self.drifting = Drifting(world)
        self.workload = Workload(world)
        self.pool_status = PoolStatus(world)
        self.provisioning = Provisioning(world, self.launching)
        self.queue = Queue(world, self.launching.create_claim)
        self._life = 0
        self._pass_in(0.0)

    def restart(self) -> None:
        """Karpenter is killed and comes back: what it had only in memory is lost."""
        self.queue.forget()
        self._life += 1
        self._pass_in(self.world.timings.restart_s)

    def stop(self) -> None:
        """No further pass begins; what was started goes on."""
        self._life += 1

    def _pass_in(self, seconds: float) -> None:
        life = self._life
        self.world.agenda.after(seconds, lambda: self._pass() if life == self._life else None)

    def _pass(self) -> None:
        self.world.view.sync()
        if not self._is_synced():
            self._pass_in(self.world.timings.retry_s)
            return
        self.queue.strip_leftovers(self.world.members())
        for method in self._methods():
            if method():
                return
        self._pass_in(self.world.timings.idle_s)

    def _methods(self) -> tuple[Callable[[], bool], ...]:
        first = (self._emptiness, self._static_drift, self._drift)
        return first if self.world.behaviour.emptiness_first else (self._static_drift, self._drift, self._emptiness)

    def _is_synced(self) -> bool:
        """Any NodeClaim that is still launching pauses all disruption."""
        return all(member.has_provider_id or member.is_deleting for member in self.world.members())

    def _drift(self) -> bool:
        return self._start_soon(methods.drift(self.world))

    def _static_drift(self) -> bool:
        return self._start_soon(methods.static_drift(self.world))

    def _emptiness(self) -> bool:
        """Validated after 15 s, in which nothing else happens."""
        commands = methods.emptiness(self.world)
        if not commands:
            return False
        life = self._life
        self.world.agenda.after(
            self.world.timings.emptiness_validation_s,
            lambda: self._validated(commands) if life == self._life else None,
        )
        return True

    def _validated(self, commands: list[Command]) -> None:
        self.world.view.sync()
        if methods.still_holds(self.world, commands):
            self._start_all(commands)
        else:
            self._pass_in(self.world.timings.idle_s)

    def _start_soon(self, commands: list[Command]) -> bool:
        """Between reading the budget and the first write lies the simulation; the budget is not read again."""
        if not commands:
            return False
        life = self._life
        self.world.agenda.after(
            self.world.timings.simulation_s, lambda: self._start_all(commands) if life == self._life else None
        )
        return True

    def _start_all(self, commands: list[Command]) -> None:
        if not commands:
            self._pass_in(0.0)
            return
        first, *rest = commands
        life = self._life
        self.queue.start(first, lambda: self._start_all(rest) if life == self._life else None)
