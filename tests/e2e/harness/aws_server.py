"""moto as the AWS of a real Karpenter AWS provider: `python aws_server.py REGION FILE`.

It listens on a port of the loopback interface that the system chooses, and writes the number into the file: so
nobody else can have taken it in between.

What moto does not do is bridged here, in its own process:
- the price list, without which the controller ends at its start;
- parameters under `/aws/`, which only AWS itself may write: `POST /e2e/parameter`;
- images with an architecture, an owner and an age, which moto forgets at their registration: `POST /e2e/image`;
- a start in seconds: with all 900 instance types, the provider takes ten and 500 MB.
"""

import json
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES, InstanceTypeBackend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.ssm.models import Parameter, ssm_backends
from werkzeug.serving import make_server

# x86_64, arm64, NVIDIA, Neuron; and one of bare metal, for its price
KEPT_TYPES = ("m5.large", "m6g.large", "g4dn.xlarge", "inf2.xlarge", "m5.metal")
PRICE_TARGET = "AWSPriceListService.GetProducts"
Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], object]


class Front:
    """Answers what moto cannot, and hands on the rest."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._moto = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        if environ.get("HTTP_X_AMZ_TARGET") == PRICE_TARGET:
            return answer(start, prices(body(environ).decode()))
        if environ["PATH_INFO"] == "/e2e/parameter":
            return answer(start, publish(self._region, **json.loads(body(environ))))
        if environ["PATH_INFO"] == "/e2e/image":
            return answer(start, register(self._region, **json.loads(body(environ))))
        handed_on: Iterable[bytes] = self._moto(environ, start)
        return handed_on


def body(environ: Environ) -> bytes:
    raw: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return raw


def answer(start: StartResponse, content: object) -> list[bytes]:
    start("200 OK", [("Content-Type", "application/x-amz-json-1.1")])
    return [json.dumps(content).encode()]


def prices(question: str) -> dict[str, object]:
    """Any price will do, but there must be one for bare metal and one for the rest."""
    types = [name for name in KEPT_TYPES if ("metal" in name) == ("bare metal" in question)]
    return {"FormatVersion": "aws_v1", "PriceList": [json.dumps(price(name)) for name in types]}


def price(instance_type: str) -> dict[str, object]:
    per_hour = {"pricePerUnit": {"USD": "0.10"}}
    return {
        "product": {"attributes": {"instanceType": instance_type}},
        "terms": {"OnDemand": {"term": {"priceDimensions": {"dimension": per_hour}}}},
    }


def register(
    region: str, name: str, created: str, arch: str, owner: str | None, tags: dict[str, str]
) -> dict[str, str]:
    """Register an image made at the given time: Amazon's, or of this account's own where there is no owner."""
    image = ec2_backends[DEFAULT_ACCOUNT_ID][region].register_image(name)
    image.architecture, image.owner_alias = arch, owner
    image.add_tags(tags)
    image.creation_date = datetime.fromisoformat(created).astimezone(UTC).replace(tzinfo=None)
    return {"id": image.id}


def publish(region: str, name: str, value: str) -> dict[str, int]:
    """Write a public parameter as AWS does at a release."""
    versions = ssm_backends[DEFAULT_ACCOUNT_ID][region]._parameters[name]
    parameter = Parameter(  # type: ignore[abstract]
        account_id="amazon", name=name, value=value, parameter_type="String", description=None,
        allowed_pattern=None, keyid=None, last_modified_date=datetime.now(UTC).replace(tzinfo=None),
        version=len(versions) + 1, data_type="aws:ec2:image",
    )  # fmt: skip
    versions.append(parameter)
    return {"version": parameter.version}


def keep_few_instance_types() -> None:
    for name in [name for name in INSTANCE_TYPES if name not in KEPT_TYPES]:
        del INSTANCE_TYPES[name]
    types = InstanceTypeBackend.instance_types
    types[:] = [each for each in types if each["InstanceType"] in KEPT_TYPES]
    for regions in INSTANCE_TYPE_OFFERINGS.values():
        for offerings in regions.values():
            offerings[:] = [each for each in offerings if each["InstanceType"] in KEPT_TYPES]


def serve(region: str, file: Path) -> None:
    server = make_server("127.0.0.1", 0, Front(region), threaded=True, request_handler=MotoRequestHandler)
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(str(server.server_port))
    unfinished.rename(file)
    server.serve_forever()


if __name__ == "__main__":
    keep_few_instance_types()
    serve(sys.argv[1], Path(sys.argv[2]))
