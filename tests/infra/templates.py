"""Templates that `infra.app` writes, and what stands in them as text that a person can compare."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.app import synthesize

ACCOUNT, REGION = "111122223333", "eu-central-1"
_PSEUDO = {"AWS::AccountId": ACCOUNT, "AWS::Region": REGION, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}
_HASH = re.compile(r"[0-9A-F]{8}$")

SMALL = """\
cluster: demo
guards: {alarms: [demo-5xx], calendars: [maintenance]}
"""

FLEET = """\
deployment:
  name: prod
  archive_days: 30
  emails: [team@example.com]
  chat: {workspace: T0123ABCD, channel: C0123ABCD}
  slack: {secret: "arn:aws:secretsmanager:eu-central-1:111122223333:secret:slack-a1B2c3", channel: C0123ABCD}
  placements:
    - {name: eu, subnets: [subnet-0a1b2c3d, subnet-0a1b2c3e], security_groups: [sg-0a1b2c3d]}
guards:
  alarms:
    - shop-5xx
    - {name: edge, region: us-east-1}
    - {name: shared, account_role: "arn:aws:iam::444455556666:role/alarms"}
  calendars: [maintenance, "arn:aws:ssm:eu-central-1:111122223333:document/holidays"]
clusters:
  - test
  - {name: shop, placement: eu}
  - {name: far, region: eu-west-1, watch_parameters: [/golden/image_id]}
  - {name: other, account_role: "arn:aws:iam::444455556666:role/driftgate"}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template. Resources are found by the beginning of their logical ids: CDK adds a hash."""

    body: Mapping[str, Any]

    def of_type(self, kind: str) -> dict[str, Any]:
        """The properties of every resource of the type, by logical id without the hash, intrinsics as text."""
        return {
            short(name): rendered(resource.get("Properties", {}))
            for name, resource in self.body["Resources"].items()
            if resource["Type"] == kind
        }

    def one(self, kind: str, name: str) -> Any:
        """The properties of the one resource of the type whose logical id begins so."""
        (found,) = (each for each in self.of_type(kind).items() if each[0].startswith(name))
        return found[1]

    def resource(self, kind: str, name: str) -> Any:
        """The whole resource, with its policies and conditions."""
        (found,) = (
            resource
            for each, resource in self.body["Resources"].items()
            if resource["Type"] == kind and each.startswith(name)
        )
        return found

    def functions(self) -> dict[str, Any]:
        """The functions by the folder of their handler, and by placement where there are several."""
        found = {}
        for name, properties in self.of_type("AWS::Lambda::Function").items():
            handler = properties["Handler"].split(".")[1]
            placement = properties["Environment"]["Variables"].get("DRIFTGATE_PLACEMENT")
            found[f"{handler}@{placement}" if placement else handler] = {**properties, "Name": name}
        return found

    def patterns(self) -> Iterator[tuple[Any, list[str]]]:
        """Every rule's pattern, with the functions that it wakes."""
        for rule in self.of_type("AWS::Events::Rule").values():
            yield rule["EventPattern"], [target["Arn"].partition(".")[0] for target in rule["Targets"]]


def template_of(config: str, folder: Path) -> Template:
    """What this driftgate.yaml asks for; the functions' code is a stub."""
    source, asset = folder / "driftgate.yaml", folder / "code"
    source.write_text(config, encoding="utf-8")
    asset.mkdir()
    (asset / "stub").touch()
    path = synthesize(source, folder / "out", asset)
    return Template(body=json.loads(path.read_text(encoding="utf-8")))


def short(logical_id: str) -> str:
    return _HASH.sub("", logical_id)


def rendered(value: Any) -> Any:
    """The value with references as text: the logical id, without its hash, and the attribute."""
    if isinstance(value, list):
        return [rendered(each) for each in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"Ref": str(name)}:
            return _PSEUDO.get(name, short(name))
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{short(name)}.{attribute}"
        case {"Fn::Join": [separator, parts]}:
            return separator.join(map(str, rendered(parts)))
        case {"Fn::Sub": str(text)}:
            return re.sub(r"\$\{(AWS::\w+)\}", lambda found: _PSEUDO[found[1]], text)
    return {key: rendered(each) for key, each in value.items()}
