"""Nobody can remove the stack and leave a gate open: a resource that goes first, and shuts what stands open.

CloudFormation deletes in the reverse order of what depends on what, however the removal is asked for. So this one
depends on all that a closing needs. It is the only thing that CloudFormation calls, and no VPC keeps it from answering.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import aws_cdk as cdk
from constructs import Construct, IDependable

from driftgate.contract import Env
from infra.constructs import permissions
from infra.constructs.function import FunctionSettings, PipelineFunction, Shared
from infra.constructs.placement import by_placement

TIMEOUT = cdk.Duration.minutes(5)
"""Long enough for a closer that fails to be tried again, twice."""

PATIENCE = cdk.Duration.minutes(6)
"""How long CloudFormation waits for the answer, which comes within TIMEOUT or never."""


class FleetClosing(Construct):
    """`closers` by placement. What is `needed`, and the `entries` referred to, stay until the gates are shut."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        shared: Shared,
        table_arn: str,
        closers: Mapping[str, PipelineFunction],
        entries: Sequence[str],
        needed: Iterable[IDependable],
    ) -> None:
        super().__init__(scope, id_)
        self.close = PipelineFunction(
            self,
            "CloseFleet",
            shared=shared,
            settings=FunctionSettings(
                name="close_fleet",
                description="Shuts every gate before the stack goes",
                timeout=TIMEOUT,
                memory_mb=512,
                patience=TIMEOUT,
                retries=0,
                environment={Env.CLOSER.value: by_placement({name: each.arn for name, each in closers.items()})},
            ),
            grants=[
                permissions.use_table(table_arn, "Query", "UpdateItem"),
                permissions.invoke(closer.arn for closer in closers.values()),
            ],
        )
        resource = cdk.CustomResource(
            self,
            "Gates",
            service_token=self.close.arn,
            service_timeout=PATIENCE,
            resource_type="Custom::OpenGates",
            # nobody reads them: a reference is the only dependency that may point at what a condition leaves out
            properties={"AccessEntries": list(entries)},
        )
        resource.node.add_dependency(self.close, *needed)
