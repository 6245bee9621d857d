"""Roles, policies and keys."""

from __future__ import annotations

from typing import Any

from infra.local.template.intrinsics import Physical
from infra.local.template.making import Creator, Making, as_json


def _role(making: Making) -> Physical:
    found = making.only(
        "AssumeRolePolicyDocument",
        "Description",
        "ManagedPolicyArns",
        "MaxSessionDuration",
        "Path",
        "Policies",
        "RoleName",
        "Tags",
    )
    name, client = making.name(found.get("RoleName"), 64), making.client("iam")
    given = making.without("RoleName", "Policies", "ManagedPolicyArns", "AssumeRolePolicyDocument")
    document = as_json(found["AssumeRolePolicyDocument"])
    made = client.create_role(RoleName=name, AssumeRolePolicyDocument=document, **given)["Role"]
    for policy in found.get("Policies", []):
        _put(client, name, policy)
    return Physical(ref=name, attributes={"Arn": made["Arn"], "RoleId": made["RoleId"]})


def _policy(making: Making) -> Physical:
    found = making.only("PolicyName", "PolicyDocument", "Roles")
    for role in found["Roles"]:
        _put(making.client("iam"), role, found)
    return Physical(ref=found["PolicyName"])


def _put(client: Any, role: str, policy: Any) -> None:
    client.put_role_policy(
        RoleName=role, PolicyName=policy["PolicyName"], PolicyDocument=as_json(policy["PolicyDocument"])
    )


def _key(making: Making) -> Physical:
    found = making.only(
        "Description",
        "EnableKeyRotation",
        "Enabled",
        "KeyPolicy",
        "KeySpec",
        "KeyUsage",
        "PendingWindowInDays",
        "RotationPeriodInDays",
        "Tags",
    )
    client = making.client("kms")
    made = client.create_key(Description=found.get("Description", ""), Policy=as_json(found["KeyPolicy"]))
    key = made["KeyMetadata"]
    if found.get("EnableKeyRotation"):
        client.enable_key_rotation(KeyId=key["KeyId"])
    return Physical(ref=key["KeyId"], attributes={"Arn": key["Arn"], "KeyId": key["KeyId"]})


def _alias(making: Making) -> Physical:
    found = making.only("AliasName", "TargetKeyId")
    making.client("kms").create_alias(**found)
    return Physical(ref=found["AliasName"])


CREATORS: dict[str, Creator] = {
    "AWS::IAM::Role": _role,
    "AWS::IAM::Policy": _policy,
    "AWS::KMS::Key": _key,
    "AWS::KMS::Alias": _alias,
}
