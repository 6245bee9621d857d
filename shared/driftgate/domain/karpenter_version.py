"""What the running Karpenter's version changes for us. An unknown version is treated as the careful case."""

from __future__ import annotations

import re

Version = tuple[int, int]


def parse_version(text: str | None) -> Version | None:
    """Major and minor of `1.14.1` or `v1.5.0-rc.1`; None where there is none."""
    found = re.match(r"v?(\d+)\.(\d+)", text or "")
    return None if found is None else (int(found[1]), int(found[2]))


def skips_empty_nodes(version: Version | None) -> bool:
    """Whether drift never takes a node without reschedulable pods.

    Source: kubernetes-sigs/karpenter, pkg/controllers/disruption/drift.go at v1.5.0 to v1.6.4.
    """
    return version is not None and (1, 5) <= version < (1, 7)


def gives_disruption_reason(version: Version | None) -> bool:
    """Whether a taken NodeClaim shows the condition DisruptionReason (1.2 and later)."""
    return version is None or version >= (1, 2)


def reads_durations(version: Version | None) -> bool:
    """Whether a pod's do-not-disrupt may be a duration (1.12 and later); before, only `true` counts."""
    return version is None or version >= (1, 12)
