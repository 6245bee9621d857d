"""One function of the pipeline: own role, log group, timeout, memory, trace, and a place for what it could not do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_destinations as destinations
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from driftgate.config.deployment import Placement
from infra.constructs import permissions
from infra.constructs.permissions import Grant
from infra.packaging.runtime import LAMBDA

RUNTIME = lambda_.Runtime(LAMBDA.runtime, lambda_.RuntimeFamily.PYTHON)
assert LAMBDA.architecture is not None  # Lambda's is named; only this machine's is not
ARCHITECTURE = lambda_.Architecture.custom(LAMBDA.architecture)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all functions of a deployment have in common."""

    code: lambda_.Code
    environment: Mapping[str, str]
    failures: sqs.IQueue
    log_retention_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSettings:
    """`name` is the folder under `functions/`. `reserved` None: it shares the account's free concurrency.

    `patience` and `retries` are for asynchronous invocations: how old one may get, how often it is tried again; what
    is left then goes to the failures. None: a queue calls this function, which sees to that itself.
    `role_name` is fixed where something outside of the stack names the role.
    """

    name: str
    description: str
    timeout: cdk.Duration
    memory_mb: int
    patience: cdk.Duration | None = None
    retries: int = 2
    reserved: int | None = None
    role_name: str | None = None
    vpc: Placement | None = None
    may_call_itself: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


class PipelineFunction(Construct):
    """The function, allowed exactly what `grants` say, and what Lambda itself needs for it."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        shared: Shared,
        settings: FunctionSettings,
        grants: Sequence[Grant],
    ) -> None:
        super().__init__(scope, id_)
        self.log_group = _log_group(self, shared.log_retention_days)
        self.role = self._role(settings, [*grants, *self._of_lambda(shared, settings)])
        self.function = self._function(shared, settings)
        if settings.patience is not None:
            self.function.configure_async_invoke(
                on_failure=destinations.SqsDestination(shared.failures),
                max_event_age=settings.patience,
                retry_attempts=settings.retries,
            )
        if settings.vpc is not None:
            _put_into(self.function, settings.vpc)

    def _of_lambda(self, shared: Shared, settings: FunctionSettings) -> list[Grant]:
        """What Lambda itself does in the function's name."""
        return [
            permissions.write_logs(self.log_group.log_group_arn),
            permissions.trace(),
            *([permissions.send_to([shared.failures.queue_arn])] if settings.patience is not None else []),
            *(permissions.live_in_a_vpc() if settings.vpc is not None else []),
        ]

    def _role(self, settings: FunctionSettings, grants: Sequence[Grant]) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            role_name=settings.role_name,
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies=permissions.policy(grants),
        )
        permissions.explain(role, grants)
        return role

    def _function(self, shared: Shared, settings: FunctionSettings) -> lambda_.Function:
        return lambda_.Function(
            self,
            "Function",
            description=settings.description,
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            handler=f"functions.{settings.name}.handler.handler",
            code=shared.code,
            # everything that the role may do stands in its own policy: CDK must not add to it
            role=self.role.without_policy_updates(),
            environment={**shared.environment, **settings.environment},
            timeout=settings.timeout,
            memory_size=settings.memory_mb,
            tracing=lambda_.Tracing.ACTIVE,
            log_group=self.log_group,
            # our lines are JSON already, and metrics are read from what is printed: nothing may be put around them
            logging_format=lambda_.LoggingFormat.TEXT,
            reserved_concurrent_executions=settings.reserved,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if settings.may_call_itself else None,
        )

    @property
    def arn(self) -> str:
        return self.function.function_arn


def _log_group(scope: Construct, days: int) -> logs.LogGroup:
    """CDK names the days that CloudWatch takes by words; driftgate.yaml has the numbers."""
    group = logs.LogGroup(scope, "Logs", removal_policy=cdk.RemovalPolicy.DESTROY)
    resource = group.node.default_child
    assert isinstance(resource, logs.CfnLogGroup)
    resource.retention_in_days = days
    return group


def _put_into(function: lambda_.Function, vpc: Placement) -> None:
    """Lambda needs subnets and groups alone, so the VPC need not be looked up."""
    resource = function.node.default_child
    assert isinstance(resource, lambda_.CfnFunction)
    resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
        subnet_ids=list(vpc.subnets), security_group_ids=list(vpc.security_groups)
    )
