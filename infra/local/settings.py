"""The demo's own driftgate.yaml: a window that never ends, and pauses short enough for two rolls in it."""

from __future__ import annotations

from driftgate.domain.rights import DEFAULT_GROUP

CLUSTER = "demo"
POOL = "ondemand"
ALARM = "shop-5xx"
STACK = "driftgate-demo"
GROUP = DEFAULT_GROUP
"""The group in the cluster that the manifests of `driftgate cluster-manifests` give their rights to."""

CONFIG = f"""\
mode: act
cluster: {CLUSTER}
pools: [{POOL}]
deployment:
  name: demo
  chat: {{workspace: T0123ABCD, channel: C0123ABCD}}
windows:
  - name: tonight
    timezone: UTC
    cron: "0 0 * * *"
    duration: 24h
open: {{per_window: 5, open_timeout: 10m, pause_between: 1s, expected_roll: 5m}}
guards: {{alarms: [{ALARM}], bake: 5s}}
"""
