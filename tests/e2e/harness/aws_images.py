"""The node images that AWS releases: how each is called, and which public parameters name it.

Source: aws/karpenter-provider-aws v1.14.1, pkg/providers/amifamily (al2023.go, bottlerocket.go).
"""

from dataclasses import dataclass

VERSION = "1.36"  # the Kubernetes version of the control plane: part of every image's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavour:
    """One kind of image: AWS builds one of each for every release."""

    family: str
    arch: str
    variant: str = "standard"

    def image_name(self, version: str) -> str:
        """What the image of a release is called, say of `v20260901`, or of Bottlerocket's `v1.51.0`."""
        if self.family == "al2023":
            return f"amazon-eks-node-al2023-{self.arch}-{self.variant}-{VERSION}-{version}"
        arch = self.arch.replace("arm64", "aarch64")
        return f"bottlerocket-{self._bottlerocket}-{arch}-{version}-0a1b2c3d"

    def parameter(self, version: str | None = None) -> str:
        """The public parameter that holds the image's id; without a version, that of the newest."""
        if self.family == "al2023":
            folder = self.image_name(version) if version else "recommended"
            release = f"{VERSION}/amazon-linux-2023/{self.arch}/{self.variant}/{folder}"
            return f"/aws/service/eks/optimized-ami/{release}/image_id"
        folder = version.removeprefix("v") if version else "latest"
        return f"/aws/service/bottlerocket/{self._bottlerocket}/{self.arch}/{folder}/image_id"

    @property
    def _bottlerocket(self) -> str:
        return f"aws-k8s-{VERSION}" + ("" if self.variant == "standard" else f"-{self.variant}")


STANDARD = Flavour(family="al2023", arch="x86_64")
NEURON = Flavour(family="al2023", arch="x86_64", variant="neuron")
AL2023 = (
    STANDARD,
    NEURON,
    Flavour(family="al2023", arch="x86_64", variant="nvidia"),
    Flavour(family="al2023", arch="arm64"),
    Flavour(family="al2023", arch="arm64", variant="nvidia"),
)
BOTTLEROCKET_STANDARD = (
    Flavour(family="bottlerocket", arch="x86_64"),
    Flavour(family="bottlerocket", arch="arm64"),
)
BOTTLEROCKET = (*BOTTLEROCKET_STANDARD, Flavour(family="bottlerocket", arch="x86_64", variant="nvidia"))
