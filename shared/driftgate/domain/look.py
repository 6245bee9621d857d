"""When a cluster is due for its next full look, and how to tell it without the configuration.

Two ways to ask that must agree: by the policy as it stands, and by the time that the last look wrote down. Must not
know of rolls: one that is under way makes a look due whatever stands here.
"""

from __future__ import annotations

from datetime import datetime

from driftgate.domain.policy import ClusterPolicy
from driftgate.domain.window import current_window, next_window


def is_look_due(policy: ClusterPolicy, looked_at: datetime | None, now: datetime) -> bool:
    """Whether a window is open, or the last look is as old as `observe_every` (None: there was none)."""
    return looked_at is None or now - looked_at >= policy.observe_every or _is_window_open(policy, now)


def next_look(policy: ClusterPolicy, looked_at: datetime) -> datetime:
    """The first instant from `looked_at` on at which `is_look_due` is true by this policy; at once in a window.

    From then on a look stays due until there is one: a window that nobody looked into is not passed over.
    """
    if _is_window_open(policy, looked_at):
        return looked_at
    coming = (next_window(own.windows, looked_at) for own in policy.policies())
    return min([looked_at + policy.observe_every, *(window.start for window in coming if window is not None)])


def _is_window_open(policy: ClusterPolicy, at: datetime) -> bool:
    return any(current_window(own.windows, at) is not None for own in policy.policies())
