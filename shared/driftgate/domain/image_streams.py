"""The streams of node images that AWS publishes for EKS, how their images are named, and where SSM names the newest.

A stream is what follows itself: AL2023 for x86_64 with NVIDIA drivers for Kubernetes 1.34, release after release.

Source: aws/karpenter-provider-aws v1.14.1, pkg/providers/amifamily/{al2,al2023,bottlerocket,windows,ami}.go; AWS
documentation, "Retrieve recommended AMI IDs" for Amazon Linux, Bottlerocket and Windows, 2026.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

LATEST = "latest"
PUBLIC = "/aws/service/"
"""Under which AWS's own parameters stand; no customer may write there."""

REMEMBERED = 4096
"""Names that were taken apart: every pool of a cluster asks for the same few again."""

STANDARD = "standard"
_X86, _ARM = "x86_64", "arm64"
_FIRST_WITHOUT_AL2 = 33
_FIRST_WITH_WINDOWS_2025 = 35


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageStream:
    """Images that follow each other. `family` is the word of an alias, `minor` Kubernetes' (`1.34`).

    `variant` is standard, nvidia, neuron, fips, gpu (AL2), or Core and Full (Windows).
    """

    family: str
    minor: str
    arch: str = _X86
    variant: str = STANDARD

    @property
    def is_frozen(self) -> bool:
        """Whether AWS publishes nothing new in it: the last AL2 image for EKS came in November 2025."""
        return self.family == "al2"

    @property
    def title(self) -> str:
        """What people call the whole family: `AL2023 for Kubernetes 1.34`."""
        return f"{_TITLES.get(self.family, self.family)} for Kubernetes {self.minor}"


_TITLES = {
    "al2023": "AL2023",
    "al2": "AL2",
    "bottlerocket": "Bottlerocket",
    "windows2019": "Windows Server 2019",
    "windows2022": "Windows Server 2022",
    "windows2025": "Windows Server 2025",
}
ALIAS_FAMILIES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "al2023": ((_X86, STANDARD), (_X86, "nvidia"), (_X86, "neuron"), (_ARM, STANDARD), (_ARM, "nvidia")),
    "al2": ((_X86, STANDARD), (_X86, "gpu"), (_ARM, STANDARD)),
    "bottlerocket": ((_X86, STANDARD), (_X86, "nvidia"), (_ARM, STANDARD), (_ARM, "nvidia")),
    "windows2019": ((_X86, "Core"),),
    "windows2022": ((_X86, "Core"),),
    "windows2025": ((_X86, "Core"),),
}
"""Architectures and variants that Karpenter resolves for an alias. Other variants come by id, name or parameter."""


def streams_of_alias(family: str, minor: str) -> tuple[ImageStream, ...]:
    """Every stream that Karpenter asks for; none where it refuses the family for that Kubernetes, or knows none."""
    number = int(minor.partition(".")[2])
    if family == "al2" and number >= _FIRST_WITHOUT_AL2:
        return ()
    if family == "windows2025" and number < _FIRST_WITH_WINDOWS_2025:
        return ()
    return tuple(
        ImageStream(family=family, minor=minor, arch=arch, variant=variant)
        for arch, variant in ALIAS_FAMILIES.get(family, ())
    )


def parameter_of(stream: ImageStream, version: str = LATEST) -> str:
    """The public parameter that names the stream's newest image, or that of one release; its value is a bare id.

    Windows has no parameters of releases: there it is always the newest.
    """
    return _PARAMETERS.get(stream.family, _windows_parameter)(stream, version)


def _al2023_parameter(stream: ImageStream, version: str) -> str:
    name = f"amazon-eks-node-al2023-{stream.arch}-{stream.variant}-{stream.minor}-{version}"
    return (
        f"{PUBLIC}eks/optimized-ami/{stream.minor}/amazon-linux-2023/{stream.arch}/{stream.variant}/"
        f"{'recommended' if version == LATEST else name}/image_id"
    )


def _al2_parameter(stream: ImageStream, version: str) -> str:
    kind = _ARM if stream.arch == _ARM else "" if stream.variant == STANDARD else stream.variant
    name = f"amazon-eks-{kind + '-' if kind else ''}node-{stream.minor}-{version}"
    return (
        f"{PUBLIC}eks/optimized-ami/{stream.minor}/amazon-linux-2{'-' + kind if kind else ''}/"
        f"{'recommended' if version == LATEST else name}/image_id"
    )


