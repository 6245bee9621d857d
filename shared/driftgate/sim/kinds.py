"""The resources that the simulated API server serves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One resource. Custom ones count generations, and keep `status` behind its subresource."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = False
    custom: bool = False
    generations: bool = False
    has_status: bool = True
    verbs: tuple[str, ...] = ("create", "delete", "get", "list", "patch", "update", "watch")

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`nodepools.karpenter.sh`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def root(self) -> str:
        """The path that discovery of the group stands at."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def _custom(group: str, plural: str, kind: str) -> Kind:
    return Kind(group=group, version="v1", plural=plural, kind=kind, custom=True, generations=True)


NODEPOOLS = _custom("karpenter.sh", "nodepools", "NodePool")
NODECLAIMS = _custom("karpenter.sh", "nodeclaims", "NodeClaim")
NODE_CLASSES = _custom("karpenter.k8s.aws", "ec2nodeclasses", "EC2NodeClass")
NODES = Kind(group="", version="v1", plural="nodes", kind="Node")
PODS = Kind(group="", version="v1", plural="pods", kind="Pod", namespaced=True)
PDBS = Kind(
    group="policy",
    version="v1",
    plural="poddisruptionbudgets",
    kind="PodDisruptionBudget",
    namespaced=True,
    generations=True,
)
VOLUME_ATTACHMENTS = Kind(group="storage.k8s.io", version="v1", plural="volumeattachments", kind="VolumeAttachment")
DEPLOYMENTS = Kind(
    group="apps", version="v1", plural="deployments", kind="Deployment", namespaced=True, generations=True
)
ACCESS_REVIEWS = Kind(
    group="authorization.k8s.io",
    version="v1",
    plural="selfsubjectaccessreviews",
    kind="SelfSubjectAccessReview",
    has_status=False,
    verbs=("create",),
)

KINDS = (
    NODEPOOLS,
    NODECLAIMS,
    NODE_CLASSES,
    NODES,
    PODS,
    PDBS,
    VOLUME_ATTACHMENTS,
    DEPLOYMENTS,
    ACCESS_REVIEWS,
)
