"""Who driftgate is to the clusters: EKS access entries for its workers and closers, in a group of their own.

EKS remembers the role's unique id, so an entry dies silently with its role. Therefore these roles have fixed names: to
replace one, CloudFormation would need its name twice, and fails instead.
Source: aws docs, eks/latest/userguide/creating-access-entries (2026).
"""

from __future__ import annotations

from collections.abc import Iterable

import aws_cdk as cdk
from aws_cdk import Aws
from aws_cdk import aws_eks as eks
from constructs import Construct

from infra.constructs.placement import PipelinePlacement
from infra.settings import EksCluster, PlacementSettings


class AccessEntries(Construct):
    """One entry per role and cluster of this account; a cluster of another region is left out when it is deployed.

    `of_closers` are references to those of the closers, by which a closing still comes in.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        group: str,
        placements: Iterable[tuple[PlacementSettings, PipelinePlacement]],
    ) -> None:
        super().__init__(scope, id_)
        self._group = group
        self._conditions: dict[str, cdk.CfnCondition] = {}
        self.of_closers: list[str] = []
        for settings, placement in placements:
            for cluster in settings.clusters:
                if cluster.role is None:
                    self._entry(cluster, "Worker", placement.worker.role.role_arn)
                    self.of_closers.append(self._entry(cluster, "Closer", placement.closer.role.role_arn))

    def _entry(self, cluster: EksCluster, who: str, role_arn: str) -> str:
        """A reference to it; to nothing where it is left out."""
        entry = eks.CfnAccessEntry(
            self,
            f"{cluster.name}-{who}",
            cluster_name=cluster.name,
            principal_arn=role_arn,
            type="STANDARD",
            kubernetes_groups=[self._group],
        )
        if cluster.region is None:
            return entry.ref
        condition = entry.cfn_options.condition = self._is_in(cluster.region)
        return cdk.Fn.condition_if(condition.logical_id, entry.ref, Aws.NO_VALUE).to_string()

    def _is_in(self, region: str) -> cdk.CfnCondition:
        if region not in self._conditions:
            expression = cdk.Fn.condition_equals(Aws.REGION, region)
            self._conditions[region] = cdk.CfnCondition(self, f"IsIn-{region}", expression=expression)
        return self._conditions[region]
