"""What the running Karpenter's version changes for us. An unknown version is treated as the careful case."""

from __future__ import annotations

import re

Version = tuple[int, int, int]

_TAKES_EMPTY_AGAIN = {(1, 5): 5, (1, 6): 3}
"""The first patch of a minor in which drift takes empty nodes again, as the AWS provider numbers them."""


def parse_version(text: str | None) -> Version | None:
    """The three numbers of `1.14.1` or `v1.5.0-rc.1`, a patch that is not named being 0; None where there are none."""
    found = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", text or "")
    return None if found is None else (int(found[1]), int(found[2]), int(found[3] or 0))


def skips_empty_nodes(version: Version | None) -> bool:
    """Whether drift never takes a node without reschedulable pods: 1.5 before 1.5.5, and 1.6 before 1.6.3.

    Source: kubernetes-sigs/karpenter, pkg/controllers/disruption/drift.go: skipped at v1.5.0, v1.5.2, v1.6.0 and
    v1.6.1, taken at v1.5.5, v1.6.2 and v1.6.4; v1.6.3 of the AWS provider is the first that is known to have v1.6.2.
    """
    return version is not None and version[2] < _TAKES_EMPTY_AGAIN.get(version[:2], 0)


def gives_disruption_reason(version: Version | None) -> bool:
    """Whether a taken NodeClaim shows the condition DisruptionReason (1.2 and later)."""
    return version is None or version >= (1, 2)


def reads_durations(version: Version | None) -> bool:
    """Whether a pod's do-not-disrupt may be a duration (1.12 and later); before, only `true` counts."""
    return version is None or version >= (1, 12)
