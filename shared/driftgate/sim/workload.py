"""What runs on the nodes, and what keeps it running: kubelet, scheduler and ReplicaSet in a few rules."""

from __future__ import annotations

from driftgate.sim.fitting import free_cpu, takes_pods
from driftgate.sim.kinds import NODECLAIMS, NODES, PODS
from driftgate.sim.members import members_of
from driftgate.sim.objects import JsonDict, copy_of, is_deleting, k8s_time, section, set_condition
from driftgate.sim.pod_manifests import bind
from driftgate.sim.pods import cpu_of, is_active, node_of, owner_of
from driftgate.sim.store import Change, Stored
from driftgate.sim.world import World
from driftgate.sim.writes import CONTROLLER

CONTROLLED = ("ReplicaSet", "StatefulSet")


class Workload:
    """A stopped pod of a ReplicaSet comes back elsewhere; a pending pod is put where there is room."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._to_stamp: set[str] = set()
        world.store.listeners.append(self._heard)

    def _heard(self, change: Change) -> None:
        if change.kind is PODS:
            self._pod_changed(change)
        elif change.kind is NODES and change.type != "DELETED":
            self._world.agenda.after(0, self.schedule)

    def _pod_changed(self, change: Change) -> None:
        pod, key = change.after.obj, change.after.key
        if change.type == "ADDED" and not node_of(pod):
            self._world.agenda.after(0, self.schedule)
        elif change.type == "MODIFIED" and is_deleting(pod) and change.before is not None:
            if not is_deleting(change.before.obj):
                self._world.agenda.after(self._world.timings.pod_stop_s, lambda: self._stopped(key))
                self._replace(pod)
        elif change.type == "DELETED" and is_active(pod):
            self._replace(pod)
        self._note_pod_event(node_of(pod))

    def _note_pod_event(self, node: str) -> None:
        """Karpenter writes the time of the last pod event on the NodeClaim; consolidateAfter counts from it."""
        if node and node not in self._to_stamp:
            self._to_stamp.add(node)
            self._world.agenda.after(0, lambda: self._stamp(node))

    def _stamp(self, node: str) -> None:
        self._to_stamp.discard(node)
        claim, at = self._world.claim_of(node), k8s_time(self._world.now())
        if claim is not None and not is_deleting(claim.obj):
            self._world.writes.change(
                NODECLAIMS,
                claim.key,
                lambda obj: section(obj, "status").update(lastPodEventTime=at),
                CONTROLLER,
                subresource="status",
            )

    def _stopped(self, key: str) -> None:
        if self._world.store.get(PODS, key) is not None:
            self._world.writes.delete(PODS, key, "kubelet")

    def _replace(self, gone: JsonDict) -> None:
        """The controller makes another pod at once, so that a PDB never counts one pod less than there should be."""
        if owner_of(gone)[0] not in CONTROLLED:
            return
        body = copy_of(gone)
        metadata = section(body, "metadata")
        kept = {
            key: metadata[key] for key in ("namespace", "labels", "annotations", "ownerReferences") if key in metadata
        }
        body["metadata"] = kept | {"generateName": f"{owner_of(gone)[1]}-"}
        section(body, "spec").pop("nodeName", None)
        body["status"] = {"phase": "Pending"}
        self._world.writes.load(PODS, body, "kube-controller-manager")

    def schedule(self) -> None:
        """Puts every pending pod on the first node with room; what fits nowhere stays pending."""
        pending = [pod for pod in self._world.pods.pending() if is_active(pod.obj)]
        if not pending:
            return
        there = members_of(self._world.store)  # the scheduler does not wait for Karpenter's informers
        members = [member for member in there if takes_pods(self._world, member)]
        for pod in pending:
            home = next((m for m in members if free_cpu(self._world, m) >= cpu_of(pod.obj)), None)
            if home is not None:
                self._bind(pod, home.name)

    def _bind(self, pod: Stored, node: str) -> None:
        now = self._world.now()
        self._world.nominate(node)
        self._world.writes.change(PODS, pod.key, lambda obj: bind(obj, node, now, ready=False), "kube-scheduler")
        self._world.agenda.after(self._world.timings.pod_start_s, lambda: self._ready(pod.key))

    def _ready(self, key: str) -> None:
        stored = self._world.store.get(PODS, key)
        if stored is not None and not is_deleting(stored.obj):
            now = self._world.now()
            self._world.writes.change(PODS, key, lambda obj: set_condition(obj, "Ready", "True", now), "kubelet")
