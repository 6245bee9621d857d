"""What happens to the nodes of a simulated cluster and to its Karpenter, whatever driftgate does."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from driftgate.sim.cluster import SimCluster
from driftgate.sim.kinds import NODEPOOLS, NODES, PDBS
from driftgate.sim.launching import Launch
from driftgate.sim.objects import JsonDict, section


class Nature:
    """Nodes are named by a number: whichever stands there, counted round."""

    def __init__(self, sim: SimCluster) -> None:
        self.sim = sim

    def node(self, number: int) -> str | None:
        """Some node that is there."""
        names = [node.name for node in self.sim.store.all_of(NODES)]
        return names[number % len(names)] if names else None

    def set_ready(self, number: int, *, ready: bool) -> None:
        if (node := self.node(number)) is not None:
            self.sim.set_ready(node, ready=ready)

    def cordon(self, number: int, *, cordoned: bool) -> None:
        if (node := self.node(number)) is not None:
            self.sim.writes.change(
                NODES, node, lambda obj: section(obj, "spec").update(unschedulable=cordoned), "kubectl"
            )

    def interrupt(self, number: int, reason: str) -> None:
        """The node leaves without asking any budget."""
        if (node := self.node(number)) is not None:
            self.sim.interrupt(node, reason)

    def set_pdb(self, *, blocks: bool) -> None:
        self.sim.writes.change(
            PDBS, "default/web", lambda obj: section(obj, "spec").update(maxUnavailable=0 if blocks else 3), "kubectl"
        )

    def nominate(self, seconds: float) -> None:
        """Pending pods are on their way to every node: Karpenter takes none of them meanwhile."""
        until = self.sim.clock.now() + timedelta(seconds=seconds)
        self.sim.world.nominated.update({node.name: until for node in self.sim.store.all_of(NODES)})

    def set_idle(self, seconds: float) -> None:
        """How long Karpenter rests between two looks."""
        self.sim.world.timings = replace(self.sim.world.timings, idle_s=seconds)

    def set_lag(self, seconds: float) -> None:
        """How old Karpenter's view of budgets is; less than the five seconds after which a node frees its slot."""
        self.sim.world.view.lag_of[NODEPOOLS] = seconds

    def next_launch(self, launch: Launch) -> None:
        self.sim.karpenter.launching.next_launches.append(launch)

    def set_image(self, image: str) -> None:
        self.sim.set_image("std", image)

    def scale_up(self) -> None:
        for _ in range(3):
            self.sim.add_pod()

    def heal(self) -> None:
        """Every node is Ready and takes pods, and no PDB blocks."""
        self.set_pdb(blocks=False)
        for node in self.sim.store.all_of(NODES):
            self.sim.set_ready(node.name, ready=True)
            self.sim.writes.change(NODES, node.key, _uncordon, "kubectl")


def _uncordon(node: JsonDict) -> None:
    section(node, "spec").pop("unschedulable", None)
