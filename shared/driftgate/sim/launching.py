"""From a NodeClaim to a machine: launched, registered, initialized, or not.

Source: karpenter v1.14.1, pkg/controllers/nodeclaim/lifecycle.
"""

from __future__ import annotations

import zlib
from collections import deque
from dataclasses import replace
from enum import StrEnum

from driftgate.domain.jsonvalue import child, items, mapping, text
from driftgate.domain.nodes import INITIALIZED_LABEL, NODEPOOL_LABEL
from driftgate.sim import manifests
from driftgate.sim.kinds import NODE_CLASSES, NODECLAIMS, NODEPOOLS, NODES
from driftgate.sim.manifests import NodeSpec
from driftgate.sim.objects import (
    JsonDict,
    add_taint,
    condition_is_true,
    is_deleting,
    remove_taint,
    section,
    set_condition,
)
from driftgate.sim.store import Change, Stored
from driftgate.sim.world import World
from driftgate.sim.writes import CONTROLLER, Edit

NOT_READY = "node.kubernetes.io/not-ready"


class Launch(StrEnum):
    """How the next launch goes."""

    FINE = "fine"
    NO_CAPACITY = "no_capacity"
    NEVER_LAUNCHES = "never_launches"
    NEVER_REGISTERS = "never_registers"
    NEVER_INITIALIZES = "never_initializes"
    TURNS_SICK = "turns_sick"


