"""What an observation is read from: apart from the reading, so that who observes nothing loads none of it."""

from __future__ import annotations

from dataclasses import dataclass

from driftgate.ports import Alarms, Calendars, Cluster, ImageHistory, Images, Parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where an observation comes from. The AWS ports are asked only for what the policy names."""

    cluster: Cluster
    alarms: Alarms
    calendars: Calendars
    parameters: Parameters
    images: Images
    history: ImageHistory
