"""Furnishing a simulated cluster: pools, node classes, nodes, pods, PodDisruptionBudgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from driftgate.domain.jsonvalue import child, items, mapping, text
from driftgate.sim import manifests, pod_manifests
from driftgate.sim.kinds import DEPLOYMENTS, NODE_CLASSES, NODECLAIMS, NODEPOOLS, NODES, PDBS, PODS, VOLUME_ATTACHMENTS
from driftgate.sim.manifests import NEW_IMAGE, OLD_IMAGE, NodeSpec, PoolSpec
from driftgate.sim.objects import JsonDict, section
from driftgate.sim.pod_manifests import PodSpec
from driftgate.sim.writes import CONTROLLER, Writes

PERSON = "kubectl"


class Builder:
    """Adds objects as people and Karpenter would have made them, past the checks of the API server."""

    def __init__(self, writes: Writes) -> None:
        self.writes = writes
        self._counts: dict[str, int] = {}

    def add_node_class(
        self,
        name: str = "std",
        *,
        image: str = NEW_IMAGE,
        image_name: str = "amazon-eks-node-al2023-x86_64-standard-1.34-v20260923",
        alias: str = "al2023@latest",
        arch: str = "amd64",
    ) -> None:
        """A node class whose nodes should run the image."""
        at = self.writes.clock.now()
        body = manifests.node_class(name, alias, [(image, image_name)], at, arch)
        self.writes.load(NODE_CLASSES, body, PERSON)

    def set_image(self, node_class: str, image: str, image_name: str = "", *, arch: str = "amd64") -> None:
        """The node class resolves to another image from now on; its nodes drift after Karpenter's delay."""

        def edit(obj: JsonDict) -> None:
            section(obj, "status")["amis"] = manifests.resolved_images([(image, image_name or image)], arch)

        self.writes.change(NODE_CLASSES, node_class, edit, CONTROLLER, subresource="status")

    def add_nodepool(
        self, name: str = "app", budgets: Sequence[Mapping[str, object]] | None = None, **more: object
    ) -> None:
        """A NodePool; `more` are the fields of `PoolSpec`."""
        spec = replace(PoolSpec(name=name, budgets=budgets), **more)  # type: ignore[arg-type]
        self.writes.load(NODEPOOLS, manifests.nodepool(spec, self.writes.clock.now()), PERSON)

    def add_node(self, pool: str = "app", name: str = "", *, image: str = "", pods: int = 0, **more: object) -> str:
        """A Node with its NodeClaim, its name. No image: the one its class resolves to, an old one if drifted.

        `pods` puts that many ordinary ReplicaSet pods on it; `more` are the fields of `NodeSpec`.
        """
        class_name = self._class_of(pool)
        spec = NodeSpec(
            name=name or self._next(f"{pool}-node"),
            pool=pool,
            image=image or (OLD_IMAGE if more.get("drifted_since") else self.image_of(class_name)),
            created_at=self.writes.clock.now(),
            node_class=class_name,
            termination_grace_period=self._grace_period_of(pool),
        )
        spec = replace(spec, **more)  # type: ignore[arg-type]
        claim = self.writes.load(NODECLAIMS, manifests.nodeclaim(spec), CONTROLLER)
        if spec.registered:
            self.writes.load(NODES, manifests.node(spec, claim.obj), CONTROLLER)
        for _ in range(pods):
            self.add_pod(spec.name)
        return spec.name

    def add_pod(self, node: str = "", name: str = "", **more: object) -> str:
        """A Pod on the node (or pending), its name; `more` are the fields of `PodSpec`."""
        spec = replace(PodSpec(name=name or self._next("web"), node=node), **more)  # type: ignore[arg-type]
        self.writes.load(PODS, pod_manifests.pod(spec, self.writes.clock.now()), "kube-controller-manager")
        return spec.name

    def add_pdb(
        self,
        name: str,
        labels: Mapping[str, str],
        *,
        namespace: str = "default",
        min_available: int | str | None = None,
        max_unavailable: int | str | None = None,
    ) -> None:
        """A PodDisruptionBudget over the pods with these labels; its status follows the pods."""
        body = pod_manifests.pdb(name, namespace, labels, min_available, max_unavailable)
        self.writes.load(PDBS, body, PERSON)

    def add_volume_attachment(self, node: str, name: str = "") -> str:
        """A volume attached to the node, its name: the node's termination waits until it is deleted."""
        name = name or self._next("attachment")
        spec = {"attacher": "ebs.csi.aws.com", "nodeName": node, "source": {"persistentVolumeName": f"pv-{name}"}}
        body: JsonDict = {"metadata": {"name": name}, "spec": spec, "status": {"attached": True}}
        self.writes.load(VOLUME_ATTACHMENTS, body, "kube-controller-manager")
        return name

    def add_karpenter(self, version: str) -> None:
        """Karpenter's own Deployment, which tells its version."""
        self.writes.load(DEPLOYMENTS, manifests.karpenter_deployment(version), PERSON)

    def image_of(self, node_class: str) -> str:
        """The image that the class resolves to now, "" where there is none."""
        found = self.writes.store.get(NODE_CLASSES, node_class)
        amis = items(child(found.obj, "status").get("amis")) if found is not None else ()
        return (text(mapping(amis[0]).get("id")) or "") if amis else ""

    def _class_of(self, pool: str) -> str:
        found = self.writes.store.get(NODEPOOLS, pool)
        ref = child(found.obj, "spec", "template", "spec", "nodeClassRef") if found is not None else {}
        return text(ref.get("name")) or "std"

    def _grace_period_of(self, pool: str) -> str | None:
        found = self.writes.store.get(NODEPOOLS, pool)
        spec = child(found.obj, "spec", "template", "spec") if found is not None else {}
        return text(spec.get("terminationGracePeriod"))

    def _next(self, stem: str) -> str:
        self._counts[stem] = self._counts.get(stem, 0) + 1
        return f"{stem}-{self._counts[stem]}"
