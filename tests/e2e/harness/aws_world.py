"""An AWS account for the real AWS provider of Karpenter: network, role, cluster, images.

Only instances are pretended (the provider's own kwok build); images, parameters and
drift are resolved by the provider's own code against moto.
"""

import json
import sys
import urllib.request
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
from botocore.config import Config

from tests.e2e.harness.aws_images import STANDARD, VERSION, Flavour
from tests.e2e.harness.processes import Run

REGION = "eu-west-1"
CLUSTER = "e2e"
ROLE = "KarpenterNodeRole-e2e"
DISCOVERY = {"karpenter.sh/discovery": CLUSTER}
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "e2e", "AWS_SECRET_ACCESS_KEY": "e2e"}


class AwsWorld:
    """A running moto with what a cluster needs. Use its `settings` to start Karpenter."""

    def __init__(self) -> None:
        self.run = Run()
        self.endpoint = ""

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.run.close(keep_logs=True)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self.run.close(keep_logs=kind is not None)

    @property
    def settings(self) -> dict[str, str]:
        """The environment of Karpenter's AWS provider."""
        return CREDENTIALS | {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CLUSTER_NAME": CLUSTER,
        }

    def client(self, service: Any) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="e2e",
            aws_secret_access_key="e2e",
            config=Config(connect_timeout=5, read_timeout=30, retries={"total_max_attempts": 1}),
        )

    def release_image(self, version: str, flavour: Flavour = STANDARD, *, day: date | None = None) -> str:
        """Publish an image as AWS does, say AL2023's `v20260901`; from then on the recommended one.

        `day` is when it was made; without one, the version tells.
        """
        made = day or datetime.strptime(version, "v%Y%m%d").replace(tzinfo=UTC).date()
        image = self.create_image(flavour.image_name(version), made, flavour.arch, owner="amazon")
        self.publish_parameter(flavour.parameter(version), image)
        self.recommend_image(image, flavour)
        return image

    def recommend_image(self, image: str, flavour: Flavour = STANDARD) -> None:
        """Let the public parameter name this image: a release, or the way back from one that was recalled."""
        self.publish_parameter(flavour.parameter(), image)

    def create_image(
        self, name: str, day: date, arch: str, *, owner: str | None = None, tags: Mapping[str, str] | None = None
    ) -> str:
        """An image made on that day, of this account's own or of `amazon`; gives its id."""
        made = datetime.combine(day, time(), UTC).isoformat()
        body = {"name": name, "created": made, "arch": arch, "owner": owner, "tags": dict(tags or {})}
        image: str = self._tell("image", body)["id"]
        return image

    def publish_parameter(self, name: str, value: str) -> None:
        """Write a parameter of AWS's own, under `/aws/`."""
        self._tell("parameter", {"name": name, "value": value})

    def _tell(self, what: str, body: Mapping[str, object]) -> Any:
        raw = json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.endpoint}/e2e/{what}", data=raw, timeout=30) as answer:
            return json.load(answer)

    def _start(self) -> None:
        server, port = Path(__file__).with_name("aws_server.py"), self.run.folder / "moto.port"
        self.run.start("moto", [sys.executable, server, REGION, port], {"MOTO_EC2_LOAD_DEFAULT_AMIS": "false"})
        self.run.wait_until("moto", port.exists, timeout_s=60)
        self.endpoint = f"http://127.0.0.1:{port.read_text()}"
        subnets = self._create_network()
        self._create_cluster(subnets)

    def _create_network(self) -> list[str]:
        ec2, tags = self.client("ec2"), [{"Key": key, "Value": value} for key, value in DISCOVERY.items()]
        vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        subnets = [
            ec2.create_subnet(
                VpcId=vpc, CidrBlock=f"10.1.{i}.0/24", AvailabilityZone=f"{REGION}{zone}"
            )["Subnet"]["SubnetId"]
            for i, zone in enumerate("ab")
        ]  # fmt: skip
        group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
        ec2.create_tags(Resources=[*subnets, group], Tags=tags)
        return subnets

    def _create_cluster(self, subnets: list[str]) -> None:
        trust = {"Version": "2012-10-17", "Statement": []}
        role = self.client("iam").create_role(RoleName=ROLE, AssumeRolePolicyDocument=json.dumps(trust))
        self.client("eks").create_cluster(
            name=CLUSTER, version=VERSION, roleArn=role["Role"]["Arn"], resourcesVpcConfig={"subnetIds": subnets},
        )  # fmt: skip


def nodeclass(name: str, *ami_terms: Mapping[str, object]) -> dict[str, Any]:
    """An EC2NodeClass in this account, say with `{"alias": "al2023@latest"}`.

    What is no alias needs a family, because user data differ: AL2023.
    """
    family = {} if any("alias" in term for term in ami_terms) else {"amiFamily": "AL2023"}
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": family
        | {
            "role": ROLE,
            "subnetSelectorTerms": [{"tags": DISCOVERY}],
            "securityGroupSelectorTerms": [{"tags": DISCOVERY}],
            "amiSelectorTerms": list(ami_terms),
        },
    }