class Launching:
    """Brings every new NodeClaim up. `next_launches` says how the coming ones go; the others go well."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.next_launches: deque[Launch] = deque()
        self.kubelet_of_image: dict[str, str] = {}
        world.store.listeners.append(self._heard)

    def create_claim(self, pool: str) -> str:
        """A new NodeClaim of the pool, its name."""
        body = manifests.bare_nodeclaim(self._spec(pool))
        stored = self._world.writes.create(NODECLAIMS, body, CONTROLLER)
        self._world.view.see(stored)
        return stored.name

    def _spec(self, pool: str) -> NodeSpec:
        """As another node of the pool, on the image that the pool's class resolves to now."""
        stored = self._world.store.get(NODEPOOLS, pool)
        template = child(stored.obj, "spec", "template", "spec") if stored is not None else {}
        class_name = text(child(template, "nodeClassRef").get("name")) or "std"
        spec = NodeSpec(
            name="",
            pool=pool,
            image=self._image(class_name),
            created_at=self._world.now(),
            node_class=class_name,
            termination_grace_period=text(template.get("terminationGracePeriod")),
            expire_after=text(template.get("expireAfter")) or "720h",
        )
        spec = replace(spec, kubelet=self.kubelet_of_image.get(spec.image, spec.kubelet))
        sibling = next(
            (node for node in self._world.store.all_of(NODES) if node.labels.get(NODEPOOL_LABEL) == pool), None
        )
        return spec if sibling is None else _like(spec, sibling)

    def _image(self, class_name: str) -> str:
        found = self._world.store.get(NODE_CLASSES, class_name)
        amis = items(child(found.obj, "status").get("amis")) if found is not None else ()
        return (text(mapping(amis[0]).get("id")) or "") if amis else ""

    def _heard(self, change: Change) -> None:
        if change.kind is not NODECLAIMS or change.type != "ADDED":
            return
        if condition_is_true(change.after.obj, "Launched"):
            return
        claim = change.after
        self._world.agenda.after(0, lambda: self._begin(claim))

    def _begin(self, claim: Stored) -> None:
        """Karpenter's own and anybody else's NodeClaims are brought up alike."""
        name, pool = claim.name, claim.labels.get(NODEPOOL_LABEL, "")
        spec = replace(self._spec(pool), claim_name=name, name=_node_name(name))
        outcome = self.next_launches.popleft() if self.next_launches else Launch.FINE
        now = self._world.now()

        def edit(obj: JsonDict) -> None:
            for kind in ("Launched", "Registered", "Initialized", "Ready"):
                set_condition(obj, kind, "Unknown", now, "AwaitingReconciliation")

        self._edit(name, edit)
        times = self._world.timings
        if outcome is Launch.NEVER_LAUNCHES:
            self._world.agenda.after(times.launch_timeout_s, lambda: self._delete(name))
            return
        self._world.agenda.after(times.launch_s, lambda: self._launch(name, spec, outcome))
        self._world.agenda.after(times.registration_timeout_s, lambda: self._give_up(name))

    def _launch(self, name: str, spec: NodeSpec, outcome: Launch) -> None:
        if outcome is Launch.NO_CAPACITY:
            self._delete(name)
            return
        now = self._world.now()

        def edit(obj: JsonDict) -> None:
            section(obj, "status").update(manifests.launched_status(spec))
            set_condition(obj, "Launched", "True", now)
            set_condition(obj, "Registered", "Unknown", now, "NodeNotFound")

        if self._edit(name, edit) and outcome is not Launch.NEVER_REGISTERS:
            self._world.agenda.after(self._world.timings.register_s, lambda: self._register(name, spec, outcome))

    def _register(self, name: str, spec: NodeSpec, outcome: Launch) -> None:
        claim = self._world.claim(name)
        if claim is None or is_deleting(claim.obj):
            return
        body = manifests.node(replace(spec, ready=False, initialized=False, created_at=self._world.now()), claim.obj)
        add_taint(body, NOT_READY, "NoSchedule")
        self._world.writes.load(NODES, body, "kubelet")
        now = self._world.now()

        def edit(obj: JsonDict) -> None:
            section(obj, "status")["nodeName"] = spec.name
            set_condition(obj, "Registered", "True", now)

        self._edit(name, edit)
        if outcome is not Launch.NEVER_INITIALIZES:
            self._world.agenda.after(self._world.timings.initialize_s, lambda: self._initialize(name, spec, outcome))

    def _initialize(self, name: str, spec: NodeSpec, outcome: Launch) -> None:
        now = self._world.now()

        def edit_node(obj: JsonDict) -> None:
            section(obj, "metadata", "labels")[INITIALIZED_LABEL] = "true"
            remove_taint(obj, NOT_READY)
            set_condition(obj, "Ready", "True", now, "KubeletReady")

        def edit(obj: JsonDict) -> None:
            set_condition(obj, "Initialized", "True", now)
            set_condition(obj, "Ready", "True", now)

        if self._world.writes.change(NODES, spec.name, edit_node, "kubelet") is None:
            return
        self._edit(name, edit)
        if outcome is Launch.TURNS_SICK:
            self._world.agenda.after(self._world.timings.initialize_s, lambda: self.set_ready(spec.name, ready=False))

    def set_ready(self, node: str, *, ready: bool) -> None:
        """The Node's Ready condition from now on."""
        now = self._world.now()
        status, reason = ("True", "KubeletReady") if ready else ("False", "KubeletNotReady")
        self._world.writes.change(NODES, node, lambda obj: set_condition(obj, "Ready", status, now, reason), "kubelet")

    def _give_up(self, name: str) -> None:
        """A NodeClaim that has not registered in time is deleted; one that only never initializes stays."""
        claim = self._world.claim(name)
        if claim is not None and not condition_is_true(claim.obj, "Registered"):
            self._delete(name)

    def _delete(self, name: str) -> None:
        if self._world.claim(name) is not None:
            self._world.writes.delete(NODECLAIMS, name, CONTROLLER)

    def _edit(self, name: str, edit: Edit) -> bool:
        claim = self._world.claim(name)
        if claim is None or is_deleting(claim.obj):
            return False
        self._world.writes.change(NODECLAIMS, name, edit, CONTROLLER, subresource="status")
        return True


def _node_name(claim: str) -> str:
    """As EC2 names a machine: from its private address, which here depends on the NodeClaim's name."""
    number = zlib.crc32(claim.encode())
    return f"ip-10-{number >> 16 & 255}-{number >> 8 & 255}-{number & 255}.eu-central-1.compute.internal"


def _like(spec: NodeSpec, sibling: Stored) -> NodeSpec:
    capacity = text(child(sibling.obj, "status", "capacity").get("cpu")) or str(spec.cpu)
    return replace(
        spec,
        cpu=int(capacity),
        instance_type=sibling.labels.get("node.kubernetes.io/instance-type", spec.instance_type),
        arch=sibling.labels.get("kubernetes.io/arch", spec.arch),
        zone=sibling.labels.get("topology.kubernetes.io/zone", spec.zone),
    )
