"""The policies of a stack: of its roles, of its resources, and which key encrypts what."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from moto.iam.aws_managed_policies import aws_managed_policies_data

from infra.local.cloud.server import ACCOUNT
from infra.local.iam.evaluation import Authority
from infra.local.iam.statements import Statement, statements_of
from infra.local.template.document import TemplateError
from infra.local.template.loading import Deployed, Stack
from infra.local.template.making import arn

By = tuple[str, tuple[Statement, ...]]


def authority_of(stack: Stack) -> Authority:
    """Raises TemplateError, UnknownPolicyElementError."""
    return Authority(ACCOUNT, _collected(_of_roles(stack)), _collected(_of_resources(stack)))


def _collected(found: Iterable[By]) -> dict[str, tuple[Statement, ...]]:
    collected: dict[str, tuple[Statement, ...]] = defaultdict(tuple)
    for owner, statements in found:
        collected[owner] += statements
    return collected


def _of_roles(stack: Stack) -> Iterator[By]:
    for role in stack.of_type("AWS::IAM::Role"):
        yield role.arn, ()
        for policy in role.properties.get("Policies", []):
            yield role.arn, statements_of(policy["PolicyDocument"], role.logical_id)
        for managed in role.properties.get("ManagedPolicyArns", []):
            yield role.arn, statements_of(_managed(managed), managed)
    for policy in stack.of_type("AWS::IAM::Policy"):
        for name in policy.properties["Roles"]:
            statements = statements_of(policy.properties["PolicyDocument"], policy.logical_id)
            yield stack.by_ref("AWS::IAM::Role", name).arn, statements


def _managed(policy: str) -> Mapping[str, Any]:
    """A policy of AWS's own, as moto keeps them."""
    known = json.loads(aws_managed_policies_data)
    name = policy.rsplit("/", 1)[-1]
    if name not in known:
        raise TemplateError(f"the managed policy {policy} is not known here")
    document: Mapping[str, Any] = known[name]["Document"]
    return document


def _of_resources(stack: Stack) -> Iterator[By]:
    for policy in stack.of_type("AWS::SQS::QueuePolicy"):
        for url in policy.properties["Queues"]:
            yield stack.by_ref("AWS::SQS::Queue", url).arn, _document(policy)
    for policy in stack.of_type("AWS::SNS::TopicPolicy"):
        for topic in policy.properties["Topics"]:
            yield topic, _document(policy)
    for key in stack.of_type("AWS::KMS::Key"):
        yield key.arn, statements_of(key.properties["KeyPolicy"], key.logical_id)
    for role in stack.of_type("AWS::IAM::Role"):
        yield role.arn, statements_of(role.properties["AssumeRolePolicyDocument"], role.logical_id)
    for permission in stack.of_type("AWS::Lambda::Permission"):
        yield _function_arn(permission), statements_of({"Statement": [_permission(permission)]}, permission.logical_id)


def _document(policy: Deployed) -> tuple[Statement, ...]:
    return statements_of(policy.properties["PolicyDocument"], policy.logical_id)


def _function_arn(permission: Deployed) -> str:
    name = str(permission.properties["FunctionName"])
    return name if name.startswith("arn:") else arn("lambda", f"function:{name}")


def _permission(permission: Deployed) -> dict[str, Any]:
    """What Lambda makes of a permission: a statement of the function's own policy."""
    found = permission.properties
    conditions: dict[str, dict[str, str]] = {}
    if "SourceArn" in found:
        conditions["ArnLike"] = {"AWS:SourceArn": found["SourceArn"]}
    if "SourceAccount" in found:
        conditions["StringEquals"] = {"AWS:SourceAccount": found["SourceAccount"]}
    is_service = str(found["Principal"]).endswith(".amazonaws.com")
    return {
        "Effect": "Allow",
        "Action": found["Action"],
        "Resource": _function_arn(permission),
        "Principal": {"Service" if is_service else "AWS": found["Principal"]},
        "Condition": conditions,
    }


def keys_of(stack: Stack) -> dict[str, str]:
    """The ARN of the key by the ARN of the topic or queue that it encrypts."""
    encrypted = stack.of_type("AWS::SNS::Topic", "AWS::SQS::Queue")
    return {
        found.physical.attributes.get("TopicArn") or found.arn: _key_arn(stack, found.properties["KmsMasterKeyId"])
        for found in encrypted
        if "KmsMasterKeyId" in found.properties
    }


def _key_arn(stack: Stack, key: str) -> str:
    """By its id, its ARN or its alias. A key of AWS's own (`alias/aws/…`) is none of the template's."""
    for alias in stack.of_type("AWS::KMS::Alias"):
        if key == alias.properties["AliasName"]:
            key = alias.properties["TargetKeyId"]
    return stack.by_ref("AWS::KMS::Key", key).arn
