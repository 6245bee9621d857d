"""How long things take in the simulated cluster, in simulated seconds.

Source: Karpenter 1.14.1's constants where it has one; the rest as watched on the real one (a pass finds a fresh
budget after at most the idle time, an empty node is gone 5.5 s after its taint) or usual on EC2.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """`informer_lag_s` is how old Karpenter's view is; `simulation_s` passes between reading and acting."""

    idle_s: float = 10.0
    retry_s: float = 1.0
    simulation_s: float = 0.05
    write_s: float = 0.01
    informer_lag_s: float = 0.02
    queue_poll_s: float = 1.0
    emptiness_validation_s: float = 15.0
    nomination_s: float = 20.0
    rollback_s: float = 600.0
    drift_check_s: float = 0.5
    drift_recheck_s: float = 300.0
    launch_s: float = 3.0
    launch_timeout_s: float = 300.0
    register_s: float = 28.0
    initialize_s: float = 15.0
    registration_timeout_s: float = 900.0
    provision_batch_s: float = 1.0
    min_drain_s: float = 5.0
    drain_poll_s: float = 0.5
    instance_gone_s: float = 5.0
    pod_stop_s: float = 2.0
    pod_start_s: float = 3.0
    restart_s: float = 2.0
    counter_s: float = 2.0
