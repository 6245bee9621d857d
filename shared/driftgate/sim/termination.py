"""From a deletionTimestamp to nothing: drained, volumes away, instance terminated, objects gone.

Whatever caused the deletion. Source: karpenter v1.14.1, pkg/controllers/node/termination and
pkg/controllers/nodeclaim/lifecycle.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from driftgate.domain.duration import parse_duration
from driftgate.domain.jsonvalue import child, instant, items, text
from driftgate.domain.nodes import DISRUPTED_TAINT, NODEPOOL_LABEL
from driftgate.sim.kinds import NODECLAIMS, NODES, PODS, VOLUME_ATTACHMENTS
from driftgate.sim.manifests import FINALIZER
from driftgate.sim.objects import JsonDict, add_taint, is_deleting, k8s_time, section, set_condition
from driftgate.sim.pods import forbids_disruption, is_evictable, is_mirror, tolerates_disruption
from driftgate.sim.store import Change, Stored
from driftgate.sim.witness import Disruption, Ending
from driftgate.sim.world import World
from driftgate.sim.writes import CONTROLLER, Edit

TERMINATION_TIMESTAMP = "karpenter.sh/nodeclaim-termination-timestamp"
EXCLUDE_BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers"


class Termination:
    """Sees every NodeClaim with a deletionTimestamp to its end. `reasons` tell why, where no command does."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.reasons: dict[str, str] = {}
        world.store.listeners.append(self._heard)

    def _heard(self, change: Change) -> None:
        if change.type == "DELETED" or change.before is None or is_deleting(change.before.obj):
            return
        if not is_deleting(change.after.obj):
            return
        name = change.after.name
        if change.kind is NODECLAIMS:
            self._world.agenda.after(self._world.timings.write_s, lambda: self._begin(name))
        elif change.kind is NODES:
            self._world.agenda.after(0, lambda: self._delete_claim_of(name))

    def _delete_claim_of(self, node: str) -> None:
        """Karpenter deletes the NodeClaim of a Node that somebody deleted."""
        claim = self._world.claim_of(node)
        if claim is not None and not is_deleting(claim.obj):
            self._world.writes.delete(NODECLAIMS, claim.name, CONTROLLER)

    def _begin(self, name: str) -> None:
        claim = self._world.claim(name)
        if claim is None:
            return
        self._account(claim)
        node = text(child(claim.obj, "status").get("nodeName")) or ""
        now = self._world.now()
        until = _force_at(claim, now)

        def edit(obj: JsonDict) -> None:
            if until is not None:
                section(obj, "metadata", "annotations")[TERMINATION_TIMESTAMP] = k8s_time(until)
            set_condition(obj, "Drained", "Unknown", now, "Draining")

        self._edit_claim(name, edit)
        if self._world.node(node) is None:
            self._terminate(name, node)
            return
        self._edit_node(node, lambda obj: add_taint(obj, DISRUPTED_TAINT, "NoSchedule"))
        self._edit_node(node, lambda obj: section(obj, "metadata", "labels").update({EXCLUDE_BALANCERS: CONTROLLER}))
        self._world.writes.delete(NODES, node, CONTROLLER)
        self._drain(name, node, now)

    def _account(self, claim: Stored) -> None:
        """A node that leaves without a command: expiry, interruption, or somebody's delete."""
        if self._world.witness.taken(claim.name) is not None:
            return
        self._world.witness.left(
            Disruption(
                at=self._world.now(),
                pool=claim.labels.get(NODEPOOL_LABEL, ""),
                node=text(child(claim.obj, "status").get("nodeName")) or "",
                claim=claim.name,
                reason=self.reasons.setdefault(claim.name, "Deleted"),
                budgets=(),
                seen_budgets=(),
            )
        )

    def _drain(self, name: str, node: str, began: datetime) -> None:
        """One look: evicts what may be evicted, and looks again until nothing is left."""
        claim = self._world.claim(name)
        if claim is None:
            return
        until = instant(child(claim.obj, "metadata", "annotations").get(TERMINATION_TIMESTAMP))
        is_forced = until is not None and self._world.now() >= until
        waiting = [pod for pod in self._world.pods.on(node) if _keeps(pod.obj)]
        for pod in waiting:
            if is_forced or self._may_evict(pod):
                self._stop_pod(pod)
        least = self._world.timings.min_drain_s if self._world.behaviour.drains_at_least else 0.0
        if not waiting and self._world.now() - began >= timedelta(seconds=least):
            self._detach(name, node)
        else:
            self._world.agenda.after(self._world.timings.drain_poll_s, lambda: self._drain(name, node, began))

    def _may_evict(self, pod: Stored) -> bool:
        if not is_evictable(pod.obj) or forbids_disruption(pod.obj, self._world.now()):
            return False
        return self._world.pdbs.may_evict(pod)

    def _stop_pod(self, pod: Stored) -> None:
        if is_deleting(pod.obj):
            return
        now = self._world.now()
        self._world.writes.change(
            PODS, pod.key, lambda obj: section(obj, "metadata").update(deletionTimestamp=k8s_time(now)), "kubelet"
        )

    def _detach(self, name: str, node: str) -> None:
        attached = [entry for entry in self._world.store.all_of(VOLUME_ATTACHMENTS) if _attached_to(entry, node)]
        now = self._world.now()
        self._edit_claim(name, lambda obj: set_condition(obj, "Drained", "True", now))
        if attached:
            self._edit_claim(
                name, lambda obj: set_condition(obj, "VolumesDetached", "Unknown", now, "AwaitingVolumeDetachment")
            )
            self._world.agenda.after(self._world.timings.drain_poll_s, lambda: self._detach(name, node))
            return
        self._edit_claim(name, lambda obj: set_condition(obj, "VolumesDetached", "True", now))
        self._terminate(name, node)

    def _terminate(self, name: str, node: str) -> None:
        """The instance is told to go: from now on the node uses up no budget."""
        now = self._world.now()
        self._edit_claim(name, lambda obj: set_condition(obj, "InstanceTerminating", "True", now))
        self._world.agenda.after(self._world.timings.instance_gone_s, lambda: self._gone(name, node))

    def _gone(self, name: str, node: str) -> None:
        for pod in self._world.pods.on(node):
            self._world.writes.delete(PODS, pod.key, CONTROLLER)
        self._edit_node(node, _release)
        self._edit_claim(name, _release)
        self._world.marked.discard(name)
        self._end(name, node)

    def _end(self, name: str, node: str) -> None:
        taken = self._world.witness.taken(name)
        reason = self.reasons.pop(name, "")
        ending = Ending(
            at=self._world.now(),
            pool=taken.pool if taken is not None else "",
            node=node,
            claim=name,
            reason=taken.reason if taken is not None else reason,
            kind="gone",
        )
        self._world.witness.ended(ending)

    def _edit_claim(self, name: str, edit: Edit) -> None:
        self._world.writes.change(NODECLAIMS, name, edit, CONTROLLER, subresource="status")

    def _edit_node(self, name: str, edit: Edit) -> None:
        self._world.writes.change(NODES, name, edit, CONTROLLER)


def _release(obj: JsonDict) -> None:
    metadata = section(obj, "metadata")
    metadata["finalizers"] = [entry for entry in items(metadata.get("finalizers")) if entry != FINALIZER]


def _keeps(pod: JsonDict) -> bool:
    """Whether the drain waits for the pod: DaemonSet-like and mirror pods are left where they are."""
    return not is_mirror(pod) and not tolerates_disruption(pod)


def _force_at(claim: Stored, now: datetime) -> datetime | None:
    length = text(child(claim.obj, "spec").get("terminationGracePeriod"))
    return now + parse_duration(length) if length is not None else None


def _attached_to(attachment: Stored, node: str) -> bool:
    return child(attachment.obj, "spec").get("nodeName") == node
