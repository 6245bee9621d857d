"""What the users behind an Application Load Balancer feel, as alarms that can guard a roll by name.

    guards = AlbGuardAlarms(
        self, "ShopGuards", name="shop", balancer="app/shop/0123456789abcdef", target_groups=["targetgroup/web/0123…"]
    )
    guards.names()  # for guards.alarms in driftgate.yaml

They must neither flap nor call silence health. Each needs 3 bad minutes of the last 10, so it fires after three and
falls back only after a calm while. Errors and latency count from a number of requests on: one failed request of a
quiet night must not hold a window. What a balancer reports only where there is something (errors, latency, rejected
connections) is fine when it is missing. Health is always reported, so a target group without it is unknown: that is
INSUFFICIENT_DATA, which holds.
Source: aws docs, elasticloadbalancing/latest/application/load-balancer-cloudwatch-metrics (2026).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

NAMESPACE = "AWS/ApplicationELB"
PERIOD_S = 60
PERIODS, DATAPOINTS = 10, 3

Missing = Literal["notBreaching", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """What users take in a minute. Shares are percent of its requests, and count from `least_requests` on."""

    errors_percent: float = 1.0
    latency_p99_s: float = 1.0
    least_requests: int = 20
    unhealthy_targets: int = 1
    rejected_connections: int = 1
    connection_errors: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guard:
    """An alarm on a metric, or on a formula of it (`m`) and of the number of requests (`r`)."""

    suffix: str
    says: str
    threshold: float
    metric: str
    dimensions: Mapping[str, str]
    statistic: str = "Sum"
    formula: str = ""
    missing: Missing = "notBreaching"


class AlbGuardAlarms(Construct):
    """`balancer` and `target_groups` are full names: `app/…` and `targetgroup/…`, as their ARNs end.

    Alarms are called `<name>-5xx-target` and so on; where there are several target groups, theirs end in a number.
    `actions` are ARNs of whoever is told as well; driftgate needs none.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        balancer: str,
        target_groups: Sequence[str],
        tolerance: Tolerance | None = None,
        actions: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, id_)
        self._guards = list(_guards(balancer, target_groups, tolerance or Tolerance()))
        self._name = name
        for guard in self._guards:
            self._alarm(guard, balancer, list(actions))

    def names(self) -> tuple[str, ...]:
        """For `guards.alarms` in driftgate.yaml."""
        return tuple(f"{self._name}-{guard.suffix}" for guard in self._guards)

    def _alarm(self, guard: _Guard, balancer: str, actions: list[str]) -> None:
        cloudwatch.CfnAlarm(
            self,
            guard.suffix,
            alarm_name=f"{self._name}-{guard.suffix}",
            alarm_description=guard.says,
            metrics=_numbers(guard, balancer),
            comparison_operator="GreaterThanOrEqualToThreshold",
            threshold=guard.threshold,
            evaluation_periods=PERIODS,
            datapoints_to_alarm=DATAPOINTS,
            treat_missing_data=guard.missing,
            alarm_actions=actions,
            ok_actions=actions,
        )


def _guards(balancer: str, target_groups: Sequence[str], tolerance: Tolerance) -> Iterator[_Guard]:
    whole = {"LoadBalancer": balancer}
    yield from _errors(whole, tolerance)
    yield _Guard(
        suffix="latency-p99",
        says=f"One request of a hundred takes {tolerance.latency_p99_s:g} s or more.",
        threshold=tolerance.latency_p99_s,
        metric="TargetResponseTime",
        dimensions=whole,
        statistic="p99",
        formula=_from(tolerance, "FILL(r, 0)", "m"),
    )
    yield _Guard(
        suffix="rejected-connections",
        says="The balancer turns connections away: it has as many as it can have.",
        threshold=tolerance.rejected_connections,
        metric="RejectedConnectionCount",
        dimensions=whole,
    )
    for number, group in enumerate(target_groups, start=1):
        of_group = whole | {"TargetGroup": group}
        yield from _of_group(of_group, tolerance, f"-{number}" if len(target_groups) > 1 else "")


def _errors(whole: Mapping[str, str], tolerance: Tolerance) -> Iterator[_Guard]:
    """A request that no target was found for is not among the balancer's requests, so the errors are counted in."""
    share = f"{tolerance.errors_percent:g} % of the requests or more end in a 5xx"
    for whose, says, metric, all_requests in (
        ("target", f"{share} of a target.", "HTTPCode_Target_5XX_Count", "FILL(r, 0)"),
        ("balancer", f"{share} of the balancer itself.", "HTTPCode_ELB_5XX_Count", "(FILL(r, 0) + FILL(m, 0))"),
    ):
        yield _Guard(
            suffix=f"5xx-{whose}",
            says=says,
            threshold=tolerance.errors_percent,
            metric=metric,
            dimensions=whole,
            formula=_from(tolerance, all_requests, f"100 * FILL(m, 0) / {all_requests}"),
        )


def _of_group(of_group: Mapping[str, str], tolerance: Tolerance, number: str) -> Iterator[_Guard]:
    yield _Guard(
        suffix=f"unhealthy-hosts{number}",
        says=f"{tolerance.unhealthy_targets} targets or more fail their health checks.",
        threshold=tolerance.unhealthy_targets,
        metric="UnHealthyHostCount",
        dimensions=of_group,
        statistic="Maximum",
        missing="missing",
    )
    yield _Guard(
        suffix=f"target-connection-errors{number}",
        says=f"{tolerance.connection_errors} connections or more to targets fail in a minute.",
        threshold=tolerance.connection_errors,
        metric="TargetConnectionErrorCount",
        dimensions=of_group,
    )


def _from(tolerance: Tolerance, requests: str, value: str) -> str:
    """The value from so many requests on, else 0."""
    return f"IF({requests} >= {tolerance.least_requests}, {value}, 0)"


def _numbers(guard: _Guard, balancer: str) -> list[cloudwatch.CfnAlarm.MetricDataQueryProperty]:
    """What the alarm looks at; of several numbers the formula alone is what it judges."""
    own = _metric("m", guard.metric, guard.dimensions, guard.statistic, is_judged=not guard.formula)
    if not guard.formula:
        return [own]
    formula = cloudwatch.CfnAlarm.MetricDataQueryProperty(id="judged", expression=guard.formula, return_data=True)
    requests = _metric("r", "RequestCount", {"LoadBalancer": balancer}, "Sum", is_judged=False)
    return [formula, own, requests]


def _metric(
    id_: str, metric: str, dimensions: Mapping[str, str], statistic: str, *, is_judged: bool
) -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
    return cloudwatch.CfnAlarm.MetricDataQueryProperty(
        id=id_,
        return_data=is_judged,
        metric_stat=cloudwatch.CfnAlarm.MetricStatProperty(
            metric=cloudwatch.CfnAlarm.MetricProperty(
                namespace=NAMESPACE,
                metric_name=metric,
                dimensions=[
                    cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value) for name, value in dimensions.items()
                ],
            ),
            period=PERIOD_S,
            stat=statistic,
        ),
    )
