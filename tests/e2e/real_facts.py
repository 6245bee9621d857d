"""What the story of a new image came to: read from the cluster, from AWS and from an onlooker, judged elsewhere."""

from dataclasses import dataclass, field
from typing import Any

from tests.e2e.real_images import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class RollSeen:
    """One roll, from Karpenter's mark to the replacement.

    `marks` are Karpenter's reasons; `others` is what Karpenter's own code allows of the other reasons, over every
    list of budgets that stood. Seconds are those of an onlooker: from the first open list to the first sign, and from
    that to the first shut list.
    """

    pool: str
    verdict: str
    alerts: tuple[str, ...]
    marks: tuple[str, ...]
    drifted: int
    openings: int
    left: int
    seconds_to_sign: float
    seconds_to_shut: float
    baseline: str
    budgets: str
    others: frozenset[tuple[int, ...]]
    state: str
    node: str
    right_image: str
    new_images: tuple[str, ...]


@dataclass(slots=True)
class Facts:
    """Everything that a promise may ask about.

    `images` are ids by version, `polls` the answers of `watch_amis` in their order, `seen` what it wrote by poll,
    `stale` the messages of STALE_RESOLUTION by the moment at which driftgate was asked.
    """

    images: dict[str, str] = field(default_factory=dict)
    polls: list[dict[str, Any]] = field(default_factory=list)
    seen: list[dict[str, tuple[int, str]]] = field(default_factory=list)
    looks_after_poll: list[bool] = field(default_factory=list)
    stale: dict[str, list[str]] = field(default_factory=dict)
    rolls: dict[str, RollSeen] = field(default_factory=dict)
    told: list[tuple[str, str]] = field(default_factory=list)
    choices_before: list[Choice] = field(default_factory=list)
    choices_after: list[Choice] = field(default_factory=list)
