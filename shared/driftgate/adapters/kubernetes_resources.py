"""The resources that the adapter reads, and where the API server serves them."""

from __future__ import annotations

from dataclasses import dataclass

KARPENTER_GROUPS = ("karpenter.sh", "karpenter.k8s.aws")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource. `plural` is its name in paths, in RBAC rules and in what people are told."""

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self) -> str:
        """Where all objects of the cluster are listed, whatever their namespace."""
        root = "/apis" if self.group else "/api"
        return f"{root}/{self.api_version}/{self.plural}"


NODEPOOLS = Resource(plural="nodepools", kind="NodePool", group="karpenter.sh")
NODECLAIMS = Resource(plural="nodeclaims", kind="NodeClaim", group="karpenter.sh")
NODE_CLASSES = Resource(plural="ec2nodeclasses", kind="EC2NodeClass", group="karpenter.k8s.aws")
NODES = Resource(plural="nodes", kind="Node")
PODS = Resource(plural="pods", kind="Pod")
PDBS = Resource(plural="poddisruptionbudgets", kind="PodDisruptionBudget", group="policy")
VOLUME_ATTACHMENTS = Resource(plural="volumeattachments", kind="VolumeAttachment", group="storage.k8s.io")
DEPLOYMENTS = Resource(plural="deployments", kind="Deployment", group="apps")
ACCESS_REVIEWS = Resource(
    plural="selfsubjectaccessreviews", kind="SelfSubjectAccessReview", group="authorization.k8s.io"
)

SNAPSHOT_RESOURCES = {
    resource.plural: resource
    for resource in (NODEPOOLS, NODE_CLASSES, NODECLAIMS, NODES, PODS, PDBS, VOLUME_ATTACHMENTS)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is asked of the API server, in the words of RBAC. `writes`: whether it changes something stored."""

    verb: str
    resource: Resource
    name: str = ""
    writes: bool = False

    @property
    def path(self) -> str:
        return f"{self.resource.path}/{self.name}" if self.name else self.resource.path

    def __str__(self) -> str:
        return f"{self.verb} {self.resource.plural}" + (f"/{self.name}" if self.name else "")
