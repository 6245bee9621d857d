"""What people should know of a pool that holds nothing back."""

from __future__ import annotations

from driftgate.domain.candidates import next_candidate
from driftgate.domain.gitops import ownership_alerts
from driftgate.domain.holds_alarm import alarm_alerts
from driftgate.domain.image_rules import first_for_another_reason, image_alerts
from driftgate.domain.karpenter_version import gives_disruption_reason, parse_version, skips_empty_nodes
from driftgate.domain.plan import Alert, Verdict
from driftgate.domain.pool_case import PoolCase, rules_of
from driftgate.domain.reasons import ReasonCode
from driftgate.domain.verdicts import verdict_holds


def pool_alerts(case: PoolCase, verdict: Verdict) -> tuple[Alert, ...]:
    """The roll's own alerts, what could not be read, and whatever is odd about a pool that waits."""
    facts = case.facts
    own = () if case.own_step is None else case.own_step[1].alerts
    unread = tuple(
        Alert(code=ReasonCode.UNKNOWN, message=hold.message, objects=hold.objects, remedy=hold.remedy)
        for hold in (verdict_holds(verdict, facts, case.cluster) if verdict is Verdict.UNKNOWN else ())
    )
    images = image_alerts(facts.images, rules_of(case)) if facts.waits else ()
    if verdict is not Verdict.TRAPPED:
        return (*own, *unread, *images)
    first = first_for_another_reason(next_candidate(facts.candidates))
    return (
        *own,
        *images,
        *((first,) if first is not None else ()),
        *alarm_alerts(case.cluster.observation, case.policy.guards),
        *_version_alerts(case),
        *ownership_alerts(facts.pool),
    )


def _version_alerts(case: PoolCase) -> tuple[Alert, ...]:
    version = parse_version(case.cluster.observation.karpenter_version)
    objects = (f"karpenter/{case.cluster.observation.karpenter_version}",)
    alerts = []
    empty = [candidate.name for candidate in case.facts.candidates if candidate.is_empty]
    if skips_empty_nodes(version) and empty and len(empty) < len(case.facts.candidates):
        text = f"This Karpenter never takes empty nodes for drift: {', '.join(empty[:5])} stay."
        alerts.append(Alert(code=ReasonCode.VERSION_SKIPS_EMPTY, message=text, objects=objects))
    if not gives_disruption_reason(version):
        text = "This Karpenter does not say why it takes a node; taints, deletions and disappearance are watched."
        alerts.append(Alert(code=ReasonCode.NO_DISRUPTION_REASON, message=text, objects=objects))
    return tuple(alerts)
