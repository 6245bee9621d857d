"""A template that CloudFormation takes as it is: no CDK, no bootstrap stack, the code from any bucket of the reader.

It says the same as the one that CDK deploys, but for where the functions' code is and what CDK asks of its bootstrap.
Source: aws-cdk-lib 2.275, stack-synthesizers/default-synthesizer (parameter and rule of the bootstrap's version).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from infra.packaging.wheels import PackagingError

Json = object
JsonObject = dict[str, Json]

PARAMETERS: JsonObject = {
    "CodeBucket": {
        "Type": "String",
        "Description": "The bucket with the archives that came with this template; in the region of the stack.",
        "AllowedPattern": "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
    },
    "CodePrefix": {
        "Type": "String",
        "Default": "",
        "Description": "What stands before their names in the bucket: nothing, or a path that ends with a slash.",
        "AllowedPattern": "(|.{1,512}/)",
    },
}
_OF_CDK = (("Parameters", "BootstrapVersion"), ("Rules", "CheckBootstrapVersion"))
_CODE = {"S3Bucket", "S3Key"}


def plain_template(template: Mapping[str, Json], archives: Mapping[str, str]) -> JsonObject:
    """The same stack for a reader's own bucket; `archives` names the file for every key in CDK's bucket.

    Raises:
        PackagingError: something in it still refers to CDK's bootstrap.
    """
    plain = {name: dict(section) if isinstance(section, dict) else section for name, section in template.items()}
    for name, entry in _OF_CDK:
        section = plain.get(name)
        if isinstance(section, dict):
            section.pop(entry, None)
    resources = _section(template, "Resources")
    plain["Parameters"] = {**PARAMETERS, **_section(plain, "Parameters")}
    plain["Resources"] = {name: _without_marks(_moved(resource, archives)) for name, resource in resources.items()}
    found: JsonObject = {name: section for name, section in plain.items() if section != {}}
    if "cdk-" in json.dumps(found):
        raise PackagingError("The template still names a bucket or a role of CDK's bootstrap; deploy it with CDK.")
    return found


def _section(template: Mapping[str, Json], name: str) -> JsonObject:
    section = template.get(name, {})
    assert isinstance(section, dict)
    return section


def _moved(value: Json, archives: Mapping[str, str]) -> Json:
    """The value, with every place of code in the reader's bucket."""
    if isinstance(value, list):
        return [_moved(each, archives) for each in value]
    if not isinstance(value, dict):
        return value
    key = value.get("S3Key")
    if value.keys() >= _CODE and isinstance(key, str) and key in archives:
        return {**value, "S3Bucket": {"Ref": "CodeBucket"}, "S3Key": {"Fn::Sub": f"${{CodePrefix}}{archives[key]}"}}
    return {name: _moved(each, archives) for name, each in value.items()}


def _without_marks(resource: Json) -> Json:
    """The resource, without the notes that CDK leaves for itself: `aws:cdk:path`, `aws:asset:path` and others."""
    if not isinstance(resource, dict) or not isinstance(resource.get("Metadata"), dict):
        return resource
    kept = {name: note for name, note in resource["Metadata"].items() if not name.startswith("aws:")}
    others = {name: value for name, value in resource.items() if name != "Metadata"}
    return {**others, "Metadata": kept} if kept else others
