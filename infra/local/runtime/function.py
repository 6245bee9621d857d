"""A function of the template as the runtime needs it, and the environment that it gets: its own, and Lambda's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from driftgate.contract import DEFAULT_PLACEMENT, Env
from infra.local.cloud.server import REGION, SECRET
from infra.local.template.document import TemplateError
from infra.local.template.loading import Deployed, Stack

DEFAULT_TIMEOUT_S = 3
DEFAULT_MEMORY_MB = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """`variables` are the template's alone. `code` is the key under which the template says its code is."""

    name: str
    arn: str
    handler: str
    role_arn: str
    variables: Mapping[str, str]
    timeout_s: int
    memory_mb: int
    log_group: str
    code: str
    is_traced: bool = False

    @property
    def label(self) -> str:
        """The folder under `functions/`: how people call it."""
        return self.handler.split(".")[1]

    @property
    def log_name(self) -> str:
        """Of its file; functions of placements in VPCs are told apart."""
        placement = self.variables.get(Env.PLACEMENT, DEFAULT_PLACEMENT)
        return self.label if placement == DEFAULT_PLACEMENT else f"{self.label}-{placement}"

    @property
    def key(self) -> str:
        """The access key of its role's session, by which every call of it is known."""
        return f"ASIA{self.name}"


def functions_of(stack: Stack) -> tuple[Function, ...]:
    return tuple(_function(stack, found) for found in stack.of_type("AWS::Lambda::Function"))


def _function(stack: Stack, deployed: Deployed) -> Function:
    found = deployed.properties
    stack.by_ref("AWS::IAM::Role", found["Role"])
    return Function(
        name=deployed.physical.ref,
        arn=deployed.arn,
        handler=found["Handler"],
        role_arn=found["Role"],
        variables=_variables(deployed),
        timeout_s=int(found.get("Timeout", DEFAULT_TIMEOUT_S)),
        memory_mb=int(found.get("MemorySize", DEFAULT_MEMORY_MB)),
        log_group=found.get("LoggingConfig", {}).get("LogGroup") or f"/aws/lambda/{deployed.physical.ref}",
        code=str(found["Code"].get("S3Key", "")),
        is_traced=found.get("TracingConfig", {}).get("Mode") == "Active",
    )


def _variables(deployed: Deployed) -> dict[str, str]:
    """Raises TemplateError for a value that is no text: Lambda would refuse it."""
    variables: Mapping[str, Any] = deployed.properties.get("Environment", {}).get("Variables", {})
    for name, value in variables.items():
        if not isinstance(value, str):
            raise TemplateError(f"{deployed.logical_id}: the variable {name} is no text: {value!r}")
    return dict(variables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is different on this machine: where AWS is, and where the function's code lies."""

    endpoint: str
    task_root: Path


def environment_of(function: Function, surroundings: Surroundings) -> dict[str, str]:
    """Exactly the template's variables, and those that Lambda itself sets.

    Of this machine are the endpoint of AWS, and the one of STS: a token for EKS must name the real one, which is
    never called.

    Source: aws docs, lambda/latest/dg/configuration-envvars, defined runtime environment variables (2026).
    """
    stream = datetime.now(UTC).strftime(f"%Y/%m/%d/{function.label}[$LATEST]local")
    return {
        **function.variables,
        "_HANDLER": function.handler,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": function.key,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_SESSION_TOKEN": SESSION_TOKEN,
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
        "AWS_LAMBDA_LOG_GROUP_NAME": function.log_group,
        "AWS_LAMBDA_LOG_STREAM_NAME": stream,
        "LAMBDA_TASK_ROOT": str(surroundings.task_root),
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "AWS_ENDPOINT_URL": surroundings.endpoint,
        "AWS_ENDPOINT_URL_STS": f"https://sts.{REGION}.amazonaws.com",
    }


SESSION_TOKEN = "local-session"