def _bottlerocket_parameter(stream: ImageStream, version: str) -> str:
    """An alias may write the version with or without `v`; the path has none."""
    variant = "" if stream.variant == STANDARD else f"-{stream.variant}"
    return f"{PUBLIC}bottlerocket/aws-k8s-{stream.minor}{variant}/{stream.arch}/{version.lstrip('v')}/image_id"


def _windows_parameter(stream: ImageStream, _version: str) -> str:
    year = stream.family.removeprefix("windows")
    name = f"Windows_Server-{year}-English-{stream.variant}-EKS_Optimized-{stream.minor}"
    return f"{PUBLIC}ami-windows-latest/{name}/image_id"


_PARAMETERS: Mapping[str, Callable[[ImageStream, str], str]] = {
    "al2023": _al2023_parameter,
    "al2": _al2_parameter,
    "bottlerocket": _bottlerocket_parameter,
}

_MINOR = r"(?P<minor>\d+\.\d+)"
_ARCH = r"(?P<arch>x86_64|arm64|aarch64)"
_VARIANT = r"(?P<variant>[a-z]+(?:-[a-z]+)*)"
_RELEASE = r"(?P<version>v?\d.*)"
_WINDOWS = rf"Windows_Server-(?P<year>\d{{4}})-English-(?P<variant>Core|Full)-EKS_Optimized-{_MINOR}"
_AL2023_IMAGE = re.compile(rf"amazon-eks-node-al2023-{_ARCH}-{_VARIANT}-{_MINOR}-{_RELEASE}")
_AL2_IMAGE = re.compile(rf"amazon-eks-(?:(?P<kind>arm64|gpu)-)?node-{_MINOR}-{_RELEASE}")
_IMAGES = (
    ("al2023", _AL2023_IMAGE),
    ("al2", _AL2_IMAGE),
    ("bottlerocket", re.compile(rf"bottlerocket-aws-k8s-{_MINOR}(?:-{_VARIANT})?-{_ARCH}-{_RELEASE}")),
    ("windows", re.compile(rf"{_WINDOWS}-{_RELEASE}")),
)
_LEAF = r"/(?P<version>[^/]+)(?:/image_id)?"
_PATHS = (
    ("al2023", re.compile(rf"eks/optimized-ami/{_MINOR}/amazon-linux-2023/{_ARCH}/{_VARIANT}{_LEAF}")),
    ("al2", re.compile(rf"eks/optimized-ami/{_MINOR}/amazon-linux-2(?:-(?P<kind>arm64|gpu))?{_LEAF}")),
    ("bottlerocket", re.compile(rf"bottlerocket/aws-k8s-{_MINOR}(?:-{_VARIANT})?/{_ARCH}{_LEAF}")),
    ("windows", re.compile(rf"ami-windows-latest/{_WINDOWS}(?:/image_id)?")),
)


@lru_cache(maxsize=REMEMBERED)
def stream_of_image(name: str) -> ImageStream | None:
    """The stream that an image's name belongs to; None where it is none of AWS's for EKS."""
    for family, pattern in _IMAGES:
        found = pattern.fullmatch(name)
        if found is not None:
            return _stream(family, found.groupdict())
    return None


@lru_cache(maxsize=REMEMBERED)
def stream_of_parameter(name: str) -> tuple[ImageStream, str] | None:
    """The stream and the version (`latest`, or a release's) that a public parameter names; None for any other."""
    for family, pattern in _PATHS:
        found = pattern.fullmatch(name.removeprefix(PUBLIC)) if name.startswith(PUBLIC) else None
        if found is not None:
            return _stream(family, found.groupdict()), _version_in(found.groupdict().get("version") or LATEST)
    return None


def _stream(family: str, parts: Mapping[str, str | None]) -> ImageStream:
    kind = parts.get("kind")
    arch = _ARM if kind == _ARM or parts.get("arch") in (_ARM, "aarch64") else _X86
    variant = "gpu" if kind == "gpu" else parts.get("variant") or STANDARD
    return ImageStream(
        family=family + (parts.get("year") or ""), minor=parts["minor"] or "", arch=arch, variant=variant
    )


def _version_in(leaf: str) -> str:
    """The version in the last element of a path: `recommended` is the newest, an image's name holds its own."""
    if leaf in ("recommended", LATEST):
        return LATEST
    for pattern in (_AL2023_IMAGE, _AL2_IMAGE):
        found = pattern.fullmatch(leaf)
        if found is not None:
            return found["version"]
    return leaf
