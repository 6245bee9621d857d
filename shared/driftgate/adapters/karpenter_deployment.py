"""Which version of Karpenter runs, told from its Deployment."""

from __future__ import annotations

import re

from driftgate.domain.jsonvalue import JsonObject, child, items, mapping, strings, text

_TAG = re.compile(r"[^@]*/(?:controller|karpenter)[^/@:]*:v?(?P<version>\d+\.\d+\.\d+[^@]*)(?:@.*)?")
VERSION_LABEL = "app.kubernetes.io/version"


def version_of(deployment: JsonObject) -> str:
    """The version in the image's tag, else in the chart's label; "" where neither tells.

    Source: aws/karpenter-provider-aws v1.14.1, charts/karpenter/templates/deployment.yaml.
    """
    containers = items(child(deployment, "spec", "template", "spec").get("containers"))
    for container in containers:
        found = _TAG.fullmatch(text(mapping(container).get("image")) or "")
        if found:
            return found["version"]
    return strings(child(deployment, "metadata").get("labels")).get(VERSION_LABEL, "").removeprefix("v")
