"""The demo's own driftgate.yaml: a window that is open now, and pauses short enough for two rolls in it."""

from __future__ import annotations

from datetime import datetime

from driftgate.config.load import Config, load_config

CLUSTER = "demo"
POOL = "ondemand"
ALARM = "shop-5xx"

_TEXT = """\
mode: act
cluster: {cluster}
pools: [{pool}]
windows:
  - name: tonight
    timezone: UTC
    cron: "{minute} {hour} * * *"
    duration: 6h
open: {{per_window: 5, open_timeout: 10m, pause_between: 1s, expected_roll: 5m}}
guards: {{alarms: [{alarm}], bake: 5s}}
"""


def demo_config(now: datetime) -> tuple[Config, str]:
    """The configuration and its text; its window began at the full hour before `now`."""
    text = _TEXT.format(cluster=CLUSTER, pool=POOL, minute=0, hour=now.hour, alarm=ALARM)
    return load_config(text, "demo/driftgate.yaml"), text
