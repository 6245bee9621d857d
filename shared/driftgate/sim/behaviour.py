"""What differs between Karpenter's versions in the disruption of nodes.

Source: facts collected from kubernetes-sigs/karpenter, tags v1.0.0 to v1.14.1.
"""

from __future__ import annotations

from dataclasses import dataclass

LATEST = "1.14.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One version of Karpenter. `empties_at_once`: all empty drifted nodes go in one pass, up to the budget."""

    version: str = LATEST
    has_disruption_reason: bool = True
    emptiness_first: bool = True
    drift_skips_empty: bool = False
    empties_at_once: bool = False
    drains_at_least: bool = True


def behaviour_of(version: str) -> Behaviour:
    """The behaviour of a version such as `1.6.4`."""
    major, minor, patch = (int(part) for part in version.lstrip("v").split("."))
    step = (major, minor)
    return Behaviour(
        version=version,
        has_disruption_reason=step >= (1, 2),
        emptiness_first=step >= (1, 5),
        drift_skips_empty=(step == (1, 5) and patch < 5) or (step == (1, 6) and patch < 2),
        empties_at_once=step < (1, 5),
        drains_at_least=step >= (1, 10),
    )
